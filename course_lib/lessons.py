"""The lessons of the course, and how far the learner has come."""

from __future__ import annotations

from html import escape
from pathlib import Path

from course_lib import COURSE, figures, progress
from course_lib.exercises.lessons import LESSONS, Lesson
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


def course_map() -> Picture:
    """The way through the lessons as a picture, with minutes."""
    notes = {lesson.number: f"{lesson.minutes} min" for lesson in LESSONS}
    return figures.course_map({lesson.number: lesson.title for lesson in LESSONS}, notes)


def overview() -> Overview:
    """All lessons with minutes, and what the learner's own record says is solved."""
    return Overview()
