"""Lesson 06, merge_linear_into_conv: a convolution and the linear layer behind it -> one convolution."""

from __future__ import annotations

import torch
from torch import nn

from course_lib.exercises.layers import fill, read_conv, refuse_shared_numbers
from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise, in_dtype


def merge_linear_into_conv(conv, linear):
    merged = nn.Conv2d(conv.in_channels, linear.out_features, conv.kernel_size, conv.stride, dtype=conv.weight.dtype)
    with torch.no_grad():
        merged.weight.copy_(torch.einsum("od,dcpq->ocpq", linear.weight, conv.weight))
        merged.bias.copy_(linear.weight @ conv.bias + linear.bias)
    return merged


def cases() -> list[Case]:
    def case(channels: int, patch_size: int, between: int, dimension: int, only: str = "") -> Case:
        conv = fill(nn.Conv2d(channels, between, patch_size, stride=patch_size), seed=between)
        linear = fill(nn.Linear(between, dimension), seed=dimension)
        return Case(
            f"{channels} channels, P = {patch_size}, then {between} → {dimension} numbers",
            (conv, linear),
            "D C P P",
            {"C": channels, "P": patch_size, "D": dimension},
            only,
        )

    return [
        case(2, 3, 5, 7),
        case(4, 2, 6, 3),
        in_dtype(case(2, 2, 5, 6), torch.float32),
        case(5, 2, 4, 4, "a square second layer"),
        case(3, 2, 5, 6, "three channels"),
        case(1, 1, 1, 1, "trivial"),
    ]


WRONG = mistakes(
    merge_linear_into_conv,
    r"""
first bias lost
    The bias of the convolution goes through the second layer too: it is multiplied by linear.weight.
        linear.weight @ conv.bias + linear.bias → linear.bias

second bias lost
    The second layer adds a bias of its own: linear.bias.
        + linear.bias →

order of the product swapped
    The second matrix, linear.weight, has to stand on the left. Here it was used turned, which only fits where it is
    square.
        od,dcpq → do,dcpq

frozen
    The layer does not learn (requires_grad is False): leave its parameters as those of each new layer are.
        return merged → return merged.requires_grad_(False)

first layer only
    This is the first layer alone.
        return … → return conv

first layer on the left
    The layer that comes first stands on the right, next to the patch that it meets first: linear.weight @
    (conv.weight @ x).
        return conv.weight.flatten(1) @ linear.weight

first layer on the left, second turned
    The layer that comes first stands on the right, next to the patch that it meets first: linear.weight @
    (conv.weight @ x).
        return conv.weight.flatten(1) @ linear.weight.T

product of four axes
    A kernel has channels, rows and columns, so conv.weight has four axes, and a product takes only the last ones.
    Make each kernel a row first: conv.weight.flatten(1).
        return linear.weight @ conv.weight

product of four axes, the other way round
    A kernel has channels, rows and columns, so conv.weight has four axes, and a product takes only the last ones.
    Make each kernel a row first, and let the second layer stand on the left.
        return conv.weight @ linear.weight

bias not passed through
    The bias of the convolution was added as it is. It is multiplied by linear.weight first. Where the second layer
    gives another number of numbers, the two do not even have the same length.
        linear.weight @ conv.bias → conv.bias

second bias subtracted
    The bias of the second layer was subtracted. Both layers add theirs.
        + linear.bias → - linear.bias

second matrix turned for the bias
    The bias goes through the second matrix as it is: linear.weight @ conv.bias, without .T.
        linear.weight @ conv.bias → linear.weight.T @ conv.bias

stride forgotten
    The merged convolution moves by one pixel. It takes kernel size and stride from the first.
        conv.stride, →

no bias
    Both layers have a bias, so the merged one has a bias too: what the second layer makes of conv.bias.
        conv.stride, → conv.stride, bias=False,
        merged.bias.copy_… → pass

bias not copied
    The weight is right. The bias is still to come: what the second layer makes of conv.bias.
        merged.bias.copy_… → merged.bias.zero_()

product reshaped, not turned
    The product stands turned, one column for each kernel, and was reshaped. Turn it with .T first, or write
    linear.weight @ conv.weight.flatten(1).
        torch.einsum… → (conv.weight.flatten(1).T @ linear.weight.T).reshape(merged.weight.shape))

second bias twice
    The second bias was added twice. linear(conv.bias) adds it already.
        linear.weight @ conv.bias → linear(conv.bias)
""",
)


EXERCISE = Exercise(
    name="merge_linear_into_conv",
    solution=merge_linear_into_conv,
    cases=cases,
    result=nn.Conv2d,
    read=read_conv,
    use=refuse_shared_numbers,
    slack=1e-12,
    wrong=WRONG,
    hints=(
        "For one patch x, written as a column: y = conv.weight @ x + conv.bias, then z = linear.weight @ y +"
        " linear.bias, with each kernel as a row of conv.weight. Put the first line into the second.",
        "z = (linear.weight @ conv.weight) @ x + (linear.weight @ conv.bias + linear.bias). The first bracket"
        " is the new weight, the second the new bias. conv.weight.flatten(1) makes each kernel a row.",
        "weight: (linear.weight @ conv.weight.flatten(1)).reshape(-1, *conv.weight.shape[1:]); bias:"
        " linear.weight @ conv.bias + linear.bias. Copy both under torch.no_grad().",
    ),
    praise="Two affine maps in a row are one. Only something between them that is not affine changes that.",
)
