"""check, hint and solution: what a learner calls after writing an answer."""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from html import escape
from typing import Any

import torch

from course_lib import exercises, progress
from course_lib.exercises.model import Exercise, WrongAnswer
from course_lib.judging.faults import Fault, always_the_same, brief, find_fault, only_right_for
from course_lib.judging.missing import tell_in_notebook
from course_lib.judging.relations import NOTHING, find_relation, numbers_apart
from course_lib.judging.running import Outcome, alike, changing_line, equal, origin, right, run, same_again, timed_out
from course_lib.judging.timelimit import Stopped, TimeLimit, time_limit

SURE = {
    "timed out",
    "raised",
    "not what was asked",
    "wrong type",
    "returned nothing",
    "not a number",
    "changed its input",
}
TIME_LIMIT = 20.0  # seconds that all calls of the answer take together in one check
PATIENCE = 3  # times as long as the first pass the second may take, before it counts as one that does not end
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


@dataclass(frozen=True)
class Attempt:
    """An answer, what came of calling it on the cases in `seconds`, and what the solution gives."""

    exercise: Exercise
    answer: Callable
    limit: TimeLimit
    got: list[Outcome]  # as far as the time allowed
    seconds: float
    expected: list[Outcome]

    @property
    def rights(self) -> list[bool]:
        """Which cases came out right, of those on which the answer was called."""
        return [right(one, other) for one, other in zip(self.got, self.expected, strict=False)]

    @property
    def ended(self) -> bool:
        """Whether the answer came to its end on every case."""
        return not timed_out(self.got[-1])

    def again(self) -> list[Outcome]:
        """What comes of calling the answer once more, in another order, so that what it keeps shows."""
        return run(self.exercise, self.answer, self.limit, backwards=True)


def check(answer: Callable | str) -> Result:
    """Try an answer, a function or class or its name as text, on the cases of its exercise.

    A wrong answer never raises, and an interrupt neither: a check that was stopped says so, and is no try.
    A name that no exercise has raises a LookupError with the nearest names.
    """
    with time_limit(TIME_LIMIT) as limit:
        exercise, answer = _exercise_and_answer(answer)
        if answer is None or not _attempted(answer):
            return Result(
                f"{exercise.name}: not attempted yet. Replace the `...` and run both cells again. "
                f"Stuck? `hint({exercise.name})`",
                "open",
                attempted=False,
            )
        _tried.add(exercise.name)
        try:
            with _all_as_it_was():
                result = limit.until_stopped(_judge, exercise, answer, limit)
        except Stopped as stop:
            return _stopped(exercise, answer, stop)
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
        raise TypeError(f"expected the function itself, as in check(patchify), got {answer!r}: no brackets, no call")
    if name == "<lambda>":
        raise TypeError("a lambda has no name to find its exercise by: use def, or give the exercise's name as text")
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
        diagnosis="interrupted",
    )


def _judge(exercise: Exercise, answer: Callable, limit: TimeLimit) -> Result:
    fits = _fits(exercise, answer)
    if fits:
        return Result(f"{exercise.name}: {fits}", "wrong", diagnosis="wrong arguments")
    got = run(exercise, answer, limit)
    attempt = Attempt(exercise, answer, limit, got, limit.spent, run(exercise, exercise.solution))
    if attempt.ended and all(attempt.rights):
        return _right_once(attempt)
    fault = _first_fault(attempt)
    known = _known(exercise, got) if attempt.ended and not any(one.changed for one in got) else None
    if known is None and fault.name not in SURE:
        differs = _not_the_same_twice(attempt, attempt.again())
        if differs is not None:
            return differs
    return _verdict(attempt, fault, known)


def _right_once(attempt: Attempt) -> Result:
    """The verdict on an answer that came out right on every case: called again, it has to do the same.

    Slowness is no mistake: where the rest of the time is too short for a second pass, what it showed until then
    counts. But an answer that does not end, although it had much longer than the first time, is told.
    """
    name, total, whole, took = attempt.exercise.name, len(attempt.got), attempt.limit.seconds, attempt.seconds
    again = attempt.again()
    differs = _not_the_same_twice(attempt, again)
    if differs is not None:
        return differs
    last, late = again[0], ""
    if timed_out(last) and whole - took > PATIENCE * took:
        fault = find_fault(attempt.exercise, last, last)
        return Result(
            f"{name}: called a second time with the same input, on {last.case.label}, {fault.text}\nThe first time it"
            " did end, and all came out right. Does it keep something from the call before (a default `=[]`, a name"
            " outside the function)?",
            "wrong",
            diagnosis=fault.name,
        )
    if timed_out(last):
        late = (
            f"\nThat took {took:.1f} seconds. Of {whole:g} too few were left to call it on every case once more, and to"
            " see whether the same comes again."
        )
    praise = attempt.exercise.praise
    return Result(f"{name}: correct on {total} of {total} cases. {praise}{late}", "right", passed=True)


def _not_the_same_twice(attempt: Attempt, again: list[Outcome]) -> Result | None:
    """What to say where a call came out otherwise than before; `again` has the last cases, as far as time allowed."""
    exercise = attempt.exercise
    pairs = [pair for pair in zip(attempt.got[-len(again) :], again, strict=True) if not timed_out(pair[1])]
    if all(same_again(other, one) for one, other in pairs):
        return None
    parts = [
        key
        for one, other in pairs
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


def _verdict(attempt: Attempt, fault: Fault, known: WrongAnswer | None) -> Result:
    """Put the fact (what came instead of what) and the explanation (which mistake does that) together."""
    diagnosis, because, only = fault.name, fault.meaning, ""
    coincidence, sentence = only_right_for(attempt.expected, attempt.rights)
    if known:
        diagnosis, because = known.name, known.because
    elif fault.name not in SURE and always_the_same(attempt.got):
        diagnosis = "the same for every input"
        because = (
            "Whatever goes in, this comes out. If your code does use its arguments, what makes them count for nothing?"
            " 0 times anything is 0, for one."
        )
    elif fault.name in ("changed its input", "timed out"):
        pass
    elif coincidence and coincidence != "right for one case only":
        diagnosis, only = coincidence, f"{sentence} "
    elif found := _relation(attempt, fault):
        diagnosis, because = found
    elif coincidence:
        diagnosis, only = coincidence, f"{sentence} "
    where = f"{'On' if only else 'on'} {fault.got.case.label}, "
    text = f"{attempt.exercise.name}: {only}{where}{fault.text}\n{because}".rstrip()
    return Result(text, "wrong", fault.lines, diagnosis=diagnosis)


def _relation(attempt: Attempt, fault: Fault) -> tuple[str, str] | None:
    """Name and sentence of what a result of the right form has to do with the right one."""
    found, got, expected = NOTHING, attempt.got, attempt.expected
    if fault.name == "different":
        found = find_relation(attempt.exercise, attempt.answer, got, expected, attempt.limit)
    elif fault.name == "wrong order":
        found = numbers_apart(got, expected)
    return found if found != NOTHING else None


def _first_fault(attempt: Attempt) -> Fault:
    """The fault of the first wrong case without a coincidence; cases that have to be refused come last."""
    got, expected = attempt.got, attempt.expected
    wrong = [i for i, good in enumerate(attempt.rights) if not good]
    first = min(wrong, key=lambda i: (bool(expected[i].case.raises), bool(expected[i].case.only), i))
    if not attempt.ended:
        first = len(got) - 1
    if got[first].changed:
        line = changing_line(attempt.exercise, attempt.answer, first, attempt.limit)
        got[first].line, got[first].source = line
    return find_fault(attempt.exercise, got[first], expected[first])


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
