"""A wrong whole number told in the letters of its exercise: what it is off by, as a sum of products."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor

from course_lib.exercises.model import Case, Exercise
from course_lib.judging import names
from course_lib.judging.running import Outcome

Finding = tuple[str, str]  # name and sentence; two empty texts where nothing was found
Pair = tuple[Outcome, Outcome]  # of the answer and of the solution, on one case
NOTHING: Finding = ("", "")
MANY = 45  # terms: of more, not every three are tried
EXACT = 2**50  # whole numbers below it are exact in float64, and so are their small multiples


def in_letters(exercise: Exercise, pairs: list[Pair]) -> Finding:
    """A whole number that is, or is off by, a term or two in the letters of its exercise."""
    numbers = [_quantities(exercise, other.case) for _, other in pairs]
    values = [(one.value, other.value) for one, other in pairs]
    whole = all(isinstance(value, int) and abs(value) < EXACT for pair in values for value in pair)
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
        return names.OFF_BY_A_TERM, f"On every case your number is {' and '.join(parts)}."
    found = _sum_of(came, terms, 1) or _sum_of(came, terms, 2) or _three_of(came, short)
    if found:
        text = " ".join(f"{'+' if sign > 0 else '−'} {term}" for sign, term in found).removeprefix("+ ")
        return names.ANOTHER_TERM, f"On every case your number is {text}."
    return _multiple(came - right, numbers)


def _multiple(off: Tensor, numbers: list[dict[str, int]]) -> Finding:
    """Off by a multiple of the same quantity on every case, where that can be no chance."""
    found: dict[str, Tensor] = {}
    for name in numbers[0]:
        sizes = torch.tensor([float(each[name]) for each in numbers], dtype=torch.float64)
        if (sizes > 0).all() and not (off % sizes).any():
            found[name] = sizes[off != 0].prod()
    name = max(found, key=lambda one: found[one], default="")
    if not name or found[name] < 1e5:
        return NOTHING
    told = f"the {name.strip('()')}" if name.startswith("(") else name
    return names.OFF_BY_A_MULTIPLE, f"On every case your number is off by a multiple of {told}."


def _quantities(exercise: Exercise, case: Case) -> dict[str, int]:
    """The whole numbers of a case by their names: its arguments and what its exercise counts on the way."""
    found = {f"`{name}`": value for name, value in exercise.named(case) if isinstance(value, int)}
    if exercise.quantities is not None:
        found |= {f"({name})": value for name, value in exercise.quantities(*case.args).items()}
    return found


def _terms(numbers: list[dict[str, int]]) -> list[tuple[str, Tensor]]:
    """Products of up to three of the quantities, shortest first: how each is told, its number on every case."""
    columns = {name: torch.tensor([float(each[name]) for each in numbers], dtype=torch.float64) for name in numbers[0]}
    found = [("1", torch.ones(len(numbers), dtype=torch.float64))]
    for count in (1, 2, 3):
        for factors in itertools.combinations_with_replacement(columns, count):
            product = torch.stack([columns[name] for name in factors]).prod(0)
            if product.abs().max() < EXACT:
                found.append((" · ".join(factors), product))
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
    for pair, third in (sums[:, None] == (target - table)[None]).all(2).nonzero().tolist():
        found = [signed[place][:2] for place in sorted([*pairs[pair].tolist(), third])]
        if len({told for _, told in found}) == 3:
            return found
    return []


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
