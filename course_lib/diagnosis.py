"""What went wrong, told in the letters of the course: general faults, in the order in which they are sought."""

from __future__ import annotations

import inspect
import itertools
import math
import re
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from course_lib.exercises.model import Exercise, NotAsked
from course_lib.outcomes import Outcome, equal, names_enough, near, shown, was_stopped


@dataclass(frozen=True)
class Fault:
    """The name of a general fault, what to tell the learner, and the case that showed it."""

    name: str
    text: str
    got: Outcome
    meaning: str = ""  # what it usually means, told where no known wrong answer explains it better
    lines: str = ""  # a few lines of numbers or a small drawing in text


def find_fault(exercise: Exercise, got: Outcome, expected: Outcome) -> Fault:
    """The first general fault of one case that went wrong."""
    for seek in (
        _stopped,
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
    return Fault("different", "the result is not what the contract asks for.", got)


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
            return f"right for {tag} only", f"right for {tag} only."
    if len(good_cases) == 1 and len(judged) > 2:
        return (
            "right for one case only",
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


def _stopped(exercise: Exercise, got: Outcome, expected: Outcome) -> Fault | None:
    if not was_stopped(got):
        return None
    where = f" on line {got.line}, `{got.source}`" if got.line else ""
    name = "timed out" if isinstance(got.error, TimeoutError) else "interrupted"
    how = f"it was {got.error}" if name == "timed out" else "it was interrupted"
    return Fault(name, f"your code did not come to an end: {how}{where}. Is there a loop that never ends?", got)


def _no_error(exercise: Exercise, got: Outcome, expected: Outcome) -> Fault | None:
    case = expected.case
    if not case.raises:
        return None
    if got.error is None:
        layer = exercise.read is not None and isinstance(got.value, dict)
        came = f"an nn.{exercise.result.__name__}" if layer else brief(got.value)
        return Fault(
            "no error", f"this input has to be refused with an error, but your code returned {came}.", got
        )
    if isinstance(got.error, case.raises) and not names_enough(got):
        words = [str(group[0]) for group in case.mentions if isinstance(group[0], str)]
        what = (
            f"name the {' and the '.join(words)}" if words else "name the id, its position and the allowed range"
        )
        return Fault(
            "error says too little",
            f"your code refuses this input, which is right, but the error has to {what}. It says: "
            f'"{_first_line(got.error)}".',
            got,
        )
    wanted = " or ".join(error.__name__ for error in case.raises)
    where = f" on line {got.line}, `{got.source}`" if got.line else ""
    numbers = [group for group in case.mentions if isinstance(group[0], int)]
    advice = "Test the ids before the work begins: check_ids(ids, len(weight)) does it." if numbers else ""
    return Fault(
        "wrong error",
        f"this input has to be refused with a {wanted}; your code stops{where} with a {type(got.error).__name__}: "
        f"{_first_line(got.error)}.",
        got,
        advice,
    )


def _raised(exercise: Exercise, got: Outcome, expected: Outcome) -> Fault | None:
    if got.error is None:
        return None
    if isinstance(got.error, NotAsked):
        return Fault("not what was asked", f"{_first_line(got.error)}.", got)
    where = f" on line {got.line}, `{got.source}`" if got.line else ""
    text = f"your code stopped with an error{where}: {type(got.error).__name__}: {_first_line(got.error)}."
    if got.source.startswith("raise"):
        return Fault("raised", text, got, "This input is allowed, and your code refuses it.")
    return Fault("raised", text, got, explain_error(got.error))


ERRORS = (  # pattern in the text of an error, what it means
    (
        r"name '(\w+)' is not defined",
        r"Run the cells above first: the first one imports what the lesson needs. If \1 is your own name, is it"
        r" spelt the same everywhere? (In a class, what __init__ keeps is called self.\1.)",
    ),
    (
        r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)",
        r"In a product the inner sizes have to meet: (\1, \2) @ (\3, \4) has \2 and \3.",
    ),
    (
        r"shape '\[(.*?)\]' is invalid for input of size (\d+)",
        r"A reshape keeps the number of numbers: there are \2, and (\1) asks for another number.",
    ),
    (
        r"permute\(.*?input\.dim\(\) = (\d+) is not equal to len\(dims\) = (\d+)",
        r"permute has to name every axis once: the tensor has \1 axes, \2 are named.",
    ),
    (
        r"not enough values to unpack \(expected (\d+), got (\d+)\)",
        r"There are \2 values on the right and \1 names on the left. How many axes does the tensor have?",
    ),
    (r"too many values to unpack", r"There are more values on the right than names on the left."),
    (
        r"a leaf Variable that requires grad is being used in an in-place operation",
        (
            r"Copying by hand is no step that a network should learn from: put the line under `with"
            r" torch.no_grad():`."
        ),
    ),
    (
        r"cannot assign '.*' (?:object )?(?:as|to) parameter",
        (
            r"A layer keeps its numbers as an nn.Parameter: copy into it with .copy_(...), or wrap them in"
            r" nn.Parameter(...)."
        ),
    ),
    (
        r"before Module\.__init__\(\) call|object has no attribute '_(?:parameters|modules|buffers)'",
        r"A layer can hold others only once nn.Module is set up: let `super().__init__()` be the first line of"
        r" __init__.",
    ),
    (
        r"Boolean value of Tensor with more than one value is ambiguous",
        (
            r"An `if` needs one yes or no, and this comparison gives one for each number: use (...).any() or"
            r" (...).all()."
        ),
    ),
    (
        (
            r"Expected reduction dim|operation does not have an identity|max\(\) arg is an empty|min\(\) arg is an"
            r" empty"
        ),
        r"Nothing is the largest of no numbers: this input is empty. A comparison with .any() works for it too.",
    ),
    (
        r"tensors used as indices must be|Expected tensor for argument #1 'indices'|indices must be integers",
        r"An index has to be a whole number: keep ids as int64.",
    ),
    (
        r"one_hot is only applicable to index tensor|expects? .*LongTensor",
        r"F.one_hot wants int64: call .long() on the ids first.",
    ),
    (r"Class values must be", r"One of the ids does not fit the width: how wide is the table?"),
    (
        r"to have the same dtype|same dtype, but got|expected scalar type",
        r"Two dtypes meet in one operation: convert one side with .to(other.dtype).",
    ),
    (
        r"Input type \(.*\) and (?:weight|bias) type \(.*\) should be the same",
        r"A layer and its input have two dtypes. Is the layer made in forward? Then it is a new one each time: make it"
        r" in __init__.",
    ),
    (
        r"expected input\[.*?\] to have (\d+) channels, but got (\d+) channels",
        r"This convolution was made for \1 channels and gets \2. Its first number is the channels of what goes IN.",
    ),
    (
        r"view size is not compatible",
        (
            r"After permute or transpose the numbers no longer lie in memory in reading order: use .reshape in"
            r" place of .view."
        ),
    ),
    (
        r"Dimension out of range|Tensors must have same number of dimensions",
        (
            r"The tensors do not have the same number of axes: give the smaller one an axis, with unsqueeze or"
            r" expand."
        ),
    ),
    (
        r"Sizes of tensors must match except in dimension",
        r"cat wants all other axes equal: which one differs? expand repeats a tensor along an axis of size 1.",
    ),
    (
        r"X1 and X2 must have the same number of columns\. X1: (\d+) X2: (\d+)",
        r"cdist compares rows with rows, and these have \1 and \2 numbers: is one of the tables turned?",
    ),
    (
        r"return_types\.(min|max|sort|topk)",
        r"\1 gives both values and indices: pick one first, as in .values.",
    ),
    (
        r"too many indices for tensor",
        r"There are more indices than axes: count both. (A list of lists counts as one index for each axis: index"
        r" with a tensor of ids.)",
    ),
    (
        r"Index is supposed to be a vector",
        r"index_select takes ids of one axis only: flatten them before and reshape after, or write table[ids].",
    ),
    (
        r"stack expects each tensor to be equal size",
        r"stack wants equal shapes. To join along an axis that is there already, use torch.cat. If slices are"
        r" stacked, one ran over the border or is empty: [:, :, y:y+P, x:x+P], with y and x going up by P.",
    ),
    (
        r"'Tensor' object has no attribute '(\w+)'",
        r"A tensor has no \1. If you meant a module: an argument of your function has the same name and hides it.",
    ),
    (
        r"'[A-Z]\w*' object has no attribute '(\w+)'",
        r"Nothing here has the name \1. What forward takes from self has to be made in __init__, spelt the same.",
    ),
    (r"module 'torch(?:\.nn)?' has no attribute 'Param", r"It is called nn.Parameter, torch.nn.Parameter in full."),
    (
        r"'int' object has no attribute 'detach'",
        r"nn.Parameter takes a tensor, not a size: nn.Parameter(torch.zeros(...)).",
    ),
    (
        r"unsupported operand type\(s\) for .* '(?:Embedding|Linear|Conv2d)'",
        r"A layer is no tensor: call it, as in layer(ids), or take its .weight.",
    ),
    (r"index out of range in self", r"One of the ids has no row: how many rows does the table need?"),
    (r"bitwise_xor", r"In Python ^ is no power: a square is ** 2."),
    (r"index (-?\d+) is out of bounds", r"There is no entry \1: count from 0, and look at the size once more."),
    (
        r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)",
        r"Two tensors meet whose sizes differ, \1 and \2: which axes are they?",
    ),
    (
        r"'builtin_function_or_method' object is not subscriptable|object is not callable",
        r"Round brackets call a function, square brackets pick an entry: which one is meant here?",
    ),
    (
        r"'float' object cannot be interpreted as an integer|(?:must be|tuple of) ints?,? .*float|got float",
        r"A size has to be a whole number: // divides whole numbers, / gives a float.",
    ),
    (
        r"__init__\(\) takes 1 positional argument",
        r"Is there an __init__, with two underscores on each side, and does it take what the cell gives?",
    ),
    (
        r"forward\(\) takes 1 positional argument but 2",
        r"The first argument of a method is self: def forward(self, images).",
    ),
    (
        (
            r"missing \d+ required positional arg|takes (?:from )?\d+ .*positional arg|invalid combination of"
            r" arguments"
        ),
        (
            r"The call in that line gets other arguments than it takes: look at what that function wants, in which"
            r" order."
        ),
    ),
    (
        r"only one element tensors can be converted|only integer tensors of a single element",
        r"A list of tensors becomes one tensor with torch.stack(...).",
    ),
)


def explain_error(error: BaseException) -> str:
    """What a Python or torch error usually means here, or an empty text."""
    for pattern, meaning in ERRORS:
        found = re.search(pattern, str(error), re.DOTALL)
        if found:
            return found.expand(meaning)
    return ""


def _type(exercise: Exercise, got: Outcome, expected: Outcome) -> Fault | None:
    value, wanted = got.value, exercise.result
    if exercise.read is not None and isinstance(value, dict) and value.keys() == expected.value.keys():
        return None
    if isinstance(value, wanted) and not (wanted is int and isinstance(value, bool)):
        plain = not isinstance(value, Tensor) or (
            value.layout == torch.strided and value.device == torch.device("cpu") and not value.is_quantized
        )
        return (
            None
            if plain
            else Fault(
                "wrong type", f"expected a plain tensor, got one that is {value.layout} on {value.device}.", got
            )
        )
    name = {int: "a whole number (int)", Tensor: "a tensor", list: "a list", dict: "a dict"}.get(wanted)
    name = name or f"an nn.{wanted.__name__}"
    if value is None:
        return Fault(
            "returned nothing",
            f"expected {name}, but your code returned None. `print` only shows a value; does every way through it"
            " end with `return ...`?",
            got,
        )
    if value is Ellipsis:
        return Fault("returned nothing", f"expected {name}, but the gap `...` itself came back.", got)
    came = brief(value) if isinstance(value, Tensor) else f"{brief(value)} ({type(value).__name__})"
    return Fault("wrong type", f"expected {name}, got {came}.", got, _conversion(value, wanted))


def _conversion(value: Any, wanted: type) -> str:
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
    if wanted is int and isinstance(value, tuple):
        return "One number is wanted: rows times columns, say."
    if wanted is Tensor:
        return (
            "That is numpy: convert it with torch.from_numpy(...)."
            if module == "numpy"
            else "Convert it with torch.tensor(...)." if isinstance(value, (list, tuple, int, float)) else ""
        )
    if wanted is int:
        if isinstance(value, float):
            return "If you divide, use //: / gives a float. A number of things is whole."
        return (
            "Convert it with int(...)." if module in ("numpy", "torch") or isinstance(value, (bool, str)) else ""
        )
    if wanted is list and not isinstance(value, (str, Tensor, dict)):
        return "Convert it with list(...)." if hasattr(value, "__iter__") else ""
    return ""


def _parts(exercise: Exercise, got: Outcome, expected: Outcome) -> Fault | None:
    """For results read into a dict of values (layers): the first part that differs, other than a tensor."""
    if exercise.read is None or not isinstance(expected.value, dict):
        return None
    for key, wanted in expected.value.items():
        value = got.value.get(key)
        if isinstance(wanted, Tensor) and not isinstance(value, Tensor):
            return Fault(f"wrong {key}", f"{key}: expected numbers, got {value}.", got)
        if not isinstance(wanted, Tensor) and (isinstance(value, Tensor) or value != wanted):
            return Fault(f"wrong {key}", f"{key}: expected {wanted}, got {brief(value)}.", got)
    return None


def _tensors(exercise: Exercise, got: Outcome, expected: Outcome) -> list[tuple[str, Tensor, Tensor]]:
    """(name, got, expected) of each tensor in a result."""
    if isinstance(expected.value, Tensor):
        return [("", got.value, expected.value)]
    if exercise.read is None:
        return []
    return [
        (f"{key}: ", got.value[key], wanted)
        for key, wanted in expected.value.items()
        if isinstance(wanted, Tensor)
    ]


def _shape(exercise: Exercise, got: Outcome, expected: Outcome) -> Fault | None:
    for name, value, wanted in _tensors(exercise, got, expected):
        if value.shape != wanted.shape:
            axes = expected.case.axes.split()
            if len(axes) != wanted.ndim:  # a second tensor of a layer, its bias
                axes = [f"axis {place}" for place in range(wanted.ndim)]
            told = ", ".join(f"{axis}={size}" for axis, size in zip(axes, wanted.shape, strict=True))
            fault, how = describe_shape(axes, tuple(wanted.shape), tuple(value.shape))
            if fault == "axes swapped" and _turned(value, wanted):
                how = f"right numbers, but {how}"
            return Fault(fault, f"{name}expected ({told}), got {tuple(value.shape)}: {how}.", got)
    return None


def _turned(value: Tensor, wanted: Tensor) -> bool:
    return any(
        value.permute(order).shape == wanted.shape and bool(near(value.permute(order), wanted, 1e-6).all())
        for order in itertools.permutations(range(value.ndim))
    )


def describe_shape(axes: list[str], wanted: tuple[int, ...], got: tuple[int, ...]) -> tuple[str, str]:
    """Name and sentence for a shape that is not the wanted one, in the letters of its axes."""
    count = len(wanted)
    if count == 0:
        return "wrong number of axes", "a single number was expected, without axes"
    if len(got) == count and sorted(got) == sorted(wanted):
        moved = [axes[i] for i in range(count) if got[i] != wanted[i]]
        pair = f"{moved[0]} and {moved[1]} are swapped" if len(moved) == 2 else "the axes are in another order"
        return "axes swapped", pair
    if len(got) == count - 1:
        for i in range(count):
            if got == wanted[:i] + wanted[i + 1 :]:
                return "axis missing", f"axis {axes[i]} is missing (summed, averaged or picked away)"
            if i + 1 < count and got == wanted[:i] + (wanted[i] * wanted[i + 1],) + wanted[i + 2 :]:
                return "axes merged", f"{axes[i]} and {axes[i + 1]} are merged into one axis"
    if len(got) == count + 1:
        for i in range(count + 1):
            if got[:i] + got[i + 1 :] == wanted:
                return "extra axis", f"there is an extra axis at place {i}"
            if (
                i < count
                and math.prod(got[i : i + 2]) == wanted[i]
                and got[:i] + got[i + 2 :] == wanted[:i] + wanted[i + 1 :]
            ):
                return "axis still split", f"{axes[i]} is still split into {got[i]} × {got[i + 1]}"
    if len(got) == count:
        wrong = [i for i in range(count) if got[i] != wanted[i]]
        if len(wrong) == 1:
            short = (
                " (does a loop end too early?)"
                if axes[wrong[0]] in ("T", "N") and got[wrong[0]] < wanted[wrong[0]]
                else ""
            )
            return "wrong size", f"{axes[wrong[0]]} is {got[wrong[0]]} and should be {wanted[wrong[0]]}{short}"
    if math.prod(got) == math.prod(wanted):
        return "wrong shape", "the right amount of numbers, split up in another way"
    if len(got) != count:
        return "wrong number of axes", f"{count} axes were expected, {len(got)} came"
    return "wrong shape", "several sizes differ"


def _dtype(exercise: Exercise, got: Outcome, expected: Outcome) -> Fault | None:
    for name, value, wanted in _tensors(exercise, got, expected):
        if value.dtype != wanted.dtype:
            cure = {torch.float32: ".float()", torch.int64: ".long()"}.get(wanted.dtype, f".to({wanted.dtype})")
            return Fault(
                "wrong dtype",
                f"{name}expected {short(wanted.dtype)}, got {short(value.dtype)}.",
                got,
                f"Convert with {cure}, or begin with that dtype.",
            )
    return None


def _changed(exercise: Exercise, got: Outcome, expected: Outcome) -> Fault | None:
    if not got.changed:
        return None
    return Fault(
        "changed its input",
        "your code changed its input in place (names ending in _, or x[...] = ...). Whoever "
        "called it still needs the old values: work on a copy.",
        got,
    )


def _not_a_number(exercise: Exercise, got: Outcome, expected: Outcome) -> Fault | None:
    for name, value, wanted in _tensors(exercise, got, expected):
        if value.is_floating_point() and wanted.isfinite().all() and not value.isfinite().all():
            bad = int((~value.isfinite()).sum())
            return Fault(
                "not a number",
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
        where += f"{_place(expected.case.axes.split(), at)}: "
        text = f"{name}{where if at else ''}expected {wanted[at].item():g}, got {value[at].item():g}."
        kind, meaning = "different", ""
        if value.dtype == torch.float64 and near(value, wanted, 1e-6).all():
            kind = "rounded"
            meaning = (
                "Right to seven digits: the numbers went through float32. Make the layer with the right dtype at"
                " once."
            )
        if near(value.flatten().sort().values, wanted.flatten().sort().values, got.slack).all():
            kind, text = "wrong order", f"the right numbers, but in another order. {text[0].upper()}{text[1:]}"
        drawn = exercise.picture(got.case, value) if exercise.picture else ""
        return Fault(kind, text, got, meaning, drawn or _rows(value, wanted, at))
    if not _tensors(exercise, got, expected) and not equal(got.value, expected.value, got.slack):
        return Fault(_kind(got.value, expected.value), _first_difference(got.value, expected.value), got)
    return None


def _kind(value: Any, wanted: Any) -> str:
    """Whether a dict gives the right numbers to other keys, or is simply different."""
    same_words = isinstance(wanted, dict) and value.keys() == wanted.keys()
    same_ids = same_words and {*map(shown, value.values())} == {*map(shown, wanted.values())}
    return "wrong order" if same_ids else "different"


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
    if expected.gradient is None:
        return None
    if got.gradient is None:
        return Fault(
            "no gradient",
            f"the numbers are right, but no gradient reaches {_learner(exercise)}: it could never learn. "
            "Such things cut it off: .detach(), .data, .tolist(), torch.tensor(...), nn.Parameter(...), no_grad, "
            "from_pretrained without freeze=False.",
            got,
        )
    return Fault(
        "wrong gradient",
        f"the numbers are right, but the gradient that reaches {_learner(exercise)} is another one.",
        got,
    )


def _learner(exercise: Exercise) -> str:
    """The name of the argument that should receive a gradient."""
    return list(inspect.signature(exercise.solution).parameters)[exercise.gradient or 0]


def _first_difference(value: Any, wanted: Any) -> str:
    told = f"expected {brief(wanted)}, got {brief(value)}."
    if isinstance(wanted, list):
        for place, (one, other) in enumerate(itertools.zip_longest(value, wanted, fillvalue=None)):
            if not equal(one, other):
                what = "nothing" if place >= len(wanted) else brief(other)
                came = "nothing" if place >= len(value) else brief(one)
                return f"{told} The first difference is at place {place}: expected {what}, got {came}."
    if isinstance(wanted, dict):
        if _kind(value, wanted) == "wrong order":
            told += " These are the right ids, but in another order (a set, for one, keeps none)."
        for key, number in wanted.items():
            if key not in value:
                return f"{told} There is no entry for {key!r}."
            if not equal(value[key], number):
                return f"{told} The first difference is at {key!r}: expected {number}, got {brief(value[key])}."
        for key in value.keys() - wanted.keys():
            return f"{told} The entry for {brief(key)} should not be there."
    return told


def _place(axes: list[str], at: tuple[int, ...]) -> str:
    names = [axis.lower() if len(axis) == 1 else "" for axis in axes] if len(axes) == len(at) else [""] * len(at)
    return (
        "("
        + ", ".join(f"{name}={index}" if name else str(index) for name, index in zip(names, at, strict=True))
        + ")"
    )


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
