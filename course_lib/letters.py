"""The letters of the course: one letter for each size, the same in every lesson, and what a size may be."""

from __future__ import annotations

import operator
from typing import Any

LETTERS = {
    "B": "batch: how many images or sentences at once",
    "C": "channels: 1 for grey, 3 for red, green and blue",
    "H": "height of the image in pixels",
    "W": "width of the image in pixels",
    "P": "patch size: side of a patch in pixels",
    "S": "stride: pixels from one patch to the next",
    "N": "number of patches",
    "D": "embedding dimension: numbers in one vector",
    "V": "vocabulary size: words in the table",
    "T": "tokens in a sentence",
    "K": "number of codes in a codebook",
}


def show_letters() -> None:
    """Print the table of letters."""
    for letter, meaning in LETTERS.items():
        print(f"{letter}  {meaning}")


def show_shapes(**named: tuple[Any, str]) -> None:
    """Print name, shape and letters of each `name=(tensor, "B C H W")`.

    A ValueError tells when the letters do not fit: another number of axes than letters, one letter with two
    sizes, or a number that is not the size. So a shape in a lesson is never only claimed.
    """
    sizes: dict[str, int] = {}
    rows = []
    for name, (tensor, letters) in named.items():
        shape, axes = tuple(tensor.shape), letters.split()
        if len(axes) != len(shape):
            raise ValueError(f"{name} has {len(shape)} axes {shape}, but {len(axes)} letters: {letters!r}")
        for letter, size in zip(axes, shape, strict=True):
            if letter.isdecimal() and int(letter) != size:
                raise ValueError(f"{name} {shape} has an axis of {size} where {letters!r} says {letter}")
            if sizes.setdefault(letter, size) != size:
                raise ValueError(f"{letter} is {sizes[letter]} further up, but {size} in {name} {shape}")
        rows.append((name, str(shape), " ".join(axes)))
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    for name, written, letters in rows:
        print(f"{name:{widths[0]}}  {written:{widths[1]}}  {letters}".rstrip())


def whole_number(name: str, value: Any, least: int) -> int:
    """The whole number in `value`, at least `least`; otherwise a TypeError or ValueError that names it `name`."""
    if isinstance(value, bool) or str(getattr(value, "dtype", "")) == "torch.bool":
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    try:
        number = operator.index(value)
    except TypeError:
        hint = f": use {int(value)} or //" if isinstance(value, float) and value.is_integer() else ""
        raise TypeError(f"{name} must be a whole number, got {value!r}{hint}") from None
    if number < least:
        raise ValueError(f"{name} must be at least {least}, got {number}")
    return number


def positive_int(name: str, value: Any) -> int:
    """The whole number in `value`, at least 1; errors as in whole_number."""
    return whole_number(name, value, 1)


def check_sizes(**sizes: Any) -> None:
    """Refuse each of these sizes that positive_int refuses, by its name."""
    for name, value in sizes.items():
        positive_int(name, value)


def both_sides(name: str, value: Any) -> tuple[int, int]:
    """(height, width) from one whole number for a square or from a pair; errors as in positive_int."""
    if isinstance(value, (tuple, list)):
        if len(value) != 2:
            raise ValueError(f"{name} must be one whole number or a pair (height, width), got {value!r}")
        return positive_int(f"{name}[0]", value[0]), positive_int(f"{name}[1]", value[1])
    side = positive_int(name, value)
    return side, side
