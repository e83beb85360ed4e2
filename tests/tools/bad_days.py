"""Runs the lessons on bad days. `python -m tests.tools.bad_days` writes the table of tries, tests/tools/BAD_DAYS.md.

A lesson passes a day if every cell runs and shows what is stored.
"""

from __future__ import annotations

import contextlib
import copy
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from course_lib import COURSE
from course_lib.authoring.notebooks import NotebookError, run
from tests.support.lab import copy_course
from tests.support.notebook_runs import NOTEBOOKS, changed, code_cells, read

TABLE = Path(__file__).with_name("BAD_DAYS.md")
ODD_PLACE = "Kurs für Wörter & 画像 (1)"

NO_NETWORK = """
import socket

def refuse(self, address):
    host = address[0] if isinstance(address, tuple) else "127.0.0.1"
    if host not in ("127.0.0.1", "::1", "localhost"):
        raise OSError(f"no network on this day: {host}")
    return connect(self, address)

def unknown(host, *rest, **more):
    raise socket.gaierror(f"no network on this day: {host}")

connect, socket.socket.connect, socket.getaddrinfo = socket.socket.connect, refuse, unknown
"""
WARNINGS = "import warnings; warnings.simplefilter('error')"


def first(notebook: NotebookNode, *sources: str) -> None:
    """Let a notebook begin with hidden cells that spoil the day."""
    notebook.cells[:0] = [new_code_cell(source, id=f"day-{place}") for place, source in enumerate(sources)]


def without_network(notebook: NotebookNode) -> None:
    first(notebook, NO_NETWORK)


def warnings_are_errors(notebook: NotebookNode) -> None:
    """After the imports: what other packages warn of while they load is theirs."""
    place = next(place for place, cell in enumerate(notebook.cells) if cell.id == "setup")
    notebook.cells.insert(place + 1, new_code_cell(WARNINGS, id="day"))
    notebook.cells.append(new_code_cell("warnings.simplefilter('default')", id="evening"))  # the kernel ends in peace


def again_in_another_order(notebook: NotebookNode) -> None:
    """All cells once, then all but the first in an order drawn by chance."""
    again = [new_code_cell(cell.source, id=f"again-{cell.id}") for cell in code_cells(notebook)[1:]]
    random.Random(1).shuffle(again)
    notebook.cells += again


def spoiled(notebook: NotebookNode) -> None:
    without_network(notebook)
    warnings_are_errors(notebook)


@dataclass(frozen=True)
class Day:
    """What is different: variables of the environment, the notebook itself, or where the course lies."""

    name: str
    environment: dict[str, str] = field(default_factory=dict)
    change: Callable[[NotebookNode], None] = lambda notebook: None
    elsewhere: bool = False


ALONE = "each cell alone, after the first one and those above it in its section"
C_LOCALE = {"LC_ALL": "C", "LANG": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "PYTHONIOENCODING": ""}
DAYS = (
    Day("no network: every address but this machine's own refuses", change=without_network),
    Day(f"the course lies in a folder called {ODD_PLACE}", elsewhere=True),
    Day("every warning is an error", change=warnings_are_errors),
    Day("one thread", {"OMP_NUM_THREADS": "1"}),
    Day("two threads", {"OMP_NUM_THREADS": "2"}),
    Day("hash seed 0", {"PYTHONHASHSEED": "0"}),
    Day("hash seed 1", {"PYTHONHASHSEED": "1"}),
    Day("locale C, which knows ASCII only", C_LOCALE),
    Day("all cells, then all again in another order", change=again_in_another_order),
)
WORST = Day(
    "no network, odd folder, warnings as errors, two threads, hash seed 1 and locale C together",
    {"OMP_NUM_THREADS": "2", "PYTHONHASHSEED": "1", **C_LOCALE},
    spoiled,
    elsewhere=True,
)


@contextlib.contextmanager
def place(elsewhere: bool) -> Iterator[Path]:
    """The course, or a copy of it in a folder with an odd name."""
    if not elsewhere:
        yield COURSE
        return
    with tempfile.TemporaryDirectory() as folder:
        course = Path(folder) / ODD_PLACE
        course.mkdir()
        copy_course(course)
        yield course


def outcome(path: Path, day: Day) -> str:
    """What a lesson did on a day: "as stored", or where it failed or showed something else."""
    stored = read(path)
    notebook = copy.deepcopy(stored)
    day.change(notebook)
    with place(day.elsewhere) as course:
        environment = {"PYTHONPATH": str(course), **day.environment}
        try:
            done = run(notebook, course / "notebooks" / path.name, **environment)
        except NotebookError as error:
            return f"failed: {error}"
    other = ", ".join(changed(stored, done))
    return f"other output: {other}" if other else "as stored"


def cells_alone_row(paths: list[Path]) -> str:
    """Each cell in a process of its own, after the first cell of its lesson and those above it in its section."""
    found: dict[str, list[str]] = {}
    for path in paths:
        done = subprocess.run(
            [sys.executable, "-m", "tests.tools.cells_alone", str(path)], capture_output=True, text=True, cwd=COURSE
        )
        for name, told in json.loads(done.stdout.splitlines()[-1]).items():
            found.setdefault(told, []).append(f"{path.name[:2]} {name}")
    ran, told = (len(found.pop(kind, [])) for kind in ("ran", "told"))
    counts = [f"{ran} cells ran, {told} were told which cell to run first"]
    counts += [f"{', '.join(names)}: {error}" for error, names in found.items()]
    return f"| {ALONE} | {len(paths)} | {'; '.join(counts)} |"


def main(numbers: list[str]) -> int:
    """Try each day with each lesson, or with those named; the table is written when all were tried."""
    chosen = [path for path in NOTEBOOKS if not numbers or path.name[:2] in numbers]
    rows, failures = [], 0
    for day in (*DAYS, WORST):
        outcomes = {path.name[:2]: outcome(path, day) for path in chosen}
        bad = {number: told for number, told in outcomes.items() if told != "as stored"}
        failures += len(bad)
        told = "; ".join(f"{number} {told}" for number, told in bad.items()) or "each as stored"
        rows.append(f"| {day.name} | {len(outcomes)} | {told} |")
        print(rows[-1], flush=True)
    rows.append(cells_alone_row(chosen))
    print(rows[-1])
    if not numbers:
        TABLE.write_text("\n".join([*HEAD, *rows, ""]), encoding="utf-8")
    return min(failures, 1)


HEAD = (
    "# Bad days",
    "",
    "Written by `python -m tests.tools.bad_days`. Every lesson was run on each of these days, every cell, and what it",
    "showed was compared with what is stored. The row before the last is tried again by the tests each time.",
    "",
    "| day | lessons | outcome |",
    "|---|---|---|",
)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
