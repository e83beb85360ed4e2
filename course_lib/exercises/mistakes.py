"""Wrong answers written as a page, so that the mistake and its explanation are what meets the eye.

A page holds entries with a blank line between them: the name at the margin, the explanation below it, and further in
the code that makes the mistake:

    sides added
        Rows and columns of the grid were added: a grid of 3 rows and 4 columns has 12 places.
            rows * columns → rows + columns

    rows only
        That is how many patches stand one below the other. How many are side by side?
            return (height - patch_size) // stride + 1

The code is an edit of the solution, `old → new` with a line for each place, where a mistake is one; `old` stands in the
solution once, and `…` in it for the rest of a line (`return … → return rows`). Otherwise it is the body of the whole:
of a function with the solution's arguments, or of a class derived from the solution's. It may use torch, nn, F, math
and what the module defines above it.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import math
import re
import sys
import textwrap
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from course_lib.exercises.model import WrongAnswer

_ENTRY = re.compile(
    r"""(?P<name>\S.*)\n
        (?P<because>(?:[ ]{4}\S.*\n)+)
        (?P<code>(?:[ ]{8}.*\n)+)""",
    re.VERBOSE,
)
ARROW = "→"


def mistakes(solution: Callable[..., Any], page: str, **names: Any) -> tuple[WrongAnswer, ...]:
    """The wrong answers of a page; a ValueError names the entry that cannot be read, and says what is expected.

    `names` are what its code uses beside torch, nn, F, math and what its module defines.
    """
    known = {"torch": torch, "nn": nn, "F": F, "math": math, **vars(sys.modules[solution.__module__]), **names}
    source = textwrap.dedent(inspect.getsource(solution))
    found = []
    for entry in re.split(r"\n\s*\n", page.strip("\n")):
        parts = _ENTRY.fullmatch(entry.rstrip() + "\n")
        if not parts:
            raise ValueError(f"expected a name, 4 blanks and its explanation, 8 blanks and its code, got:\n{entry}")
        name, because = parts["name"].strip(), " ".join(parts["because"].split())
        code = _source(solution, source, name, textwrap.dedent(parts["code"]))
        found.append(WrongAnswer(name, _made(solution.__name__, name, code, known), because))
    return tuple(found)


def _source(solution: Callable[..., Any], source: str, name: str, code: str) -> str:
    """The text of the function or class that makes a mistake."""
    own = solution.__name__
    if ARROW in code:
        return _edited(source, name, code)
    inside = textwrap.indent(code, "    ")
    if inspect.isclass(solution) and all(isinstance(part, _OF_A_CLASS) for part in ast.parse(code).body):
        return f"class {own}({own}):\n{inside}"
    return f"def {own}({', '.join(inspect.signature(solution).parameters)}):\n{inside}"


_OF_A_CLASS = (ast.FunctionDef, ast.Assign)


def _edited(source: str, name: str, edits: str) -> str:
    """The solution's text with each edit made."""
    for edit in edits.splitlines():
        old, arrow, new = (part.strip() for part in edit.partition(ARROW))
        places = list(re.finditer(re.escape(old).replace("…", ".*"), source))
        if not arrow or len(places) != 1:
            raise ValueError(
                f"{name}: expected `old {ARROW} new`, and the old once in the solution, got {edit.strip()!r}, which"
                f" stands {len(places)} times in\n{source}"
            )
        source = source[: places[0].start()] + new + source[places[0].end() :]
    return source


def _made(own: str, name: str, source: str, known: dict[str, Any]) -> Callable[..., Any]:
    """The function or class of that text."""
    file = f"<{own}: {name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)  # so that an error can show its line
    made: dict[str, Any] = {}
    exec(compile(source, file, "exec"), known, made)
    return made[own]
