"""Lesson 07, add_positions: a row of the table added to each token of every image, (B, N, D) -> (B, N, D)."""

from __future__ import annotations

import torch
from torch import Tensor

from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise, WrongAnswer, from_a_layer, in_dtype, random_numbers


def add_positions(tokens, positions):
    return tokens + positions


def cases() -> list[Case]:
    def case(batch: int, count: int, dimension: int, only: str = "") -> Case:
        args = (
            from_a_layer(random_numbers(batch, count + 1, dimension, seed=2)),
            random_numbers(count + 1, dimension, seed=3).requires_grad_(),
        )
        return Case(
            f"{batch} × ({count} + 1) tokens of {dimension} numbers",
            args,
            "B N+1 D",
            {"B": batch, "N": count, "D": dimension},
            only,
        )

    return [
        case(2, 6, 4),
        case(4, 3, 7),
        case(3, 5, 2),
        in_dtype(case(2, 4, 6), torch.float32),
        case(1, 6, 5, "a batch of one"),
        case(1, 4, 3, "a batch of one"),
        case(1, 1, 1, "trivial"),
    ]


WRONG = mistakes(
    add_positions,
    r"""
positions as tokens
    Positions became tokens of their own. They are added to the tokens.
        return torch.cat([tokens, positions.expand(len(tokens), -1, -1)], 1)

class token without position
    Token 0, the class token, got no position. It has a row too: N + 1 rows for N + 1 tokens.
        return torch.cat([tokens[:, :1], tokens[:, 1:] + positions[1:]], 1)

rows shifted by one
    Each token got the row before its own.
        return tokens + positions.roll(1, 0)

rows shifted the other way
    Each token got the row behind its own.
        return tokens + positions.roll(-1, 0)

one row for all
    Every token got the same row: then positions tell nothing.
        tokens + positions → tokens + positions[0]

positions multiplied
    Positions are added, not multiplied.
        tokens + positions → tokens * positions

positions appended
    Positions were put beside the numbers of the token. They are added to them.
        return torch.cat([tokens, positions.expand(len(tokens), -1, -1)], 2)

averaged position
    Every token got the mean of all rows.
        return tokens + positions.mean(0)

positions subtracted
    The positions were subtracted. They are added.
        tokens + positions → tokens - positions

a row left out
    A row of the table was left out, so N rows meet N + 1 tokens. The class token is among them, and row 0 belongs
    to it.
        tokens + positions → tokens + positions[1:]

a token left out
    A token was left out, so N tokens meet N + 1 rows. The class token has a row too, row 0.
        return tokens[:, 1:] + positions

class token left out
    Token 0, the class token, is gone, and row 0 with it. There are N + 1 of both: they fit as they are.
        return tokens[:, 1:] + positions[1:]

row of the image
    Image b got row b of the table at every place. Row n belongs to token n, in every image.
        return torch.stack([image + positions[number] for number, image in enumerate(tokens)])

tokens times positions
    @ compares every token with every position and gives N + 1 numbers a token. Positions are added.
        return tokens @ positions.T
""",
)


FAMILIES = tuple(
    WrongAnswer(
        name,
        answer,
        "Your code puts the positions beside the tokens, as tokens or numbers of their own. They are added to"
        " the tokens.",
    )
    for name, answer in (
        ("positions joined", lambda t, p: torch.cat([t, p], 1)),
        ("positions joined for one image", lambda t, p: torch.cat([t, p[None]], 1)),
        ("positions put beside for one image", lambda t, p: torch.cat([t, p[None]], 2)),
        ("positions as one more tensor", lambda t, p: torch.stack([t, p])),
    )
)


EXERCISE = Exercise(
    name="add_positions",
    solution=add_positions,
    cases=cases,
    result=Tensor,
    wrong=WRONG + FAMILIES,
    hints=(
        "tokens (B, N + 1, D), positions (N + 1, D): which axis is missing, and what does PyTorch do then?",
        "It repeats the positions for every image of the batch. Row 0 belongs to the class token.",
        "result = tokens + positions",
    ),
    praise="Every place has a row of its own, the class token's included.",
)
