"""The one place that reads a notebook from its file, and says in plain words what is wrong with a damaged one."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from course_lib import COURSE


class NotebookError(RuntimeError):
    """A notebook is damaged, or a cell of it failed; the message names the notebook, what is wrong and where."""


def load(path: Path) -> dict[str, Any]:
    """What a notebook file holds: a dictionary of format 4 whose cells each have a type and a source.

    Raises NotebookError, which says what to do, for a file that is missing, unreadable or damaged.
    """
    try:
        return parse(path.read_bytes())
    except FileNotFoundError:
        raise NotebookError(f"there is no file {path}") from None
    except OSError as error:
        raise NotebookError(f"{path} cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise NotebookError(damage(path, str(error))) from error


def damage(path: Path, what: str) -> str:
    """One line on a damaged notebook, with the cure; `what` is wrong with it."""
    path = path.resolve()
    if path.parent != COURSE / "notebooks":
        return f"{path} is damaged: {what}. Put a good copy in its place"
    name = f"notebooks/{path.name}"
    cure = f"rename it if it holds work of yours, then run `git checkout HEAD -- {name}` in the course folder"
    return f"{name} is damaged: {what}. To restore it, {cure}, or fetch the course again"


def parse(content: bytes) -> dict[str, Any]:
    """The same from the bytes of a file. ValueError says what is wrong, such as "it is empty"."""
    try:
        found = json.loads(content.decode())
    except UnicodeDecodeError:
        raise ValueError("it is no text in UTF-8") from None
    except RecursionError:
        raise ValueError("it is no JSON that can be read, it is nested too deeply") from None
    except ValueError as error:
        raise ValueError(_broken(content, error)) from None
    if not _is_notebook(found):
        raise ValueError("it is JSON, but no notebook of format 4")
    return found


def _broken(content: bytes, error: ValueError) -> str:
    if not content.strip():
        return "it is empty"
    # Inside of JSON's strings a line cannot begin, so these are git's.
    mark = re.search(rb"^(<<<<<<<|=======|>>>>>>>)", content, re.MULTILINE)
    if mark:
        return f"it holds marks of a merge conflict (line {content[: mark.start()].count(10) + 1})"
    line = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
    return f"it is cut short or no JSON{line}"


def _is_notebook(found: Any) -> bool:
    if not isinstance(found, dict) or found.get("nbformat") != 4 or not isinstance(found.get("cells"), list):
        return False
    return all(isinstance(cell, dict) and isinstance(cell.get("cell_type"), str) and _is_text(cell.get("source"))
               for cell in found["cells"])  # fmt: skip


def _is_text(source: Any) -> bool:
    return isinstance(source, str) or (isinstance(source, list) and all(isinstance(line, str) for line in source))
