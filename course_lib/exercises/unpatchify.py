"""Lesson 04, unpatchify: patches (B, N, C·P·P) -> the images (B, C, H, W) that they came from."""

from __future__ import annotations

import torch
from torch import Tensor

from course_lib.exercises.image_cases import IMAGE_CASES, describe, sizes_of
from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise, in_dtype, pixels
from course_lib.exercises.patchify import patchify


def unpatchify(patches, patch_size, channels, height, width):
    batch = patches.shape[0]
    rows, columns = height // patch_size, width // patch_size
    split = patches.reshape(batch, rows, columns, channels, patch_size, patch_size)
    return split.permute(0, 3, 1, 4, 2, 5).reshape(batch, channels, height, width)


def cases() -> list[Case]:
    def case(*sizes: int, only: str = "", start: int = 0) -> Case:
        patches = patchify(pixels(*sizes[:4], start=start), sizes[4])
        args = (patches, sizes[4], *sizes[1:4])
        return Case(f"patches of {describe(*sizes)}", args, "B C H W", sizes_of(*sizes), only)

    plain = [case(*sizes, only=only) for *sizes, only in IMAGE_CASES]
    return [*plain, in_dtype(case(2, 5, 4, 6, 2, start=-100), torch.float64)]


def _unpatchify_order(rows_first=True, channel_first=True, swap_inside=False):
    def wrong(patches, patch_size, channels, height, width):
        rows, columns = height // patch_size, width // patch_size
        grid = (rows, columns) if rows_first else (columns, rows)
        inside = (channels, patch_size, patch_size) if channel_first else (patch_size, patch_size, channels)
        split = patches.reshape(len(patches), *grid, *inside)
        down, right = (1, 2) if rows_first else (2, 1)
        channel, row, column = (3, 4, 5) if channel_first else (5, 3, 4)
        row, column = (column, row) if swap_inside else (row, column)
        return split.permute(0, channel, down, row, right, column).reshape(len(patches), channels, height, width)

    return wrong


WRONG = mistakes(
    unpatchify,
    r"""
permute of patchify
    That is the permute of patchify. The way back needs its inverse: the axes are now batch, grid row, grid column,
    channel, row, column, and each grid axis has to come just before its own axis inside.
        split.permute(0, 3, 1, 4, 2, 5) → split.permute(0, 2, 4, 1, 3, 5)

grid and tile not brought together
    Grid row and grid column stand side by side. The height is made of (grid row, row) and the width of (grid
    column, column).
        split.permute(0, 3, 1, 4, 2, 5) → split.permute(0, 3, 1, 2, 4, 5)

grid turned
    Grid row and grid column have changed places: the height is (grid row, row), the width (grid column, column).
        split.permute(0, 3, 1, 4, 2, 5) → split.permute(0, 3, 2, 4, 1, 5)

inside and grid turned
    Grid and inside have changed places: the height is (row, grid row) now. The grid axis comes first and its own
    axis inside just after it, on both sides.
        split.permute(0, 3, 1, 4, 2, 5) → split.permute(0, 3, 4, 1, 5, 2)

split only
    Split, and that is the right split, but the axes are neither swapped nor merged. Bring each grid axis in front
    of its own axis inside, then reshape to (B, C, H, W).
        return patches.reshape(
            len(patches), height // patch_size, width // patch_size, channels, patch_size, patch_size
        )

merge missing
    Split and swapped, but not merged: reshape to (B, C, H, W).
        split.permute(0, 3, 1, 4, 2, 5).reshape(batch, channels, height, width) → split.permute(0, 3, 1, 4, 2, 5)

split like an image
    The patches were split as if they were still an image. In memory they lie as (B, rows, columns, C, P, P): split
    them like that.
        return patchify(patches.reshape(len(patches), channels, height, width), patch_size).reshape(
            len(patches), channels, height, width
        )

reshape alone
    A reshape leaves the numbers in their order: patch after patch. In the image the first row runs through all the
    patches of the top row. Split, swap, merge, backwards. If your code has a permute: it gives a new tensor and
    leaves the old one as it was. Is its result kept?
        split.permute(0, 3, 1, 4, 2, 5) → split

channel last
    Each patch was read as row, column, channel, but it was written as channel, row, column. No number leaves its
    patch, so a trained model may never show it; the round trip does.
        return _unpatchify_order(channel_first=False)(patches, patch_size, channels, height, width)

patches turned
    Row and column inside the patch have changed places: each tile lies on its side.
        split.permute(0, 3, 1, 4, 2, 5) → split.permute(0, 3, 1, 5, 2, 4)

column by column
    The patches were laid from top to bottom. They are numbered row by row.
        return _unpatchify_order(rows_first=False)(patches, patch_size, channels, height, width)

grid swapped
    Rows and columns of the grid have changed places. The number of patches is the same, so nothing complains, but
    the picture is scrambled.
        rows, columns = (height // patch_size, width // patch_size)
        split = patches.reshape(len(patches), columns, rows, channels, patch_size, patch_size)
        return split.permute(0, 3, 1, 4, 2, 5).reshape(len(patches), channels, height, width)

grid guessed from N
    The grid was guessed as √N × √N. 12 patches can be 3 × 4 or 2 × 6: take it from height and width.
        side = int(math.sqrt(patches.shape[1]))
        split = patches.reshape(len(patches), side, side, channels, patch_size, patch_size)
        return split.permute(0, 3, 1, 4, 2, 5).reshape(len(patches), channels, height, width)

image turned
    Height and width have changed places.
        return unpatchify(patches, patch_size, channels, height, width).transpose(2, 3)

channels as last axis
    This is the order in which matplotlib draws, (B, H, W, C). The contract is (B, C, H, W).
        return unpatchify(patches, patch_size, channels, height, width).permute(0, 2, 3, 1)

fold not turned
    F.fold wants the patches in the COLUMNS: turn the last two axes first.
        return F.fold(patches, (height, width), patch_size, stride=patch_size)

batch lost
    Only the first image came back: the batch axis stays in front.
        return (lambda *args: unpatchify(*args)[0])(patches, patch_size, channels, height, width)
""",
    patchify=patchify,
)


EXERCISE = Exercise(
    name="unpatchify",
    solution=unpatchify,
    cases=cases,
    result=Tensor,
    wrong=WRONG,
    hints=(
        "Do the three steps of patchify backwards: un-merge, swap back, un-split.",
        (
            "Un-merge: patches.reshape(B, rows, columns, C, P, P), with rows = height // P and columns = width"
            " // P. Which order do the axes need, so that (rows, P) makes the height and (columns, P) the"
            " width?"
        ),
        ".permute(0, 3, 1, 4, 2, 5) gives (B, C, rows, P, columns, P); then .reshape(B, C, height, width).",
    ),
    praise="The round trip is exact, number for number: cutting an image into patches loses nothing.",
)
