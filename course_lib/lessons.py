"""The lessons of the course, and how far the learner has come."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from html import escape
from pathlib import Path

from course_lib import COURSE, progress
from course_lib.exercises.lessons import LESSONS, Lesson
from course_lib.showing.drawing import BLUE, GREEN, GREY, VERMILION, WHITE, Drawing
from course_lib.showing.picture import Picture


class Overview:
    """A table of all lessons with minutes and solved exercises, as HTML and as plain text."""

    def __init__(self) -> None:
        solved = progress.solved()
        self.rows = []
        for lesson in LESSONS:
            still_open = [name for name in lesson.exercises if name not in solved]
            count = len(lesson.exercises)
            self.rows.append((lesson, f"{count - len(still_open)} of {count} solved", still_open))

    def __repr__(self) -> str:
        return "\n".join(
            f"{lesson.number}  {lesson.title:<36}{lesson.minutes:>3} min  {state}" for lesson, state, _ in self.rows
        )

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        body = "".join(self._html_row(*row) for row in self.rows)
        head = "".join(
            f'<th scope="col" style="text-align:left">{name}</th>'
            for name in ("Lesson", "Minutes", "Exercises", "Still open")
        )
        return {
            "text/html": f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>",
            "text/plain": repr(self),
        }

    def _html_row(self, lesson: Lesson, state: str, still_open: list[str]) -> str:
        title = escape(f"{lesson.number} {lesson.title}")
        there = (COURSE / "notebooks" / lesson.file).exists()  # not where only the package is installed
        title = f'<a href="{_address(lesson.file)}">{title}</a>' if there else title
        state = state.replace(" ", "\N{NO-BREAK SPACE}")  # narrow, but never on two lines
        cells = (title, str(lesson.minutes), state, ", ".join(f"<code>{name}</code>" for name in still_open))
        return "<tr>" + "".join(f'<td style="text-align:left">{cell}</td>' for cell in cells) + "</tr>"


def _address(file: str) -> str:
    """The way from a notebook to another lesson: beside it, or in the next folder, as in an assignment of nbgrader."""
    next_folder = Path("..", Path(file).stem, file)
    return next_folder.as_posix() if next_folder.exists() else file


def overview() -> Overview:
    """All lessons with minutes, and what the learner's own record says is solved."""
    return Overview()


BOX_W, BOX_H = 200, 60
BOTH = ("00", "09", "10")  # lessons that belong to both lanes
MAP = {  # lesson -> place of its box: column (0 words, 1 the middle, 2 pictures), row
    "00": (1, 0),
    "01": (0, 1.25),
    "02": (0, 2.25),
    "03": (0, 3.25),
    "09": (0, 4.75),
    "04": (2, 1.25),
    "05": (2, 2.25),
    "06": (2, 3.25),
    "07": (2, 4.25),
    "08": (2, 5.25),
    "10": (1, 6.5),
}
WAYS = (
    ("00", "01"),
    ("01", "02"),
    ("02", "03"),
    ("00", "04"),
    ("04", "05"),
    ("05", "06"),
    ("06", "07"),
    ("07", "08"),
    ("08", "10"),
)


def course_map() -> Picture:
    """The way through the lessons on their two lanes as a picture, with minutes."""
    told = {lesson.number: f"{lesson.number} {lesson.title} ({lesson.minutes} min)" for lesson in LESSONS}
    # Downwards, so that it is narrow enough to be read in a small window.
    drawing = Drawing(2 * BOX_W + 180, int(7.5 * BOX_H) + 188)
    corner = {number: (20 + lane * (BOX_W / 2 + 70), 16 + row * (BOX_H + 24)) for number, (lane, row) in MAP.items()}
    (left, words_top), (right, pictures_top) = corner["01"], corner["04"]
    drawing.label(left, words_top - 14, "words", bold=True, colour=BLUE)
    drawing.label(right + BOX_W, pictures_top - 14, "pictures", anchor="end", bold=True, colour="#a84a00")
    for start, end in WAYS:
        (x1, y1), (x2, y2) = corner[start], corner[end]
        drawing.line(x1 + BOX_W / 2, y1 + BOX_H, x2 + BOX_W / 2, y2 - 3, stroke=GREY, width=2, arrow=True)
    _ways_of_the_dictionary(drawing, corner)
    middle, y = (left + right + BOX_W) / 2, corner["02"][1] + BOX_H / 2
    for edge in (left + BOX_W + 3, right - 3):
        drawing.line(middle, y, edge, y, stroke=GREEN, width=2, arrow=True)
    drawing.label(middle - 10, y - 14, "the same product", size=12, anchor="middle", colour="#00664b")
    for lesson in LESSONS:
        number, (x, y) = lesson.number, corner[lesson.number]
        colour = GREY if number in BOTH else BLUE if x == left else VERMILION
        drawing.rect(x, y, BOX_W, BOX_H, fill=WHITE, stroke=colour, stroke_width=2)
        for line, text in enumerate(textwrap.wrap(f"{number} {lesson.title}", 24, break_on_hyphens=False)):
            drawing.label(x + 9, y + 14 + 16 * line, text, size=12, bold=True)
        drawing.label(x + 9, y + BOX_H - 11, f"{lesson.minutes} min", size=11, colour="#505050")
    words, pictures = (
        ", ".join(told[number] for number, (column, _) in MAP.items() if column == lane and number not in BOTH)
        for lane in (0, 2)
    )
    drawing.text = (
        f"A map of the lessons. First {told['00']}. The lane of words: {words}. The lane of pictures: {pictures}."
        f" Behind lessons 02 and 04: {told['09']}. At the end, behind the lane of pictures: {told['10']}; a dashed line"
        " leads to it from lesson 09, which is optional. Lessons 02 and 05 are joined by the words: the same product."
    )
    return drawing.picture()


def _ways_of_the_dictionary(drawing: Drawing, corner: Mapping[str, tuple[float, float]]) -> None:
    """Lesson 09 takes 02, round the box of 03, and 04; it may be left out on the way to 10."""
    (x2, y2), (x4, y4), (x9, y9), (x10, y10) = (corner[number] for number in ("02", "04", "09", "10"))
    x, y, end = x2 + BOX_W + 14, y9 - 32, x9 + BOX_W - 50
    for one, other in (((x2 + BOX_W, y2 + 48), (x, y2 + 48)), ((x, y2 + 48), (x, y)), ((x, y), (end, y))):
        drawing.line(*one, *other, stroke=GREY, width=2)
    drawing.line(end, y, end, y9 - 3, stroke=GREY, width=2, arrow=True)
    drawing.line(x4, y4 + BOX_H, x9 + BOX_W + 3, y9 + BOX_H / 2, stroke=GREY, width=2, arrow=True)
    start, goal = (x9 + BOX_W / 2, y9 + BOX_H), (x10 + BOX_W / 2 - 30, y10 - 3)
    dashes = 7
    for place in range(dashes):  # each takes the first six tenths of its part of the way
        parts = (place / dashes, (place + (1 if place == dashes - 1 else 0.6)) / dashes)
        x1, y1, x2, y2 = (a + part * (b - a) for part in parts for a, b in zip(start, goal, strict=True))
        drawing.line(x1, y1, x2, y2, stroke=GREY, width=2, arrow=place == dashes - 1)
    drawing.label(start[0] + 44, (start[1] + goal[1]) / 2 + 8, "optional", size=12, anchor="end", colour="#505050")
