"""A name that no cell has made yet: the error says which cell makes it."""

from __future__ import annotations

import builtins
import symtable

import nbformat
import pytest

from course_lib.authoring.notebooks import NotebookError, run
from course_lib.judging import missing
from course_lib.judging.missing import where
from tests.support.notebook_runs import LESSONS, code_cells, each, read


def taken(source: str) -> set[str]:
    """The global names that a cell reads, in functions too, and does not make itself."""
    table = symtable.symtable(source, "cell", "exec")
    made = {one.get_name() for one in table.get_symbols() if one.is_assigned() or one.is_imported()}
    read_, tables = {one.get_name() for one in table.get_symbols() if one.is_referenced()}, table.get_children()
    while tables:
        inner = tables.pop()
        read_ |= {one.get_name() for one in inner.get_symbols() if one.is_global() and one.is_referenced()}
        tables += inner.get_children()
    return read_ - made - set(dir(builtins))


@each(LESSONS)
def test_each_name_that_a_cell_takes_is_found_in_a_cell_above(path):
    cells = code_cells(read(path))
    asked = [(name, cell) for cell in cells for name in sorted(taken(cell.source))]
    assert len(asked) > 20
    assert [(name, cell.id) for name, cell in asked if not where(name, cell.id, cell.source)] == []


def test_the_cell_is_told_by_its_first_line_and_its_section():
    told = where("portrait", "merge-run", "changed by the learner")
    assert told.startswith("The cell that begins `linear = embed.LinearPatchEmbedding(")
    assert told.endswith('makes it, in the section "One map, two spellings": run that cell first')
    assert where("nn", "merge-run", "") == (
        "The first cell of the lesson makes it: run that cell, which begins `import copy`"
    )


@pytest.mark.parametrize(("name", "cell"), [("portrayt", "merge-run"), ("portrait", "elsewhere"), ("", "merge-run")])
def test_a_typing_error_and_a_cell_of_ones_own_get_no_advice(name, cell):
    assert where(name, cell, "a cell of one's own") == ""


def test_lessons_that_cannot_be_read_are_passed_over(monkeypatch, tmp_path):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "06_x.ipynb").write_text("{torn", encoding="utf-8")
    monkeypatch.setattr(missing, "notebooks", lambda: [tmp_path / "notebooks" / "06_x.ipynb"])
    assert missing.lessons.__wrapped__() == ((),)


def test_a_running_notebook_tells_it_in_the_error():
    (path,) = [one for one in LESSONS if one.name.startswith("05")]
    cells = {cell.id: cell for cell in code_cells(read(path))}
    alone = nbformat.v4.new_notebook(cells=[cells["setup"], cells["none-run"]])
    with pytest.raises(NotebookError, match="name 'projection' is not defined. The cell that begins `.*` makes it"):
        run(alone, path)
    typed = nbformat.v4.new_notebook(cells=[cells["setup"], nbformat.v4.new_code_cell("projektion", id="own")])
    with pytest.raises(NotebookError, match="name 'projektion' is not defined$"):
        run(typed, path)
