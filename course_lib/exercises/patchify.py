"""Lesson 04, patchify: images (B, C, H, W) -> patches (B, N, C·P·P), row by row."""

from __future__ import annotations

import torch
from torch import Tensor

from course_lib.exercises.image_cases import IMAGE_CASES, describe, sizes_of
from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise, in_dtype, pixels


def patchify(images, patch_size):
    batch, channels, height, width = images.shape
    rows, columns = height // patch_size, width // patch_size
    split = images.reshape(batch, channels, rows, patch_size, columns, patch_size)
    patches_first = split.permute(0, 2, 4, 1, 3, 5)
    return patches_first.reshape(batch, rows * columns, channels * patch_size * patch_size)


def cases() -> list[Case]:
    def case(*sizes: int, only: str = "", start: int = 0) -> Case:
        return Case(describe(*sizes), (pixels(*sizes[:4], start=start), sizes[4]), "B N C·P·P", sizes_of(*sizes), only)

    plain = [case(*sizes, only=only) for *sizes, only in IMAGE_CASES]
    return [*plain, in_dtype(case(2, 5, 4, 6, 2, start=-100), torch.float64)]


def taken_by(patch: Tensor, channel: Tensor) -> set[float]:
    """The numbers of the channel that stand in the patch."""
    return set(patch.tolist()) & set(channel.flatten().tolist())


def marked_pixels(case: Case, patches: Tensor) -> str:
    """Channel 0 of the first image as numbers, with brackets around the pixels of the first wrong patch.

    Empty where that patch has the right pixels in another order: brackets would not show it.
    """
    images, patch_size = case.args
    wrong = [
        number
        for number, (one, other) in enumerate(zip(patches[0], patchify(images, patch_size)[0], strict=True))
        if set(one.tolist()) != set(other.tolist())
    ]
    if not wrong or images[0, 0].numel() > 60 or not taken_by(patches[0, wrong[0]], images[0, 0]):
        return ""
    taken = taken_by(patches[0, wrong[0]], images[0, 0])
    if not set(patches[0, wrong[0]].tolist()) <= set(images.flatten().tolist()):
        return ""  # other numbers than those of the image: nothing was taken from anywhere
    rows = [
        "".join(f"[{value:2.0f}]" if value in taken else f" {value:2.0f} " for value in row).rstrip()
        for row in images[0, 0].tolist()
    ]
    return f"Image 0, channel 0; [ ] marks what your patch {wrong[0]} took:\n" + "\n".join(rows)


def _split(images, patch_size):
    batch, channels, height, width = images.shape
    return images.reshape(batch, channels, height // patch_size, patch_size, width // patch_size, patch_size)


def _sizes_of_the_example(split, merged):
    def wrong(images, patch_size):
        sizes = (*images.shape, patch_size)
        return images.reshape(split(*sizes)).permute(0, 2, 4, 1, 3, 5).reshape(merged(*sizes))

    return wrong


def _loops(images, patch_size, short=0, stop=0):
    height, width = images.shape[-2:]
    tiles = [
        images[:, :, y : y + patch_size - short, x : x + patch_size - short].flatten(1)
        for y in range(0, height - stop * patch_size, patch_size)
        for x in range(0, width - stop * patch_size, patch_size)
    ]
    return torch.stack(tiles, dim=1)


WRONG = mistakes(
    patchify,
    r"""
dilation for stride
    The third argument of F.unfold is the dilation, which spreads the pixels of a patch. Say stride=patch_size.
        return F.unfold(images, patch_size, patch_size).transpose(1, 2)

slices one pixel short
    A slice i:i+P−1 leaves out its last pixel: Python's end is not included, so i:i+P has P pixels.
        return _loops(images, patch_size, short=1)

last row and column missing
    range stops before its end: range(0, H − P, P) never starts the last patch. range(0, H, P) does.
        return _loops(images, patch_size, stop=1)

return inside the loop
    Only the first patch came back. A `return` inside the loop ends the function in the first round: move it to the
    left.
        return _loops(images, patch_size)[:, :1]

merge missing
    Split and swapped, but not merged: reshape to (B, N, C·P·P).
        patches_first.reshape(batch, rows * columns, channels * patch_size * patch_size) → patches_first

batch flattened into each patch
    flatten() also flattened the batch: flatten(1) begins behind it. And the batch axis stays in front.
        return patchify(images, patch_size).transpose(0, 1).flatten(1)

images mixed
    The patches of all images were stacked behind each other and then reshaped, so images are mixed:
    torch.stack(..., dim=1) puts the patches of one image together.
        split.permute(0, 2, 4, 1, 3, 5) → split.permute(2, 4, 0, 1, 3, 5)

unfold reshaped
    F.unfold puts the patches into the COLUMNS. A reshape gives the wanted shape but does not turn them: swap the
    last two axes with transpose(1, 2).
        return F.unfold(images, patch_size, stride=patch_size).reshape(
            len(images), -1, images.shape[1] * patch_size * patch_size
        )

grey
    Only one channel is left. A patch holds all the channels of its pixels, so its row has C·P·P numbers.
        return patchify(images[:, :1], patch_size)

starts one pixel apart
    The corner of patch (r, k) is at pixel (r·P, k·P): your slices start at (r, k). Multiply by the patch size.
        rows, columns = (images.shape[2] // patch_size, images.shape[3] // patch_size)
        cut = [
            images[:, :, y : y + patch_size, x : x + patch_size].flatten(1) for y in range(rows) for x in range(columns)
        ]
        return torch.stack(cut, 1)

windows not permuted
    Your axes now stand (B, C, rows, columns, P, P): the channel is in front of the grid. It belongs behind it, (B,
    rows, columns, C, P, P). From the split (B, C, rows, P, columns, P) that is permute(0, 2, 4, 1, 3, 5); after
    unfold, permute(0, 2, 3, 1, 4, 5).
        split.permute(0, 2, 4, 1, 3, 5) → split.permute(0, 1, 2, 4, 3, 5)

channel inside the grid
    Your axes now stand (B, rows, C, columns, P, P): the channel is between the two axes of the grid. It belongs
    behind both.
        split.permute(0, 2, 4, 1, 3, 5) → split.permute(0, 2, 1, 4, 3, 5)

grid column inside the patch
    Your axes now stand (B, rows, P, C, columns, P): the grid column is inside the patch. In which order did they
    stand before permute? The split gives (B, C, rows, P, columns, P), unfold gives (B, C, rows, columns, P, P).
        split.permute(0, 2, 4, 1, 3, 5) → split.permute(0, 2, 3, 1, 4, 5)

sizes of the example
    The sizes are those of the example in the lesson. Take batch, channels, height and width from images.shape, and
    rows and columns from height and width.
        return _sizes_of_the_example(lambda b, c, h, w, p: (1, 1, 3, 2, 4, 2), lambda b, c, h, w, p: (1, 12, 4))(
            images, patch_size
        )

sizes of the example in the split
    The sizes are those of the example in the lesson. Take batch, channels, height and width from images.shape, and
    rows and columns from height and width.
        return _sizes_of_the_example(
            lambda b, c, h, w, p: (1, 1, 3, 2, 4, 2), lambda b, c, h, w, p: (b, h // p * (w // p), c * p * p)
        )(images, patch_size)

grid of the example
    The sizes are those of the example in the lesson. Take batch, channels, height and width from images.shape, and
    rows and columns from height and width.
        return _sizes_of_the_example(
            lambda b, c, h, w, p: (b, c, 3, p, 4, p), lambda b, c, h, w, p: (b, 12, c * p * p)
        )(images, patch_size)

reshape alone
    A reshape keeps the reading order: it cuts the row-by-row stream of pixels into pieces of equal length. Such a
    piece is a strip, not a tile. Split both sides first, then change the reading order with permute, then merge. If
    your code has a permute: it gives a new tensor and leaves the old one as it was. Is its result kept?
        patches_first.reshape → split.reshape

column by column
    The tiles are right, but they are numbered from top to bottom. Patches are numbered row by row: the grid row
    comes before the grid column.
        split.permute(0, 2, 4, 1, 3, 5) → split.permute(0, 4, 2, 1, 3, 5)

channel last
    Each patch has the right numbers, flattened row, column, channel. The contract is channel, row, column, as in a
    Conv2d weight.
        split.permute(0, 2, 4, 1, 3, 5) → split.permute(0, 2, 4, 3, 5, 1)

patches turned
    Row and column inside the patch have changed places: every tile lies on its side.
        split.permute(0, 2, 4, 1, 3, 5) → split.permute(0, 2, 4, 1, 5, 3)

channel between row and column
    Inside the patch the order is row, channel, column. The contract is channel, row, column.
        split.permute(0, 2, 4, 1, 3, 5) → split.permute(0, 2, 4, 3, 1, 5)

grid and tile turned
    Rows and columns have changed places twice: in the numbering of the patches and inside each of them. That is
    patchify of the turned image.
        split.permute(0, 2, 4, 1, 3, 5) → split.permute(0, 4, 2, 1, 5, 3)

row and grid mixed
    permute took the axes inside the patch for those of the grid. After the split the axes are batch, channel, grid
    row, row, grid column, column.
        split.permute(0, 2, 4, 1, 3, 5) → split.permute(0, 3, 5, 1, 2, 4)

split the wrong way round
    Height and width were split into (P, rows) and (P, columns): the pixels of such a patch lie far apart.
    Neighbours stay together when it is split into (rows, P).
        batch, channels, height, width = images.shape
        rows, columns = (height // patch_size, width // patch_size)
        split = images.reshape(batch, channels, patch_size, rows, patch_size, columns)
        return split.permute(0, 3, 5, 1, 2, 4).reshape(batch, rows * columns, -1)

patch size as count
    P is the side of a patch in pixels. You cut the image into P × P patches.
        batch, channels, height, width = images.shape
        split = images.reshape(batch, channels, patch_size, height // patch_size, patch_size, width // patch_size)
        return split.permute(0, 2, 4, 1, 3, 5).reshape(batch, patch_size * patch_size, -1)

nothing moved
    Split and flattened again, without moving an axis: that is a plain reshape into pieces of P·P numbers.
        batch, channels, height, width = images.shape
        return _split(images, patch_size).flatten(1).reshape(batch, -1, patch_size * patch_size)

channels apart
    Each channel became patches of its own. A patch holds all the channels of its pixels, so its row has C·P·P
    numbers.
        return _split(images, patch_size).permute(0, 1, 2, 4, 3, 5).reshape(len(images), -1, patch_size * patch_size)

square images only
    One side was used for both: right for square images only.
        width // patch_size → height // patch_size

unfold not turned
    Your patches are the columns. Swap the last two axes: .transpose(1, 2).
        return F.unfold(images, patch_size, stride=patch_size)

every window
    These patches start at every pixel. Side by side means: P pixels from one start to the next.
        return F.unfold(images, patch_size).transpose(1, 2)

batch lost
    Only the first image came back: the batch axis stays in front.
        return patchify(images, patch_size)[0]

batch and patches merged
    The patches of all images stand in one long list. Keep the batch axis: which image a patch belongs to must not
    get lost.
        return patchify(images, patch_size).flatten(0, 1)

grid not flattened
    The patches still lie in their grid of rows and columns. Merge the two axes into one.
        return patchify(images, patch_size).unflatten(1, (images.shape[2] // patch_size, images.shape[3] // patch_size))

patches not flattened
    The tiles are right but still have three axes. Flatten each into one row of C·P·P numbers.
        return patchify(images, patch_size).unflatten(2, (images.shape[1], patch_size, patch_size))
""",
)


EXERCISE = Exercise(
    name="patchify",
    solution=patchify,
    cases=cases,
    result=Tensor,
    picture=marked_pixels,
    wrong=WRONG,
    hints=(
        (
            "Three steps: split each side into (grid, inside), swap axes so that the grid comes first, merge"
            " what belongs together."
        ),
        (
            "Split: images.reshape(B, C, rows, P, columns, P). Which axes number the patches, and which lie"
            " inside a patch? The order inside is channel, row, column."
        ),
        (
            "Swap: .permute(0, 2, 4, 1, 3, 5) gives (B, rows, columns, C, P, P). Merge: .reshape(B, rows *"
            " columns, C * P * P)."
        ),
    ),
    praise="Each tile is one row, and no number was lost or made.",
)
