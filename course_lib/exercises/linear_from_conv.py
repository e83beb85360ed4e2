"""Lesson 06, linear_from_conv: a projection of patches -> the linear layer that does the same; others are refused."""

from __future__ import annotations

import itertools
from typing import Any

import torch
from torch import nn

from course_lib.exercises.layers import fill, refuse_other_sizes, refuse_shared_numbers, trainable
from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise, in_dtype


def linear_from_conv(conv):
    for name, wanted in (("stride", conv.kernel_size), ("padding", (0, 0)), ("dilation", (1, 1)), ("groups", 1)):
        if getattr(conv, name) != wanted:
            raise ValueError(f"no projection of patches: {name} is {getattr(conv, name)}, not {wanted}")
    biased = conv.bias is not None
    linear = nn.Linear(conv.weight[0].numel(), conv.out_channels, bias=biased, dtype=conv.weight.dtype)
    with torch.no_grad():
        linear.weight.copy_(conv.weight.flatten(1))
        if biased:
            linear.bias.copy_(conv.bias)
    return linear


SETTINGS = ("stride", "padding", "dilation", "groups")


def cases() -> list[Case]:
    def case(channels: int, patch_size: int, dimension: int, only: str = "", bias: bool = True) -> Case:
        return Case(
            f"a convolution of {channels} channel{'s' * (channels > 1)}, P = {patch_size}, D = {dimension}"
            f"{'' if bias else ', without a bias'}",
            (fill(nn.Conv2d(channels, dimension, patch_size, stride=patch_size, bias=bias), seed=dimension),),
            "D C·P·P",
            {"C": channels, "P": patch_size, "D": dimension},
            only,
        )

    def refuse(word: str, **settings: Any) -> Case:
        told = ", ".join(f"{name}={value}" for name, value in settings.items())
        return Case(
            f"a convolution with kernel 4 and {told}",
            (fill(nn.Conv2d(6, 12, 4, **settings), seed=12),),
            raises=(ValueError,),
            mentions=((word,),),
            unmentioned=tuple(name for name in SETTINGS if name != word),
        )

    return [
        case(2, 3, 5),
        case(5, 2, 7),
        case(1, 4, 3, "one channel"),
        case(6, 2, 9, bias=False),
        case(1, 1, 1, "trivial"),
        in_dtype(case(2, 2, 6), torch.float32),
        *(refuse("stride", stride=stride) for stride in (3, 5, (4, 3), (3, 4))),
        *(refuse("padding", stride=4, padding=padding) for padding in (1, 2, (1, 0), (0, 1))),
        *(refuse("dilation", stride=4, dilation=dilation) for dilation in (2, 3, (2, 1), (1, 2))),
        *(refuse("groups", stride=4, groups=groups) for groups in (2, 3)),
    ]


def read(linear: nn.Linear) -> dict[str, Any]:
    if linear.weight.ndim == 2:
        held = {"in_features": linear.weight.shape[1], "out_features": len(linear.weight)}
        refuse_other_sizes({name: getattr(linear, name) for name in held}, held)
    return {
        "trainable": trainable(linear),
        "bias": "none" if linear.bias is None else linear.bias.detach(),
        "weight": linear.weight.detach(),
    }


WRONG = mistakes(
    linear_from_conv,
    r"""
nothing refused
    Not every convolution is a projection of side-by-side patches: compare stride with kernel_size, and look at
    padding, dilation and groups.
        raise … → pass

stride only
    The stride is tested. Padding, dilation and groups change the map as well.
        ("padding", (0, 0)), ("dilation", (1, 1)), ("groups", 1) →

padding not tested
    With padding the patches begin outside the image.
        ("padding", (0, 0)), →

dilation not tested
    With dilation the pixels of a patch lie apart.
        ("dilation", (1, 1)), →

groups not tested
    With groups a number of the result sees only some of the channels.
        ("groups", 1) →

dilation and groups not tested
    Stride and padding are tested. Dilation and groups change the map as well.
        ("dilation", (1, 1)), ("groups", 1) →

condition not named
    Whoever reads this error wants to know which setting is broken: name that one, and not the others.
        raise … → raise ValueError("stride, padding, dilation or groups")

assert for a check
    assert vanishes when Python runs with -O, and says nothing: raise ValueError and name the condition.
        if getattr(conv, name) != wanted: → assert getattr(conv, name) == wanted
        raise … →

nothing returned in place of an error
    Whoever gets None only notices lines later. Raise a ValueError that names the condition.
        raise … → return None

order of the patch misread
    A kernel is stored channel, row, column. flatten(1) keeps that order.
        conv.weight.flatten(1) → conv.weight.permute(0, 2, 3, 1).flatten(1)

patches turned
    Row and column inside the kernel have changed places: flatten(1) is enough.
        conv.weight.flatten(1) → conv.weight.transpose(2, 3).flatten(1)

kernel turned round
    Each kernel was turned by 180 degrees. nn.Conv2d lays it on the patch as it is: flatten(1) is enough.
        conv.weight.flatten(1) → conv.weight.flip(2, 3).flatten(1)

frozen
    The layer does not learn (requires_grad is False): leave its parameters as those of each new layer are.
        return linear → return linear.requires_grad_(False)

bias lost
    The convolution has a bias, the linear layer has none.
        biased = … → biased = False

bias not copied
    The weight is right, the bias was not copied.
        linear.bias.copy_(conv.bias) → linear.bias.zero_()

zeros for no bias
    The convolution has no bias, the linear layer got one. It holds zeros now, but training would change them.
        biased = … → biased = True
        copy_(conv.bias) → copy_(torch.zeros(conv.out_channels) if conv.bias is None else conv.bias)

bias copied always
    This convolution has no bias: conv.bias is None. Then the linear layer gets none either: ask for it with bias=...,
    and copy only where there is one.
        biased = … → biased = True

bias copied always, as a parameter
    This convolution has no bias: conv.bias is None. Then the linear layer gets none either: ask for it with bias=...,
    and copy only where there is one.
        biased = … → biased = True
        linear.bias.copy_(conv.bias) → linear.bias = nn.Parameter(conv.bias.detach())

bias copied always, as data
    This convolution has no bias: conv.bias is None. Then the linear layer gets none either: ask for it with bias=...,
    and copy only where there is one.
        biased = … → biased = True
        linear.bias.copy_(conv.bias) → linear.bias.data = conv.bias.data
""",
)


NOT_TOLD = mistakes(
    linear_from_conv,
    "".join(
        f"""
not told: {", ".join(silent)}
    Where {" or ".join(silent)} is broken, your error does not say so, or names another setting as well:
    name the one that is broken, and only that.
        raise … → raise ValueError("stride, padding, dilation or groups" if name in {silent} else name)
"""
        for count in (1, 2, 3)
        for silent in itertools.combinations(SETTINGS, count)
    ),
)


# What is compared with something that it never equals.
ALWAYS_REFUSED = mistakes(
    linear_from_conv,
    "".join(
        f"""
every convolution refused, by {name}
    Every convolution is refused, also one that is a projection. Is a pair compared with a single number?
    conv.padding is the pair (0, 0), not 0.
        {edit}
"""
        for name, edit in (
            ("stride", "conv.kernel_size → conv.kernel_size[0]"),
            ("padding", '("padding", (0, 0)) → ("padding", 0)'),
            ("padding alone", '("stride", conv.kernel_size), ("padding", (0, 0)) → ("padding", 0)'),
            ("dilation", '("dilation", (1, 1)) → ("dilation", 1)'),
            ("no name", '("padding", (0, 0)) → ("padding", 0)\n        raise … → raise ValueError("no projection")'),
        )
    ),
)


EXERCISE = Exercise(
    name="linear_from_conv",
    solution=linear_from_conv,
    cases=cases,
    result=nn.Linear,
    read=read,
    use=refuse_shared_numbers,
    slack=1e-12,
    wrong=WRONG + NOT_TOLD + ALWAYS_REFUSED,
    hints=(
        "Two things: refuse what is no projection, then copy. Which settings of a convolution make it one?",
        "conv.stride == conv.kernel_size, conv.padding == (0, 0), conv.dilation == (1, 1), conv.groups =="
        " 1. Name the one that fails in the error.",
        "linear = nn.Linear(conv.weight[0].numel(), conv.out_channels, dtype=conv.weight.dtype), then copy"
        " conv.weight.flatten(1) and conv.bias under torch.no_grad().",
    ),
    praise="And you can say when the two are not the same.",
)
