"""Says which cell makes a name that is missing, the most common error after a restart."""

from __future__ import annotations

import ast
import functools
import sys
from dataclasses import dataclass
from typing import Any

from course_lib.exercises.lessons import notebooks
from course_lib.setup.notebook_file import NotebookError, load


@dataclass(frozen=True)
class Cell:
    """A code cell of a lesson: its id, text, section, and the names that it makes."""

    name: str
    source: str
    section: str
    makes: frozenset[str]


@functools.cache
def lessons() -> tuple[tuple[Cell, ...], ...]:
    """The code cells of each lesson, in order; a notebook that cannot be read has none."""
    return tuple(tuple(_cells(path)) for path in notebooks())


def _cells(path: Any) -> list[Cell]:
    found, section = [], ""
    try:
        cells = load(path)["cells"]
    except NotebookError:
        return []
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            found.append(Cell(cell.get("id", ""), source.strip(), section, frozenset(_made(source))))
        else:
            heads = [line[3:].strip() for line in source.splitlines() if line.startswith("## ")]
            section = heads[-1] if heads else section
    return found


def _made(source: str) -> set[str]:
    """The names that a cell assigns, imports or defines; none where it cannot be read."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return set()
    made = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    kinds = (ast.FunctionDef, ast.ClassDef)
    made |= {node.name for node in tree.body if isinstance(node, kinds)}
    imports = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    return made | {(alias.asname or alias.name).split(".")[0] for node in imports for alias in node.names}


def where(missing: str, cell: str, source: str) -> str:
    """A sentence that tells which cell makes the name `missing`; empty where no lesson tells.

    The cell that failed is found by its id or, where the front end sends none, by its text.
    """
    for cells in lessons():
        for place, one in enumerate(cells):
            if (one.name and one.name == cell) or one.source == source.strip():
                makers = [other for other in cells[:place] if missing in other.makes]
                if makers:
                    return _told(missing, makers[-1])
    return ""


def _told(missing: str, maker: Cell) -> str:
    first = next(line for line in maker.source.splitlines() if line.strip())
    if not maker.section:
        return f"The first cell of the lesson makes it: run that cell, which begins `{first}`"
    return f'The cell that begins `{first}` makes it, in the section "{maker.section}": run that cell first'


def tell_in_notebook() -> None:
    """Let a running notebook say, with each NameError, where the name is made; does nothing elsewhere."""
    ipython: Any = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython else None
    if hasattr(shell, "get_parent"):
        shell.set_custom_exc((NameError,), _show)


def _show(shell: Any, kind: type, error: NameError, traceback: Any, tb_offset: int | None = None) -> None:
    parent = shell.get_parent()
    cell = parent.get("metadata", {}).get("cellId", "")
    told = where(getattr(error, "name", None) or "", cell, parent.get("content", {}).get("code", ""))
    if told:
        error.args = (f"{error}. {told}",)
    shell.showtraceback((kind, error, traceback), tb_offset=tb_offset)
