"""Quiz questions: answered with buttons where widgets are live, with a second argument everywhere."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from course_lib import exercises, progress
from course_lib.exercises.model import Question
from course_lib.showing.buttons import WithButtons
from course_lib.showing.controls import Answers
from course_lib.showing.message import Message

LETTERS = "abcde"


def quiz(name: str, answer: str | float | None = None) -> Quiz | Message:
    """Ask the question of that name; with `answer`, a letter such as "b" or an option's text, explain that at once."""
    question = exercises.find_question(name)
    return Quiz(question) if answer is None else respond(question, answer)


def respond(question: Question, answer: str | float) -> Message:
    """What choosing an option brings: right or not, and why. The choice goes into the learner's record.

    An answer that is none of the options is no choice: what the options are is told.
    """
    place = _chosen(question, str(answer))
    if place is None:
        options = "\n".join(_options(question))
        return Message(f"{answer!r} is none of the options. Answer with a letter:\n{options}", "open")
    letter, option = LETTERS[place], question.options[place]
    progress.record("quiz", question.name, answer=letter, passed=option.right)
    verdict = "right" if option.right else "not quite"
    return Message(f"{letter}) {option.text}: {verdict}. {option.because}", "right" if option.right else "wrong")


def _options(question: Question) -> list[str]:
    """The options with their letters."""
    return [f"{letter}) {option.text}" for letter, option in zip(LETTERS, question.options, strict=False)]


def _chosen(question: Question, answer: str) -> int | None:
    """The place of the option that is meant: by its letter, as in "b", "B)" or "(b)", or by its text or number."""
    letter = re.fullmatch(r"\W*([a-z])\W*", answer.strip().lower())
    if letter:
        place = LETTERS.find(letter.group(1))
        return place if 0 <= place < len(question.options) else None
    meant = _plain(answer)
    texts = [_plain(text) for text in (option.text for option in question.options)]
    whole = [_plain(text) for text in _options(question)]
    return next((place for place, both in enumerate(zip(texts, whole, strict=True)) if meant and meant in both), None)


def _plain(text: str) -> str:
    """A text without capitals, spaces and marks that nobody types: "8 MB." and "8mb" are one answer."""
    return re.sub(r"[\s,.`'\"()]", "", text.lower())


class Quiz:
    """A question on the page: buttons where a kernel answers, a list of options everywhere else."""

    def __init__(self, question: Question) -> None:
        self.question, self.options = question, _options(question)
        answers = Answers(question.text, self.options)
        self._page = WithButtons(answers, lambda place: respond(question, LETTERS[place]))

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
        return self._page.bundle({"text/html": self._html(), "text/plain": repr(self)})

    def widget(self) -> Any:
        """The question as a widget: one button an option, the explanation below."""
        return self._page.widget()

    def close(self) -> None:
        """Close the widgets."""
        self._page.close()
