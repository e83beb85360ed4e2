"""Lesson 08: the hybrid, patches of a feature map."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.exercises.model import (
    Case,
    Exercise,
    NotAsked,
    Option,
    Question,
    WrongAnswer,
    fill_projection,
    pixels,
    random_numbers,
    refuse_without_gradient,
)
from course_lib.patches import channels_last, patchify


def pixelwise_linear(features, weight, bias):
    places_first = features.permute(0, 2, 3, 1)
    return (places_first @ weight.T + bias).permute(0, 3, 1, 2)


def hybrid_tokens(image_size, stem_stride, patch_size):
    height, width = image_size
    step = stem_stride * patch_size
    return (height // step) * (width // step)


class HybridEmbedding(nn.Module):
    def __init__(self, stem, stem_channels, patch_size, embedding_dim):
        super().__init__()
        self.stem = stem
        self.projection = nn.Conv2d(stem_channels, embedding_dim, kernel_size=patch_size, stride=patch_size)

    def forward(self, images):
        return self.projection(self.stem(images)).flatten(2).transpose(1, 2)


def receptive_field(layers):
    side, step = 1, 1
    for kernel, stride in layers:
        side += (kernel - 1) * step
        step *= stride
    return side


def _map_cases() -> list[Case]:
    def case(batch: int, channels: int, height: int, width: int, dimension: int, only: str = "") -> Case:
        args = (
            random_numbers(batch, channels, height, width, seed=1),
            random_numbers(dimension, channels, seed=2).requires_grad_(),
            random_numbers(dimension, seed=3),
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
        case(1, 4, 2, 6, 3, "a batch of one"),
        case(2, 4, 3, 3, 5, "square images"),
    ]


def _count_cases() -> list[Case]:
    def case(height: int, width: int, stride: int, patch_size: int, only: str = "") -> Case:
        return Case(
            f"an image of {height} × {width}, a stem of stride {stride}, patches of {patch_size} × {patch_size} cells",
            ((height, width), stride, patch_size),
            letters={"H": height, "W": width},
            only=only,
        )

    return [
        case(224, 320, 16, 2),
        case(96, 60, 4, 3),
        case(64, 320, 8, 4),
        case(120, 72, 2, 6),
        case(384, 192, 32, 1),
        case(224, 224, 16, 1, "square images"),
        case(224, 224, 32, 1, "square images"),
        case(28, 21, 1, 1, "patches of one pixel"),
    ]


def _stem(channels: int, width: int, stride: int) -> nn.Module:
    """A stem in float64 with known numbers; its sides shrink by `stride`."""
    layer = nn.Conv2d(channels, width, kernel_size=stride + 1, stride=stride, padding=stride // 2).double()
    with torch.no_grad():
        for seed, parameter in enumerate(layer.parameters()):
            parameter.copy_(random_numbers(*parameter.shape, seed=seed))
    return nn.Sequential(layer, nn.ReLU())


def _hybrid_cases() -> list[Case]:
    def case(batch, channels, height, width, stride, stem_channels, patch_size, dimension, only="") -> Case:
        step = stride * patch_size
        return Case(
            f"{batch} image{'s' * (batch > 1)} of {height} × {width}, a stem with {stem_channels} channels and stride"
            f" {stride}, patches of {patch_size} × {patch_size} cells, D = {dimension}",
            (_stem(channels, stem_channels, stride), stem_channels, patch_size, dimension),
            "B N D",
            {"B": batch, "H": height, "W": width, "D": dimension, "N": (height // step) * (width // step)},
            only,
            given=(pixels(batch, channels, height, width).double() / 100,),
        )

    return [
        case(2, 2, 12, 16, 2, 3, 2, 5),
        case(4, 3, 8, 24, 4, 5, 1, 7),
        case(2, 4, 12, 18, 2, 5, 3, 9),
        case(1, 2, 8, 12, 2, 3, 2, 7, "a batch of one"),
        case(2, 3, 12, 12, 2, 4, 2, 5, "square images"),
    ]


def _use(module: nn.Module, case: Case) -> Any:
    """Result of a learner's module once its projection holds known numbers; the stem keeps those it came with."""
    if not isinstance(module, nn.Module):
        raise NotAsked("what came is no layer of torch: begin with class HybridEmbedding(nn.Module)")
    stem, stem_channels, patch_size, dimension = case.args
    of_stem = {id(parameter) for parameter in stem.parameters()}
    own = [parameter for parameter in module.double().parameters() if id(parameter) not in of_stem]
    fill_projection(own, stem_channels * patch_size**2, dimension)
    result = module(*case.given)
    if isinstance(result, Tensor) and not result.requires_grad:
        right = HybridEmbedding(*case.args).double()
        fill_projection(right.projection.parameters(), stem_channels * patch_size**2, dimension)
        refuse_without_gradient(result, right(*case.given))
    if isinstance(result, Tensor) and not of_stem <= {id(parameter) for parameter in module.parameters()}:
        raise NotAsked("the layer does not hold the stem, so nothing would train it: self.stem = stem")
    return result


def _map_wrong(change):
    """The places first, changed, as a learner would go on from there."""

    def wrong(features, weight, bias):
        return change(features.permute(0, 2, 3, 1), weight, bias)

    return wrong


def _reshaped_map(features, weight, bias):
    batch, channels, height, width = features.shape
    rows = features.reshape(batch, height, width, channels)
    return (rows @ weight.T + bias).permute(0, 3, 1, 2)


def _reshaped_back(features, weight, bias):
    result = features.permute(0, 2, 3, 1) @ weight.T + bias
    return result.reshape(len(features), -1, *features.shape[2:])


class _Wrong(HybridEmbedding):
    """The right parts; `forward` is what a learner made of them."""


class _NoProjection(_Wrong):
    def forward(self, images):
        return self.stem(images).flatten(2).transpose(1, 2)


class _NoStem(_Wrong):
    def forward(self, images):
        return self.projection(images).flatten(2).transpose(1, 2)


class _NotTurned(_Wrong):
    def forward(self, images):
        return self.projection(self.stem(images)).flatten(2)


class _Reshaped(_Wrong):
    def forward(self, images):
        grid = self.projection(self.stem(images))
        return grid.reshape(len(grid), -1, grid.shape[1])


class _NotFlattened(_Wrong):
    def forward(self, images):
        return self.projection(self.stem(images))


class _Averaged(_Wrong):
    def forward(self, images):
        return super().forward(images).mean(1)


class _AveragedKept(_Wrong):
    def forward(self, images):
        return super().forward(images).mean(1, keepdim=True)


class _OneToken(_Wrong):
    """The whole map as one token: the projection is made when its length is known."""

    def __init__(self, stem, stem_channels, patch_size, embedding_dim):
        super().__init__(stem, stem_channels, patch_size, embedding_dim)
        self.dimension = embedding_dim

    def forward(self, images):
        row = self.stem(images).flatten(1)
        weight = torch.linspace(-1, 1, self.dimension * row.shape[1], dtype=row.dtype)
        return (row @ weight.reshape(row.shape[1], -1))[:, None]


class _PatchOfOne(_Wrong):
    def __init__(self, stem, stem_channels, patch_size, embedding_dim):
        super().__init__(stem, stem_channels, 1, embedding_dim)


class _StrideOne(_Wrong):
    def forward(self, images):
        self.projection.stride = (1, 1)
        return super().forward(images)


class _PatchOrder(_Wrong):
    def forward(self, images):
        features, side = self.stem(images), self.projection.kernel_size[0]
        rows = channels_last(patchify(features, side), side, features.shape[1])
        return F.linear(rows, self.projection.weight.flatten(1), self.projection.bias)


class _ReluBehind(_Wrong):
    def forward(self, images):
        return super().forward(images).relu()


class _OneRow(_Wrong):
    def forward(self, images):
        return self.projection(self.stem(images)).flatten(1)


class _ColumnFirst(_Wrong):
    def forward(self, images):
        return self.projection(self.stem(images)).transpose(1, 3).flatten(1, 2)


class _NoBias(_Wrong):
    def forward(self, images):
        return super().forward(images) - self.projection.bias


class _OneCellOfEach(_Wrong):
    def __init__(self, stem, stem_channels, patch_size, embedding_dim):
        super().__init__(stem, stem_channels, 1, embedding_dim)
        self.projection.stride = (patch_size, patch_size)


class _ClassTokenInFront(_Wrong):
    def __init__(self, stem, stem_channels, patch_size, embedding_dim):
        super().__init__(stem, stem_channels, patch_size, embedding_dim)
        self.class_token = nn.Parameter(torch.zeros(1, 1, embedding_dim))

    def forward(self, images):
        return torch.cat([self.class_token.expand(len(images), -1, -1), super().forward(images)], dim=1)


def _field_wrong(start=1, size=lambda kernel: kernel - 1, stride_first=False, grow=lambda step, stride: step * stride):
    def wrong(layers):
        side, step = start, 1
        for kernel, stride in layers:
            if stride_first:
                step = grow(step, stride)
            side += size(kernel) * step
            if not stride_first:
                step = grow(step, stride)
        return side

    return wrong


def _step_added(layers):
    side, step = 1, 1
    for kernel, stride in layers:
        side += kernel - 1 + step
        step *= stride
    return side


def _taken_away(layers):
    return 2 - receptive_field(layers)


def _side_multiplied(layers):
    side, step = 1, 1
    for kernel, stride in layers:
        side *= (kernel - 1) * step
        step *= stride
    return side


def _product_of_strides(layers):
    step = 1
    for _, stride in layers:
        step *= stride
    return step


def _product_of_kernels(layers):
    side = 1
    for kernel, _ in layers:
        side *= kernel
    return side


def _backwards(layers):
    return receptive_field(layers[::-1])


def _last_layer_only(layers):
    return receptive_field(layers[-1:])


def _without_the_last(layers):
    return receptive_field(layers[:-1])


def _without_the_first(layers):
    return receptive_field(layers[1:])


def _kernel_times_step(layers):
    return _product_of_strides(layers[:-1]) * layers[-1][0]


def _replaced(layers):
    return (layers[-1][0] - 1) * _product_of_strides(layers[:-1])


def _without_brackets(layers):
    side, step = 1, 1
    for kernel, stride in layers:
        side += kernel - step
        step *= stride
    return side


def _from_the_end(layers):
    side = 1
    for kernel, stride in reversed(layers):
        side = side * stride + kernel
    return side


def _side_and_step(layers):
    return receptive_field(layers), _product_of_strides(layers)


def _field_cases() -> list[Case]:
    def case(*layers: tuple[int, int]) -> Case:
        return Case(", then ".join(f"kernel {k} stride {s}" for k, s in layers), (list(layers),))

    return [
        case((7, 2), (3, 2)),
        case((3, 2), (3, 2), (5, 1)),
        case((5, 1), (3, 3), (4, 2), (3, 1)),
        case((2, 2), (3, 1), (3, 2), (7, 1)),
        case((16, 16)),
    ]


EXERCISES = (
    Exercise(
        name="pixelwise_linear",
        lesson="08",
        solution=pixelwise_linear,
        cases=_map_cases,
        result=Tensor,
        gradient=1,
        slack=1e-9,
        wrong=(
            WrongAnswer(
                "bias forgotten",
                lambda features, weight, bias: torch.einsum("bchw,dc->bdhw", features, weight),
                "The bias is missing. Every place gets it once.",
            ),
            WrongAnswer(
                "channels left at the end",
                _map_wrong(lambda rows, weight, bias: rows @ weight.T + bias),
                "The numbers are right, but they stand on the last axis. A map is (B, D, H, W): permute back.",
            ),
            WrongAnswer(
                "reshape in place of permute",
                _reshaped_map,
                "(B, C, H, W) was reshaped to (B, H, W, C): right shape, scrambled numbers. Permute the axes:"
                " features.permute(0, 2, 3, 1).",
            ),
            WrongAnswer(
                "reshape in place of permute, on the way back",
                _reshaped_back,
                "On the way back (B, H, W, D) was reshaped to (B, D, H, W), which scrambles the numbers. Permute:"
                " .permute(0, 3, 1, 2).",
            ),
            WrongAnswer(
                "map returned as tokens",
                _map_wrong(lambda rows, weight, bias: (rows @ weight.T + bias).flatten(1, 2)),
                "These are tokens (B, N, D). Here the map keeps its form: (B, D, H, W).",
            ),
            WrongAnswer(
                "rows and columns swapped",
                _map_wrong(lambda rows, weight, bias: (rows @ weight.T + bias).permute(0, 3, 2, 1)),
                "Rows and columns of the map changed places: the way back is .permute(0, 3, 1, 2).",
            ),
            WrongAnswer(
                "places averaged",
                _map_wrong(lambda rows, weight, bias: rows.mean((1, 2)) @ weight.T + bias),
                "The places were averaged away. The layer acts at each place alone.",
            ),
            WrongAnswer(
                "places summed",
                _map_wrong(lambda rows, weight, bias: rows.sum((1, 2)) @ weight.T + bias),
                "The places were added up. The layer acts at each place alone.",
            ),
            WrongAnswer(
                "weight not turned",
                _map_wrong(lambda rows, weight, bias: rows @ weight + bias),
                "weight has one ROW for each number of the result, so it has to be turned: weight.T.",
            ),
            WrongAnswer(
                "the map alone times the weight",
                lambda features, weight, bias: features @ weight.T + bias,
                "A product works on the last axis, and that is W here. Bring the channels there first:"
                " features.permute(0, 2, 3, 1).",
            ),
            WrongAnswer(
                "bias on the wrong axis",
                lambda features, weight, bias: torch.einsum("bchw,dc->bdhw", features, weight) + bias,
                "The bias was added along the last axis, W. It belongs to the numbers D: bias[:, None, None].",
            ),
            WrongAnswer(
                "bias subtracted",
                _map_wrong(lambda rows, weight, bias: (rows @ weight.T - bias).permute(0, 3, 1, 2)),
                "The bias was taken away. It is added.",
            ),
            WrongAnswer(
                "a ReLU as well",
                _map_wrong(lambda rows, weight, bias: (rows @ weight.T + bias).permute(0, 3, 1, 2).relu()),
                "Negative numbers became 0. A linear layer keeps them.",
            ),
            WrongAnswer(
                "columns and channels swapped",
                lambda features, weight, bias: F.linear(features.transpose(1, 3), weight, bias),
                "transpose(1, 3) brought the channels to the end and the columns to their place. Swap the"
                " same two on the way back: .transpose(1, 3).",
            ),
            WrongAnswer(
                "axes moved on, not back",
                _map_wrong(lambda rows, weight, bias: (rows @ weight.T + bias).permute(0, 2, 3, 1)),
                "permute(0, 2, 3, 1) a second time moves the axes on, not back. The last axis goes to place"
                " 1: .permute(0, 3, 1, 2).",
            ),
            WrongAnswer(
                "places left in a row",
                lambda features, weight, bias: weight @ features.flatten(2) + bias[:, None],
                "The numbers are right, but H and W are one axis still. A map is (B, D, H, W): reshape the"
                " last axis to H, W.",
            ),
            WrongAnswer(
                "bias twice",
                _map_wrong(lambda rows, weight, bias: (F.linear(rows, weight, bias) + bias).permute(0, 3, 1, 2)),
                "The bias was added twice: F.linear adds it already.",
            ),
            WrongAnswer(
                "weight reshaped in place of turned",
                _map_wrong(
                    lambda rows, weight, bias: (rows @ weight.reshape(rows.shape[3], -1) + bias).permute(0, 3, 1, 2)
                ),
                "weight was reshaped to (C, D), which scrambles its numbers. Turn it: weight.T.",
            ),
            WrongAnswer(
                "weight before the map",
                lambda features, weight, bias: weight @ features + bias,
                "A product of a matrix and a map works on the last two axes, and those are H and W here."
                " Bring the channels to the end first: features.permute(0, 2, 3, 1) @ weight.T.",
            ),
            WrongAnswer(
                "kernel without its two axes",
                lambda features, weight, bias: F.conv2d(features, weight, bias),
                "A convolution wants a weight (D, C, rows, columns of the kernel), here of 1 × 1: weight[:,"
                " :, None, None].",
            ),
            WrongAnswer(
                "bias one axis short",
                lambda features, weight, bias: torch.einsum("bchw,dc->bdhw", features, weight) + bias[:, None],
                "bias[:, None] is (D, 1), and its D meets the rows H. It needs two axes behind it, for H and"
                " for W: bias[:, None, None].",
            ),
        ),
        hints=(
            "On which axis does a product work, and where do the channels of a map stand?",
            "features.permute(0, 2, 3, 1) has the channels last. Then it is lesson 05 at every place.",
            "result = (features.permute(0, 2, 3, 1) @ weight.T + bias), then .permute(0, 3, 1, 2)",
        ),
        praise="A 1 × 1 convolution is nothing else: one matrix at every place.",
    ),
    Exercise(
        name="hybrid_tokens",
        lesson="08",
        solution=hybrid_tokens,
        cases=_count_cases,
        result=int,
        quantities=lambda image_size, stem_stride, patch_size: {
            "height of the image": image_size[0],
            "width of the image": image_size[1],
            "number of rows": image_size[0] // (stem_stride * patch_size),
            "number of columns": image_size[1] // (stem_stride * patch_size),
        },
        wrong=(
            WrongAnswer(
                "stem stride ignored",
                lambda size, stride, patch: (size[0] // patch) * (size[1] // patch),
                "The patches were cut from the image. The stem has shrunk it by its stride first.",
            ),
            WrongAnswer(
                "patch size ignored",
                lambda size, stride, patch: (size[0] // stride) * (size[1] // stride),
                "These are the cells of the map. A patch takes patch_size × patch_size of them.",
            ),
            WrongAnswer(
                "stride and patch size added",
                lambda size, stride, patch: (size[0] // (stride + patch)) * (size[1] // (stride + patch)),
                "A patch of P cells is stem_stride · P pixels wide: the two are multiplied.",
            ),
            WrongAnswer(
                "height squared",
                lambda size, stride, patch: (size[0] // (stride * patch)) ** 2,
                "The height was used twice. Images need not be square.",
            ),
            WrongAnswer(
                "width squared",
                lambda size, stride, patch: (size[1] // (stride * patch)) ** 2,
                "The width was used twice. Images need not be square.",
            ),
            WrongAnswer(
                "one side only",
                lambda size, stride, patch: size[0] // (stride * patch),
                "These are the patches of one column. The grid has rows and columns: multiply.",
            ),
            WrongAnswer(
                "sides added",
                lambda size, stride, patch: size[0] // (stride * patch) + size[1] // (stride * patch),
                "Rows and columns of the grid were added. They are multiplied.",
            ),
            WrongAnswer(
                "area divided by one step",
                lambda size, stride, patch: size[0] * size[1] // (stride * patch),
                "The area was divided by one step. A step counts in both directions: each side is divided.",
            ),
            WrongAnswer(
                "stride counted once",
                lambda size, stride, patch: size[0] * size[1] // (stride * patch**2),
                "The patch was counted in both directions, the stride in one. The stem shrinks both sides.",
            ),
            WrongAnswer(
                "patch size counted once",
                lambda size, stride, patch: size[0] * size[1] // (stride**2 * patch),
                "The stride was counted in both directions, the patch in one. A patch has rows and columns of cells.",
            ),
            WrongAnswer(
                "patches that overlap",
                lambda size, stride, patch: (size[0] // stride - patch + 1) * (size[1] // stride - patch + 1),
                "This counts patches that move by one cell. Side by side they move by their own size.",
            ),
            WrongAnswer(
                "class token counted",
                lambda size, stride, patch: hybrid_tokens(size, stride, patch) + 1,
                "One too many: the class token is not made by the front end.",
            ),
            WrongAnswer(
                "patch size taken in pixels",
                lambda size, stride, patch: (
                    (size[0] // max(patch // stride, 1) // stride) * (size[1] // max(patch // stride, 1) // stride)
                ),
                "The patch size was taken in pixels of the image. It counts cells of the map.",
            ),
            WrongAnswer(
                "multiplied by the patch size",
                lambda size, stride, patch: (size[0] // stride * patch) * (size[1] // stride * patch),
                "The cells of the map were multiplied by the patch size. A patch takes patch_size cells of a"
                " row, so divide: // stride // patch_size, or brackets around stride * patch_size.",
            ),
            WrongAnswer(
                "columns only",
                lambda size, stride, patch: size[1] // (stride * patch),
                "These are the patches of one row. The grid has rows and columns: multiply.",
            ),
            WrongAnswer(
                "one more on each side",
                lambda size, stride, patch: (size[0] // (stride * patch) + 1) * (size[1] // (stride * patch) + 1),
                "One row and one column too many. All sizes divide here, so nothing is added to the quotient.",
            ),
            WrongAnswer(
                "patches of the image, a stride apart",
                lambda size, stride, patch: ((size[0] - patch) // stride + 1) * ((size[1] - patch) // stride + 1),
                "This counts patches of patch_size PIXELS that lie a stride apart. Here the stem divides by"
                " its stride first, and the patches count cells of its map.",
            ),
            WrongAnswer(
                "pixels of a patch",
                lambda size, stride, patch: (stride * patch) ** 2,
                "These are the pixels that one patch covers. How many such patches fit on the image?",
            ),
            WrongAnswer(
                "image size taken as one side",
                lambda size, stride, patch: (size // (stride * patch)) ** 2,
                "image_size is a pair, and a pair cannot be divided: height, width = image_size.",
            ),
            WrongAnswer(
                "patch size divided by the stride",
                lambda size, stride, patch: (
                    size[0] // stride // (patch // stride) * (size[1] // stride // (patch // stride))
                ),
                "The patch size was divided by the stride, as if it were in pixels. It counts cells of the map.",
            ),
        ),
        hints=(
            "Two things make the grid smaller, one after the other: which?",
            "The map has height // stem_stride rows. A patch takes patch_size of them.",
            "rows = height // (stem_stride * patch_size), and the same for columns; the result is rows * columns",
        ),
        praise="A cell of the map is a stride wide, and a patch counts cells.",
    ),
    Exercise(
        name="HybridEmbedding",
        lesson="08",
        solution=HybridEmbedding,
        cases=_hybrid_cases,
        result=Tensor,
        use=_use,
        slack=1e-9,
        wrong=(
            WrongAnswer(
                "projection missing",
                _NoProjection,
                "These are the cells of the map as they come from the stem. The hybrid projects patches of them to"
                " D numbers.",
            ),
            WrongAnswer(
                "stem missing",
                _NoStem,
                "The projection was laid on the image, whose channels it does not fit. First the stem:"
                " self.projection(self.stem(images)).",
            ),
            WrongAnswer(
                "tokens and numbers swapped",
                _NotTurned,
                "The tokens stand in the columns: .transpose(1, 2) at the end.",
            ),
            WrongAnswer(
                "reshape in place of transpose",
                _Reshaped,
                "The shape is right, the numbers are not: (B, D, rows, columns) was reshaped to (B, N, D). Flatten,"
                " then swap the axes: .flatten(2).transpose(1, 2).",
            ),
            WrongAnswer(
                "map not flattened",
                _NotFlattened,
                "This is still a map (B, D, rows, columns): .flatten(2).transpose(1, 2).",
            ),
            WrongAnswer(
                "places averaged", _Averaged, "The places were averaged. Every patch of the map keeps a token."
            ),
            WrongAnswer(
                "places averaged to one token",
                _AveragedKept,
                "The places were averaged to one token. Every patch of the map keeps a token.",
            ),
            WrongAnswer(
                "the map flattened to one token",
                _OneToken,
                "The whole map became one token. Every patch of it gets a token of its own.",
            ),
            WrongAnswer(
                "patches of one cell",
                _PatchOfOne,
                "Every cell became a token. Patches of the map can be larger: kernel and stride are patch_size.",
            ),
            WrongAnswer(
                "stride forgotten",
                _StrideOne,
                "The patches move by one cell and overlap: stride = patch_size.",
            ),
            WrongAnswer(
                "order of the patch misread",
                _PatchOrder,
                "The patches were flattened row, column, channel. The contract is channel, row, column.",
            ),
            WrongAnswer(
                "a ReLU behind the projection",
                _ReluBehind,
                "The projection is the last step. A ReLU behind it throws away every negative number.",
            ),
            WrongAnswer(
                "places and numbers in one row",
                _OneRow,
                "flatten(1) lays the numbers of all places into one row. Flatten rows and columns only:"
                " .flatten(2), then .transpose(1, 2).",
            ),
            WrongAnswer(
                "column by column",
                _ColumnFirst,
                "The tokens are counted column by column: transpose(1, 3) put the columns of the map first."
                " Flatten, then swap: .flatten(2).transpose(1, 2).",
            ),
            WrongAnswer(
                "no bias",
                _NoBias,
                "The bias is missing. nn.Conv2d has one unless it is told bias=False.",
            ),
            WrongAnswer(
                "one cell of each patch",
                _OneCellOfEach,
                "A kernel of one cell that moves by a whole patch reads one cell of each:"
                " kernel_size=patch_size, as the stride.",
            ),
            WrongAnswer(
                "class token in front",
                _ClassTokenInFront,
                "One token too many: a class token. It joins later (lesson 07); here the patches are wanted,"
                " and nothing else.",
            ),
        ),
        hints=(
            "In __init__ keep the stem and make a projection. In forward: one after the other, then bring the"
            " result into the shape (B, N, D).",
            "The projection is lesson 06's, on the map: nn.Conv2d(stem_channels, embedding_dim,"
            " kernel_size=patch_size, stride=patch_size).",
            "self.projection(self.stem(images)).flatten(2).transpose(1, 2)",
        ),
        praise="That is the hybrid of the paper, for any stem.",
    ),
    Exercise(
        name="receptive_field",
        lesson="08",
        solution=receptive_field,
        cases=_field_cases,
        result=int,
        quantities=lambda layers: {
            "number of layers": len(layers),
            "sum of the kernels": sum(kernel for kernel, _ in layers),
            "product of the strides": _product_of_strides(layers),
        },
        wrong=(
            WrongAnswer(
                "strides ignored",
                _field_wrong(grow=lambda step, stride: step),
                "This would hold if every layer had stride 1. Behind a stride of 2, one step on the map is two pixels.",
            ),
            WrongAnswer(
                "own stride counted too early",
                _field_wrong(stride_first=True),
                "A layer's own stride moves its kernel, it does not spread it. Only the strides of the layers before"
                " it count.",
            ),
            WrongAnswer(
                "strides added",
                _field_wrong(grow=lambda step, stride: step + stride),
                "Strides were added. Two layers of stride 2 make a step of 4 pixels, three one of 8: multiply.",
            ),
            WrongAnswer(
                "only the last stride counts",
                _field_wrong(grow=lambda step, stride: stride),
                "The step was set to the stride of the layer before. All strides before it count, multiplied.",
            ),
            WrongAnswer(
                "started at 0",
                _field_wrong(start=0),
                "One too few: without any layer a cell sees one pixel, itself.",
            ),
            WrongAnswer(
                "kernel in place of kernel − 1",
                _field_wrong(size=lambda kernel: kernel),
                "A kernel of k adds k − 1 steps: one of its cells was counted already.",
            ),
            WrongAnswer(
                "kernel in place of kernel − 1, started at 0",
                _field_wrong(start=0, size=lambda kernel: kernel),
                "A kernel of k adds k − 1 steps: one of its cells was counted already. And the first cell counts 1.",
            ),
            WrongAnswer(
                "kernel + 1",
                _field_wrong(size=lambda kernel: kernel + 1),
                "A kernel of k was counted with k + 1 steps. From the first of its cells to the last it is k − 1.",
            ),
            WrongAnswer(
                "kernel − 2",
                _field_wrong(size=lambda kernel: kernel - 2),
                "A kernel of k was counted with k − 2 steps. From the first of its cells to the last it is k − 1.",
            ),
            WrongAnswer(
                "one step for each layer",
                _field_wrong(size=lambda kernel: 1),
                "Each layer added a single step, whatever its kernel. A kernel of k adds k − 1 of them.",
            ),
            WrongAnswer(
                "step added",
                _step_added,
                "The step was added to kernel − 1. Each of these k − 1 cells lies a whole step further: multiply.",
            ),
            WrongAnswer(
                "taken away",
                _taken_away,
                "The steps were taken away. A cell of a later layer sees more, not less: add them.",
            ),
            WrongAnswer(
                "side multiplied",
                _side_multiplied,
                "The side was multiplied by the steps of each layer. A layer ADDS its steps.",
            ),
            WrongAnswer(
                "half the kernel",
                _field_wrong(size=lambda kernel: kernel // 2),
                "A kernel reaches to both sides of its middle: k − 1 steps in all.",
            ),
            WrongAnswer(
                "effective stride",
                _product_of_strides,
                "These are the strides multiplied: how far apart two cells are, not how much one sees.",
            ),
            WrongAnswer(
                "kernels multiplied",
                _product_of_kernels,
                "Kernels were multiplied, or the step was, which comes to the same. Each layer ADDS its reach, and the"
                " step grows by the stride.",
            ),
            WrongAnswer("layers in reverse", _backwards, "The layers were read from the last to the first."),
            WrongAnswer("last layer only", _last_layer_only, "Only the last layer was counted."),
            WrongAnswer("last layer left out", _without_the_last, "The last layer was left out."),
            WrongAnswer("first layer left out", _without_the_first, "The first layer was left out."),
            WrongAnswer(
                "last kernel times the step",
                _kernel_times_step,
                "The last kernel was spread by the step, but its cells see more than a step each. Add layer by layer.",
            ),
            WrongAnswer(
                "kernels added",
                lambda layers: sum(kernel for kernel, _ in layers),
                "The kernels were added up. They overlap, so each layer adds kernel − 1, and these count in"
                " steps, which grow with every stride before.",
            ),
            WrongAnswer(
                "first layer only",
                lambda layers: receptive_field(layers[:1]),
                "Only the first layer was counted. Does `return` stand inside the loop?",
            ),
            WrongAnswer(
                "first layer twice",
                lambda layers: receptive_field([layers[0], *layers]),
                "The first layer was counted twice: if side and step begin with it, the loop begins with the second.",
            ),
            WrongAnswer(
                "kernel and stride swapped",
                lambda layers: receptive_field([layer[::-1] for layer in layers]),
                "Each pair is (kernel, stride). They were read the other way round.",
            ),
            WrongAnswer(
                "side replaced",
                _replaced,
                "Each layer replaced what was seen before, and only the last one was left: += in place of =.",
            ),
            WrongAnswer(
                "brackets missing",
                _without_brackets,
                "kernel - 1 * step takes away 1 * step: a product comes before a difference. Put brackets"
                " around kernel - 1.",
            ),
            WrongAnswer(
                "own stride only",
                lambda layers: 1 + sum((kernel - 1) * stride for kernel, stride in layers),
                "Each layer was counted with its own stride. What counts is how far apart its cells lie: all"
                " strides BEFORE it, multiplied.",
            ),
            WrongAnswer(
                "last step for every layer",
                lambda layers: 1 + sum((kernel - 1) * _product_of_strides(layers) for kernel, _ in layers),
                "Every layer was counted with the step after the last one. Each has a step of its own: the"
                " strides before it.",
            ),
            WrongAnswer(
                "every stride taken for 2",
                _field_wrong(grow=lambda step, stride: step * 2),
                "The step was doubled by every layer. It grows by the stride of that layer, which need not be 2.",
            ),
            WrongAnswer(
                "from the end, kernel in place of kernel − stride",
                _from_the_end,
                "Going back from the end, side cells of a map cover (side − 1) * stride + kernel cells of the"
                " one before: the 1 is missing.",
            ),
            WrongAnswer(
                "area",
                lambda layers: receptive_field(layers) ** 2,
                "This is how many pixels the cell sees. Wanted is the side of that square.",
            ),
            WrongAnswer(
                "side and step together",
                _side_and_step,
                "The first of the two is the answer: return the side alone.",
            ),
        ),
        hints=(
            "Keep two numbers while you go through the layers: how much a cell sees, and how many pixels one step is.",
            "Both begin at 1. A layer adds (kernel − 1) steps to the first; then the step grows by its stride.",
            "side += (kernel - 1) * step, and after it step *= stride",
        ),
        praise="And the gradient agrees with you, pixel by pixel.",
    ),
)

QUESTIONS = (
    Question(
        name="hybrid_or_not",
        lesson="08",
        text=(
            "A vision transformer begins with nn.Conv2d(3, 768, kernel_size=16, stride=16). Is that the hybrid of"
            " the paper?"
        ),
        options=(
            Option(
                "yes: a convolution is a CNN",
                "A CNN has several layers with something between them that is not affine. The next three"
                " experiments tell the two apart.",
            ),
            Option(
                "yes, but only a small one",
                "It is no smaller hybrid, it is the plain projection: lesson 06 showed it number for number.",
            ),
            Option(
                "no: it should be a Linear",
                "It is no hybrid, but not for that reason: convolution and Linear are the same map here.",
            ),
            Option(
                "no: it is the linear projection",
                "The hybrid of the paper puts a CNN in front and projects patches of its map.",
                right=True,
            ),
        ),
    ),
    Question(
        name="what_is_kept",
        lesson="08",
        text="A trained hybrid is saved to a file. What of the feature maps is in it?",
        options=(
            Option(
                "nothing: only the weights",
                "A map is the value for one image. It is computed anew each time; what was learned are the weights."
                " (Batch norm adds a mean and a spread for each channel, but no map.)",
                right=True,
            ),
            Option(
                "one map for each channel",
                "The number of channels is fixed by the weights, but their values come from the image.",
            ),
            Option(
                "the maps of the training images",
                "They were computed on the way and thrown away. Only the weights stay.",
            ),
            Option(
                "the map of the last image",
                "No value of an image is kept, not even the last one's. Look at the keys of state_dict().",
            ),
        ),
    ),
)
