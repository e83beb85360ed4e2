"""What a reader without a kernel sees: in a page exported to HTML each picture and each question is there."""

from __future__ import annotations

import functools
import re
from html import unescape

import pytest

from tests.support.notebook_runs import NOTEBOOKS, code_cells, each, read

HTMLExporter = pytest.importorskip("nbconvert").HTMLExporter


@functools.cache
def exported(path) -> str:
    page, _ = HTMLExporter(template_name="lab").from_notebook_node(read(path))
    return page


def pictures(path) -> list[dict]:
    outputs = [output for cell in code_cells(read(path)) for output in cell.outputs]
    return [output.data for output in outputs if "image/png" in output.get("data", {})]


@each(NOTEBOOKS)
def test_every_stored_picture_shows_in_the_exported_page(path):
    stored = [data["image/png"].replace("\n", "") for data in pictures(path)]
    found = re.findall(r'<img[^>]*?src="data:image/png;base64,([^"]*)"', exported(path))
    assert stored
    assert [one.replace("\n", "") for one in found] == stored


@each(NOTEBOOKS)
def test_the_exported_page_has_no_widget_that_waits_for_a_kernel(path):
    assert not re.search(r"Loading widget|application/vnd\.jupyter\.widget-(view|state)", exported(path))


@each(NOTEBOOKS)
def test_questions_show_as_text(path):
    asked = [
        output.data["text/plain"]
        for cell in code_cells(read(path))
        for output in cell.outputs
        if 'quiz("' in cell.source and "data" in output
    ]
    words = unescape(re.sub(r"<[^>]*>", " ", exported(path)))
    assert all(line.strip() in words for text in asked for line in text.splitlines()[:2])
