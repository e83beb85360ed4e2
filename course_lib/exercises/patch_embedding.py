"""Lesson 06, PatchEmbedding: images (B, C, H, W) -> tokens (B, N, D) by a convolution; other sizes are refused."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from course_lib.exercises.layers import fill_projection, refuse_what_is_no_layer, refuse_without_gradient
from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise, pixels
from course_lib.patches import channels_last, patchify


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


def cases() -> list[Case]:
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
            unmentioned=tuple(name for name in ("height", "width") if name != word),
            given=(pixels(1, 2, height, width).double(),),
        )

    return [
        case(2, 2, 6, 9, 3, 5),
        case(4, 5, 4, 6, 2, 7),
        case(1, 4, 6, 4, 2, 9, "a batch of one"),
        case(2, 2, 6, 6, 2, 5, "square images"),
        case(2, 3, 4, 10, 2, 6, "three channels"),
        case(1, 1, 1, 1, 1, 1, "trivial"),
        refuse(8, 10, "width"),
        refuse(6, 8, "height"),
    ]


def use(module: nn.Module, case: Case) -> Any:
    """Result of a learner's module once its projection holds known numbers, whatever it is called inside."""
    refuse_what_is_no_layer(module, "PatchEmbedding")
    channels, patch_size, dimension = case.args
    fill_projection(module.double().parameters(), channels * patch_size**2, dimension)
    result = module(*case.given)
    if isinstance(result, Tensor) and not result.requires_grad and not case.raises:
        right = PatchEmbedding(*case.args).double()
        fill_projection(right.parameters(), channels * patch_size**2, dimension)
        refuse_without_gradient(result, right(*case.given))
    return result


WRONG = mistakes(
    PatchEmbedding,
    r"""
reshape in place of transpose, sizes not checked
    (B, D, rows, columns) was reshaped to (B, N, D): right shape, scrambled numbers. Flatten the map, then swap the
    axes: .flatten(2).transpose(1, 2). And a strided convolution drops what does not fit without a word: refuse such
    images and name the side.
        raise … → pass
        .flatten(2).transpose(1, 2) → .reshape(len(images), -1, self.projection.out_channels)

the bare convolution
    Conv2d gives (B, D, rows, columns): flatten the last two axes, then swap: .flatten(2).transpose(1, 2). And
    refuse images that do not fit, naming the side.
        raise … → pass
        .flatten(2).transpose(1, 2) →

reshape in place of transpose
    The shape is right, the numbers are not: (B, D, N) was reshaped to (B, N, D). Flatten the map, then swap the
    axes: .flatten(2).transpose(1, 2).
        .flatten(2).transpose(1, 2) → .reshape(len(images), -1, self.projection.out_channels)

tokens and numbers swapped
    The tokens stand in the columns: .transpose(1, 2) at the end.
        .transpose(1, 2) →

map not flattened
    This is still a map (B, D, rows, columns): .flatten(2).transpose(1, 2).
        .flatten(2).transpose(1, 2) →

only the width checked
    The height is not tested: an image whose height does not fit loses its last rows without a word.
        zip(("height", "width"), images.shape[-2:], strict=True) → [("width", images.shape[-1])]

only the height checked
    The width is not tested: an image whose width does not fit loses its last columns without a word.
        zip(("height", "width"), images.shape[-2:], strict=True) → [("height", images.shape[-2])]

channels behind
    The axes of images are (B, C, H, W): height and width are the last two, shape[-2] and shape[-1].
        images.shape[-2:] → images.shape[1:3]

channels behind, in one test
    The axes of images are (B, C, H, W): height and width are the last two, shape[-2] and shape[-1].
        images.shape[-2:] → images.shape[1:3]
        raise … → raise ValueError("the image does not fit")

sizes not checked
    A strided convolution drops what does not fit, without a word. Refuse such images and name the side: test each
    side by itself with %. Being large enough, or an area that fits, proves nothing, and `and` between two tests
    waits until both sides are wrong.
        raise … → pass

assert for a check
    assert vanishes when Python runs with -O, and says nothing: raise ValueError and name the side.
        if size % self.patch_size: → assert size % self.patch_size == 0
        raise … →

side not named
    Whoever reads this error wants to know which side does not fit: name that one, and not the other. One test for
    each side does it.
        image {name} {size} is not a multiple → not a multiple

height not told
    Where the height does not fit, your error does not say so, or names the width as well: name the side that does
    not fit, and only that.
        raise … → raise ValueError(name.replace("height", "height or width"))

width not told
    Where the width does not fit, your error does not say so, or names the height as well: name the side that does
    not fit, and only that.
        raise … → raise ValueError(name.replace("width", "height or width"))

patches averaged
    The patches were averaged: each keeps a vector of its own.
        .transpose(1, 2) → .transpose(1, 2).mean(1)

stride forgotten
    The kernel moved by one pixel: stride = patch_size.
        , stride=patch_size →

strips
    These are strips of the image, not patches: a reshape takes the numbers line after line. Which layer cuts and
    projects squares in one go?
        nn.Conv2d… → nn.Linear(in_channels * patch_size**2, embedding_dim)
        return … → return self.projection(images.reshape(len(images), -1, self.projection.in_features))

strips, sizes not checked
    These are strips of the image, not patches: a reshape takes the numbers line after line. Which layer cuts and
    projects squares in one go?
        nn.Conv2d… → nn.Linear(in_channels * patch_size**2, embedding_dim)
        raise … → pass
        return … → return self.projection(images.reshape(len(images), -1, self.projection.in_features))

order of the patch misread
    The patches were flattened row, column, channel, but the weight is stored channel, row, column.
        def forward(self, images):
            rows = channels_last(patchify(images, self.patch_size), self.patch_size, images.shape[1])
            return F.linear(rows, self.projection.weight.flatten(1), self.projection.bias)

no bias
    The layer has no bias: leave bias=False out.
        stride=patch_size → stride=patch_size, bias=False

padding added
    With padding the first patch begins outside the image: none is needed.
        stride=patch_size → stride=patch_size, padding=1

nothing learned
    These are the patches themselves, C·P·P numbers each. They still have to be projected to D numbers.
        return … → return patchify(images, self.patch_size)

column by column
    The tokens come column by column. Token n is row n // columns, column n % columns: flatten(2) alone keeps that
    order.
        .flatten(2) → .transpose(2, 3).flatten(2)

all tokens in one row
    flatten(1) joins D and N as well. Flatten from axis 2 on: .flatten(2).transpose(1, 2).
        .flatten(2).transpose(1, 2) → .flatten(1)

a nonlinearity after it
    No ReLU here: a patch embedding is an affine map and no more.
        .transpose(1, 2) → .transpose(1, 2).relu()

grid guessed from N
    The grid was taken for a square. It has height // P rows and width // P columns.
        def forward(self, images):
            side = int(super().forward(images).shape[1] ** 0.5)
            return self.projection(images)[:, :, :side, :side].flatten(2).transpose(1, 2)

a second layer after it
    A Linear behind the projection adds parameters and nothing else: two affine maps are one. Leave it out.
        self.patch_size = patch_size → self.patch_size, self.after = patch_size, nn.Linear(embedding_dim, embedding_dim)
        return … → return self.after(self.projection(images).flatten(2).transpose(1, 2))
""",
    channels_last=channels_last,
    patchify=patchify,
)


EXERCISE = Exercise(
    name="PatchEmbedding",
    solution=PatchEmbedding,
    cases=cases,
    result=Tensor,
    use=use,
    slack=1e-12,
    wrong=WRONG,
    hints=(
        "In __init__: super().__init__(), then one layer. In forward: check both sides, apply the layer,"
        " bring the result into the shape (B, N, D).",
        "nn.Conv2d(in_channels, embedding_dim, kernel_size=patch_size, stride=patch_size) gives (B, D,"
        " rows, columns). Token n is row n // columns, column n % columns.",
        "self.projection(images).flatten(2).transpose(1, 2), after raising ValueError for a height or"
        " width that is no multiple of self.patch_size.",
    ),
    praise="The class of every vision transformer, with the checks that many of them lack.",
)
