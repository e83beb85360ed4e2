"""What a check makes of an answer: it runs it, names what went wrong, and puts fact and explanation together."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace

from course_lib.exercises.model import Exercise, WrongAnswer
from course_lib.judging import names
from course_lib.judging.faults import Fault, always_the_same, find_fault, only_right_for
from course_lib.judging.relations import find_relation, numbers_apart
from course_lib.judging.repair import find_repair
from course_lib.judging.running import Outcome, alike, changing_line, equal, right, run, same_again, timed_out
from course_lib.judging.terms import NOTHING
from course_lib.judging.timelimit import TimeLimit

PATIENCE = 3  # times as long as the first pass the second may take, before it counts as one that does not end


@dataclass(frozen=True)
class Verdict:
    """Whether an answer passed, what to tell the learner, and the name of the mistake."""

    passed: bool
    text: str
    diagnosis: str | None = None
    lines: str = ""
    cures: str = ""  # edits that make the answer right


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


def judge(exercise: Exercise, answer: Callable, limit: TimeLimit) -> Verdict:
    """The verdict on an answer, whose calls take no longer than the limit; Stopped where the learner stops it."""
    fits = _fits(exercise, answer)
    if fits:
        return Verdict(False, f"{exercise.name}: {fits}", names.WRONG_ARGUMENTS)
    got = run(exercise, answer, limit)
    attempt = Attempt(exercise, answer, limit, got, limit.spent, run(exercise, exercise.solution))
    if attempt.ended and all(attempt.rights):
        return _right_once(attempt)
    fault = _first_fault(attempt)
    named = attempt.ended and not any(one.changed for one in got)
    known = _known(exercise, got) if named else None
    if known is None and fault.name not in names.SURE:
        differs = _not_the_same_twice(attempt, attempt.again())
        if differs is not None:
            return _located(attempt, differs)
        known = _nearly_known(attempt) if named else None
    return _verdict(attempt, fault, known)


def _right_once(attempt: Attempt) -> Verdict:
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
        return Verdict(
            False,
            f"{name}: called a second time with the same input, on {last.case.label}, {fault.text}\nThe first time it"
            " did end, and all came out right. Does it keep something from the call before (a default `=[]`, a name"
            " outside the function)?",
            fault.name,
        )
    if timed_out(last):
        late = (
            f"\nThat took {took:.1f} seconds. Of {whole:g} too few were left to call it on every case once more, and to"
            " see whether the same comes again."
        )
    praise = attempt.exercise.praise
    return Verdict(True, f"{name}: correct on {total} of {total} cases. {praise}{late}")


def _not_the_same_twice(attempt: Attempt, again: list[Outcome]) -> Verdict | None:
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
    return Verdict(
        False,
        f"{exercise.name}: called twice with the same input, your code gives two different results.{which}\nDoes"
        " it draw random numbers? A new layer starts with some: is everything copied into it, or is it one layer"
        " too many? Or does it keep something from the call before (a default `=[]`, a name outside the"
        " function)?",
        names.NOT_THE_SAME_TWICE,
    )


def _verdict(attempt: Attempt, fault: Fault, known: WrongAnswer | None) -> Verdict:
    """Put the fact (what came instead of what) and the explanation (which mistake does that) together."""
    diagnosis, because, only = fault.name, fault.meaning, ""
    coincidence, sentence = only_right_for(attempt.expected, attempt.rights)
    if known:
        diagnosis, because = known.name, known.because
    elif fault.name not in names.SURE and always_the_same(attempt.got):
        diagnosis = names.SAME_FOR_EVERY_INPUT
        because = (
            "Whatever goes in, this comes out. If your code does use its arguments, what makes them count for nothing?"
            " 0 times anything is 0, for one."
        )
    elif fault.name in (names.CHANGED_ITS_INPUT, names.TIMED_OUT):
        pass
    elif coincidence and coincidence != names.RIGHT_FOR_ONE_CASE:
        diagnosis, only = coincidence, f"{sentence} "
    elif found := _relation(attempt, fault):
        diagnosis, because = found
    elif coincidence:
        diagnosis, only = coincidence, f"{sentence} "
    where = f"{'On' if only else 'on'} {fault.got.case.label}, "
    text = f"{attempt.exercise.name}: {only}{where}{fault.text}\n{because}".rstrip()
    verdict = Verdict(False, text, diagnosis, fault.lines)
    return verdict if known else _located(attempt, verdict)


def _located(attempt: Attempt, verdict: Verdict) -> Verdict:
    """The verdict with the edit of the learner's own code that mends it, where one is found."""
    if not attempt.ended or all(attempt.rights):
        return verdict
    repair = find_repair(attempt.exercise, attempt.answer, attempt.rights, attempt.expected, attempt.limit)
    if repair is None:
        return verdict
    text = f"{verdict.text}\n{repair.places(attempt.exercise.name)}"
    return replace(verdict, text=text, cures=repair.cures)


def _relation(attempt: Attempt, fault: Fault) -> tuple[str, str] | None:
    """Name and sentence of what a result of the right form has to do with the right one."""
    found, got, expected = NOTHING, attempt.got, attempt.expected
    if fault.name == names.DIFFERENT:
        found = find_relation(attempt.exercise, attempt.answer, got, expected, attempt.limit)
    elif fault.name == names.WRONG_ORDER:
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
    return next((wrong for wrong in exercise.wrong if all(_alike(exercise, wrong, got))), None)


def _nearly_known(attempt: Attempt) -> WrongAnswer | None:
    """The known wrong answer that this one is, and besides another one.

    It does the same on two thirds of the cases, on two of them with a wrong result, and on the others this one is
    wrong too.
    """
    best: tuple[int, WrongAnswer | None] = (0, None)
    for wrong in attempt.exercise.wrong:
        same = _alike(attempt.exercise, wrong, attempt.got)
        pairs = list(zip(same, attempt.rights, attempt.got, strict=True))
        telling = sum(one and not good and result.error is None for one, good, result in pairs)
        if all(one or not good for one, good, _ in pairs) and telling >= 2 and 3 * sum(same) >= 2 * len(same):
            best = max(best, (telling, wrong), key=lambda one: one[0])
    return best[1]


def _alike(exercise: Exercise, wrong: WrongAnswer, got: list[Outcome]) -> list[bool]:
    return [alike(one, other) for one, other in zip(got, run(exercise, wrong.answer), strict=True)]


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
