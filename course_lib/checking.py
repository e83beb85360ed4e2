"""check, hint and solution: what a learner calls after writing an answer."""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

import torch

from course_lib import exercises, progress
from course_lib.diagnosis import Fault, always_the_same, brief, find_fault, only_right_for
from course_lib.exercises.model import Exercise, WrongAnswer
from course_lib.limits import Watch, watched
from course_lib.missing import tell_in_notebook
from course_lib.outcomes import Outcome, alike, changing_line, equal, right, run, same_again, was_stopped
from course_lib.relations import NOTHING, find_relation, numbers_apart

SURE = {
    "timed out",
    "interrupted",
    "raised",
    "not what was asked",
    "wrong type",
    "returned nothing",
    "not a number",
    "changed its input",
}
TIME_LIMIT = 20.0  # seconds that an answer may take in one check, over all its calls
COLOURS = {"right": "#009e73", "wrong": "#d55e00", "open": "#0072b2"}  # Okabe and Ito: told apart by everyone


@dataclass(frozen=True)
class Message:
    """Text in a coloured frame, with the same words as plain text."""

    message: str
    kind: str
    lines: str = ""  # set in a fixed-width font

    def __repr__(self) -> str:
        return self.message + (f"\n{self.lines}" if self.lines else "")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        text = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(self.message).replace("\n", "<br>"))
        lines = f'<pre style="margin:6px 0 0;line-height:1.35">{escape(self.lines)}</pre>' if self.lines else ""
        html = (
            f'<div style="border-left:5px solid {COLOURS[self.kind]};padding:6px 12px;margin:4px 0;'
            f'max-width:60em">{text}{lines}</div>'
        )
        return {"text/html": html, "text/plain": repr(self)}


@dataclass(frozen=True, repr=False)
class Result(Message):
    """What a check found: `passed`, `attempted`, `diagnosis` (the mistake's name or None), `message`."""

    passed: bool = False
    attempted: bool = True
    diagnosis: str | None = None

    def __bool__(self) -> bool:
        return self.passed


def check(answer: Callable | str) -> Result:
    """Try an answer, a function or class or its name as text, on the cases of its exercise.

    A wrong answer never raises; a name that no exercise has raises a LookupError with the nearest names.
    """
    exercise, answer = _exercise_and_answer(answer)
    if answer is None or not _attempted(answer):
        return Result(
            f"{exercise.name}: not attempted yet. Replace the `...` and run both cells again. "
            f"Stuck? `hint({exercise.name})`",
            "open",
            attempted=False,
        )
    _tried.add(exercise.name)
    # Layers draw numbers, and the notebook's stream stays where it is; a gradient is asked for in a no_grad block too.
    with watched(TIME_LIMIT) as watch, torch.random.fork_rng(devices=[]), torch.enable_grad():
        result = _judge(exercise, answer, watch)
        if result.diagnosis != "interrupted":  # that says nothing about the answer
            progress.record("check", exercise.name, passed=result.passed, diagnosis=result.diagnosis)
    return result


def hint(answer: Callable | str) -> Message:
    """The next hint for an exercise; after the last one it begins anew."""
    exercise, _ = _exercise_and_answer(answer)
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
        raise TypeError(
            f"expected the function itself, as in check(patchify), got {answer!r}: no brackets, no call"
        )
    if name == "<lambda>":
        raise TypeError(
            "a lambda has no name to find its exercise by: use def, or give the exercise's name as text"
        )
    return exercises.find(name), answer


def _attempted(answer: Callable) -> bool:
    """Whether anything but a docstring and the gap stands in the function, or in a method of the class."""
    # The source of a class typed into a notebook cannot be had, that of its methods can.
    methods = vars(answer).values() if inspect.isclass(answer) else [answer]
    parts = [part for part in methods if inspect.isfunction(part)] or [answer]
    return any(not _is_gap(statement) for part in parts for statement in _statements(part))


def _statements(function: Callable) -> list[ast.stmt]:
    """The statements in the body of a function; where its source cannot be read, one that is no gap."""
    try:
        definition = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
        return definition.body if isinstance(definition, ast.FunctionDef) else [definition]
    except (OSError, TypeError, SyntaxError, IndexError):
        return [ast.Break()]  # let the cases tell


def _is_gap(statement: ast.stmt) -> bool:
    if ast.unparse(statement) == "super().__init__()":
        return True
    text_or_dots = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    gives_dots = (
        isinstance(statement, ast.Return)
        and isinstance(statement.value, ast.Constant)
        and statement.value.value is Ellipsis
    )
    return text_or_dots or gives_dots or isinstance(statement, ast.Pass)


def _judge(exercise: Exercise, answer: Callable, watch: Watch) -> Result:
    fits = _fits(exercise, answer)
    if fits:
        return Result(f"{exercise.name}: {fits}", "wrong", diagnosis="wrong arguments")
    got = run(exercise, answer, watch)
    expected = run(exercise, exercise.solution)
    rights = [right(one, other) for one, other in zip(got, expected, strict=False)]
    total = len(exercise.cases())
    if len(rights) == total and all(rights):
        praise = f"{exercise.name}: correct on {total} of {total} cases. {exercise.praise}"
        other = _second_pass(exercise, answer, got, watch)
        return Result(praise, "right", passed=True) if other is None else other
    fault = _first_fault(exercise, answer, got, expected, rights, watch)
    known = None if was_stopped(got[-1]) or any(one.changed for one in got) else _known(exercise, got)
    if known is None and fault.name not in SURE:
        other = _second_pass(exercise, answer, got, watch)
        if other is not None:
            return other
    return _verdict(exercise, answer, got, expected, rights, fault, known, watch)


def _second_pass(exercise: Exercise, answer: Callable, got: list[Outcome], watch: Watch) -> Result | None:
    """What is to be said of an answer that does not do the same again; None where it does.

    A second pass that the time limit cuts short counts as far as it came, since an answer may be slow; unless it took
    far longer than the first.
    """
    first = watch.used
    again = run(exercise, answer, watch, backwards=True)  # in another order: what is kept shows
    done = [(one, other) for one, other in zip(again, got[-len(again) :], strict=True) if not was_stopped(one)]
    if watch.interrupted:
        text = "the check was interrupted before it was finished, and nothing is recorded. Run it again."
        return Result(f"{exercise.name}: {text}", "open", diagnosis="interrupted")
    if not all(same_again(one, other) for one, other in done) or len(done) < len(got) and not watch.expired:
        return _not_the_same_twice(exercise, answer, got, watch)
    if len(done) == len(got) or watch.used - first <= 2 * first + 0.05 * watch.seconds:
        return None
    fault = find_fault(exercise, again[0], again[0])
    return Result(
        f"{exercise.name}: on {again[0].case.label}, when it is called for the second time, {fault.text}",
        "wrong",
        diagnosis=fault.name,
    )


def _not_the_same_twice(exercise: Exercise, answer: Callable, got: list[Outcome], watch: Watch) -> Result:
    again = run(exercise, answer, watch)
    parts = [
        key
        for one, other in zip(got, again, strict=False)
        if isinstance(one.value, dict) and isinstance(other.value, dict)
        for key in one.value.keys() & other.value.keys()
        if not equal(one.value[key], other.value[key])
    ]
    which = f" What differs is {' and '.join(sorted(set(map(str, parts))))}." if parts and exercise.read else ""
    return Result(
        f"{exercise.name}: called twice with the same input, your code gives two different results.{which}\nDoes"
        " it draw random numbers? A new layer starts with some: is everything copied into it, or is it one layer"
        " too many? Or does it keep something from the call before (a default `=[]`, a name outside the"
        " function)?",
        "wrong",
        diagnosis="not the same twice",
    )


def _verdict(
    exercise: Exercise,
    answer: Callable,
    got: list[Outcome],
    expected: list[Outcome],
    rights: list[bool],
    fault: Fault,
    known: WrongAnswer | None,
    watch: Watch,
) -> Result:
    """Put the fact (what came instead of what) and the explanation (which mistake does that) together."""
    diagnosis, because, only = fault.name, fault.meaning, ""
    coincidence, sentence = only_right_for(expected, rights)
    if known:
        diagnosis, because = known.name, known.because
    elif fault.name not in SURE and always_the_same(got):
        diagnosis = "the same for every input"
        because = (
            "Whatever goes in, this comes out. If your code does use its arguments, what makes them count for nothing?"
            " 0 times anything is 0, for one."
        )
    elif fault.name in ("changed its input", "timed out", "interrupted"):
        pass
    elif coincidence and coincidence != "right for one case only":
        diagnosis, only = coincidence, f"{sentence} "
    elif found := _relation(exercise, answer, got, expected, fault, watch):
        diagnosis, because = found
    elif coincidence:
        diagnosis, only = coincidence, f"{sentence} "
    where = f"{'On' if only else 'on'} {fault.got.case.label}, "
    text = f"{exercise.name}: {only}{where}{fault.text}\n{because}".rstrip()
    return Result(text, "wrong", fault.lines, diagnosis=diagnosis)


def _relation(
    exercise: Exercise,
    answer: Callable,
    got: list[Outcome],
    expected: list[Outcome],
    fault: Fault,
    watch: Watch,
) -> tuple[str, str] | None:
    """Name and sentence of what a result of the right form has to do with the right one."""
    found = NOTHING
    if fault.name == "different":
        found = find_relation(exercise, answer, got, expected, watch)
    elif fault.name == "wrong order":
        found = numbers_apart(got, expected)
    return found if found != NOTHING else None


def _first_fault(
    exercise: Exercise,
    answer: Callable,
    got: list[Outcome],
    expected: list[Outcome],
    rights: list[bool],
    watch: Watch,
) -> Fault:
    """The fault of the first wrong case without a coincidence; cases that have to be refused come last."""
    wrong = [i for i, good in enumerate(rights) if not good]
    first = min(wrong, key=lambda i: (bool(expected[i].case.raises), bool(expected[i].case.only), i))
    if was_stopped(got[-1]):
        first = len(got) - 1
    if got[first].changed:
        got[first].line, got[first].source = changing_line(exercise, answer, first, watch)
    return find_fault(exercise, got[first], expected[first])


def _known(exercise: Exercise, got: list[Outcome]) -> WrongAnswer | None:
    """The known wrong answer that does the same as this one on every case."""
    for wrong in exercise.wrong:
        if all(alike(one, other) for one, other in zip(got, run(exercise, wrong.answer), strict=True)):
            return wrong
    return None


def _fits(exercise: Exercise, answer: Callable) -> str:
    """A sentence where the answer cannot be called with the exercise's arguments, else an empty text."""
    wanted = list(inspect.signature(exercise.solution).parameters)
    try:
        inspect.signature(answer).bind(*wanted)
    except TypeError:
        own = f"({', '.join(inspect.signature(answer).parameters)})"
        return f"it is called with {len(wanted)} arguments, ({', '.join(wanted)}); yours takes {own}."
    except ValueError:
        pass  # a built-in without a signature: let the cases tell
    return ""
