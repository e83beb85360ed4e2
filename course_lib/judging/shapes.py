"""Shapes and places told in the letters of the course."""

from __future__ import annotations

import math

from course_lib.judging import names


def describe_shape(axes: list[str], wanted: tuple[int, ...], got: tuple[int, ...]) -> tuple[str, str]:
    """Name and sentence for a shape that is not the wanted one, in the letters of its axes."""
    count = len(wanted)
    if count == 0:
        return names.AXES_COUNT, "a single number was expected, without axes"
    if len(got) == count and sorted(got) == sorted(wanted):
        moved = [axes[i] for i in range(count) if got[i] != wanted[i]]
        pair = f"{moved[0]} and {moved[1]} are swapped" if len(moved) == 2 else "the axes are in another order"
        return names.AXES_SWAPPED, pair
    if len(got) == count - 1:
        for i in range(count):
            if got == wanted[:i] + wanted[i + 1 :]:
                return names.AXIS_MISSING, f"axis {axes[i]} is missing (summed, averaged, picked away, or never made)"
            if i + 1 < count and got == wanted[:i] + (wanted[i] * wanted[i + 1],) + wanted[i + 2 :]:
                return names.AXES_MERGED, f"{axes[i]} and {axes[i + 1]} are merged into one axis"
    if len(got) == count + 1:
        for i in range(count + 1):
            if got[:i] + got[i + 1 :] == wanted:
                return names.EXTRA_AXIS, f"there is an extra axis at place {i}"
            if (
                i < count
                and math.prod(got[i : i + 2]) == wanted[i]
                and got[:i] + got[i + 2 :] == wanted[:i] + wanted[i + 1 :]
            ):
                return names.AXIS_STILL_SPLIT, f"{axes[i]} is still split into {got[i]} × {got[i + 1]}"
    if len(got) == count:
        wrong = [i for i in range(count) if got[i] != wanted[i]]
        if len(wrong) == 1:
            return names.WRONG_SIZE, f"{axes[wrong[0]]} is {got[wrong[0]]} and should be {wanted[wrong[0]]}"
    if math.prod(got) == math.prod(wanted):
        return names.WRONG_SHAPE, "the right amount of numbers, split up in another way"
    if len(got) != count:
        return names.AXES_COUNT, f"{count} axes were expected, {len(got)} came"
    return names.WRONG_SHAPE, "several sizes differ"


def place_in_letters(axes: list[str], at: tuple[int, ...]) -> str:
    """The place of a number by the letters of its axes: (b=0, n=3, 7)."""
    letters = [axis.lower() if len(axis) == 1 else "" for axis in axes] if len(axes) == len(at) else [""] * len(at)
    return (
        "("
        + ", ".join(f"{letter}={index}" if letter else str(index) for letter, index in zip(letters, at, strict=True))
        + ")"
    )
