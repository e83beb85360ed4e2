"""Lesson 05, channels_last_weight: the weight of patches in channel, row, column turned to row, column, channel."""

from __future__ import annotations

import torch
from torch import Tensor

from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise, in_dtype


def channels_last_weight(weight, channels, patch_size):
    dimension = weight.shape[0]
    split = weight.reshape(dimension, channels, patch_size, patch_size)
    return split.permute(0, 2, 3, 1).reshape(dimension, -1)


def cases() -> list[Case]:
    def case(dimension: int, channels: int, patch_size: int, only: str = "") -> Case:
        weight = (torch.arange(float(dimension * channels * patch_size**2)) - 9).reshape(dimension, -1)
        return Case(
            f"D = {dimension}, {channels} channel{'s' * (channels > 1)}, P = {patch_size}",
            (weight, channels, patch_size),
            "D P·P·C",
            {"D": dimension, "C": channels, "P": patch_size},
            only,
        )

    return [
        case(5, 2, 3),
        case(7, 4, 2),
        case(3, 5, 2),
        in_dtype(case(6, 2, 2), torch.float64),
        case(4, 3, 4, "three channels"),
        case(5, 1, 3, "one channel"),
        case(1, 1, 1, "trivial"),
    ]


WRONG = mistakes(
    channels_last_weight,
    r"""
unchanged
    Nothing was moved: a reshape keeps the order. The numbers of each row have to follow those of the patch: row,
    column, channel.
        split.permute(0, 2, 3, 1) → split

backwards
    The order was changed the other way round: this turns (P, P, C) into (C, P, P). Split the row as (C, P, P)
    first.
        return (
            weight.reshape(len(weight), patch_size, patch_size, channels).permute(0, 3, 1, 2).reshape(len(weight), -1)
        )

row and column swapped
    The channel is last, but row and column have changed places.
        split.permute(0, 2, 3, 1) → split.permute(0, 3, 2, 1)

not flattened
    The order is right. Flatten the last three axes into one.
        split.permute(0, 2, 3, 1).reshape(dimension, -1) → split.permute(0, 2, 3, 1)

weight turned
    One row for each number of the result: D stays in front.
        split.permute(0, 2, 3, 1).reshape(dimension, -1) → split.permute(0, 2, 3, 1).reshape(dimension, -1).T

column, channel, row
    The order is now column, channel, row. permute names, for each new axis, the old one: (0, 2, 3, 1).
        split.permute(0, 2, 3, 1) → split.permute(0, 3, 1, 2)

row, channel, column
    Only channel and row were swapped. The channel goes behind row and column: (0, 2, 3, 1).
        split.permute(0, 2, 3, 1) → split.permute(0, 2, 1, 3)

rows of the weight mixed
    D moved as well, so numbers of different rows were mixed. It stays in front: (0, 2, 3, 1).
        split.permute(0, 2, 3, 1) → split.permute(1, 2, 3, 0)

rows of the weight mixed, channel before
    D moved as well, so numbers of different rows were mixed. It stays in front: (0, 2, 3, 1).
        split.permute(0, 2, 3, 1) → split.permute(2, 3, 1, 0)

row reversed
    The row was reversed. Row and column stay as they are, only the channel goes last.
        return weight.flip(1)

pixels not flattened
    The order is right. Flatten the last two axes into one.
        return weight.reshape(len(weight), channels, patch_size * patch_size).transpose(1, 2)
""",
)


EXERCISE = Exercise(
    name="channels_last_weight",
    solution=channels_last_weight,
    cases=cases,
    result=Tensor,
    wrong=WRONG,
    hints=(
        "Each row of the weight is as long as a patch and in the same order. Which axes hide in it?",
        "weight.reshape(D, C, P, P). The patch now comes as row, column, channel.",
        ".permute(0, 2, 3, 1).reshape(D, -1)",
    ),
    praise="Patches and weight changed order together, so every product meets its old partner.",
)
