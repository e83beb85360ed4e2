"""Quiz questions: answered with buttons where widgets are live, with a second argument everywhere."""

from __future__ import annotations

from html import escape
from typing import Any

from course_lib import exercises, progress
from course_lib.exercises.model import Question
from course_lib.showing.controls import Answers, Panel
from course_lib.showing.live import VIEW, close_all, keep_until_rerun, widgets_wanted
from course_lib.showing.message import Message

LETTERS = "abcde"


def quiz(name: str, answer: str | None = None) -> Quiz | Message:
    """Ask the question of that name; with `answer`, a letter such as "b", explain that option at once."""
    question = exercises.find_question(name)
    return Quiz(question) if answer is None else respond(question, answer)


def respond(question: Question, letter: str) -> Message:
    """What choosing an option brings: right or not, and why. The choice goes into the learner's record."""
    choices = LETTERS[: len(question.options)]
    if not isinstance(letter, str) or letter.strip().lower() not in list(choices):
        raise ValueError(f"answer with one of the letters {', '.join(choices)}, got {letter!r}")
    letter = letter.strip().lower()
    option = question.options[choices.index(letter)]
    progress.record("quiz", question.name, answer=letter, passed=option.right)
    verdict = "right" if option.right else "not quite"
    return Message(f"{letter}) {option.text}: {verdict}. {option.because}", "right" if option.right else "wrong")


class Quiz:
    """A question on the page: buttons where a kernel answers, a list of options everywhere else."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.options = [f"{letter}) {option.text}" for letter, option in zip(LETTERS, question.options, strict=False)]
        self._widgets: list[Any] = []

    def __repr__(self) -> str:
        options = "\n".join(f"  {option}" for option in self.options)
        return f"{self.question.text}\n{options}\nChoose first, then run: {self._call()}"

    def _call(self) -> str:
        return f'quiz("{self.question.name}", "a")'

    def _html(self) -> str:
        options = "<br>".join(map(escape, self.options))
        return (
            f"<p><b>{escape(self.question.text)}</b></p><p>{options}</p>"
            f"<p>Choose first, then run <code>{escape(self._call())}</code></p>"
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        bundle = {"text/html": self._html(), "text/plain": repr(self)}
        if not widgets_wanted():
            return bundle
        try:
            view = self.widget().get_view_spec()
        except ImportError:  # no widget library: the list serves
            return bundle
        keep_until_rerun(self)
        return {VIEW: view, **bundle}

    def widget(self):
        """The question as a widget: one button an option, the explanation below."""
        import ipywidgets

        answers, told = Answers(self.question.text, self.options).widget(), Panel("").widget()

        def explain(change: dict) -> None:
            told.value = respond(self.question, LETTERS[change["new"]])._repr_mimebundle_()["text/html"]

        answers.observe(explain, names="value")
        self.close()
        self._widgets = [ipywidgets.VBox([answers, told]), answers, told]
        return self._widgets[0]

    def close(self) -> None:
        """Close the widgets."""
        close_all(self._widgets)
        self._widgets = []
