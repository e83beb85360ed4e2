"""What the tests of the notebooks share: which there are, what their cells show, and how they are run."""

from __future__ import annotations

import ast
import copy
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from course_lib.authoring.notebooks import KEEP_OUTPUT, run
from course_lib.exercises import all_exercises
from course_lib.exercises.lessons import notebooks

NOTEBOOKS = notebooks()
LESSONS = [path for path in NOTEBOOKS if not path.name.startswith("00")]


def each(paths: list[Path]):
    """Parametrise a test by notebook."""
    return pytest.mark.parametrize("path", paths, ids=lambda path: path.stem)


def read(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def has_tag(cell: NotebookNode, tag: str) -> bool:
    return tag in cell.metadata.get("tags", [])


def compared(notebook: NotebookNode) -> list[NotebookNode]:
    """Return the code cells whose output is the same on every machine."""
    return [cell for cell in code_cells(notebook) if not has_tag(cell, KEEP_OUTPUT)]


def exercise_names(path: Path) -> list[str]:
    """Return the names of the exercises that belong to a notebook, sorted."""
    return sorted(one.name for one in all_exercises().values() if one.lesson == path.name[:2])


def called(cell: NotebookNode, name: str) -> list[ast.Call]:
    """Return the calls of the function `name` in a code cell."""
    calls = [node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Call)]
    return [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == name]


def live_cells(notebook) -> list[str]:
    """The ids of the cells that show a live picture: they end in a call of something of `explorers`."""
    parts = [node for cell in code_cells(notebook) for node in ast.walk(ast.parse(cell.source))]
    imports = [part for part in parts if isinstance(part, ast.ImportFrom)]
    names = {alias.name for part in imports if part.module.startswith("course_lib.explorers") for alias in part.names}
    lasts = {cell.id: ast.parse(cell.source).body[-1] for cell in code_cells(notebook)}
    calls = {name: last.value for name, last in lasts.items() if isinstance(getattr(last, "value", None), ast.Call)}
    return [name for name, call in calls.items() if getattr(call.func, "id", "") in names]


def texts(cell: NotebookNode) -> list[tuple[str, str]]:
    """Return what a cell prints, its results as plain text, and a word for each picture, in order."""
    shown: list[tuple[str, str]] = []
    for output in cell.outputs:
        if output.output_type == "stream":
            before = shown.pop()[1] if shown and shown[-1][0] == output.name else ""
            shown.append((output.name, before + output.text))
        else:
            shown += [("picture", "")] if "image/png" in output.data else []
            shown += [("text", output.data.get("text/plain", ""))]
    return shown


def changed(before: NotebookNode, after: NotebookNode) -> dict[str, tuple]:
    """What a cell showed before and after, by its id, where the two differ; of those that are the same everywhere."""
    now = {cell.id: cell for cell in after.cells}
    shown = {cell.id: (texts(cell), texts(now[cell.id])) for cell in compared(before)}
    assert shown, "no cell was compared"
    return {name: (one, other) for name, (one, other) in shown.items() if one != other}


def run_twice(notebook: NotebookNode, path: Path, last: str) -> tuple[NotebookNode, NotebookNode, str]:
    """Run each code cell twice in order in one kernel, then the line `last`.

    Returns the notebook as the first runs left it, as the second runs left it, and what `last` printed.
    """
    first, second = copy.deepcopy(notebook), copy.deepcopy(notebook)
    first.cells, second.cells = code_cells(first), code_cells(second)
    doubled = copy.deepcopy(notebook)
    doubled.cells = [cell for pair in zip(first.cells, second.cells, strict=True) for cell in pair]
    doubled.cells.append(nbformat.v4.new_code_cell(last, id="last"))
    cells = run(doubled, path).cells
    first.cells, second.cells = cells[:-1:2], cells[1:-1:2]
    return first, second, texts(cells[-1])[0][1]
