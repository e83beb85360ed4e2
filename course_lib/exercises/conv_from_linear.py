"""Lesson 06, conv_from_linear: a linear layer on patches -> the Conv2d that does the same, no numbers changed."""

from __future__ import annotations

import torch
from torch import nn

from course_lib.exercises.layers import fill, read_conv, refuse_shared_numbers
from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise, in_dtype


def conv_from_linear(linear, channels, patch_size):
    conv = nn.Conv2d(
        channels, linear.out_features, kernel_size=patch_size, stride=patch_size, dtype=linear.weight.dtype
    )
    with torch.no_grad():
        conv.weight.copy_(linear.weight.reshape(conv.weight.shape))
        conv.bias.copy_(linear.bias)
    return conv


def cases() -> list[Case]:
    def case(channels: int, patch_size: int, dimension: int, only: str = "") -> Case:
        linear = fill(nn.Linear(channels * patch_size**2, dimension), seed=dimension)
        return Case(
            f"{channels} channel{'s' * (channels > 1)}, P = {patch_size}, D = {dimension}",
            (linear, channels, patch_size),
            "D C P P",
            {"C": channels, "P": patch_size, "D": dimension},
            only,
        )

    return [
        case(2, 3, 5),
        in_dtype(case(5, 2, 7), torch.float32),
        case(1, 4, 3, "one channel"),
        case(3, 2, 4, "three channels"),
        case(1, 1, 1, "trivial"),
    ]


WRONG = mistakes(
    conv_from_linear,
    r"""
order of the patch misread
    The rows of the linear weight run channel, row, column, as Conv2d stores them: reshape to (D, C, P, P), and move
    nothing.
        reshape(conv.weight.shape) → reshape(-1, patch_size, patch_size, channels).permute(0, 3, 1, 2)

patches turned
    Row and column inside the kernel have changed places: reshape to (D, C, P, P) is enough.
        reshape(conv.weight.shape) → reshape(conv.weight.shape).transpose(2, 3)

weight turned first
    Both layers keep one row, or one kernel, for each number of the result. Nothing has to be turned.
        linear.weight.reshape → linear.weight.T.reshape

stride forgotten
    Without a stride the kernel moves by one pixel. Side-by-side patches need stride = patch_size.
        stride=patch_size, →

bias lost
    The linear layer has a bias, the convolution has none.
        stride=patch_size, → stride=patch_size, bias=False,
        conv.bias.copy_(linear.bias) → pass

bias not copied
    The weight is right, the bias was not copied.
        conv.bias.copy_(linear.bias) → conv.bias.zero_()

frozen
    The layer does not learn (requires_grad is False): leave its parameters as those of each new layer are.
        return conv → return conv.requires_grad_(False)

kernel turned round
    The kernel was turned by 180 degrees, as the convolution of mathematics does. nn.Conv2d does not: it lays the
    kernel on the patch as it is.
        reshape(conv.weight.shape) → reshape(conv.weight.shape).flip(2, 3)

padding added
    With padding the first patch begins outside the image. Side-by-side patches need none.
        stride=patch_size, → stride=patch_size, padding=patch_size // 2,
""",
)


EXERCISE = Exercise(
    name="conv_from_linear",
    solution=conv_from_linear,
    cases=cases,
    result=nn.Conv2d,
    read=read_conv,
    use=refuse_shared_numbers,
    slack=1e-12,
    wrong=WRONG,
    hints=(
        "How many numbers has one row of linear.weight, and how many has one kernel of the convolution?",
        "nn.Conv2d(channels, linear.out_features, patch_size, stride=patch_size,"
        " dtype=linear.weight.dtype); its weight has the shape (D, C, P, P).",
        "with torch.no_grad(): conv.weight.copy_(linear.weight.reshape(conv.weight.shape));"
        " conv.bias.copy_(linear.bias)",
    ),
    praise="The same numbers in another shape: a row of the matrix is a kernel.",
)
