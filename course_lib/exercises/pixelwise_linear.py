"""Lesson 08, pixelwise_linear: a linear layer at every place of a map, (B, C, H, W) -> (B, D, H, W)."""

from __future__ import annotations

import torch
from torch import Tensor

from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise, from_a_layer, in_dtype, random_numbers


def pixelwise_linear(features, weight, bias):
    places_first = features.permute(0, 2, 3, 1)
    return (places_first @ weight.T + bias).permute(0, 3, 1, 2)


def cases() -> list[Case]:
    def case(batch: int, channels: int, height: int, width: int, dimension: int, only: str = "") -> Case:
        args = (
            from_a_layer(random_numbers(batch, channels, height, width, seed=1)),
            random_numbers(dimension, channels, seed=2).requires_grad_(),
            random_numbers(dimension, seed=3).requires_grad_(),
        )
        return Case(
            f"{batch} map{'s' * (batch > 1)} of {height} × {width} cells, C = {channels}, D = {dimension}",
            args,
            "B D H W",
            {"B": batch, "C": channels, "H": height, "W": width, "D": dimension},
            only,
        )

    return [
        case(2, 5, 3, 4, 7),
        case(4, 2, 5, 3, 6),
        in_dtype(case(3, 6, 2, 5, 4), torch.float32),
        case(1, 4, 2, 6, 3, "a batch of one"),
        case(2, 4, 3, 3, 5, "square images"),
        case(1, 1, 1, 1, 1, "trivial"),
    ]


WRONG = mistakes(
    pixelwise_linear,
    r"""
bias forgotten
    The bias is missing. Every place gets it once.
        + bias →

channels left at the end
    The numbers are right, but they stand on the last axis. A map is (B, D, H, W): permute back.
        .permute(0, 3, 1, 2) →

reshape in place of permute
    (B, C, H, W) was reshaped to (B, H, W, C): right shape, scrambled numbers. Permute the axes: features.permute(0,
    2, 3, 1).
        features.permute(0, 2, 3, 1) → features.reshape(len(features), *features.shape[2:], -1)

reshape in place of permute, on the way back
    On the way back (B, H, W, D) was reshaped to (B, D, H, W), which scrambles the numbers. Permute: .permute(0, 3,
    1, 2).
        .permute(0, 3, 1, 2) → .reshape(len(features), -1, *features.shape[2:])

map returned as tokens
    These are tokens (B, N, D). Here the map keeps its form: (B, D, H, W).
        .permute(0, 3, 1, 2) → .flatten(1, 2)

rows and columns swapped
    Rows and columns of the map changed places: the way back is .permute(0, 3, 1, 2).
        .permute(0, 3, 1, 2) → .permute(0, 3, 2, 1)

places averaged
    The places were averaged away. The layer acts at each place alone.
        features.permute(0, 2, 3, 1) → features.mean((2, 3))
        .permute(0, 3, 1, 2) →

places summed
    The places were added up. The layer acts at each place alone.
        features.permute(0, 2, 3, 1) → features.sum((2, 3))
        .permute(0, 3, 1, 2) →

weight not turned
    weight has one ROW for each number of the result, so it has to be turned: weight.T.
        weight.T → weight

the map alone times the weight
    A product works on the last axis, and that is W here. Bring the channels there first: features.permute(0, 2, 3,
    1).
        return features @ weight.T + bias

bias on the wrong axis
    The bias was added along the last axis, W. It belongs to the numbers D: bias[:, None, None].
        return torch.einsum("bchw,dc->bdhw", features, weight) + bias

bias subtracted
    The bias was taken away. It is added.
        + bias → - bias

a ReLU as well
    Negative numbers became 0. A linear layer keeps them.
        .permute(0, 3, 1, 2) → .permute(0, 3, 1, 2).relu()

columns and channels swapped
    transpose(1, 3) brought the channels to the end and the columns to their place. Swap the same two on the way
    back: .transpose(1, 3).
        .permute(0, 2, 3, 1) → .transpose(1, 3)
        .permute(0, 3, 1, 2) →

axes moved on, not back
    permute(0, 2, 3, 1) a second time moves the axes on, not back. The last axis goes to place 1: .permute(0, 3, 1,
    2).
        .permute(0, 3, 1, 2) → .permute(0, 2, 3, 1)

places left in a row
    The numbers are right, but H and W are one axis still. A map is (B, D, H, W): reshape the last axis to H, W.
        return weight @ features.flatten(2) + bias[:, None]

bias twice
    The bias was added twice: F.linear adds it already.
        places_first @ weight.T → F.linear(places_first, weight, bias)

weight reshaped in place of turned
    weight was reshaped to (C, D), which scrambles its numbers. Turn it: weight.T.
        weight.T → weight.reshape(features.shape[1], -1)

weight before the map
    A product of a matrix and a map works on the last two axes, and those are H and W here. Bring the channels to
    the end first: features.permute(0, 2, 3, 1) @ weight.T.
        return weight @ features + bias

kernel without its two axes
    A convolution wants a weight (D, C, rows, columns of the kernel), here of 1 × 1: weight[:, :, None, None].
        return F.conv2d(features, weight, bias)

bias one axis short
    bias[:, None] is (D, 1), and its D meets the rows H. It needs two axes behind it, for H and for W: bias[:, None,
    None].
        return torch.einsum("bchw,dc->bdhw", features, weight) + bias[:, None]
""",
)


EXERCISE = Exercise(
    name="pixelwise_linear",
    solution=pixelwise_linear,
    cases=cases,
    result=Tensor,
    slack=1e-9,
    wrong=WRONG,
    hints=(
        "On which axis does a product work, and where do the channels of a map stand?",
        "features.permute(0, 2, 3, 1) has the channels last. Then it is lesson 05 at every place.",
        "result = (features.permute(0, 2, 3, 1) @ weight.T + bias), then .permute(0, 3, 1, 2)",
    ),
    praise="A 1 × 1 convolution is nothing else: one matrix at every place.",
)
