"""Quiz questions: answered with buttons where widgets are live, with a second argument everywhere."""

from __future__ import annotations

from functools import partial
from html import escape
from typing import Any

from course_lib import exercises, progress
from course_lib.checking import Message
from course_lib.exercises.model import Question
from course_lib.explorers.live import keep_until_rerun, widgets_wanted

LETTERS = "abcde"
STYLE = (
    "<style>.course-quiz"
    " button{width:auto;min-width:8em;max-width:100%;height:auto;min-height:2.2em;line-height:1.4;padding:4px"
    " 12px;white-space:normal;text-align:left}</style>"
)


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
        self._widgets: list[Any] = []

    def __repr__(self) -> str:
        options = "\n".join(f"  {letter}) {option.text}" for letter, option in self._options())
        return f"{self.question.text}\n{options}\n{self._how()}"

    def _options(self):
        return zip(LETTERS, self.question.options, strict=False)

    def _how(self) -> str:
        return f'Choose first, then run: quiz("{self.question.name}", "a")'

    def _html(self) -> str:
        options = "".join(f"<li>{escape(option.text)}</li>" for _, option in self._options())
        return (
            f'<p><b>{escape(self.question.text)}</b></p><ol type="a">{options}</ol>'
            f"<p>Choose first, then run <code>{escape(self._how().split('run: ')[1])}</code></p>"
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        bundle = {"text/html": self._html(), "text/plain": repr(self)}
        if not widgets_wanted():
            return bundle
        try:
            view = self.widget().get_view_spec()
        except ImportError:
            return bundle
        keep_until_rerun(self)
        return {"application/vnd.jupyter.widget-view+json": view, **bundle}

    def widget(self):
        """The question as a widget: one button an option, the explanation below."""
        import ipywidgets as widgets

        told = widgets.HTML()
        buttons = [
            widgets.Button(description=f"{letter}) {option.text}", tooltip="", layout={"width": "auto"})
            for letter, option in self._options()
        ]
        for letter, button in zip(LETTERS, buttons, strict=False):
            button.on_click(partial(self._choose, letter, told))
        text = widgets.HTML(f"{STYLE}<b>{escape(self.question.text)}</b>")
        box = widgets.VBox([text, *buttons, told], layout={"align_items": "flex-start", "overflow": "visible"})
        box.add_class("course-quiz")
        self._widgets = [box, text, told, *buttons]
        return box

    def _choose(self, letter: str, told: Any, _button: Any) -> None:
        told.value = f'<div role="status">{respond(self.question, letter)._repr_mimebundle_()["text/html"]}</div>'

    def close(self) -> None:
        """Close the widgets."""
        for widget in self._widgets:
            widget.layout.close()
            widget.close()
        self._widgets = []
