"""Lesson 06: a convolution that is a projection."""

from __future__ import annotations

import itertools
from typing import Any

import torch
from torch import Tensor, nn

from course_lib.exercises.model import (
    Case,
    Exercise,
    NotAsked,
    Option,
    Question,
    WrongAnswer,
    fill_projection,
    pixels,
    refuse_without_gradient,
)
from course_lib.patches import patchify


def conv_from_linear(linear, channels, patch_size):
    conv = nn.Conv2d(
        channels, linear.out_features, kernel_size=patch_size, stride=patch_size, dtype=linear.weight.dtype
    )
    with torch.no_grad():
        conv.weight.copy_(linear.weight.reshape(conv.weight.shape))
        conv.bias.copy_(linear.bias)
    return conv


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


def merge_linear_into_conv(conv, linear):
    merged = nn.Conv2d(conv.in_channels, linear.out_features, conv.kernel_size, conv.stride, dtype=conv.weight.dtype)
    with torch.no_grad():
        merged.weight.copy_(torch.einsum("od,dcpq->ocpq", linear.weight, conv.weight))
        merged.bias.copy_(linear.weight @ conv.bias + linear.bias)
    return merged


class PatchEmbedding(nn.Module):
    def __init__(self, in_channels, patch_size, embedding_dim):
        super().__init__()
        self.patch_size = patch_size
        self.projection = nn.Conv2d(in_channels, embedding_dim, kernel_size=patch_size, stride=patch_size)

    def forward(self, images):
        for name, size in zip(("height", "width"), images.shape[-2:], strict=True):
            if size % self.patch_size:
                raise ValueError(f"image {name} {size} is not a multiple of patch size {self.patch_size}")
        return self.projection(images).flatten(2).transpose(1, 2)


SETTINGS = ("stride", "padding", "dilation", "groups")
SIDES = ("height", "width")

# Layers are filled with numbers from a generator of their own and compared in float64, so that no rounding and
# no global random stream decides whether an answer is right.


def _fill(layer: nn.Module, seed: int) -> Any:
    generator = torch.Generator().manual_seed(seed)
    layer = layer.double()
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
    return layer


def _refuse_other_sizes(told: dict[str, Any], held: dict[str, Any]) -> None:
    """Raise NotAsked where what a layer says of its sizes is not what its weight has."""
    wrong = [name for name in told if told[name] != held[name]]
    if wrong:
        says = ", ".join(f"{name}={told[name]}" for name in wrong)
        fits = ", ".join(f"{name}={held[name]}" for name in wrong)
        raise NotAsked(
            f"the layer says {says}, but the weight that was put into it needs {fits}: make the layer with the right"
            " sizes at once"
        )


def _read_conv(conv: nn.Conv2d) -> dict[str, Any]:
    if conv.weight.ndim == 4 and conv.groups == 1:
        held = {
            "in_channels": conv.weight.shape[1],
            "out_channels": len(conv.weight),
            "kernel_size": tuple(conv.weight.shape[2:]),
        }
        _refuse_other_sizes({name: getattr(conv, name) for name in held}, held)
    return {
        "kernel_size": conv.kernel_size,
        "stride": conv.stride,
        "padding": conv.padding,
        "dilation": conv.dilation,
        "groups": conv.groups,
        "bias": "none" if conv.bias is None else conv.bias.detach(),
        "weight": conv.weight.detach(),
    }


def _read_linear(linear: nn.Linear) -> dict[str, Any]:
    if linear.weight.ndim == 2:
        held = {"in_features": linear.weight.shape[1], "out_features": len(linear.weight)}
        _refuse_other_sizes({name: getattr(linear, name) for name in held}, held)
    return {"bias": "none" if linear.bias is None else linear.bias.detach(), "weight": linear.weight.detach()}


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


def _conv(channels: int, dimension: int, kernel: Any, **settings: Any) -> nn.Conv2d:
    return _fill(nn.Conv2d(channels, dimension, kernel, **settings), seed=dimension)


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


def _merge_cases() -> list[Case]:
    def case(channels: int, patch_size: int, between: int, dimension: int, only: str = "") -> Case:
        conv = _conv(channels, between, patch_size, stride=patch_size)
        linear = _fill(nn.Linear(between, dimension), seed=dimension)
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
        case(5, 2, 4, 4, "a square second layer"),
        case(3, 2, 5, 6, "three channels"),
    ]


def _class_cases() -> list[Case]:
    def case(
        batch: int, channels: int, height: int, width: int, patch_size: int, dimension: int, only: str = ""
    ) -> Case:
        count = (height // patch_size) * (width // patch_size)
        return Case(
            f"{batch} image{'s' * (batch > 1)} of {height} × {width}, C = {channels}, P = {patch_size}, D ="
            f" {dimension}",
            (channels, patch_size, dimension),
            "B N D",
            {"B": batch, "C": channels, "H": height, "W": width, "P": patch_size, "D": dimension, "N": count},
            only,
            given=(pixels(batch, channels, height, width).double() / 100,),
        )

    def refuse(height: int, width: int, word: str) -> Case:
        return Case(
            f"an image of {height} × {width} with P = 4",
            (2, 4, 5),
            raises=(ValueError,),
            mentions=((word,),),
            unmentioned=tuple(name for name in SIDES if name != word),
            given=(pixels(1, 2, height, width).double(),),
        )

    return [
        case(2, 2, 6, 9, 3, 5),
        case(4, 5, 4, 6, 2, 7),
        case(1, 4, 6, 4, 2, 9, "a batch of one"),
        case(2, 2, 6, 6, 2, 5, "square images"),
        case(2, 3, 4, 10, 2, 6, "three channels"),
        refuse(8, 10, "width"),
        refuse(6, 8, "height"),
    ]


def _use(module: nn.Module, case: Case) -> Any:
    """Result of a learner's module once its projection holds known numbers, whatever it is called inside."""
    if not isinstance(module, nn.Module):
        raise NotAsked("what came is no layer of torch: begin with class PatchEmbedding(nn.Module)")
    channels, patch_size, dimension = case.args
    fill_projection(module.double().parameters(), channels * patch_size**2, dimension)
    result = module(*case.given)
    if isinstance(result, Tensor) and not result.requires_grad and not case.raises:
        right = PatchEmbedding(*case.args).double()
        fill_projection(right.parameters(), channels * patch_size**2, dimension)
        refuse_without_gradient(result, right(*case.given))
    return result


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


def _bias_not_copied(linear, channels, patch_size):
    conv = conv_from_linear(linear, channels, patch_size)
    with torch.no_grad():
        conv.bias.zero_()
    return conv


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


def _merge_wrong(weight="od,dcpq->ocpq", bias="both"):
    def wrong(conv, linear):
        merged = nn.Conv2d(conv.in_channels, linear.out_features, conv.kernel_size, conv.stride).to(conv.weight.dtype)
        with torch.no_grad():
            merged.weight.copy_(torch.einsum(weight, linear.weight, conv.weight))
            value = {
                "both": lambda: linear.weight @ conv.bias + linear.bias,
                "second": lambda: linear.bias,
                "not passed": lambda: conv.bias + linear.bias,
                "turned": lambda: linear.weight.T @ conv.bias + linear.bias,
                "first": lambda: linear.weight @ conv.bias,
                "subtracted": lambda: linear.weight @ conv.bias - linear.bias,
            }[bias]()
            merged.bias.copy_(value)
        return merged

    return wrong


class _Reshaped(PatchEmbedding):
    def forward(self, images):
        tokens = super().forward(images)
        return tokens.transpose(1, 2).reshape(tokens.shape)


class _NotTurned(PatchEmbedding):
    def forward(self, images):
        return super().forward(images).transpose(1, 2)


class _NotFlattened(PatchEmbedding):
    def forward(self, images):
        super().forward(images)
        return self.projection(images)


class _WidthOnly(PatchEmbedding):
    def forward(self, images):
        if images.shape[-1] % self.patch_size:
            raise ValueError(f"image width {images.shape[-1]} is not a multiple of patch size {self.patch_size}")
        return self.projection(images).flatten(2).transpose(1, 2)


class _HeightOnly(PatchEmbedding):
    def forward(self, images):
        if images.shape[-2] % self.patch_size:
            raise ValueError(f"image height {images.shape[-2]} is not a multiple of patch size {self.patch_size}")
        return self.projection(images).flatten(2).transpose(1, 2)


class _Unchecked(PatchEmbedding):
    def forward(self, images):
        return self.projection(images).flatten(2).transpose(1, 2)


class _Asserts(PatchEmbedding):
    def forward(self, images):
        assert images.shape[-1] % self.patch_size == 0 and images.shape[-2] % self.patch_size == 0
        return self.projection(images).flatten(2).transpose(1, 2)


class _Averaged(PatchEmbedding):
    def forward(self, images):
        return super().forward(images).mean(1)


class _StrideOne(PatchEmbedding):
    def __init__(self, in_channels, patch_size, embedding_dim):
        super().__init__(in_channels, patch_size, embedding_dim)
        self.projection.stride = (1, 1)


class _ReshapedUnchecked(PatchEmbedding):
    def forward(self, images):
        grid = self.projection(images)
        return grid.reshape(len(grid), -1, grid.shape[1])


class _Bare(PatchEmbedding):
    def forward(self, images):
        return self.projection(images)


class _ChannelsLast(PatchEmbedding):
    def forward(self, images):
        super().forward(images)
        rows = patchify(images, self.patch_size)
        channels = images.shape[1]
        last = rows.unflatten(2, (channels, self.patch_size, self.patch_size)).permute(0, 1, 3, 4, 2).flatten(2)
        return last @ self.projection.weight.flatten(1).T + self.projection.bias


def _changed_after(right, change):
    """The right answer, then changed by change(layer)."""

    def wrong(*args):
        layer = right(*args)
        with torch.no_grad():
            change(layer)
        return layer

    return wrong


def _without_bias(layer):
    layer.bias = None


def _bias_to_zero(layer):
    if layer.bias is not None:
        layer.bias.zero_()


def _turned_round(conv):
    conv.weight.copy_(conv.weight.flip(2, 3))


def _padded(conv):
    conv.padding = (conv.kernel_size[0] // 2,) * 2


def _flipped_rows(conv):
    linear = linear_from_conv(conv)
    with torch.no_grad():
        linear.weight.copy_(conv.weight.flip(2, 3).flatten(1))
    return linear


def _asserted(conv):
    assert conv.stride == conv.kernel_size and conv.padding == (0, 0)
    assert conv.dilation == (1, 1) and conv.groups == 1
    return linear_from_conv(conv)


def _none_where_refused(conv):
    try:
        return linear_from_conv(conv)
    except ValueError:
        return None


MORE_CONVOLUTIONS = (
    WrongAnswer(
        "kernel turned round",
        _changed_after(conv_from_linear, _turned_round),
        "The kernel was turned by 180 degrees, as the convolution of mathematics does. nn.Conv2d does not: it lays"
        " the kernel on the patch as it is.",
    ),
    WrongAnswer(
        "padding added",
        _changed_after(conv_from_linear, _padded),
        "With padding the first patch begins outside the image. Side-by-side patches need none.",
    ),
)

MORE_MATRICES = (
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
    WrongAnswer(
        "zeros for no bias",
        _linear_wrong(bias="zeros"),
        "The convolution has no bias, the linear layer got one. It holds zeros now, but training would change them.",
    ),
    WrongAnswer(
        "bias lost",
        _changed_after(linear_from_conv, _without_bias),
        "The convolution has a bias, the linear layer has none.",
    ),
    WrongAnswer(
        "bias not copied",
        _changed_after(linear_from_conv, _bias_to_zero),
        "The weight is right, the bias was not copied.",
    ),
    WrongAnswer(
        "kernel turned round",
        _flipped_rows,
        "Each kernel was turned by 180 degrees. nn.Conv2d lays it on the patch as it is: flatten(1) is enough.",
    ),
    WrongAnswer(
        "assert for a check",
        _asserted,
        "assert vanishes when Python runs with -O, and says nothing: raise ValueError and name the condition.",
    ),
    WrongAnswer(
        "nothing returned in place of an error",
        _none_where_refused,
        "Whoever gets None only notices lines later. Raise a ValueError that names the condition.",
    ),
    WrongAnswer(
        "dilation and groups not tested",
        _linear_wrong(checks=("stride", "padding")),
        "Stride and padding are tested. Dilation and groups change the map as well.",
    ),
)


def _stride_lost(conv, linear):
    merged = merge_linear_into_conv(conv, linear)
    merged.stride = (1, 1)
    return merged


def _product_reshaped(conv, linear):
    merged = merge_linear_into_conv(conv, linear)
    with torch.no_grad():
        merged.weight.copy_((conv.weight.flatten(1).T @ linear.weight.T).reshape(merged.weight.shape))
    return merged


MORE_MERGES = (
    WrongAnswer(
        "product of four axes",
        lambda conv, linear: linear.weight @ conv.weight,
        "A kernel has channels, rows and columns, so conv.weight has four axes, and a product takes only the last"
        " ones. Make each kernel a row first: conv.weight.flatten(1).",
    ),
    WrongAnswer(
        "product of four axes, the other way round",
        lambda conv, linear: conv.weight @ linear.weight,
        "A kernel has channels, rows and columns, so conv.weight has four axes, and a product takes only the last"
        " ones. Make each kernel a row first, and let the second layer stand on the left.",
    ),
    *(
        WrongAnswer(
            name,
            answer,
            "The layer that comes first stands on the right, next to the patch that it meets first: linear.weight @"
            " (conv.weight @ x).",
        )
        for name, answer in (
            ("first layer on the left", lambda conv, linear: conv.weight.flatten(1) @ linear.weight),
            ("first layer on the left, second turned", lambda conv, linear: conv.weight.flatten(1) @ linear.weight.T),
        )
    ),
    WrongAnswer(
        "bias not passed through",
        _merge_wrong(bias="not passed"),
        "The bias of the convolution was added as it is. It is multiplied by linear.weight"
        " first. Where the second layer gives another number of numbers, the two do not even have the same length.",
    ),
    WrongAnswer(
        "second bias subtracted",
        _merge_wrong(bias="subtracted"),
        "The bias of the second layer was subtracted. Both layers add theirs.",
    ),
    WrongAnswer(
        "second matrix turned for the bias",
        _merge_wrong(bias="turned"),
        "The bias goes through the second matrix as it is: linear.weight @ conv.bias, without .T.",
    ),
    WrongAnswer(
        "stride forgotten",
        _stride_lost,
        "The merged convolution moves by one pixel. It takes kernel size and stride from the first.",
    ),
    WrongAnswer(
        "no bias",
        _changed_after(merge_linear_into_conv, _without_bias),
        "Both layers have a bias, so the merged one has a bias too: what the second layer makes of conv.bias.",
    ),
    WrongAnswer(
        "bias not copied",
        _changed_after(merge_linear_into_conv, lambda conv: conv.bias.zero_()),
        "The weight is right. The bias is still to come: what the second layer makes of conv.bias.",
    ),
    WrongAnswer(
        "product reshaped, not turned",
        _product_reshaped,
        "The product stands turned, one column for each kernel, and was reshaped. Turn it with .T first, or write"
        " linear.weight @ conv.weight.flatten(1).",
    ),
    WrongAnswer(
        "second bias twice",
        lambda conv, linear: _changed_after(merge_linear_into_conv, lambda new: new.bias.add_(linear.bias))(
            conv, linear
        ),
        "The second bias was added twice. linear(conv.bias) adds it already.",
    ),
)


class _NoBias(PatchEmbedding):
    def __init__(self, in_channels, patch_size, embedding_dim):
        super().__init__(in_channels, patch_size, embedding_dim)
        self.projection.bias = None


class _Padded(PatchEmbedding):
    def __init__(self, in_channels, patch_size, embedding_dim):
        super().__init__(in_channels, patch_size, embedding_dim)
        self.projection.padding = (1, 1)


class _NothingLearned(PatchEmbedding):
    def forward(self, images):
        super().forward(images)
        return patchify(images, self.patch_size)


class _ColumnByColumn(PatchEmbedding):
    def forward(self, images):
        super().forward(images)
        return self.projection(images).transpose(2, 3).flatten(2).transpose(1, 2)


class _Merged(PatchEmbedding):
    def forward(self, images):
        return super().forward(images).transpose(1, 2).flatten(1)


class _Relu(PatchEmbedding):
    def forward(self, images):
        return super().forward(images).relu()


class _SquareOnly(PatchEmbedding):
    def forward(self, images):
        tokens = super().forward(images)
        side = int(tokens.shape[1] ** 0.5)
        return self.projection(images)[:, :, :side, :side].flatten(2).transpose(1, 2)


class _SecondLayer(PatchEmbedding):
    def __init__(self, in_channels, patch_size, embedding_dim):
        super().__init__(in_channels, patch_size, embedding_dim)
        self.after = nn.Linear(embedding_dim, embedding_dim)

    def forward(self, images):
        return self.after(super().forward(images))


class _SideNotNamed(PatchEmbedding):
    def forward(self, images):
        try:
            return super().forward(images)
        except ValueError:
            raise ValueError(f"not a multiple of patch size {self.patch_size}") from None


class _HeightNotTold(PatchEmbedding):
    def forward(self, images):
        if images.shape[-2] % self.patch_size:
            raise ValueError("height or width does not fit")
        return super().forward(images)


class _WidthNotTold(PatchEmbedding):
    def forward(self, images):
        if images.shape[-1] % self.patch_size:
            raise ValueError("height or width does not fit")
        return super().forward(images)


class _StripsUnchecked(PatchEmbedding):
    def forward(self, images):
        kernels = self.projection.weight.flatten(1)
        return nn.functional.linear(images.reshape(len(images), -1, kernels.shape[1]), kernels, self.projection.bias)


class _Strips(_StripsUnchecked):
    def forward(self, images):
        PatchEmbedding.forward(self, images)
        return super().forward(images)


class _ChannelsBehind(PatchEmbedding):
    """Sides taken as in (B, H, W, C)."""

    def forward(self, images):
        for name, size in zip(("height", "width"), images.shape[1:3], strict=True):
            if size % self.patch_size:
                raise ValueError(f"{name} {size} does not fit")
        return self.projection(images).flatten(2).transpose(1, 2)


class _ChannelsBehindOneTest(PatchEmbedding):
    def forward(self, images):
        if images.shape[1] % self.patch_size or images.shape[2] % self.patch_size:
            raise ValueError("the image does not fit")
        return self.projection(images).flatten(2).transpose(1, 2)


MORE_CLASSES = (
    WrongAnswer("no bias", _NoBias, "The layer has no bias: leave bias=False out."),
    WrongAnswer("padding added", _Padded, "With padding the first patch begins outside the image: none is needed."),
    WrongAnswer(
        "nothing learned",
        _NothingLearned,
        "These are the patches themselves, C·P·P numbers each. They still have to be projected to D numbers.",
    ),
    WrongAnswer(
        "column by column",
        _ColumnByColumn,
        "The tokens come column by column. Token n is row n // columns, column n % columns: flatten(2) alone keeps"
        " that order.",
    ),
    WrongAnswer(
        "all tokens in one row",
        _Merged,
        "flatten(1) joins D and N as well. Flatten from axis 2 on: .flatten(2).transpose(1, 2).",
    ),
    WrongAnswer("a nonlinearity after it", _Relu, "No ReLU here: a patch embedding is an affine map and no more."),
    WrongAnswer(
        "grid guessed from N",
        _SquareOnly,
        "The grid was taken for a square. It has height // P rows and width // P columns.",
    ),
    WrongAnswer(
        "a second layer after it",
        _SecondLayer,
        "A Linear behind the projection adds parameters and nothing else: two affine maps are one. Leave it out.",
    ),
    WrongAnswer(
        "side not named",
        _SideNotNamed,
        "Whoever reads this error wants to know which side does not fit: name that one, and not the other. One test"
        " for each side does it.",
    ),
    WrongAnswer(
        "height not told",
        _HeightNotTold,
        "Where the height does not fit, your error does not say so, or names the width as well: name the side that"
        " does not fit, and only that.",
    ),
    WrongAnswer(
        "width not told",
        _WidthNotTold,
        "Where the width does not fit, your error does not say so, or names the height as well: name the side that"
        " does not fit, and only that.",
    ),
    *(
        WrongAnswer(
            name,
            answer,
            "These are strips of the image, not patches: a reshape takes the numbers line after line. Which layer"
            " cuts and projects squares in one go?",
        )
        for name, answer in (("strips", _Strips), ("strips, sizes not checked", _StripsUnchecked))
    ),
    *(
        WrongAnswer(
            name,
            answer,
            "The axes of images are (B, C, H, W): height and width are the last two, shape[-2] and shape[-1].",
        )
        for name, answer in (
            ("channels behind", _ChannelsBehind),
            ("channels behind, in one test", _ChannelsBehindOneTest),
        )
    ),
)


EXERCISES = (
    Exercise(
        name="conv_from_linear",
        lesson="06",
        solution=conv_from_linear,
        cases=_linear_cases,
        result=nn.Conv2d,
        read=_read_conv,
        slack=1e-12,
        wrong=(
            WrongAnswer(
                "order of the patch misread",
                _conv_wrong("channels last"),
                "The rows of the linear weight run channel, row, "
                "column, as Conv2d stores them: reshape to (D, C, P, P), and move nothing.",
            ),
            WrongAnswer(
                "patches turned",
                _conv_wrong("turned"),
                "Row and column inside the kernel have changed places: reshape to (D, C, P, P) is enough.",
            ),
            WrongAnswer(
                "weight turned first",
                _conv_wrong("T"),
                "Both layers keep one row, or one kernel, for each number of the result. Nothing has to be turned.",
            ),
            WrongAnswer(
                "stride forgotten",
                _conv_wrong(stride=False),
                "Without a stride the kernel moves by one pixel. Side-by-side patches need stride = patch_size.",
            ),
            WrongAnswer("bias lost", _conv_wrong(bias=False), "The linear layer has a bias, the convolution has none."),
            WrongAnswer("bias not copied", _bias_not_copied, "The weight is right, the bias was not copied."),
            *MORE_CONVOLUTIONS,
        ),
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
    ),
    Exercise(
        name="linear_from_conv",
        lesson="06",
        solution=linear_from_conv,
        cases=_conv_cases,
        result=nn.Linear,
        read=_read_linear,
        slack=1e-12,
        wrong=(
            WrongAnswer(
                "nothing refused",
                _linear_wrong(checks=()),
                "Not every convolution is a projection of side-by-side patches: "
                "compare stride with kernel_size, and look at padding, dilation and groups.",
            ),
            WrongAnswer(
                "stride only",
                _linear_wrong(checks=("stride",)),
                "The stride is tested. Padding, dilation and groups change the map as well.",
            ),
            WrongAnswer(
                "padding not tested",
                _linear_wrong(checks=("stride", "dilation", "groups")),
                "With padding the patches begin outside the image.",
            ),
            WrongAnswer(
                "dilation not tested",
                _linear_wrong(checks=("stride", "padding", "groups")),
                "With dilation the pixels of a patch lie apart.",
            ),
            WrongAnswer(
                "groups not tested",
                _linear_wrong(checks=("stride", "padding", "dilation")),
                "With groups a number of the result sees only some of the channels.",
            ),
            WrongAnswer(
                "condition not named",
                _not_told(*SETTINGS),
                "Whoever reads this error wants to know which setting is broken: name that one, and not the others.",
            ),
            WrongAnswer(
                "order of the patch misread",
                _linear_wrong(order="channels last"),
                "A kernel is stored channel, row, column. flatten(1) keeps that order.",
            ),
            WrongAnswer(
                "patches turned",
                _linear_wrong(order="turned"),
                "Row and column inside the kernel have changed places: flatten(1) is enough.",
            ),
            *MORE_MATRICES,
        ),
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
    ),
    Exercise(
        name="merge_linear_into_conv",
        lesson="06",
        solution=merge_linear_into_conv,
        cases=_merge_cases,
        result=nn.Conv2d,
        read=_read_conv,
        slack=1e-12,
        wrong=(
            WrongAnswer(
                "first bias lost",
                _merge_wrong(bias="second"),
                "The bias of the convolution goes through the second layer too: it is multiplied by linear.weight.",
            ),
            WrongAnswer(
                "second bias lost",
                _merge_wrong(bias="first"),
                "The second layer adds a bias of its own: linear.bias.",
            ),
            WrongAnswer(
                "order of the product swapped",
                _merge_wrong(weight="do,dcpq->ocpq"),
                "The second matrix, linear.weight, has to stand on the left. Here it was used turned, which only fits"
                " where it is square.",
            ),
            WrongAnswer("first layer only", lambda conv, linear: conv, "This is the first layer alone."),
            *MORE_MERGES,
        ),
        hints=(
            (
                "For one patch x, written as a column: y = conv.weight @ x + conv.bias, then z = linear.weight @ y +"
                " linear.bias, with each kernel as a row of conv.weight. Put the first line into the second."
            ),
            (
                "z = (linear.weight @ conv.weight) @ x + (linear.weight @ conv.bias + linear.bias). The first bracket"
                " is the new weight, the second the new bias. conv.weight.flatten(1) makes each kernel a row."
            ),
            (
                "weight: (linear.weight @ conv.weight.flatten(1)).reshape(-1, *conv.weight.shape[1:]); bias:"
                " linear.weight @ conv.bias + linear.bias. Copy both under torch.no_grad()."
            ),
        ),
        praise="Two affine maps in a row are one. Only something between them that is not affine changes that.",
    ),
    Exercise(
        name="PatchEmbedding",
        lesson="06",
        solution=PatchEmbedding,
        cases=_class_cases,
        result=Tensor,
        use=_use,
        slack=1e-12,
        wrong=(
            WrongAnswer(
                "reshape in place of transpose, sizes not checked",
                _ReshapedUnchecked,
                "(B, D, rows, columns) was reshaped to (B, N, D): right shape, scrambled numbers. Flatten the map,"
                " then swap the axes: .flatten(2).transpose(1, 2). And a strided convolution drops what does not"
                " fit without a word: refuse such images and name the side.",
            ),
            WrongAnswer(
                "the bare convolution",
                _Bare,
                "Conv2d gives (B, D, rows, columns): flatten the last two axes, then swap: "
                ".flatten(2).transpose(1, 2). And refuse images that do not fit, naming the side.",
            ),
            WrongAnswer(
                "reshape in place of transpose",
                _Reshaped,
                "The shape is right, the numbers are not: (B, D, N) was reshaped "
                "to (B, N, D). Flatten the map, then swap the axes: .flatten(2).transpose(1, 2).",
            ),
            WrongAnswer(
                "tokens and numbers swapped",
                _NotTurned,
                "The tokens stand in the columns: .transpose(1, 2) at the end.",
            ),
            WrongAnswer(
                "map not flattened",
                _NotFlattened,
                "This is still a map (B, D, rows, columns): .flatten(2).transpose(1, 2).",
            ),
            WrongAnswer(
                "only the width checked",
                _WidthOnly,
                "The height is not tested: an image whose height does not fit loses its last rows without a word.",
            ),
            WrongAnswer(
                "only the height checked",
                _HeightOnly,
                "The width is not tested: an image whose width does not fit loses its last columns without a word.",
            ),
            WrongAnswer(
                "sizes not checked",
                _Unchecked,
                "A strided convolution drops what does not fit, without a word. Refuse such images and name the"
                " side: test each side by itself with %. Being large enough, or an area that fits, proves nothing,"
                " and `and` between two tests waits until both sides are wrong.",
            ),
            WrongAnswer(
                "assert for a check",
                _Asserts,
                "assert vanishes when Python runs with -O, and says nothing: raise ValueError and name the side.",
            ),
            WrongAnswer("patches averaged", _Averaged, "The patches were averaged: each keeps a vector of its own."),
            WrongAnswer("stride forgotten", _StrideOne, "The kernel moved by one pixel: stride = patch_size."),
            WrongAnswer(
                "order of the patch misread",
                _ChannelsLast,
                "The patches were flattened row, column, channel, but the weight is stored channel, row, column.",
            ),
            *MORE_CLASSES,
        ),
        hints=(
            (
                "In __init__: super().__init__(), then one layer. In forward: check both sides, apply the layer,"
                " bring the result into the shape (B, N, D)."
            ),
            (
                "nn.Conv2d(in_channels, embedding_dim, kernel_size=patch_size, stride=patch_size) gives (B, D,"
                " rows, columns). Token n is row n // columns, column n % columns."
            ),
            (
                "self.projection(images).flatten(2).transpose(1, 2), after raising ValueError for a height or"
                " width that is no multiple of self.patch_size."
            ),
        ),
        praise="The class of every vision transformer, with the checks that many of them lack.",
    ),
)

QUESTIONS = (
    Question(
        name="linear_or_conv",
        lesson="06",
        text=(
            "The paper says 'linear projection of flattened patches', the code has nn.Conv2d(3, 768,"
            " kernel_size=16, stride=16). What is that?"
        ),
        options=(
            Option(
                "a mistake in the code",
                "The numbers that come out are those of the paper's formula. The next cells compare them.",
            ),
            Option(
                "the same map, written in another way",
                "Each kernel meets each patch once and sums products, as a row of the matrix does.",
                right=True,
            ),
            Option(
                "another model: many convolutions look at the image first",
                "There is one convolution here, and each kernel sees one patch and no more. A network of many in"
                " front is called the hybrid: lesson 08.",
            ),
            Option(
                "an approximation that is faster",
                "Nothing is approximated, and which one is faster depends on sizes and machine.",
            ),
        ),
    ),
    Question(
        name="same_count",
        lesson="06",
        text=(
            "A convolution with kernel 4 is moved by a stride of 3 over 8 × 12 pixels. How does it differ from one"
            " with stride 4?"
        ),
        options=(
            Option(
                "it gives fewer tokens",
                "(8 − 4) // 3 + 1 = 2 and (12 − 4) // 3 + 1 = 3: as many as with stride 4.",
            ),
            Option(
                "not at all: both give 6 tokens",
                "The number is the same, but the patches start elsewhere and overlap.",
            ),
            Option(
                "same number of tokens, other values",
                "Two starts down and three across, as with stride 4, but at other pixels. "
                "Counting tokens cannot tell them apart.",
                right=True,
            ),
            Option("it raises an error", "Nothing complains. That is why linear_from_conv has to look."),
        ),
    ),
    Question(
        name="linear_after",
        lesson="06",
        text=(
            "Somebody asks whether a Linear should follow the patch convolution, 'since a projection is missing'."
            " What does it add?"
        ),
        options=(
            Option(
                "two layers in a row can compute more than one",
                "Two affine maps in a row are one affine map, whatever their weights.",
            ),
            Option(
                "nothing that one convolution cannot do",
                "Both can be merged into one convolution with the same result. Only a "
                "nonlinearity between them would change that.",
                right=True,
            ),
            Option(
                "it is needed: a convolution gives no vectors",
                "Flattened and transposed, its result is one vector for each patch.",
            ),
            Option("it halves the parameters", "It adds some: its own matrix and bias."),
        ),
    ),
)
