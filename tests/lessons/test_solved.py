"""Runs every notebook with its exercises solved, each cell twice, and once more without widgets."""

from __future__ import annotations

import functools
import json
import re

from course_lib.authoring.notebooks import WIDGET_VIEW, run, solved
from tests.support.notebook_runs import (
    LESSONS,
    NOTEBOOKS,
    changed,
    code_cells,
    each,
    exercise_names,
    live_cells,
    read,
    run_twice,
    texts,
)

LAST = """
import sys
print("torchvision" in sys.modules)
from tests.support.live_ends import tell
tell()
"""
WITHOUT_TORCHVISION = [path for path in NOTEBOOKS if path.name[:2] in ("01", "02", "04")]


@functools.cache
def solved_twice(path):
    return run_twice(solved(read(path)), path, LAST)


@each(NOTEBOOKS)
def test_a_cell_run_twice_shows_the_same(path):
    first, second, _ = solved_twice(path)
    assert changed(first, second) == {}


@each(NOTEBOOKS)
def test_every_check_passes_in_the_solved_edition(path):
    first, second, _ = solved_twice(path)
    for notebook in (first, second):
        shown = "\n".join(text for cell in code_cells(notebook) for _, text in texts(cell))
        assert sorted(re.findall(r"^(\w+): correct on ", shown, re.MULTILINE)) == exercise_names(path)


@each(LESSONS)
def test_a_lesson_has_exercises(path):
    assert exercise_names(path)


@each(WITHOUT_TORCHVISION)
def test_the_lesson_does_not_import_torchvision(path):
    assert solved_twice(path)[2].splitlines()[0] == "False"


@each(NOTEBOOKS)
def test_every_control_moves_its_picture_and_none_breaks_it(path):
    told = json.loads(solved_twice(path)[2].splitlines()[1])
    assert told["faults"] == []
    live = len(live_cells(read(path)))
    assert told["live"] >= live and (told["moves"] > 2 * live or not live)


@each(NOTEBOOKS)
def test_without_widgets_each_cell_shows_the_stored_text_and_no_widget(path):
    stored = read(path)
    static = run(stored, path, COURSE_WIDGETS="off")
    assert changed(stored, static) == {}
    outputs = [output for cell in code_cells(static) for output in cell.outputs]
    assert not [output for output in outputs if WIDGET_VIEW in output.get("data", {})]
