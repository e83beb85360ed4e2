"""Runs each cell of a notebook alone: `python -m tests.tools.cells_alone NOTEBOOK` prints what became of each, as JSON.

A cell runs after the first one of its lesson and those above it in its section, in a process that ends with it.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from IPython.core.interactiveshell import InteractiveShell

from course_lib.judging.missing import where
from tests.support.notebook_runs import read


def alone(path: Path) -> dict[str, str]:
    """For each code cell "ran", "told" (a NameError that says which cell to run first), or the error."""
    shell, above, found = InteractiveShell.instance(), [], {}
    cells = read(path).cells
    (setup,) = [cell for cell in cells if cell.id == "setup"]
    shell.run_cell(setup.source).raise_error()
    for cell in cells:
        if cell.cell_type == "code" and cell is not setup:
            found[cell.id] = _in_a_process_of_its_own(shell, [one.source for one in above], cell)
            above.append(cell)
        elif any(line.startswith("## ") for line in cell.source.splitlines()):
            above = []
    return found


def _in_a_process_of_its_own(shell: InteractiveShell, above: list[str], cell) -> str:
    read_end, write_end = os.pipe()
    if os.fork() == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        for source in above:
            shell.run_cell(source)
        os.write(write_end, _outcome(shell.run_cell(cell.source), cell).encode())
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end) as told:
        said = told.read()
    os.wait()
    return said or "the process died"


def _outcome(result, cell) -> str:
    error = result.error_before_exec or result.error_in_exec
    if error is None:
        return "ran"
    if isinstance(error, NameError) and where(error.name, cell.id, cell.source):
        return "told"
    return f"{type(error).__name__}: {error}"[:300]


if __name__ == "__main__":
    print(json.dumps(alone(Path(sys.argv[1]))))
