"""Where the files of a class come from and go to, and what is said when one cannot."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge", "chrome")


class ClassError(Exception):
    """What is wrong and what to do about it, in one line for the teacher."""


def place(name: str) -> Path:
    """A path as it was meant where the command was given."""
    return Path(os.environ.get("COURSE_STARTED_IN", ".")) / name


def free(paths: list[Path], force: bool) -> None:
    """ClassError where a file would be replaced without being asked to."""
    there = [path.name for path in paths if path.exists()]
    if there and not force:
        raise ClassError(f"{', '.join(there)} in {paths[0].parent} would be replaced: choose another place, or --force")


@contextmanager
def written(folder: Path) -> Iterator[None]:
    """Make the folder for what is written inside; ClassError where it, or a file in it, cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise ClassError(f"{folder} cannot be written to ({error.strerror})") from error


def chosen_lessons(only: list[str]) -> dict[Path, Any]:
    """The lessons with these numbers, or all: notebooks by their paths, in order.

    ClassError for a number that no lesson has, and for a damaged notebook.
    """
    from course_lib.authoring.notebooks import NotebookError, read
    from course_lib.exercises.lessons import notebooks

    lessons = notebooks()
    unknown = set(only) - {path.name[:2] for path in lessons}
    if unknown:
        raise ClassError(f"there is no lesson {', '.join(sorted(unknown))}: they are 00 to {lessons[-1].name[:2]}")
    try:
        return {path: read(path) for path in lessons if not only or path.name[:2] in only}
    except NotebookError as error:
        raise ClassError(str(error)) from error


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """ClassError, with the name of the lesson, where an exercise of it has not the form that the course needs."""
    try:
        yield
    except (LookupError, ValueError) as error:
        raise ClassError(f"{path.name}: {error}") from error


def browser() -> str:
    """The program of an installed browser that prints pages; ClassError where there is none."""
    found = next((path for path in map(shutil.which, BROWSERS) if path), None)
    if found is None:
        raise ClassError("no Chromium, Chrome or Edge was found to print with: leave out --pdf, and print the pages")
    return found
