"""The lessons of the course, and how far the learner has come."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path

from course_lib import COURSE, exercises, figures, progress
from course_lib.figures import Picture


@dataclass(frozen=True)
class Lesson:
    """Number, title, minutes for one learner, and the question that it settles."""

    number: str
    title: str
    minutes: int
    question: str

    @property
    def file(self) -> str:
        """Name of the notebook, or an empty text where it is missing."""
        found = sorted((COURSE / "notebooks").glob(f"{self.number}_*.ipynb"))
        return found[0].name if found else ""


LESSONS = (
    Lesson("00", "Start here", 10, "How does this course work, and is my computer ready?"),
    Lesson("01", "Words as one-hot codes", 50, "How can a machine tell words apart, and what does that cost?"),
    Lesson("02", "Looking up is multiplying", 60, "Is an embedding layer new, or a product that nobody carries out?"),
    Lesson("03", "Learning word vectors", 80, "Where do the numbers in the table come from?"),
    Lesson("04", "From image to patches", 65, "A sentence has spaces. Where are the spaces in a picture?"),
    Lesson("05", "One matrix for every patch", 45, "A word has a row in a table. What does a patch have?"),
    Lesson("06", "A convolution that is a projection", 85, "The paper says linear, the code says Conv2d. Which is it?"),
    Lesson("07", "A place and a summary", 60, "If all patches are shuffled, does the transformer notice?"),
    Lesson("08", "The hybrid", 55, "Is the strided convolution the hybrid of the paper?"),
    Lesson("09", "A dictionary of patches", 45, "Could patches be looked up, as words are?"),
    Lesson("10", "A small vision transformer", 60, "Does it all work together?"),
)


class Overview:
    """A table of all lessons with minutes and solved exercises, as HTML and as plain text."""

    def __init__(self) -> None:
        solved = progress.solved()
        self.rows = []
        for lesson in LESSONS:
            names = [name for name, exercise in exercises.all_exercises().items() if exercise.lesson == lesson.number]
            state = f"{len(solved.intersection(names))} of {len(names)} solved"
            self.rows.append((lesson, state, [name for name in names if name not in solved]))

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
        title = f'<a href="{_address(lesson.file)}">{title}</a>' if lesson.file else title
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
