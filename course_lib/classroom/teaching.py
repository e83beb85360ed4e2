"""The sections and tables of notebooks/TEACHING.md, for whatever shows them at their place in a lesson.

A teacher reads that file as it is; where a heading, a column or a name in it is not what is needed here, a ClassError
says what was expected and what stands there.
"""

from __future__ import annotations

import re

from course_lib import COURSE
from course_lib.classroom.places import ClassError
from course_lib.exercises import all_exercises
from course_lib.exercises.lessons import LESSONS

FILE = COURSE / "notebooks" / "TEACHING.md"
QUESTIONS, MISTAKES = "What to ask before each experiment", "Wrong answers to expect"


def section(heading: str) -> str:
    """What stands under a heading, in markdown."""
    parts = re.split(r"^## (.+)\n", FILE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    sections = dict(zip(map(str.strip, parts[1::2]), parts[2::2], strict=True))
    if heading not in sections:
        raise ClassError(f'{FILE.name}: expected the heading "## {heading}", got {", ".join(sections) or "none"}')
    return sections[heading].strip()


def table(heading: str, columns: int | None = None) -> list[list[str]]:
    """The rows of the table under a heading, as lists of cells in markdown, without its head."""
    rows = [line.strip("| ").split(" | ") for line in section(heading).splitlines() if line.startswith("|")]
    for row in rows[2:]:
        if columns is not None and len(row) != columns:
            raise _wrong(heading, f"{columns} cells", " | ".join(row))
    return rows[2:]


def asked() -> dict[tuple[str, str], list[list[str]]]:
    """What to ask before experiments, by notebook and heading of its section: question, answers, what to say."""
    found: dict[tuple[str, str], list[list[str]]] = {}
    for row in table(QUESTIONS, columns=4):
        link = re.fullmatch(r"\[(.+)\]\(([^)#]+)#(\S+)\)", row[1])
        if not link or link[2] not in {lesson.file for lesson in LESSONS}:
            raise _wrong(QUESTIONS, "[question](NN_lesson.ipynb#Heading-of-its-section) in the second cell", row[1])
        found.setdefault((link[2], link[3].replace("-", " ")), []).append([link[1], *row[2:]])
    return found


def asked_in(file: str, headings: list[str]) -> dict[str, list[list[str]]]:
    """What to ask in one lesson, by heading; each has to be one of those that the lesson has."""
    found = {heading: rows for (name, heading), rows in asked().items() if name == file}
    for heading in found:
        if heading not in headings:
            raise _wrong(QUESTIONS, f"a section of {file} ({', '.join(headings)})", heading)
    return found


def helps() -> dict[tuple[str, str], str]:
    """What helps beside the message of a check, by exercise and wrong answer."""
    found = {}
    for name, mistake, what in table(MISTAKES, columns=3):
        exercise = all_exercises().get(name.strip("`"))
        if exercise is None:
            raise _wrong(MISTAKES, "the name of an exercise in the first cell", name)
        if mistake not in {wrong.name for wrong in exercise.wrong}:
            raise _wrong(MISTAKES, f"the name of a wrong answer of {exercise.name}", mistake)
        found[exercise.name, mistake] = what
    return found


def _wrong(heading: str, expected: str, came: str) -> ClassError:
    return ClassError(f'{FILE.name}, "{heading}": expected {expected}, got {came!r}')
