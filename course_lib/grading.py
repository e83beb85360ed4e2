"""What the hidden lines of a test cell call when nbgrader grades: a point for a passed check, an error for all else."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

PASSED = "application/vnd.course-lib.passed+json"
"""The type of output that says of a test cell: the check ran, and passed."""


class NoPoint(Exception):
    """Why an answer gets no point; shown without the lines of code that led here."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def grade(name: str) -> None:
    """Check the answer of that name and show what the check says; NoPoint, with the diagnosis, if it did not pass."""
    from course_lib.checking import check  # here, so that nbgrader can read PASSED without loading torch

    if is_ours(getattr(sys.modules["__main__"], name, None)):
        raise NoPoint(f"{name}: no point, since this is the course's own code")
    result = check(name)
    # display, since nbgrader takes the number in a cell's result for points
    from IPython.display import display

    mark = {PASSED: name} if result.passed is True else {}
    display({**result._repr_mimebundle_(), **mark}, raw=True)
    if not mark:
        raise NoPoint(f"{name}: no point ({result.diagnosis or 'not attempted'})")


def is_ours(answer: Any) -> bool:
    """Whether a function, or what makes and runs a class, is code of the course's library."""
    parts = [inspect.unwrap(answer)] if callable(answer) else []
    parts += [getattr(answer, method, None) for method in ("__init__", "forward")]
    files = [Path(part.__code__.co_filename) for part in parts if hasattr(part, "__code__")]
    return any(Path(__file__).parent in file.parents for file in files)
