"""Lesson 00, numbers_in: how many numbers a tensor of a given shape holds."""

from __future__ import annotations

from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise


def numbers_in(shape):
    count = 1
    for size in shape:
        count = count * size
    return count


def cases() -> list[Case]:
    return [
        Case(f"the shape {shape}", (shape,), only=only)
        for shape, only in [
            ((2, 3, 5), ""),
            ((64, 1, 28, 28), ""),
            ((7,), "a single axis"),
            ((4, 0, 3), "trivial"),
            ((1, 196, 768), ""),
        ]
    ]


WRONG = mistakes(
    numbers_in,
    r"""
first two sizes
    Only the first two sizes were multiplied: every axis counts, however many there are.
        in shape → in shape[:2]

bytes
    That is how many bytes a float32 tensor of this shape takes. How many numbers are they?
        return count → return count * 4

left at the first axis
    Only the first size came back. A `return` inside the loop ends it in the first round: move it one level to the
    left.
        count = count * size → count = count * size; return count

sizes added
    The sizes were added up. Two rows of three numbers are 2 × 3 = 6 numbers, not 2 + 3.
        count = 1 → count = 0
        count * size → count + size

axes counted
    That is the number of axes. How many numbers lie along all of them together?
        return len(shape)

batch left out
    That is the size of one item of the batch: the first axis counts as well.
        in shape → in shape[1:]

last size only
    Only the last size is left. If the start, `count = 1`, stands in the loop, each round begins anew: move it above
    the loop.
        count = count * size → count = 1; count = count * size

last axis left out
    The last axis was left out.
        in shape → in shape[:-1]

first times last
    Only the first and the last size were multiplied: every axis counts.
        return shape[0] * shape[-1]

largest size
    That is the longest axis. How many numbers lie along all axes together?
        return max(shape)

four sizes taken for granted
    That needs four sizes exactly. A shape may have any number of them: go through them with a loop, or math.prod.
        return shape[0] * shape[1] * shape[2] * shape[3]
""",
)


EXERCISE = Exercise(
    name="numbers_in",
    solution=numbers_in,
    cases=cases,
    result=int,
    quantities=lambda shape: {
        "first size": shape[0],
        "last size": shape[-1],
        "sum of the sizes": sum(shape),
        "number of axes": len(shape),
    },
    wrong=WRONG,
    hints=(
        "A (2, 3) tensor has two rows of three numbers. How many is that? And with five such tables, (5, 2, 3)?",
        "Start with 1 and multiply by each size in turn, in a loop over `shape`.",
        "math.prod(shape) does this loop for you. It needs a line above the function: import math",
    ),
    praise="The sizes multiplied, however many axes there are.",
)
