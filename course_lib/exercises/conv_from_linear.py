"""Lesson 06, exercise conv_from_linear."""

from __future__ import annotations

import torch
from torch import nn

from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise
from course_lib.exercises.shared_06 import _changed_after, _fill, _read_conv


def conv_from_linear(linear, channels, patch_size):
    conv = nn.Conv2d(
        channels, linear.out_features, kernel_size=patch_size, stride=patch_size, dtype=linear.weight.dtype
    )
    with torch.no_grad():
        conv.weight.copy_(linear.weight.reshape(conv.weight.shape))
        conv.bias.copy_(linear.bias)
    return conv


def _linear_cases() -> list[Case]:
    def case(channels: int, patch_size: int, dimension: int, only: str = "", dtype=torch.float64) -> Case:
        linear = _fill(nn.Linear(channels * patch_size**2, dimension), seed=dimension).to(dtype)
        return Case(
            f"{channels} channel{'s' * (channels > 1)}, P = {patch_size}, D = {dimension}",
            (linear, channels, patch_size),
            "D C P P",
            {"C": channels, "P": patch_size, "D": dimension},
            only,
        )

    return [
        case(2, 3, 5),
        case(5, 2, 7, dtype=torch.float32),
        case(1, 4, 3, "one channel"),
        case(3, 2, 4, "three channels"),
    ]


def _conv_wrong(order=None, stride=True, bias=True, copied=True):
    def wrong(linear, channels, patch_size):
        conv = nn.Conv2d(channels, linear.out_features, patch_size, stride=patch_size if stride else 1, bias=bias)
        conv = conv.to(linear.weight.dtype)
        if copied:
            with torch.no_grad():
                weight = linear.weight
                if order == "channels last":
                    weight = weight.reshape(len(weight), patch_size, patch_size, channels).permute(0, 3, 1, 2)
                elif order == "turned":
                    weight = weight.reshape(len(weight), channels, patch_size, patch_size).transpose(2, 3)
                elif order == "T":
                    weight = weight.T
                conv.weight.copy_(weight.reshape(conv.weight.shape))
                if bias:
                    conv.bias.copy_(linear.bias)
        return conv

    return wrong


def _turned_round(conv):
    conv.weight.copy_(conv.weight.flip(2, 3))


def _padded(conv):
    conv.padding = (conv.kernel_size[0] // 2,) * 2


WRONG = mistakes(
    conv_from_linear,
    r"""
order of the patch misread
    The rows of the linear weight run channel, row, column, as Conv2d stores them: reshape to (D, C, P, P), and move
    nothing.
        return _conv_wrong("channels last")(linear, channels, patch_size)

patches turned
    Row and column inside the kernel have changed places: reshape to (D, C, P, P) is enough.
        return _conv_wrong("turned")(linear, channels, patch_size)

weight turned first
    Both layers keep one row, or one kernel, for each number of the result. Nothing has to be turned.
        return _conv_wrong("T")(linear, channels, patch_size)

stride forgotten
    Without a stride the kernel moves by one pixel. Side-by-side patches need stride = patch_size.
        return _conv_wrong(stride=False)(linear, channels, patch_size)

bias lost
    The linear layer has a bias, the convolution has none.
        return _conv_wrong(bias=False)(linear, channels, patch_size)

bias not copied
    The weight is right, the bias was not copied.
        conv = conv_from_linear(linear, channels, patch_size)
        with torch.no_grad():
            conv.bias.zero_()
        return conv

kernel turned round
    The kernel was turned by 180 degrees, as the convolution of mathematics does. nn.Conv2d does not: it lays the
    kernel on the patch as it is.
        return _changed_after(conv_from_linear, _turned_round)(linear, channels, patch_size)

padding added
    With padding the first patch begins outside the image. Side-by-side patches need none.
        return _changed_after(conv_from_linear, _padded)(linear, channels, patch_size)
""",
    _changed_after=_changed_after,
)


EXERCISE = Exercise(
    name="conv_from_linear",
    solution=conv_from_linear,
    cases=_linear_cases,
    result=nn.Conv2d,
    read=_read_conv,
    slack=1e-12,
    wrong=WRONG,
    hints=(
        "How many numbers has one row of linear.weight, and how many has one kernel of the convolution?",
        (
            "nn.Conv2d(channels, linear.out_features, patch_size, stride=patch_size,"
            " dtype=linear.weight.dtype); its weight has the shape (D, C, P, P)."
        ),
        (
            "with torch.no_grad(): conv.weight.copy_(linear.weight.reshape(conv.weight.shape));"
            " conv.bias.copy_(linear.bias)"
        ),
    ),
    praise="The same numbers in another shape: a row of the matrix is a kernel.",
)
