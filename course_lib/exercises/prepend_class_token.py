"""Lesson 07, prepend_class_token: one row in front of the tokens of every image, (B, N, D) -> (B, N + 1, D)."""

from __future__ import annotations

import torch
from torch import Tensor

from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise, in_dtype, random_numbers


def prepend_class_token(tokens, class_token):
    first = class_token.expand(len(tokens), 1, -1)
    return torch.cat([first, tokens], dim=1)


def cases() -> list[Case]:
    def case(batch: int, count: int, dimension: int, only: str = "") -> Case:
        args = (
            random_numbers(batch, count, dimension, seed=1).requires_grad_(),  # they come from a layer that learns
            torch.full((dimension,), 9.0, dtype=torch.float64).requires_grad_(),
        )
        return Case(
            f"{batch} × {count} tokens of {dimension} numbers, class token of 9s",
            args,
            "B N+1 D",
            {"B": batch, "N": count, "D": dimension},
            only,
        )

    return [
        case(2, 6, 4),
        case(5, 4, 3),
        case(3, 2, 7),
        in_dtype(case(2, 5, 6), torch.float32),
        case(1, 6, 5, "a batch of one"),
        case(1, 3, 2, "a batch of one"),
        case(1, 1, 1, "trivial"),
    ]


WRONG = mistakes(
    prepend_class_token,
    r"""
one for each patch
    Each patch got a class token. One for each image is enough.
        return torch.cat([class_token.expand_as(tokens), tokens], 1)

appended
    The 9s of the class token came last. It stands in front, at index 0.
        return torch.cat([tokens, class_token.expand(len(tokens), 1, -1)], 1)

added to every token
    The class token was added to the others. It is a token of its own: N + 1 in all.
        return tokens + class_token

first token replaced
    The first patch was overwritten. The class token comes in addition: N + 1 in all.
        return torch.cat([class_token.expand(len(tokens), 1, -1), tokens[:, 1:]], 1)

first image only
    Only the first image got its class token. One parameter serves the whole batch: expand it.
        return torch.cat([torch.cat([class_token.expand(1, 1, -1), 0 * tokens[1:, :1]]), tokens], 1)

detached
    The class token was cut off from its gradient: it is learned.
        return torch.cat([class_token.detach().expand(len(tokens), 1, -1), tokens], 1)

as one more number
    Each token got one more number. The class token is one more TOKEN: dim=1.
        return torch.cat([tokens, class_token[0].expand(*tokens.shape[:2], 1)], 2)

tokens overwritten
    Your code writes into `tokens`, so a patch is lost. The class token comes in addition: N + 1 in all.
        tokens[:, 0] = class_token
        return tokens

row of zeros
    Row 0 is empty: there is room for the class token now, but its numbers were not put in.
        return F.pad(tokens, (0, 0, 1, 0))

joined along the batch
    cat joined along axis 0, the batch: now there is an image more. Tokens lie along axis 1.
        return torch.cat([class_token.expand(1, tokens.shape[1], -1), tokens], 0)

joined number to number
    cat joined along the last axis, so tokens have twice as many numbers. Tokens lie along axis 1.
        return torch.cat([class_token.expand_as(tokens), tokens], 2)
""",
)


EXERCISE = Exercise(
    name="prepend_class_token",
    solution=prepend_class_token,
    cases=cases,
    result=Tensor,
    wrong=WRONG,
    hints=(
        "The class token has the shape (D,). What shape does it need to stand before (B, N, D)?",
        "class_token.expand(len(tokens), 1, -1) repeats it for every image of the batch without copying.",
        "torch.cat([class_token.expand(len(tokens), 1, -1), tokens], dim=1)",
    ),
    praise="One parameter, at index 0 of every image.",
)
