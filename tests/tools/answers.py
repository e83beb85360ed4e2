"""What the checks say of answers that readers typed: python -m tests.tools.answers FILE [--told] [EXERCISE ...].

FILE is JSON: `setups`, each the code that makes the names which a notebook has by then, and `answers`, each with
`exercise`, `code`, the number of its `setup`, `truth` ("right", "wrong" or "open", where one may say both) and `what`,
a few words on the mistake. Prints for each exercise how many wrong answers pass, how many right ones are refused, and
how many of the refused wrong ones get the name of their mistake, are located by an edit that mends them, or get a
general word (a message that no gradient arrives, and where, or that a layer is not what was asked, and why, counts as
a name); with --told also what was said of each.
"""

from __future__ import annotations

import argparse
import json
import linecache
import os
import statistics
import sys
import time
import types
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course_lib.checking import Result, check
from course_lib.exercises import all_exercises
from course_lib.judging import names


@dataclass(frozen=True)
class Judged:
    """An answer of the file, and what its check said in how many seconds."""

    answer: dict[str, Any]
    result: Result
    seconds: float

    @property
    def verdict(self) -> str:
        """In a word, how the check did."""
        right, passed = self.answer["truth"] == "right", self.result.passed
        if self.answer["truth"] == "open":
            return "open"
        if right or passed:
            return "right" if right and passed else "false refusal" if right else "false pass"
        known = {wrong.name for wrong in all_exercises()[self.answer["exercise"]].wrong}
        if self.result.diagnosis in known | TELLING:
            return "named"
        return "located" if LOCATED in self.result.message else "general"


def judge(answer: dict[str, Any], setup: str) -> Judged:
    """Type the answer into a notebook of its own that ran the setup, and check it."""
    notebook = types.ModuleType("__main__")
    before, sys.modules["__main__"] = sys.modules["__main__"], notebook
    try:
        _run("setup", setup, notebook)
        _run(f"answer {id(answer)}", answer["code"], notebook)
        start = time.perf_counter()
        result = check(answer["exercise"])
        return Judged(answer, result, time.perf_counter() - start)
    finally:
        sys.modules["__main__"] = before


def _run(name: str, code: str, notebook: types.ModuleType) -> None:
    """Run a cell so that its lines can be shown, as a kernel does."""
    file = f"<{name}>"
    linecache.cache[file] = (len(code), None, code.splitlines(True), file)
    exec(compile(code, file, "exec"), vars(notebook))


def judge_all(file: Path, exercises: list[str] | None = None) -> list[Judged]:
    """Every answer of a file, or those to some exercises."""
    held = json.loads(file.read_text(encoding="utf-8"))
    wanted = [answer for answer in held["answers"] if not exercises or answer["exercise"] in exercises]
    return [judge(answer, held["setups"][answer["setup"]]) for answer in wanted]


VERDICTS = ("right", "false refusal", "named", "located", "general", "false pass", "open")
TELLING = {names.NOT_ASKED, names.NO_GRADIENT}  # general names whose message says what exactly is wrong
LOCATED = "\nLook at "  # how the place of a repair is told


def table(judged: list[Judged]) -> str:
    """A line for each exercise and one for all: how many of each verdict, and the seconds."""
    lines = [" ".join([f"{'':24}", *(f"{verdict:>13}" for verdict in VERDICTS), f"{'median':>8}{'most':>8} s"])]
    names = [name for name in all_exercises() if any(one.answer["exercise"] == name for one in judged)]
    for name in [*names, "all"]:
        of = [one for one in judged if name in ("all", one.answer["exercise"])]
        counts, seconds = Counter(one.verdict for one in of), [one.seconds for one in of]
        cells = [f"{counts[verdict]:>13}" for verdict in VERDICTS]
        lines.append(" ".join([f"{name:24}", *cells, f"{statistics.median(seconds):8.2f}{max(seconds):8.2f}"]))
    return "\n".join(lines)


def main() -> None:
    """Print the table, and with --told each answer with what was said."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("exercises", nargs="*")
    parser.add_argument("--told", action="store_true", help="print each answer and what its check said")
    given = parser.parse_args()
    os.environ["COURSE_PROGRESS"] = "off"
    judged = judge_all(given.file, given.exercises)
    if given.told:
        for one in judged:
            print(f"== {one.answer['exercise']}: {one.answer['what']} ({one.answer['truth']}, {one.verdict})")
            print(f"{one.answer['code']}\n-- {one.result.diagnosis}, {one.seconds:.2f} s\n{one.result!r}\n")
    print(table(judged))


if __name__ == "__main__":
    main()
