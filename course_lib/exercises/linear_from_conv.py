"""Lesson 06, exercise linear_from_conv."""

from __future__ import annotations

import itertools
from typing import Any

import torch
from torch import nn

from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise, WrongAnswer
from course_lib.exercises.shared_06 import _changed_after, _conv, _refuse_other_sizes, _without_bias


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


def _read_linear(linear: nn.Linear) -> dict[str, Any]:
    if linear.weight.ndim == 2:
        held = {"in_features": linear.weight.shape[1], "out_features": len(linear.weight)}
        _refuse_other_sizes({name: getattr(linear, name) for name in held}, held)
    return {"bias": "none" if linear.bias is None else linear.bias.detach(), "weight": linear.weight.detach()}


def _conv_cases() -> list[Case]:
    def case(channels: int, patch_size: int, dimension: int, only: str = "", bias: bool = True) -> Case:
        return Case(
            f"a convolution of {channels} channel{'s' * (channels > 1)}, P = {patch_size}, D = {dimension}"
            f"{'' if bias else ', without a bias'}",
            (_conv(channels, dimension, patch_size, stride=patch_size, bias=bias),),
            "D C·P·P",
            {"C": channels, "P": patch_size, "D": dimension},
            only,
        )

    def refuse(word: str, **settings: Any) -> Case:
        told = ", ".join(f"{name}={value}" for name, value in settings.items())
        return Case(
            f"a convolution with kernel 4 and {told}",
            (_conv(6, 12, 4, **settings),),
            raises=(ValueError,),
            mentions=((word,),),
            unmentioned=tuple(name for name in SETTINGS if name != word),
        )

    return [
        case(2, 3, 5),
        case(5, 2, 7),
        case(1, 4, 3, "one channel"),
        case(6, 2, 9, bias=False),
        *(refuse("stride", stride=stride) for stride in (3, 5, (4, 3), (3, 4))),
        *(refuse("padding", stride=4, padding=padding) for padding in (1, 2, (1, 0), (0, 1))),
        *(refuse("dilation", stride=4, dilation=dilation) for dilation in (2, 3, (2, 1), (1, 2))),
        *(refuse("groups", stride=4, groups=groups) for groups in (2, 3)),
    ]


def _linear_wrong(checks=SETTINGS, order=None, bias="copied"):
    def wrong(conv):
        wanted = {"stride": conv.kernel_size, "padding": (0, 0), "dilation": (1, 1), "groups": 1}
        for name in checks:
            if getattr(conv, name) != wanted[name]:
                raise ValueError(f"{name} is {getattr(conv, name)}")
        weight = conv.weight
        if order == "channels last":
            weight = weight.permute(0, 2, 3, 1)
        elif order == "turned":
            weight = weight.transpose(2, 3)
        has_bias = conv.bias is not None or bias in ("zeros", "always")
        linear = nn.Linear(weight[0].numel(), conv.out_channels, bias=has_bias).to(weight.dtype)
        with torch.no_grad():
            linear.weight.copy_(weight.flatten(1))
            if has_bias:
                linear.bias.zero_()
            if has_bias and (bias == "always" or conv.bias is not None):
                linear.bias.copy_(conv.bias)
        return linear

    return wrong


def _bias_as_parameter(conv):
    linear = linear_from_conv(conv)
    linear.bias = nn.Parameter(conv.bias.detach())
    return linear


def _bias_as_data(conv):
    linear = linear_from_conv(conv)
    linear.bias.data = conv.bias.data
    return linear


def _not_told(*silent):
    """The right answer, but for the settings in `silent` the error does not tell which one is broken."""

    def wrong(conv):
        try:
            return linear_from_conv(conv)
        except ValueError as error:
            if any(f": {name} " in str(error) for name in silent):
                raise ValueError(" or ".join(SETTINGS)) from None
            raise

    return wrong


def _always_refused(last):
    """Every convolution is refused: what is compared with `last` is never equal to it."""

    def wrong(conv):
        if conv.stride != conv.kernel_size and last in ("padding", "dilation"):
            raise ValueError("stride")
        if conv.padding != (0, 0) and last == "dilation":
            raise ValueError("padding")
        raise ValueError(last.removesuffix(" alone"))

    return wrong


def _bias_to_zero(layer):
    if layer.bias is not None:
        layer.bias.zero_()


WRONG = mistakes(
    linear_from_conv,
    r"""
nothing refused
    Not every convolution is a projection of side-by-side patches: compare stride with kernel_size, and look at
    padding, dilation and groups.
        return _linear_wrong(checks=())(conv)

stride only
    The stride is tested. Padding, dilation and groups change the map as well.
        return _linear_wrong(checks=("stride",))(conv)

padding not tested
    With padding the patches begin outside the image.
        return _linear_wrong(checks=("stride", "dilation", "groups"))(conv)

dilation not tested
    With dilation the pixels of a patch lie apart.
        return _linear_wrong(checks=("stride", "padding", "groups"))(conv)

groups not tested
    With groups a number of the result sees only some of the channels.
        return _linear_wrong(checks=("stride", "padding", "dilation"))(conv)

condition not named
    Whoever reads this error wants to know which setting is broken: name that one, and not the others.
        return _not_told(*SETTINGS)(conv)

order of the patch misread
    A kernel is stored channel, row, column. flatten(1) keeps that order.
        return _linear_wrong(order="channels last")(conv)

patches turned
    Row and column inside the kernel have changed places: flatten(1) is enough.
        return _linear_wrong(order="turned")(conv)

zeros for no bias
    The convolution has no bias, the linear layer got one. It holds zeros now, but training would change them.
        return _linear_wrong(bias="zeros")(conv)

bias lost
    The convolution has a bias, the linear layer has none.
        return _changed_after(linear_from_conv, _without_bias)(conv)

bias not copied
    The weight is right, the bias was not copied.
        return _changed_after(linear_from_conv, _bias_to_zero)(conv)

kernel turned round
    Each kernel was turned by 180 degrees. nn.Conv2d lays it on the patch as it is: flatten(1) is enough.
        linear = linear_from_conv(conv)
        with torch.no_grad():
            linear.weight.copy_(conv.weight.flip(2, 3).flatten(1))
        return linear

assert for a check
    assert vanishes when Python runs with -O, and says nothing: raise ValueError and name the condition.
        assert conv.stride == conv.kernel_size and conv.padding == (0, 0)
        assert conv.dilation == (1, 1) and conv.groups == 1
        return linear_from_conv(conv)

nothing returned in place of an error
    Whoever gets None only notices lines later. Raise a ValueError that names the condition.
        try:
            return linear_from_conv(conv)
        except ValueError:
            return None

dilation and groups not tested
    Stride and padding are tested. Dilation and groups change the map as well.
        return _linear_wrong(checks=("stride", "padding"))(conv)
""",
    _changed_after=_changed_after,
    _without_bias=_without_bias,
)


FAMILIES = (
    *(
        WrongAnswer(
            f"not told: {', '.join(silent)}",
            _not_told(*silent),
            f"Where {' or '.join(silent)} is broken, your error does not say so, or names another setting as well:"
            " name the one that is broken, and only that.",
        )
        for count in (1, 2, 3)
        for silent in itertools.combinations(SETTINGS, count)
    ),
    *(
        WrongAnswer(
            f"every convolution refused, by {last}",
            _always_refused(last),
            "Every convolution is refused, also one that is a projection. Is a pair compared with a single number?"
            " conv.padding is the pair (0, 0), not 0.",
        )
        for last in ("stride", "padding", "padding alone", "dilation", "no name")
    ),
    *(
        WrongAnswer(
            name,
            answer,
            "This convolution has no bias: conv.bias is None. Then the linear layer gets none either: ask for it"
            " with bias=..., and copy only where there is one.",
        )
        for name, answer in (
            ("bias copied always", _linear_wrong(bias="always")),
            ("bias copied always, as a parameter", _bias_as_parameter),
            ("bias copied always, as data", _bias_as_data),
        )
    ),
)


EXERCISE = Exercise(
    name="linear_from_conv",
    solution=linear_from_conv,
    cases=_conv_cases,
    result=nn.Linear,
    read=_read_linear,
    slack=1e-12,
    wrong=WRONG + FAMILIES,
    hints=(
        "Two things: refuse what is no projection, then copy. Which settings of a convolution make it one?",
        (
            "conv.stride == conv.kernel_size, conv.padding == (0, 0), conv.dilation == (1, 1), conv.groups =="
            " 1. Name the one that fails in the error."
        ),
        (
            "linear = nn.Linear(conv.weight[0].numel(), conv.out_channels, dtype=conv.weight.dtype), then copy"
            " conv.weight.flatten(1) and conv.bias under torch.no_grad()."
        ),
    ),
    praise="And you can say when the two are not the same.",
)
