"""What a wrong result has to do with the right one, found by trying: a sign, a term, an argument taken for another.

Each finding holds on every case that is to give a result, and is told as what it is: no guess at the code.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import itertools
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from course_lib.exercises.model import Case, Exercise
from course_lib.judging import names
from course_lib.judging.running import Outcome, alike, equal, near, run, shown
from course_lib.judging.terms import NOTHING, Finding, Pair, in_letters
from course_lib.judging.timelimit import TimeLimit

SECONDS = 2.0  # of the time that is left, for each try of the answer below


def find_relation(
    exercise: Exercise, answer: Callable, got: list[Outcome], expected: list[Outcome], limit: TimeLimit
) -> Finding:
    """The first relation that holds on all cases: to the right numbers, to the arguments, or where they differ.

    Within `limit` the answer is called again, with other arguments.
    """
    pairs = [(one, other) for one, other in zip(got, expected, strict=True) if not other.case.raises]
    if not pairs or any(one.error is not None or one.changed for one, _ in pairs):
        return NOTHING
    seekers = (
        lambda: numbers_apart(got, expected),
        lambda: _nothing_written(pairs),
        lambda: _an_argument(exercise, pairs),
        lambda: _not_read(exercise, answer, pairs, limit),
        lambda: _as_if(exercise, pairs),
        lambda: in_letters(exercise, pairs),
        lambda: _texts(pairs),
        lambda: _lists(pairs),
        lambda: _entries(pairs) if exercise.read is None else NOTHING,
        lambda: _places(pairs),
    )
    return next((found for found in (seek() for seek in seekers) if found != NOTHING), NOTHING)


# ---------------------------------------------------------------- all numbers alike


def numbers_apart(got: list[Outcome], expected: list[Outcome]) -> Finding:
    """All numbers off by one constant, factor or sign."""
    outcomes = [(one, other) for one, other in zip(got, expected, strict=True) if not other.case.raises]
    both = [(_numbers(other.value), _numbers(one.value)) for one, other in outcomes]
    pairs = [(a, b) for a, b in both if a is not None and b is not None and a.shape == b.shape]
    if not pairs or len(pairs) < len(both):
        return NOTHING
    right, other = torch.cat([a.flatten() for a, _ in pairs]), torch.cat([b.flatten() for _, b in pairs])
    if len(right) < 2 or not other.isfinite().all() or len(right.unique()) < 2:
        return NOTHING
    if torch.allclose(other, -right, rtol=1e-9):
        return names.SIGN, "Each number has the opposite sign."
    off = other - right
    if torch.allclose(off, off[:1], rtol=1e-6, atol=1e-9) and off[0] != 0:
        way = "large" if off[0] > 0 else "small"
        return names.CONSTANT, f"Each number is too {way} by {abs(off[0].item()):g}."
    there = right != 0
    ratio = other[there] / right[there]
    if torch.allclose(ratio, ratio[:1], rtol=1e-6, atol=0) and not other[~there].any() and ratio[0] not in (0, 1):
        factor = ratio[0].item()
        how = f"{factor:g} times what it should be" if abs(factor) > 1 else f"1/{1 / factor:g} of what it should be"
        return names.FACTOR, f"Each number is {how}."
    if len(right) > 3 and torch.allclose(other.abs(), right.abs(), rtol=1e-9, atol=0):
        return names.SIGN_IN_PART, "Each number is right but for its sign, and some have the wrong one."
    return NOTHING


def _numbers(value: Any) -> Tensor | None:
    if isinstance(value, Tensor):
        return value.double()
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return torch.tensor([float(value)], dtype=torch.float64)
        except OverflowError:  # a power of a power has more digits than a float can hold
            return None
    return None


def _nothing_written(pairs: list[Pair]) -> Finding:
    if all(isinstance(one.value, Tensor) and not one.value.any() for one, _ in pairs):
        return names.ZEROS, "All numbers are 0 on every case. Is anything put into the result?"
    return NOTHING


# ---------------------------------------------------------------- the arguments


def _an_argument(exercise: Exercise, pairs: list[Pair]) -> Finding:
    """The result is one of the arguments as it came in."""
    named = [dict(exercise.named(other.case)) for _, other in pairs]
    for name in named[0]:
        given = [values[name] for values in named]
        plain = [value.detach() if isinstance(value, Tensor) else value for value in given]
        if all(equal(value, one.value, one.slack) for value, (one, _) in zip(plain, pairs, strict=True)):
            return names.AN_ARGUMENT, f"On every case `{name}` came back as it went in."
    return NOTHING


def _not_read(exercise: Exercise, answer: Callable, pairs: list[Pair], limit: TimeLimit) -> Finding:
    """An argument that can be changed without a change of the result, though the right result changes."""
    for place, (name, _) in enumerate(exercise.named(pairs[0][1].case)):
        moved = 0
        for change in _OTHERS:
            every = [(pair, _with(pair[1].case, {place: change(_all(pair[1].case)[place])})) for pair in pairs]
            tries = [(pair, case) for pair, case in every if case is not None]
            wanted = _tried(exercise, exercise.solution, [case for _, case in tries])
            tries = [each for each, outcome in zip(tries, wanted, strict=True) if outcome.error is None]
            wanted = [outcome for outcome in wanted if outcome.error is None]
            with limit.at_most(SECONDS):
                came = _tried(exercise, answer, [case for _, case in tries], limit)
            if len(came) < len(tries) or not all(
                alike(one, pair[0]) for one, (pair, _) in zip(came, tries, strict=True)
            ):
                break
            moved += sum(not alike(one, pair[1]) for one, (pair, _) in zip(wanted, tries, strict=True))
        else:
            if moved > 2:
                text = f"Your result stayed the same each time `{name}` was changed. The right one does not."
                return names.WITHOUT_INFLUENCE, text
    return NOTHING


def _as_if(exercise: Exercise, pairs: list[Pair]) -> Finding:
    """The result would be the right one if an argument were another."""
    cases = [other.case for _, other in pairs]
    for tries in zip(*(_changes(exercise, case) for case in cases), strict=True):
        changed = [case for _, case in tries if case is not None]
        if len(changed) < len(tries):
            continue
        if _fits(exercise, changed[:1], pairs[:1]) and _fits(exercise, changed, pairs):
            return names.OTHER_ARGUMENTS, f"On every case this would be the right result {tries[0][0]}."
    return NOTHING


def _fits(exercise: Exercise, cases: list[Case], pairs: list[Pair]) -> bool:
    """Whether what the solution makes of these cases is what the answer gave."""
    came = _tried(exercise, exercise.solution, cases)
    return len(came) == len(pairs) and all(
        one.error is None and equal(given.value, one.value, one.slack)
        for one, (given, _) in zip(came, pairs, strict=True)
    )


def _changes(exercise: Exercise, case: Case) -> Iterator[tuple[str, Case | None]]:
    """(how it is told, the case with an argument changed), in the same order for every case."""
    named = exercise.named(case)
    for (one, (name, value)), (two, (other, its)) in itertools.permutations(enumerate(named), 2):
        same_kind = type(value) is type(its) and isinstance(value, (int, tuple, Tensor))
        if same_kind and getattr(value, "dtype", None) == getattr(its, "dtype", None):
            yield f"for `{other}` in place of `{name}`", _with(case, {one: its})
            if one < two:
                yield f"if `{name}` and `{other}` changed places", _with(case, {one: its, two: value})
    for place, (name, value) in enumerate(named):
        for told, change in _CHANGES:
            yield f"for {told.format(name)} in place of `{name}`", _with(case, {place: change(value)})


def _of(kinds: tuple[type, ...], change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The change where the value is of one of the kinds and allows it, else None."""

    def changed(value: Any) -> Any:
        try:
            return change(value) if isinstance(value, kinds) else None
        except (RuntimeError, IndexError):
            return None

    return changed


def _numbers_changed(number: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The change of a whole number, also in a tuple, and of each number of a tensor by its own amount."""

    def changed(value: Any) -> Any:
        if isinstance(value, Tensor) and value.is_floating_point():
            own = torch.linspace(1, 2, value.numel(), dtype=value.dtype).reshape(value.shape)
            return number(value.detach()) * own
        if isinstance(value, tuple) and all(isinstance(part, int) for part in value):
            return tuple(map(number, value))
        return number(value) if isinstance(value, int) else None

    return changed


_OTHERS = tuple(
    map(
        _numbers_changed,
        (lambda value: value + 1, lambda value: 2 * value, lambda value: value - 1, lambda value: value + 2),
    )
)
_CHANGES = (
    ("`{} + 1`", _of((int, Tensor), lambda value: value + 1)),
    ("`{} - 1`", _of((int, Tensor), lambda value: value - 1)),
    ("`2 * {}`", _of((int, Tensor), lambda value: 2 * value)),
    ("`{} // 2`", _of((int,), lambda value: value // 2)),
    ("`-{}`", _of((int, Tensor), lambda value: -value)),
    ("0", _of((int, Tensor), lambda value: 0 * value)),
    ("1", _of((int, Tensor), lambda value: 0 * value + 1)),
    ("`{}` turned round", _of((tuple, list, str), lambda value: value[::-1])),
    ("`{}` without its first entry", _of((tuple, list, str, Tensor), lambda value: value[1:])),
    ("`{}` without its last entry", _of((tuple, list, str, Tensor), lambda value: value[:-1])),
    ("`{}` without its very first number", _of((Tensor,), lambda value: value.flatten()[1:])),
    ("`{}` without its very last number", _of((Tensor,), lambda value: value.flatten()[:-1])),
    ("the first entry of `{}` alone", _of((tuple, list, str), lambda value: value[:1])),
    ("the last entry of `{}` alone", _of((tuple, list, str), lambda value: value[-1:])),
    ("the first number of `{}` twice", _of((tuple,), lambda value: value[:1] * 2 if len(value) == 2 else None)),
    ("the second number of `{}` twice", _of((tuple,), lambda value: value[1:] * 2 if len(value) == 2 else None)),
    ("upper case", _of((str,), str.upper)),
)


def _all(case: Case) -> tuple:
    return (*case.args, *case.given)


def _with(case: Case, values: dict[int, Any]) -> Case | None:
    """The case with other arguments at these places; None where one of them could not be made."""
    if any(value is None for value in values.values()):
        return None
    parts = list(_all(case))
    for place, value in values.items():
        old = parts[place]
        if isinstance(value, Tensor) and isinstance(old, Tensor):
            value = value.detach().clone().requires_grad_(old.requires_grad)
        parts[place] = value
    count = len(case.args)
    return dataclasses.replace(case, args=tuple(parts[:count]), given=tuple(parts[count:]))


def _tried(exercise: Exercise, answer: Callable, cases: list[Case], limit: TimeLimit | None = None) -> list[Outcome]:
    """What comes of other cases; what is printed or warned of on the way concerns nobody."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run(dataclasses.replace(exercise, cases=lambda: cases), answer, limit)


# ---------------------------------------------------------------- lists, texts, dicts


def _lists(outcomes: list[Pair]) -> Finding:
    pairs = [(other.value, one.value) for one, other in outcomes]
    if not all(isinstance(value, list) for pair in pairs for value in pair):
        return NOTHING
    counts = [(Counter(map(shown, one)), Counter(map(shown, other))) for one, other in pairs]
    if all(one == other for one, other in counts):
        return names.WRONG_ORDER, "The right entries, in another order."
    if all(other <= one for one, other in counts):
        return names.ENTRIES_MISSING, "Nothing came that does not belong there, but some entries are missing."
    if all(one <= other for one, other in counts):
        return names.ENTRIES_TOO_MANY, "All right entries are there, and others that do not belong there."
    return NOTHING


def _texts(outcomes: list[Pair]) -> Finding:
    pairs = [(other.value, one.value) for one, other in outcomes]
    if not all(isinstance(part, str) for pair in pairs for value in pair if isinstance(value, list) for part in value):
        return NOTHING
    if not all(isinstance(value, list) for pair in pairs for value in pair):
        return NOTHING
    if all([part.lower() for part in one] == [part.lower() for part in other] for one, other in pairs):
        return names.BUT_FOR_CAPITALS, "Right but for capital letters."
    if all([part for part in other if part.strip()] == one for one, other in pairs):
        return (
            names.EMPTY_ENTRIES,
            "Right but for entries with nothing in them, '' or a space: keep a piece only if its strip() is not empty.",
        )
    if all("".join(one) == "".join(other) for one, other in pairs):
        return names.CUT_ELSEWHERE, "The right characters in the right order, but cut into pieces at other places."
    return NOTHING


def _entries(outcomes: list[Pair]) -> Finding:
    pairs = [(other.value, one.value) for one, other in outcomes]
    if not all(isinstance(value, dict) for pair in pairs for value in pair):
        return NOTHING
    if all(_held(other, one) for one, other in pairs):
        return names.ENTRIES_MISSING, "Nothing came that does not belong there, but some entries are missing."
    if all(_held(one, other) for one, other in pairs):
        return names.ENTRIES_TOO_MANY, "All right entries are there, and others that do not belong there."
    if all(one.keys() == other.keys() for one, other in pairs):
        return names.OTHER_VALUES, "The keys are right, their values are not."
    return NOTHING


def _held(few: dict, many: dict) -> bool:
    return all(key in many and equal(value, many[key]) for key, value in few.items())


# ---------------------------------------------------------------- where the numbers differ


def _places(pairs: list[Pair]) -> Finding:
    """Wrong numbers that stand in one place of an axis only, or are off alike along an axis."""
    tensors = [(other.case, one.value, other.value, other.slack) for one, other in pairs]
    if not all(
        isinstance(one, Tensor) and isinstance(other, Tensor) and one.shape == other.shape and one.ndim
        for _, one, other, _ in tensors
    ):
        return NOTHING
    tensors = [each for each in tensors if each[1].numel()]
    axes = [case.axes.split() for case, *_ in tensors]
    if not tensors or any(others != axes[0] for others in axes):
        return NOTHING
    wrong = [~near(one, other, slack) for _, one, other, slack in tensors]
    for axis, name in enumerate(axes[0]):
        found = _in_one_place([mask.movedim(axis, 0).reshape(mask.shape[axis], -1).any(1) for mask in wrong], name)
        if found != NOTHING:
            return found
    off = [(one - other).double() for _, one, other, _ in tensors]
    for axes_alike in _groups(len(axes[0])):
        long = [each for each in off if all(each.shape[axis] > 1 for axis in axes_alike)]
        if len(long) > 1 and all(_alike_along(each, axes_alike) for each in off):
            along = " and ".join(axes[0][axis] for axis in axes_alike)
            return names.OFF_ALONG_AN_AXIS, f"What the numbers are off by does not change along {along}."
    return NOTHING


def _in_one_place(wrong: list[Tensor], name: str) -> Finding:
    """Whether the first or the last place along an axis is alone wrong, or alone right; `wrong` has one mask a case."""
    long = [mask for mask in wrong if len(mask) > 1]
    if len(long) < 2:
        return NOTHING
    ends = (("first", [(mask[0], mask[1:]) for mask in wrong]), ("last", [(mask[-1], mask[:-1]) for mask in wrong]))
    for told, parts in ends:
        if not any(rest.any() for _, rest in parts):
            return names.filled(names.WRONG_IN_PLACE, told), f"All that is wrong stands {told} along {name}."
        if not any(end for end, _ in parts) and all(rest.all() for _, rest in parts):
            text = f"What stands {told} along {name} is right on every case; all the rest is not."
            return names.filled(names.RIGHT_IN_PLACE, told), text
    return NOTHING


def _groups(count: int) -> Iterator[tuple[int, ...]]:
    """Sets of axes, the largest first."""
    for size in range(count - 1, 0, -1):
        yield from itertools.combinations(range(count), size)


def _alike_along(off: Tensor, axes: tuple[int, ...]) -> bool:
    spread = off.amax(axes, keepdim=True) - off.amin(axes, keepdim=True)
    return bool((spread <= 1e-9 * off.abs().max()).all())
