"""Lesson 00: one small exercise to learn how checks, hints and solutions work."""

from __future__ import annotations

import math

from course_lib.exercises.model import Case, Exercise, Option, Question, WrongAnswer


def numbers_in(shape):
    count = 1
    for size in shape:
        count = count * size
    return count


def _cases() -> list[Case]:
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


EXERCISES = (
    Exercise(
        name="numbers_in",
        lesson="00",
        solution=numbers_in,
        cases=_cases,
        result=int,
        quantities=lambda shape: {
            "first size": shape[0],
            "last size": shape[-1],
            "sum of the sizes": sum(shape),
            "number of axes": len(shape),
        },
        wrong=(
            WrongAnswer(
                "first two sizes",
                lambda shape: math.prod(shape[:2]),
                "Only the first two sizes were multiplied: every axis counts, however many there are.",
            ),
            WrongAnswer(
                "bytes",
                lambda shape: math.prod(shape) * 4,
                "That is how many bytes a float32 tensor of this shape takes. How many numbers are they?",
            ),
            WrongAnswer(
                "left at the first axis",
                lambda shape: shape[0],
                "Only the first size came back. A `return` inside the loop ends it in the first round: move it one"
                " level to the left.",
            ),
            WrongAnswer(
                "sizes added",
                sum,
                "The sizes were added up. Two rows of three numbers are 2 × 3 = 6 numbers, not 2 + 3.",
            ),
            WrongAnswer(
                "axes counted", len, "That is the number of axes. How many numbers lie along all of them together?"
            ),
            WrongAnswer(
                "batch left out",
                lambda shape: math.prod(shape[1:]),
                "That is the size of one item of the batch: the first axis counts as well.",
            ),
            WrongAnswer(
                "last size only",
                lambda shape: shape[-1],
                "Only the last size is left. If the start, `count = 1`, stands in the loop, each round begins anew:"
                " move it above the loop.",
            ),
            WrongAnswer("last axis left out", lambda shape: math.prod(shape[:-1]), "The last axis was left out."),
            WrongAnswer(
                "first times last",
                lambda shape: shape[0] * shape[-1],
                "Only the first and the last size were multiplied: every axis counts.",
            ),
            WrongAnswer("largest size", max, "That is the longest axis. How many numbers lie along all axes together?"),
        ),
        hints=(
            ("A (2, 3) tensor has two rows of three numbers. How many is that? And with five such tables, (5, 2, 3)?"),
            "Start with 1 and multiply by each size in turn, in a loop over `shape`.",
            "math.prod(shape) does this loop for you. It needs a line above the function: import math",
        ),
        praise="The sizes multiplied, however many axes there are.",
    ),
)

QUESTIONS = (
    Question(
        name="predict_first",
        lesson="00",
        text=("A batch of 32 grey images of 28 × 28 pixels has the shape (32, 1, 28, 28). How many numbers are that?"),
        options=(
            Option(
                "89",
                "89 = 32 + 1 + 28 + 28: the sizes were added. Numbers fill a tensor like tiles a floor, rows "
                "times columns, so sizes are multiplied.",
            ),
            Option("784", "784 = 28 × 28 is one image. The batch holds 32 of them."),
            Option(
                "25,088",
                "32 × 1 × 28 × 28 = 25,088. The exercise below asks you to write this down as code.",
                right=True,
            ),
            Option(
                "100,352",
                "That is the number of bytes: each float32 takes 4. The numbers themselves are a quarter of it.",
            ),
        ),
    ),
)
