"""The sections and tables of notebooks/TEACHING.md, for whatever shows them at their place in a lesson.

A teacher reads that file as it is; where a heading, a column, a row or a name in it is not what is needed here, a
ClassError names the line, what was expected there and what came.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from course_lib import COURSE
from course_lib.classroom.places import ClassError
from course_lib.exercises import find, named
from course_lib.exercises.lessons import LESSONS

FILE = COURSE / "notebooks" / "TEACHING.md"
QUESTIONS, MISTAKES = "What to ask before each experiment", "Wrong answers to expect"
MARKING = "Marking the open task"
COLUMNS = {
    QUESTIONS: ["lesson", "ask", "what you will hear", "what to say after the run"],
    MISTAKES: ["exercise", "wrong answer", "what helps"],
    MARKING: ["points", "for"],
}
BAR = re.compile(r"(?<!\\)\|")  # between cells; \| is a bar inside one


class Row(NamedTuple):
    """A row of a table: its cells in markdown, and its line in the file."""

    line: int
    cells: list[str]


def section(heading: str) -> str:
    """What stands under a heading, in markdown."""
    return "\n".join(_lines(heading).values()).strip()


def table(heading: str) -> list[list[str]]:
    """The cells of the rows of the table under a heading, without its head."""
    return [row.cells for row in _rows(heading)]


def asked() -> list[tuple[str, str, Row]]:
    """What to ask before experiments: file and anchor of the section, and question, answers, what to say."""
    found, files = [], [lesson.file for lesson in LESSONS]
    for row in _rows(QUESTIONS):
        _, ask, *said = row.cells
        link = re.fullmatch(r"\[(.+)\]\(([^)#]+)#(\S+)\)", ask)
        if not link:
            form = "[question](NN_lesson.ipynb#Heading-of-its-section)"
            raise _wrong(QUESTIONS, row, f"expected {form} in the column ask, got {ask}")
        if link[2] not in files:
            raise _wrong(QUESTIONS, row, f"expected the file of a lesson, got {link[2]}: they are {', '.join(files)}")
        found.append((link[2], link[3], Row(row.line, [link[1], *said])))
    return found


def asked_in(file: str, headings: list[str]) -> dict[str, list[list[str]]]:
    """What to ask in one lesson, by heading; each has to be one of those that the lesson has."""
    anchors = {heading.replace(" ", "-"): heading for heading in headings}
    found: dict[str, list[list[str]]] = {}
    for anchor, row in ((anchor, row) for name, anchor, row in asked() if name == file):
        if anchor not in anchors:
            raise _wrong(QUESTIONS, row, f"expected a section of {file}, got {anchor}: it has {', '.join(anchors)}")
        found.setdefault(anchors[anchor], []).append(row.cells)
    return found


def helps() -> dict[tuple[str, str], str]:
    """What helps beside the message of a check, by exercise and wrong answer."""
    found = {}
    for row in _rows(MISTAKES):
        name, mistake, what = row.cells
        try:
            exercise = find(name.strip("`"))
            named(mistake, {wrong.name: wrong for wrong in exercise.wrong}, f"wrong answer of {exercise.name}")
        except LookupError as error:
            raise _wrong(MISTAKES, row, str(error)) from None
        found[exercise.name, mistake] = what
    return found


def points() -> int:
    """How many points the open task can bring."""
    rows = _rows(MARKING)
    for row in rows:
        if not row.cells[0].isdecimal():
            raise _wrong(MARKING, row, f"expected a number in the column points, got {row.cells[0]}")
    return sum(int(row.cells[0]) for row in rows)


def _rows(heading: str) -> list[Row]:
    """The rows of the table under a heading; what the programs read has the columns that they expect."""
    rows = [Row(line, _cells(text)) for line, text in _lines(heading).items() if BAR.search(text)]
    head = rows[0] if rows else None
    columns = COLUMNS.get(heading, head.cells if head else [])
    if not head or head.cells != columns:
        got = " | ".join(head.cells) if head else "no table"
        raise _wrong(heading, head, f"expected the columns {' | '.join(columns)}, got {got}")
    if not re.fullmatch("[-:]+", "".join(rows[1].cells) if rows[1:] else ""):
        raise _wrong(heading, head, "expected |---|---| below the columns")
    for row in rows[2:]:
        if len(row.cells) != len(columns):
            got = f"got {len(row.cells)}: {' | '.join(row.cells)}"
            raise _wrong(heading, row, f"expected {len(columns)} cells, one a column, {got}")
    return rows[2:]


def _cells(text: str) -> list[str]:
    """The cells of a row, which may lack its outer bars."""
    inner = text.strip().removeprefix("|")
    return [cell.strip().replace("\\|", "|") for cell in BAR.split(re.sub(r"(?<!\\)\|$", "", inner))]


def _lines(heading: str) -> dict[int, str]:
    """The lines under a heading, by their numbers in the file."""
    try:
        lines = dict(enumerate(FILE.read_text(encoding="utf-8").splitlines(), 1))
    except (OSError, UnicodeError) as error:
        raise ClassError(f"{FILE.name} cannot be read ({getattr(error, 'strerror', '') or error})") from error
    starts = {line: text[3:].strip() for line, text in lines.items() if text.startswith("## ")}
    found = [line for line, name in starts.items() if name == heading]
    if not found:
        got = f"got {', '.join(starts.values()) or 'none'}"
        raise ClassError(f'{FILE.name}: expected the heading "## {heading}", {got}: give its section that name again')
    if len(found) > 1:
        raise ClassError(f'{FILE.name}: expected the heading "## {heading}" once, got it {len(found)} times')
    end = min((line for line in starts if line > found[0]), default=len(lines) + 1)
    return {line: lines[line] for line in range(found[0] + 1, end)}


def _wrong(heading: str, row: Row | None, what: str) -> ClassError:
    line = f", line {row.line}" if row else ""
    return ClassError(f'{FILE.name}{line}, "{heading}": {what}')
