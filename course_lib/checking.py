"""check, hint and solution: what a learner calls after writing an answer."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import Any

import torch

from course_lib import exercises, progress
from course_lib.exercises.model import Exercise
from course_lib.judging import names
from course_lib.judging.attempted import attempted
from course_lib.judging.faults import brief
from course_lib.judging.missing import tell_in_notebook
from course_lib.judging.running import cell_of, origin
from course_lib.judging.timelimit import Stopped, time_limit
from course_lib.judging.verdict import judge
from course_lib.showing.buttons import WithButtons
from course_lib.showing.controls import Buttons
from course_lib.showing.message import Message

TIME_LIMIT = 20.0  # seconds that all calls of the answer take together in one check


@dataclass(frozen=True, repr=False)
class Result(Message):
    """What a check found: `passed`, `attempted`, `diagnosis` (the mistake's name or None), `message`.

    `exercise` and `code`, the cell that was checked, serve the buttons beside it.
    """

    passed: bool = False
    attempted: bool = True
    diagnosis: str | None = None
    exercise: str = ""
    code: str = ""

    def __bool__(self) -> bool:
        return self.passed

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        message = Message(self.message, self.kind, self.lines)
        calls = [hint] * (not self.passed) + [solution] * self.attempted
        labels = ["Hint" if call is hint else "Show a solution" for call in calls]
        buttons = Buttons(f"Help with {self.exercise}", labels, self.exercise, self.code)
        page = WithButtons(buttons, lambda press: calls[press[0]](self.exercise), above=message)
        return page.bundle(message._repr_mimebundle_())


def check(answer: Callable | str) -> Result:
    """Try an answer, a function or class or its name as text, on the cases of its exercise.

    A wrong answer never raises, and an interrupt neither: a check that was stopped says so, and is no try.
    A name that no exercise has raises a LookupError with the nearest names.
    """
    with time_limit(TIME_LIMIT) as limit:
        exercise, given = _exercise_and_answer(answer)
        if given is None or not attempted(given):
            return Result(
                f"{exercise.name}: not attempted yet. Replace the `...` and run both cells again. "
                f"Stuck? `hint({exercise.name})`",
                "open",
                attempted=False,
                exercise=exercise.name,
                code=cell_of(given),
            )
        _tried.add(exercise.name)
        try:
            with _all_as_it_was():
                verdict = limit.until_stopped(judge, exercise, given, limit)
        except Stopped as stop:
            return _stopped(exercise, given, stop)
        progress.record("check", exercise.name, passed=verdict.passed, diagnosis=verdict.diagnosis)
        _cures[exercise.name] = verdict.cures
        kind = "right" if verdict.passed else "wrong"
        return Result(
            verdict.text,
            kind,
            verdict.lines,
            verdict.passed,
            diagnosis=verdict.diagnosis,
            exercise=exercise.name,
            code=cell_of(given),
        )


def hint(answer: Callable | str) -> Message:
    """The next hint for an exercise; after the last one it begins anew.

    Where the last check found what mends the answer, that comes first.
    """
    exercise, _ = _exercise_and_answer(answer)
    cures = _cures.pop(exercise.name, "")
    if cures:
        progress.record("hint", exercise.name, number=0)
        return Message(
            f"This makes your own code come out right on every case: {cures}.\nWhy does it? Change it yourself, and"
            f" check again. For a hint on the task itself: `hint({exercise.name})`",
            "open",
        )
    number = _hints_shown.get(exercise.name, 0) % len(exercise.hints)
    _hints_shown[exercise.name] = number + 1
    progress.record("hint", exercise.name, number=number + 1)
    after = (
        f"For the next one: `hint({exercise.name})`"
        if number + 1 < len(exercise.hints)
        else (f"That was the last one. To see a solution: `solution({exercise.name})`")
    )
    return Message(f"Hint {number + 1} of {len(exercise.hints)}: {exercise.hints[number]}\n{after}", "open")


def solution(answer: Callable | str) -> Message:
    """The solution of an exercise: at once after an attempt, otherwise when asked a second time."""
    exercise, _ = _exercise_and_answer(answer)
    if exercise.name not in _tried | progress.tries().keys():
        _tried.add(exercise.name)  # asking twice counts as well
        return Message(
            f"{exercise.name}: you have not tried it yet. A first try, even a wrong one, teaches more than "
            f"reading. Take a hint with `hint({exercise.name})`, or ask for the solution once more.",
            "open",
        )
    progress.record("solution", exercise.name)
    return Message(
        f"{exercise.name}: one solution of several. Read it, close it, and write it again yourself.",
        "open",
        exercise.solution_source,
    )


tell_in_notebook()  # every lesson imports this module in its first cell

_hints_shown: dict[str, int] = {}
_tried: set[str] = set()
_cures: dict[str, str] = {}  # by exercise: what mends the answer that was checked last


def _exercise_and_answer(answer: Callable | str) -> tuple[Exercise, Callable | None]:
    if isinstance(answer, str):
        found = getattr(sys.modules["__main__"], answer, None)
        exercise = exercises.find(answer)
        if found is not None and not callable(found):
            raise TypeError(
                f"the name {answer} holds no function any more but {brief(found)}: "
                "run the cell with `def` again, and give the result another name"
            )
        return exercise, found
    name = getattr(answer, "__name__", None)
    if not callable(answer) or name is None:
        raise TypeError(f"expected the function itself, as in check(patchify), got {answer!r}: no brackets, no call")
    if name == "<lambda>":
        raise TypeError("a lambda has no name to find its exercise by: use def, or give the exercise's name as text")
    return exercises.find(name), answer


@contextmanager
def _all_as_it_was() -> Iterator[None]:
    """Leave the notebook as it is, whatever an answer does and wherever it is stopped."""
    trace = sys.gettrace()
    # Layers draw numbers, and the notebook's stream stays where it is; a gradient is asked for in a no_grad block too.
    with torch.random.fork_rng(devices=[]), torch.enable_grad(), redirect_stdout(sys.stdout), warnings.catch_warnings():
        try:
            yield
        finally:
            sys.settrace(trace)


def _stopped(exercise: Exercise, answer: Callable, stop: Stopped) -> Result:
    """What a check says that the learner stopped: where that was, and nothing about the answer."""
    line, source = origin(stop, answer)
    where = f" On {stop.case.label}, it was interrupted on line {line}, `{source}`." if line and stop.case else ""
    return Result(
        f"{exercise.name}: stopped before it was finished, so this says nothing about your answer.{where}\nRun it"
        " again. If it takes long once more: is there a loop that never ends?",
        "open",
        diagnosis=names.INTERRUPTED,
        exercise=exercise.name,
        code=cell_of(answer),
    )
