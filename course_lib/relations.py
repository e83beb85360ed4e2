"""What a wrong result has to do with the right one, found by trying: a sign, a term, an argument taken for another.

Each finding holds on every case that is to give a result, and is told as what it is: no guess at the code.
"""

from __future__ import annotations

import dataclasses
import inspect
import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from course_lib.exercises.model import Case, Exercise
from course_lib.outcomes import Outcome, alike, equal, near, run, shown

Finding = tuple[str, str]  # name and sentence; two empty texts where nothing was found
Pair = tuple[Outcome, Outcome]  # of the answer and of the solution, on one case
NOTHING: Finding = ("", "")
SECONDS = 2.0  # for each of the tries below
MANY = 45  # terms: of more, not every three are tried


def find_relation(exercise: Exercise, answer: Callable, got: list[Outcome], expected: list[Outcome]) -> Finding:
    """The first relation that holds on all cases: to the right numbers, to the arguments, or where they differ."""
    pairs = [(one, other) for one, other in zip(got, expected, strict=True) if not other.case.raises]
    if not pairs or any(one.error is not None or one.changed for one, _ in pairs):
        return NOTHING
    seekers = (
        lambda: numbers_apart(got, expected),
        lambda: _nothing_written(pairs),
        lambda: _an_argument(exercise, pairs),
        lambda: _not_read(exercise, answer, pairs),
        lambda: _as_if(exercise, pairs),
        lambda: _in_letters(exercise, pairs),
        lambda: _lists(pairs),
        lambda: _texts(pairs),
        lambda: _entries(pairs) if exercise.read is None else NOTHING,
        lambda: _places(pairs),
    )
    return next((found for found in (seek() for seek in seekers) if found != NOTHING), NOTHING)


# ---------------------------------------------------------------- all numbers alike


def numbers_apart(got: list[Outcome], expected: list[Outcome]) -> Finding:
    """All numbers off by one constant, factor or sign."""
    outcomes = [(one, other) for one, other in zip(got, expected, strict=True) if not other.case.raises]
    pairs = [(_numbers(other.value), _numbers(one.value)) for one, other in outcomes]
    if not pairs or any(a is None or b is None or a.shape != b.shape for a, b in pairs):
        return NOTHING
    right, other = torch.cat([a.flatten() for a, _ in pairs]), torch.cat([b.flatten() for _, b in pairs])
    if len(right) < 2 or not other.isfinite().all() or len(right.unique()) < 2:
        return NOTHING
    if torch.allclose(other, -right, rtol=1e-9):
        return "sign", "Each number has the opposite sign."
    off = other - right
    if torch.allclose(off, off[:1], rtol=1e-6, atol=1e-9) and off[0] != 0:
        way = "large" if off[0] > 0 else "small"
        return "constant", f"Each number is too {way} by {abs(off[0].item()):g}."
    there = right != 0
    ratio = other[there] / right[there]
    if torch.allclose(ratio, ratio[:1], rtol=1e-6, atol=0) and not other[~there].any() and ratio[0] not in (0, 1):
        factor = ratio[0].item()
        how = f"{factor:g} times what it should be" if abs(factor) > 1 else f"1/{1 / factor:g} of what it should be"
        return "factor", f"Each number is {how}."
    if len(right) > 3 and torch.allclose(other.abs(), right.abs(), rtol=1e-9, atol=0):
        return "sign in part", "Each number is right but for its sign, and some have the wrong one."
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
        return "nothing but zeros", "All numbers are 0 on every case: the result was made, and nothing was put into it."
    return NOTHING


# ---------------------------------------------------------------- the arguments


def _named(exercise: Exercise, case: Case) -> list[tuple[str, Any]]:
    """Each argument of a case with its name; of a class, those of __init__ and those of forward."""
    names = list(inspect.signature(exercise.solution).parameters)
    if case.given:
        names += list(inspect.signature(exercise.solution.forward).parameters)[1:]
    return list(zip(names, (*case.args, *case.given), strict=True))


def _an_argument(exercise: Exercise, pairs: list[Pair]) -> Finding:
    """The result is one of the arguments as it came in."""
    named = [dict(_named(exercise, other.case)) for _, other in pairs]
    for name in named[0]:
        given = [values[name] for values in named]
        plain = [value.detach() if isinstance(value, Tensor) else value for value in given]
        if all(equal(value, one.value, one.slack) for value, (one, _) in zip(plain, pairs, strict=True)):
            return "an argument came back", f"On every case `{name}` came back as it went in."
    return NOTHING


def _not_read(exercise: Exercise, answer: Callable, pairs: list[Pair]) -> Finding:
    """An argument that can be changed without a change of the result, though the right result changes."""
    for place, (name, _) in enumerate(_named(exercise, pairs[0][1].case)):
        moved = 0
        for change in _OTHERS:
            tries = [(pair, _with(pair[1].case, {place: change(_all(pair[1].case)[place])})) for pair in pairs]
            tries = [(pair, case) for pair, case in tries if case is not None]
            wanted = _tried(exercise, exercise.solution, [case for _, case in tries])
            tries = [each for each, outcome in zip(tries, wanted, strict=True) if outcome.error is None]
            wanted = [outcome for outcome in wanted if outcome.error is None]
            came = _tried(exercise, answer, [case for _, case in tries])
            if len(came) < len(tries) or not all(
                alike(one, pair[0]) for one, (pair, _) in zip(came, tries, strict=True)
            ):
                break
            moved += sum(not alike(one, pair[1]) for one, (pair, _) in zip(wanted, tries, strict=True))
        else:
            if moved > 2:
                text = f"Your result stayed the same each time `{name}` was changed, and it should not have."
                return "an argument without influence", text
    return NOTHING


def _as_if(exercise: Exercise, pairs: list[Pair]) -> Finding:
    """The result would be the right one if an argument were another."""
    cases = [other.case for _, other in pairs]
    for tries in zip(*(_changes(exercise, case) for case in cases), strict=True):
        changed = [case for _, case in tries]
        if any(case is None for case in changed):
            continue
        if _fits(exercise, changed[:1], pairs[:1]) and _fits(exercise, changed, pairs):
            return "right for other arguments", f"On every case this would be the right result {tries[0][0]}."
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
    named = _named(exercise, case)
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
    ("the first number of `{}` twice", _of((tuple,), lambda value: value[:1] * len(value))),
    ("the second number of `{}` twice", _of((tuple,), lambda value: value[1:2] * len(value))),
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


def _tried(exercise: Exercise, answer: Callable, cases: list[Case]) -> list[Outcome]:
    return run(dataclasses.replace(exercise, cases=lambda: cases), answer, SECONDS)


# ---------------------------------------------------------------- counts, told in letters


def _in_letters(exercise: Exercise, pairs: list[Pair]) -> Finding:
    """A whole number that is, or is off by, a term or two in the letters of its exercise."""
    numbers = [_quantities(exercise, other.case) for _, other in pairs]
    values = [(one.value, other.value) for one, other in pairs]
    whole = all(isinstance(value, int) and abs(value) < 2**50 for pair in values for value in pair)
    counted = exercise.quantities or all(isinstance(part, int) for _, other in pairs for part in other.case.args)
    if not whole or not counted or len(pairs) < 4:
        return NOTHING
    came, right = torch.tensor(values, dtype=torch.float64).T
    terms = _terms(numbers)
    short = [(told, column) for told, column in terms if told.count(" · ") < 2]
    found = _sum_of(came - right, terms, 1) or _sum_of(came - right, terms, 2) or _three_of(came - right, short)
    if found:
        more, less = ([term for sign, term in found if sign == way] for way in (1, -1))
        parts = [f"too {how} by {' + '.join(each)}" for how, each in (("large", more), ("small", less)) if each]
        return "off by a term", f"On every case your number is {' and '.join(parts)}."
    found = _sum_of(came, terms, 1) or _sum_of(came, terms, 2) or _three_of(came, short)
    if found:
        text = " ".join(f"{'+' if sign > 0 else '−'} {term}" for sign, term in found).removeprefix("+ ")
        return "another term", f"On every case your number is {text}."
    return _multiple(came - right, numbers)


def _multiple(off: Tensor, numbers: list[dict[str, int]]) -> Finding:
    """Off by a multiple of the same quantity on every case, where that can be no chance."""
    found = {}
    for name in numbers[0]:
        sizes = torch.tensor([float(each[name]) for each in numbers], dtype=torch.float64)
        if (sizes > 0).all() and not (off % sizes).any():
            found[name] = sizes[off != 0].prod()
    name = max(found, key=found.get, default="")
    if not name or found[name] < 1e5:
        return NOTHING
    return "off by a multiple", f"On every case your number is off by a multiple of {name.strip('()')}."


def _quantities(exercise: Exercise, case: Case) -> dict[str, int]:
    """The whole numbers of a case by their names: its arguments and what its exercise counts on the way."""
    found = {f"`{name}`": value for name, value in _named(exercise, case) if isinstance(value, int)}
    if exercise.quantities is not None:
        found |= {f"({name})": value for name, value in exercise.quantities(*case.args).items()}
    return found


def _terms(numbers: list[dict[str, int]]) -> list[tuple[str, Tensor]]:
    """Products of up to three of the quantities, shortest first: how each is told, its number on every case."""
    columns = {name: torch.tensor([float(each[name]) for each in numbers], dtype=torch.float64) for name in numbers[0]}
    found = [("1", torch.ones(len(numbers), dtype=torch.float64))]
    for count in (1, 2, 3):
        for names in itertools.combinations_with_replacement(columns, count):
            product = torch.stack([columns[name] for name in names]).prod(0)
            found.append((" · ".join(names), product))
    return found


def _sum_of(target: Tensor, terms: list[tuple[str, Tensor]], count: int) -> list[tuple[int, str]]:
    """The target as one or two of the terms, each times a whole number: (sign, term) each; empty where it is none."""
    table = torch.stack([numbers for _, numbers in terms])  # (terms, cases)
    if count == 1:
        first = _whole(target[0] / table[:, 0])
        fits = (first[:, None] * table == target).all(1) & (first != 0)
        return [_told(first[place], terms[place][0]) for place in fits.nonzero().flatten().tolist()[:1]]
    for place in range(1, len(terms)):
        one, rest = table[place], table[:place]
        by = one[0] * rest[:, 1] - one[1] * rest[:, 0]  # two cases give the two factors, the others test them
        first = _whole((target[0] * rest[:, 1] - target[1] * rest[:, 0]) / by)
        second = _whole((one[0] * target[1] - one[1] * target[0]) / by)
        fits = (first[:, None] * one + second[:, None] * rest == target).all(1) & (first != 0) & (second != 0)
        for other in fits.nonzero().flatten().tolist()[:1]:
            return [_told(first[other], terms[place][0]), _told(second[other], terms[other][0])]
    return []


def _three_of(target: Tensor, terms: list[tuple[str, Tensor]]) -> list[tuple[int, str]]:
    """The target as a sum or difference of three of the terms, where they are few; empty where it is none."""
    if len(terms) > MANY:
        return []
    signed = [(sign, told, sign * numbers) for told, numbers in terms for sign in (1, -1)]
    table = torch.stack([numbers for *_, numbers in signed])
    pairs = torch.combinations(torch.arange(len(signed)))
    sums = table[pairs[:, 0]] + table[pairs[:, 1]]
    hits = (sums[:, None] == (target - table)[None]).all(2).nonzero()
    if not len(hits):
        return []
    pair, third = hits[0].tolist()
    return [signed[place][:2] for place in sorted({*pairs[pair].tolist(), third})]


def _whole(factors: Tensor) -> Tensor:
    """Factors that are whole and small, 0 for all others."""
    factors = factors.nan_to_num(0, 0, 0)
    rounded = factors.round()
    good = ((factors - rounded).abs() < 1e-6) & (rounded.abs() <= 8)
    return torch.where(good, rounded, torch.zeros_like(rounded))


def _told(factor: Tensor, term: str) -> tuple[int, str]:
    size = int(abs(factor.item()))
    told = str(size) if term == "1" else term if size == 1 else f"{size} · {term}"
    return (1 if factor > 0 else -1), told


# ---------------------------------------------------------------- lists, texts, dicts


def _lists(outcomes: list[Pair]) -> Finding:
    pairs = [(other.value, one.value) for one, other in outcomes]
    if not all(isinstance(value, list) for pair in pairs for value in pair):
        return NOTHING
    counts = [(Counter(map(shown, one)), Counter(map(shown, other))) for one, other in pairs]
    if all(one == other for one, other in counts):
        return "wrong order", "The right entries, in another order."
    if all(other <= one for one, other in counts):
        return "entries missing", "What came is right, but some entries are missing."
    if all(one <= other for one, other in counts):
        return "entries too many", "All right entries are there, and others that do not belong there."
    return NOTHING


def _texts(outcomes: list[Pair]) -> Finding:
    pairs = [(other.value, one.value) for one, other in outcomes]
    if not all(isinstance(part, str) for pair in pairs for value in pair if isinstance(value, list) for part in value):
        return NOTHING
    if not all(isinstance(value, list) for pair in pairs for value in pair):
        return NOTHING
    if all([part.lower() for part in one] == [part.lower() for part in other] for one, other in pairs):
        return "right but for capitals", "Right but for capital letters."
    if all("".join(one) == "".join("".join(other).split()) for one, other in pairs):
        return "cut at other places", "The right characters in the right order, but cut into pieces at other places."
    return NOTHING


def _entries(outcomes: list[Pair]) -> Finding:
    pairs = [(other.value, one.value) for one, other in outcomes]
    if not all(isinstance(value, dict) for pair in pairs for value in pair):
        return NOTHING
    if all(_held(other, one) for one, other in pairs):
        return "entries missing", "What came is right, but some entries are missing."
    if all(_held(one, other) for one, other in pairs):
        return "entries too many", "All right entries are there, and others that do not belong there."
    if all(one.keys() == other.keys() for one, other in pairs):
        return "right keys, other values", "The keys are right, their values are not."
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
    if not tensors or any(names != axes[0] for names in axes):
        return NOTHING
    wrong = [~near(one, other, slack) for _, one, other, slack in tensors]
    for axis, name in enumerate(axes[0]):
        long = [mask.movedim(axis, 0) for mask in wrong if mask.shape[axis] > 1]
        if len(long) < 2:
            continue
        for index, told in ((0, "first"), (-1, "last")):
            rest = [mask[1:] if index == 0 else mask[:-1] for mask in long]
            if not any(mask.any() for mask in rest):
                return f"wrong in the {told} place", f"All that is wrong stands {told} along {name}."
            if not any(mask[index].any() for mask in long):
                text = f"What stands {told} along {name} is right on every case; the rest is not."
                return f"right in the {told} place", text
    off = [(one - other).double() for _, one, other, _ in tensors]
    for axes_alike in _groups(len(axes[0])):
        shown = [each for each in off if all(each.shape[axis] > 1 for axis in axes_alike)]
        if len(shown) > 1 and all(_alike_along(each, axes_alike) for each in off):
            along = " and ".join(axes[0][axis] for axis in axes_alike)
            return "off alike along an axis", f"What the numbers are off by does not change along {along}."
    return NOTHING


def _groups(count: int) -> Iterator[tuple[int, ...]]:
    """Sets of axes, the largest first."""
    for size in range(count - 1, 0, -1):
        yield from itertools.combinations(range(count), size)


def _alike_along(off: Tensor, axes: tuple[int, ...]) -> bool:
    spread = off.amax(axes, keepdim=True) - off.amin(axes, keepdim=True)
    return bool((spread <= 1e-9 * off.abs().max()).all())
