"""Checks of sizes that several parts of the course share."""

from __future__ import annotations

import operator
from typing import Any


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
