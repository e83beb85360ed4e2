"""What went wrong, told in the letters of the course: general faults, in the order in which they are sought."""

from __future__ import annotations

import inspect
import itertools
import math
import re
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from course_lib.exercises.model import Case, Exercise, NotAsked
from course_lib.judging import names
from course_lib.judging.errors import explain_error, with_article
from course_lib.judging.running import (
    Outcome,
    equal,
    learning,
    names_enough,
    near,
    same_gradient,
    shown,
    timed_out,
)
from course_lib.judging.shapes import describe_shape, place_in_letters


@dataclass(frozen=True)
class Fault:
    """The name of a general fault, what to tell the learner, and the case that showed it."""

    name: str
    text: str
    got: Outcome
    meaning: str = ""  # what it usually means, told where no known wrong answer explains it better
    lines: str = ""  # a few lines of numbers or a small drawing in text

    def __post_init__(self) -> None:
        if not names.is_general(self.name):
            raise ValueError(f"the fault {self.name!r} is not declared in names.py")


def find_fault(exercise: Exercise, got: Outcome, expected: Outcome) -> Fault:
    """The first general fault of one case that went wrong."""
    for seek in (
        _timed_out,
        _no_error,
        _raised,
        _type,
        _parts,
        _shape,
        _dtype,
        _changed,
        _not_a_number,
        _values,
        _gradient,
    ):
        fault = seek(exercise, got, expected)
        if fault:
            return fault
    return Fault(names.DIFFERENT, "the result is not what the task asks for.", got)


def only_right_for(expected: list[Outcome], rights: list[bool]) -> tuple[str, str]:
    """Name and sentence where only the cases with one coincidence ("square images"), or only one case, come out right.

    At least two cases have to show the coincidence: one alone is right by chance too easily.
    """
    judged = [
        (outcome.case, good)
        for outcome, good in zip(expected, rights, strict=False)
        if not outcome.case.raises and outcome.case.only != "trivial"
    ]
    good_cases = [case for case, good in judged if good]
    if not good_cases or len(good_cases) == len(judged):
        return "", ""
    for tag in dict.fromkeys(case.only for case in good_cases if case.only):
        if len(good_cases) > 1 and all(good == (case.only == tag) for case, good in judged):
            return names.filled(names.RIGHT_FOR_SOME, tag), f"right for {tag} only."
    if len(good_cases) == 1 and len(judged) > 2:
        return (
            names.RIGHT_FOR_ONE_CASE,
            f"of {len(judged)} cases only one comes out right, {good_cases[0].label}.",
        )
    return "", ""


def always_the_same(outcomes: list[Outcome]) -> bool:
    """Whether one and the same result came back on every case, though the cases differ."""
    values = [outcome.value for outcome in outcomes if not outcome.case.raises]
    return (
        len(values) > 1
        and all(outcome.error is None for outcome in outcomes if not outcome.case.raises)
        and all(equal(value, values[0]) for value in values)
    )


def _timed_out(exercise: Exercise, got: Outcome, expected: Outcome) -> Fault | None:
    if not timed_out(got):
        return None
    text = f"your code did not come to an end: it was {got.error}{got.where}. Is there a loop that never ends?"
    return Fault(names.TIMED_OUT, text, got)


def _no_error(exercise: Exercise, got: Outcome, expected: Outcome) -> Fault | None:
    case = expected.case
    if not case.raises:
        return None
    if got.error is None:
        layer = exercise.read is not None and isinstance(got.value, dict)
        came = f"an nn.{exercise.result.__name__}" if layer else brief(got.value)
        return Fault(names.NO_ERROR, f"this input has to be refused with an error, but your code returned {came}.", got)
    if isinstance(got.error, case.raises) and not names_enough(got):
        words = [str(group[0]) for group in case.mentions if isinstance(group[0], str)]
        what = f"name the {' and the '.join(words)}" if words else "name the id, its position and the allowed range"
        return Fault(
            names.UNEXPLAINED_ERROR,
            f"your code refuses this input, which is right, but the error has to {what}. It says: "
            f'"{_first_line(got.error)}".',
            got,
        )
    wanted = " or ".join(error.__name__ for error in case.raises)
    return Fault(
        names.WRONG_ERROR,
        f"this input has to be refused with {with_article(wanted)}; your code stops{got.where} with"
        f" {with_article(_in_words(got.error))}.",
        got,
        _how_to_refuse(got, case),
    )


def _how_to_refuse(got: Outcome, case: Case) -> str:
    """Advice to code that stops on an input that has to be refused, but with another error."""
    if isinstance(got.error, AssertionError):
        wanted = case.raises[0].__name__
        return f"Write `if …: raise {wanted}(…)` in its place: an assert is left out when Python runs with -O."
    numbers = [group for group in case.mentions if isinstance(group[0], int)]
    return "Test the ids before the work begins: check_ids(ids, len(weight)) does it." if numbers else ""


def _raised(exercise: Exercise, got: Outcome, expected: Outcome) -> Fault | None:
    if got.error is None:
        return None
    if isinstance(got.error, NotAsked):
        return Fault(names.NOT_ASKED, f"{_first_line(got.error)}.", got)
    text = f"your code stopped with an error{got.where}: {_in_words(got.error)}."
    if re.search(r"(?:^|: *)(?:raise|assert)\b", got.source):
        meaning = (
            "That line says that the work is still to be done: write it in its place."
            if isinstance(got.error, NotImplementedError)
            else "This input is right and has to be accepted: your own test refused it."
        )
        return Fault(names.RAISED, text, got, meaning)
    meaning = explain_error(got.error, got.source, inspect.isclass(exercise.solution))
    return Fault(names.RAISED, text, got, meaning)


def _type(exercise: Exercise, got: Outcome, expected: Outcome) -> Fault | None:
    value, wanted = got.value, exercise.result
    if exercise.read is not None and isinstance(value, dict) and value.keys() == expected.value.keys():
        return None
    if isinstance(value, wanted) and not (wanted is int and isinstance(value, bool)):
        if not isinstance(value, Tensor):
            return None
        tensor: Tensor = value
        if tensor.layout == torch.strided and tensor.device == torch.device("cpu") and not tensor.is_quantized:
            return None
        text = f"expected a plain tensor, got one that is {tensor.layout} on {tensor.device}."
        return Fault(names.WRONG_TYPE, text, got)
    name = {int: "a whole number (int)", Tensor: "a tensor", list: "a list", dict: "a dict"}.get(wanted)
    name = name or f"an nn.{wanted.__name__}"
    if value is None:
        return Fault(
            names.RETURNED_NOTHING,
            f"expected {name}, but your code returned None. `print` only shows a value; does every way through it"
            " end with `return ...`?",
            got,
        )
    if value is Ellipsis:
        return Fault(names.RETURNED_NOTHING, f"expected {name}, but the gap `...` itself came back.", got)
    came = brief(value) if isinstance(value, Tensor) else f"{brief(value)} ({type(value).__name__})"
    return Fault(names.WRONG_TYPE, f"expected {name}, got {came}.", got, _conversion(value, wanted, expected.value))


def _conversion(value: Any, wanted: type, right: Any) -> str:
    module = type(value).__module__.split(".")[0]
    if wanted is Tensor and hasattr(value, "indices"):
        return "That is both, values and indices: pick one, as in .indices."
    if wanted is list and isinstance(value, Tensor):
        return "Convert it with .tolist()."
    if wanted is Tensor and isinstance(value, (list, tuple)) and any(isinstance(part, Tensor) for part in value):
        return (
            "If one of them is the answer, return it alone. If all are parts of it, torch.stack(..., dim=...) makes"
            " one tensor of them; dim says at which place the new axis stands."
        )
    if wanted is Tensor and isinstance(value, float):
        return "A plain number carries no gradient: leave out .item() and return the tensor."
    if wanted is int and isinstance(value, (tuple, list, dict)):
        return _to_one_number(list(value.values()) if isinstance(value, dict) else list(value), right)
    if wanted is Tensor:
        return (
            "That is numpy: convert it with torch.from_numpy(...)."
            if module == "numpy"
            else "Convert it with torch.tensor(...)."
            if isinstance(value, (list, tuple, int, float))
            else ""
        )
    if wanted is int and isinstance(value, Tensor) and value.numel() != 1:
        return "One number is wanted, and here are several: which of them is it, or what is still to be done with them?"
    if wanted is int:
        return _to_whole(value, module)
    if wanted is list and not isinstance(value, (str, Tensor, dict)):
        return "Convert it with list(...)." if hasattr(value, "__iter__") else ""
    return ""


def _to_one_number(parts: list, right: int) -> str:
    """What makes the one number that is wanted of several, where adding or multiplying them does."""
    numbers = [part for part in parts if isinstance(part, int)]
    if len(numbers) == len(parts) > 1 and sum(numbers) == right:
        return "One number is wanted: these are its parts. Add them up."
    if len(numbers) == len(parts) > 1 and math.prod(numbers) == right:
        return "One number is wanted: these are its factors. Multiply them."
    return "One number is wanted, and here are several: what is still to be done with them?"


def _to_whole(value: Any, module: str) -> str:
    if isinstance(value, float) and value.is_integer():
        return (
            "One float in a calculation makes the result a float: 4.0 does, and so does /, also where nothing is left"
            " over (// does not)."
        )
    if isinstance(value, float):
        return "A number of things is whole. Is anything divided here that should not be?"
    if isinstance(value, str) and not re.fullmatch(r"\s*-?\d+\s*", value):
        return "Return the number alone, without words or units."
    return "Convert it with int(...)." if module in ("numpy", "torch") or isinstance(value, (bool, str)) else ""


def _parts(exercise: Exercise, got: Outcome, expected: Outcome) -> Fault | None:
    """For results read into a dict of values (layers): the first part that differs, other than a tensor."""
    if exercise.read is None or not isinstance(expected.value, dict):
        return None
    for key, wanted in expected.value.items():
        value = got.value.get(key)
        if isinstance(wanted, Tensor) and not isinstance(value, Tensor):
            return Fault(names.filled(names.WRONG_PART, key), f"{key}: expected numbers, got {value}.", got)
        if not isinstance(wanted, Tensor) and (isinstance(value, Tensor) or value != wanted):
            return Fault(names.filled(names.WRONG_PART, key), f"{key}: expected {wanted}, got {brief(value)}.", got)
    return None


def _tensors(exercise: Exercise, got: Outcome, expected: Outcome) -> list[tuple[str, Tensor, Tensor]]:
    """(name, got, expected) of each tensor in a result."""
    if isinstance(expected.value, Tensor):
        return [("", got.value, expected.value)]
    if exercise.read is None:
        return []
    return [
        (f"{key}: ", got.value[key], wanted) for key, wanted in expected.value.items() if isinstance(wanted, Tensor)
    ]


def _shape(exercise: Exercise, got: Outcome, expected: Outcome) -> Fault | None:
    for name, value, wanted in _tensors(exercise, got, expected):
        if value.shape != wanted.shape:
            axes = expected.case.axes.split()
            if len(axes) != wanted.ndim:  # a second tensor of a layer, its bias
                axes = [f"axis {place}" for place in range(wanted.ndim)]
            told = ", ".join(f"{axis}={size}" for axis, size in zip(axes, wanted.shape, strict=True))
            fault, how = describe_shape(axes, tuple(wanted.shape), tuple(value.shape))
            if fault == names.AXES_SWAPPED and _turned(value, wanted):
                how = f"right numbers, but {how}"
            return Fault(fault, f"{name}expected ({told}), got {tuple(value.shape)}: {how}.", got)
    return None


def _turned(value: Tensor, wanted: Tensor) -> bool:
    return any(
        value.permute(order).shape == wanted.shape and bool(near(value.permute(order), wanted, 1e-6).all())
        for order in itertools.permutations(range(value.ndim))
    )


def _dtype(exercise: Exercise, got: Outcome, expected: Outcome) -> Fault | None:
    for name, value, wanted in _tensors(exercise, got, expected):
        if value.dtype != wanted.dtype:
            text = f"{name}expected {short(wanted.dtype)}, got {short(value.dtype)}."
            return Fault(names.WRONG_DTYPE, text, got, _another_dtype(exercise, got.case, value.dtype, wanted.dtype))
    return None


def _another_dtype(exercise: Exercise, case: Case, came: torch.dtype, wanted: torch.dtype) -> str:
    """How to get the wanted dtype; numbers that went through float32 stay rounded."""
    given = [name for name, value in exercise.named(case) if isinstance(value, Tensor) and value.dtype == wanted]
    layers = [name for name, value in exercise.named(case) if isinstance(value, nn.Module)]
    if exercise.read is not None and layers:
        return (
            f"Make the layer with dtype={layers[0]}.weight.dtype at once: converting comes too late, numbers that went"
            " through float32 stay rounded."
        )
    if given and wanted == torch.float64 and came.is_floating_point:
        return (
            f"A tensor or layer that you make yourself needs dtype={given[0]}.dtype from the start. Converting the"
            f" result with .to({wanted}) comes too late: numbers that went through float32, by .float() too, stay"
            " rounded."
        )
    cure = {torch.float32: ".float()", torch.int64: ".long()"}.get(wanted, f".to({wanted})")
    return f"Convert with {cure}, or begin with that dtype."


def _changed(exercise: Exercise, got: Outcome, expected: Outcome) -> Fault | None:
    if not got.changed:
        return None
    return Fault(
        names.CHANGED_ITS_INPUT,
        f"your code changed its input in place{got.where} (x[...] = ... does it, and +=, .data = ... and names that end"
        " in _). Whoever called it still needs the old values: work on a copy.",
        got,
    )


def _not_a_number(exercise: Exercise, got: Outcome, expected: Outcome) -> Fault | None:
    for name, value, wanted in _tensors(exercise, got, expected):
        if value.is_floating_point() and wanted.isfinite().all() and not value.isfinite().all():
            bad = int((~value.isfinite()).sum())
            return Fault(
                names.NOT_A_NUMBER,
                f"{name}{bad} of {value.numel()} numbers are nan or infinite.",
                got,
                "A division by zero, a logarithm of zero, or memory that was never filled?",
            )
    return None


def _values(exercise: Exercise, got: Outcome, expected: Outcome) -> Fault | None:
    for name, value, wanted in _tensors(exercise, got, expected):
        fits = near(value, wanted, got.slack)
        if fits.all():
            continue
        same, at = int(fits.sum()), tuple((~fits).nonzero()[0].tolist())
        where = f"{same} of {value.numel()} numbers are right; the first wrong one is at "
        where += f"{place_in_letters(expected.case.axes.split(), at)}: "
        text = f"{name}{where if at else ''}expected {wanted[at].item():g}, got {value[at].item():g}."
        kind, meaning = names.DIFFERENT, ""
        if value.dtype == torch.float64 and near(value, wanted, 1e-6).all():
            kind = names.ROUNDED
            meaning = (
                "Right to seven digits: the numbers went through float32. Make the layer with the right dtype at once."
            )
        if near(value.flatten().sort().values, wanted.flatten().sort().values, got.slack).all():
            kind, text = names.WRONG_ORDER, f"the right numbers, but in another order. {text[0].upper()}{text[1:]}"
        drawn = exercise.picture(got.case, value) if exercise.picture else ""
        return Fault(kind, text, got, meaning, drawn or _rows(value, wanted, at))
    if not _tensors(exercise, got, expected) and not equal(got.value, expected.value, got.slack):
        return Fault(_kind(got.value, expected.value), _first_difference(got.value, expected.value), got)
    return None


def _kind(value: Any, wanted: Any) -> str:
    """Whether a dict gives the right numbers to other keys, or is simply different."""
    same_words = isinstance(wanted, dict) and value.keys() == wanted.keys()
    same_ids = same_words and {*map(shown, value.values())} == {*map(shown, wanted.values())}
    return names.WRONG_ORDER if same_ids else names.DIFFERENT


def _rows(value: Tensor, wanted: Tensor, at: tuple[int, ...]) -> str:
    """The row around the first wrong number, expected above yours, as far as it fits on a line."""
    if not at:  # a single number
        return ""
    start = max(at[-1] - 11, 0)
    both = [tensor[at[:-1]][start : start + 12].tolist() for tensor in (wanted, value)]
    texts = [[f"{number:.4g}" for number in row] for row in both]
    width = max(len(text) for row in texts for text in row)
    return "\n".join(
        f"{name} {'… ' if start else ''}" + " ".join(f"{text:>{width}}" for text in row)
        for name, row in zip(("expected", "yours   "), texts, strict=True)
    )


def _gradient(exercise: Exercise, got: Outcome, expected: Outcome) -> Fault | None:
    tensors = learning(got.case)
    learners = [name for name, value in exercise.named(got.case) if any(value is tensor for tensor in tensors)]
    pairs = zip(learners, got.gradients, expected.gradients, strict=True)
    wrong = [(name, one) for name, one, other in pairs if not same_gradient(one, other)]
    if not wrong:
        return None
    learner, gradient = wrong[0]
    if gradient is None:
        return Fault(
            names.NO_GRADIENT,
            f"the numbers are right, but no gradient reaches {learner}: it could never learn. "
            "Such things cut it off: .detach(), .data, .tolist(), torch.tensor(...), no_grad, and whatever makes a "
            "parameter of its own, nn.Parameter(...) or from_pretrained(...).",
            got,
        )
    return Fault(
        names.WRONG_GRADIENT,
        f"the numbers are right, but the gradient that reaches {learner} is another one.",
        got,
    )


def _first_difference(value: Any, wanted: Any) -> str:
    told = f"expected {brief(wanted)}, got {brief(value)}."
    if isinstance(wanted, list):
        for place, (one, other) in enumerate(itertools.zip_longest(value, wanted, fillvalue=None)):
            if not equal(one, other):
                what = "nothing" if place >= len(wanted) else brief(other)
                came = "nothing" if place >= len(value) else brief(one)
                return f"{told} The first difference is at place {place}: expected {what}, got {came}."
    if isinstance(wanted, dict):
        if _kind(value, wanted) == names.WRONG_ORDER:
            told += " These are the right ids, but in another order (a set, for one, keeps none)."
        for key, number in wanted.items():
            if key not in value:
                return f"{told} There is no entry for {key!r}."
            if not equal(value[key], number):
                return f"{told} The first difference is at {key!r}: expected {number}, got {brief(value[key])}."
        for key in value.keys() - wanted.keys():
            return f"{told} The entry for {brief(key)} should not be there."
    return told


def _in_words(error: BaseException) -> str:
    """The class of an error and what it says; some say nothing."""
    return f"{type(error).__name__}: {_first_line(error)}" if str(error).strip() else type(error).__name__


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


def short(dtype: torch.dtype) -> str:
    """float32 rather than torch.float32."""
    return str(dtype).removeprefix("torch.")


def brief(value: Any) -> str:
    """A value in a few words."""
    if isinstance(value, Tensor):
        return f"a tensor {tuple(value.shape)} of {short(value.dtype)}"
    text = " ".join(shown(value).split())
    return text if len(text) <= 90 else text[:87] + "..."
