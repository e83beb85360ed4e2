"""Lesson 06, exercise PatchEmbedding."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import (
    Case,
    Exercise,
    NotAsked,
    WrongAnswer,
    fill_projection,
    pixels,
    refuse_without_gradient,
)
from course_lib.patches import patchify


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


SIDES = ("height", "width")


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


WRONG = mistakes(
    PatchEmbedding,
    r"""
reshape in place of transpose, sizes not checked
    (B, D, rows, columns) was reshaped to (B, N, D): right shape, scrambled numbers. Flatten the map, then swap the
    axes: .flatten(2).transpose(1, 2). And a strided convolution drops what does not fit without a word: refuse such
    images and name the side.
        def forward(self, images):
            grid = self.projection(images)
            return grid.reshape(len(grid), -1, grid.shape[1])

the bare convolution
    Conv2d gives (B, D, rows, columns): flatten the last two axes, then swap: .flatten(2).transpose(1, 2). And
    refuse images that do not fit, naming the side.
        def forward(self, images):
            return self.projection(images)

reshape in place of transpose
    The shape is right, the numbers are not: (B, D, N) was reshaped to (B, N, D). Flatten the map, then swap the
    axes: .flatten(2).transpose(1, 2).
        def forward(self, images):
            tokens = super().forward(images)
            return tokens.transpose(1, 2).reshape(tokens.shape)

tokens and numbers swapped
    The tokens stand in the columns: .transpose(1, 2) at the end.
        def forward(self, images):
            return super().forward(images).transpose(1, 2)

map not flattened
    This is still a map (B, D, rows, columns): .flatten(2).transpose(1, 2).
        def forward(self, images):
            super().forward(images)
            return self.projection(images)

only the width checked
    The height is not tested: an image whose height does not fit loses its last rows without a word.
        def forward(self, images):
            if images.shape[-1] % self.patch_size:
                raise ValueError(f"image width {images.shape[-1]} is not a multiple of patch size {self.patch_size}")
            return self.projection(images).flatten(2).transpose(1, 2)

only the height checked
    The width is not tested: an image whose width does not fit loses its last columns without a word.
        def forward(self, images):
            if images.shape[-2] % self.patch_size:
                raise ValueError(f"image height {images.shape[-2]} is not a multiple of patch size {self.patch_size}")
            return self.projection(images).flatten(2).transpose(1, 2)

sizes not checked
    A strided convolution drops what does not fit, without a word. Refuse such images and name the side: test each
    side by itself with %. Being large enough, or an area that fits, proves nothing, and `and` between two tests
    waits until both sides are wrong.
        def forward(self, images):
            return self.projection(images).flatten(2).transpose(1, 2)

assert for a check
    assert vanishes when Python runs with -O, and says nothing: raise ValueError and name the side.
        def forward(self, images):
            assert images.shape[-1] % self.patch_size == 0 and images.shape[-2] % self.patch_size == 0
            return self.projection(images).flatten(2).transpose(1, 2)

patches averaged
    The patches were averaged: each keeps a vector of its own.
        def forward(self, images):
            return super().forward(images).mean(1)

stride forgotten
    The kernel moved by one pixel: stride = patch_size.
        def __init__(self, in_channels, patch_size, embedding_dim):
            super().__init__(in_channels, patch_size, embedding_dim)
            self.projection.stride = (1, 1)

order of the patch misread
    The patches were flattened row, column, channel, but the weight is stored channel, row, column.
        def forward(self, images):
            super().forward(images)
            rows = patchify(images, self.patch_size)
            channels = images.shape[1]
            last = rows.unflatten(2, (channels, self.patch_size, self.patch_size)).permute(0, 1, 3, 4, 2).flatten(2)
            return last @ self.projection.weight.flatten(1).T + self.projection.bias

no bias
    The layer has no bias: leave bias=False out.
        def __init__(self, in_channels, patch_size, embedding_dim):
            super().__init__(in_channels, patch_size, embedding_dim)
            self.projection.bias = None

padding added
    With padding the first patch begins outside the image: none is needed.
        def __init__(self, in_channels, patch_size, embedding_dim):
            super().__init__(in_channels, patch_size, embedding_dim)
            self.projection.padding = (1, 1)

nothing learned
    These are the patches themselves, C·P·P numbers each. They still have to be projected to D numbers.
        def forward(self, images):
            super().forward(images)
            return patchify(images, self.patch_size)

column by column
    The tokens come column by column. Token n is row n // columns, column n % columns: flatten(2) alone keeps that
    order.
        def forward(self, images):
            super().forward(images)
            return self.projection(images).transpose(2, 3).flatten(2).transpose(1, 2)

all tokens in one row
    flatten(1) joins D and N as well. Flatten from axis 2 on: .flatten(2).transpose(1, 2).
        def forward(self, images):
            return super().forward(images).transpose(1, 2).flatten(1)

a nonlinearity after it
    No ReLU here: a patch embedding is an affine map and no more.
        def forward(self, images):
            return super().forward(images).relu()

grid guessed from N
    The grid was taken for a square. It has height // P rows and width // P columns.
        def forward(self, images):
            tokens = super().forward(images)
            side = int(tokens.shape[1] ** 0.5)
            return self.projection(images)[:, :, :side, :side].flatten(2).transpose(1, 2)

a second layer after it
    A Linear behind the projection adds parameters and nothing else: two affine maps are one. Leave it out.
        def __init__(self, in_channels, patch_size, embedding_dim):
            super().__init__(in_channels, patch_size, embedding_dim)
            self.after = nn.Linear(embedding_dim, embedding_dim)
        def forward(self, images):
            return self.after(super().forward(images))

side not named
    Whoever reads this error wants to know which side does not fit: name that one, and not the other. One test for
    each side does it.
        def forward(self, images):
            try:
                return super().forward(images)
            except ValueError:
                raise ValueError(f"not a multiple of patch size {self.patch_size}") from None

height not told
    Where the height does not fit, your error does not say so, or names the width as well: name the side that does
    not fit, and only that.
        def forward(self, images):
            if images.shape[-2] % self.patch_size:
                raise ValueError("height or width does not fit")
            return super().forward(images)

width not told
    Where the width does not fit, your error does not say so, or names the height as well: name the side that does
    not fit, and only that.
        def forward(self, images):
            if images.shape[-1] % self.patch_size:
                raise ValueError("height or width does not fit")
            return super().forward(images)
""",
    patchify=patchify,
)


FAMILIES = (
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


EXERCISE = Exercise(
    name="PatchEmbedding",
    solution=PatchEmbedding,
    cases=_class_cases,
    result=Tensor,
    use=_use,
    slack=1e-12,
    wrong=WRONG + FAMILIES,
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
)
