"""Whether an answer is more than the gap that the exercise left."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable


def attempted(answer: Callable) -> bool:
    """Whether anything but a docstring and the gap stands in the function, or in a method of the class."""
    # The source of a class typed into a notebook cannot be had, that of its methods can.
    methods = list(vars(answer).values()) if inspect.isclass(answer) else [answer]
    parts: list[Callable] = [part for part in methods if inspect.isfunction(part)]
    return any(not _is_gap(statement) for part in parts or [answer] for statement in _statements(part))


def _statements(function: Callable) -> list[ast.stmt]:
    """The statements in the body of a function; where its source cannot be read, one that is no gap."""
    try:
        definition = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
        return definition.body if isinstance(definition, ast.FunctionDef) else [definition]
    except (OSError, TypeError, SyntaxError, IndexError):
        return [ast.Break()]  # let the cases tell


def _is_gap(statement: ast.stmt) -> bool:
    if ast.unparse(statement) == "super().__init__()":
        return True
    text_or_dots = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    gives_dots = (
        isinstance(statement, ast.Return)
        and isinstance(statement.value, ast.Constant)
        and statement.value.value is Ellipsis
    )
    return text_or_dots or gives_dots or isinstance(statement, ast.Pass)
