"""Lesson 04: from image to patches."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from course_lib.exercises.model import Case, Exercise, Option, Question, WrongAnswer, pixels


def count_patches(height, width, patch_size, stride):
    rows = (height - patch_size) // stride + 1
    columns = (width - patch_size) // stride + 1
    return rows * columns


def patchify(images, patch_size):
    batch, channels, height, width = images.shape
    rows, columns = height // patch_size, width // patch_size
    split = images.reshape(batch, channels, rows, patch_size, columns, patch_size)
    patches_first = split.permute(0, 2, 4, 1, 3, 5)
    return patches_first.reshape(batch, rows * columns, channels * patch_size * patch_size)


def unpatchify(patches, patch_size, channels, height, width):
    batch = patches.shape[0]
    rows, columns = height // patch_size, width // patch_size
    split = patches.reshape(batch, rows, columns, channels, patch_size, patch_size)
    return split.permute(0, 3, 1, 4, 2, 5).reshape(batch, channels, height, width)


def unread_pixels(height, width, patch_size):
    read = (height // patch_size * patch_size) * (width // patch_size * patch_size)
    return height * width - read


def _count_cases() -> list[Case]:
    def case(height: int, width: int, patch_size: int, stride: int, only: str = "") -> Case:
        return Case(
            f"{height} × {width}, P = {patch_size}, S = {stride}",
            (height, width, patch_size, stride),
            letters={"H": height, "W": width, "P": patch_size, "S": stride},
            only=only,
        )

    return [
        case(10, 14, 4, 2),
        case(17, 23, 5, 3),
        case(10, 13, 5, 3),
        case(12, 31, 7, 2),
        case(28, 28, 7, 4, "square images"),
        case(10, 10, 4, 2, "square images"),
        case(12, 20, 4, 4, "stride = patch size"),
        case(11, 21, 5, 5, "stride = patch size"),
        case(6, 9, 3, 1),
        case(40, 31, 6, 4),
    ]


def _sizes(batch: int, channels: int, height: int, width: int, patch_size: int) -> dict[str, int]:
    return {
        "B": batch,
        "C": channels,
        "H": height,
        "W": width,
        "P": patch_size,
        "N": (height // patch_size) * (width // patch_size),
    }


_IMAGE_CASES = (  # batch, channels, height, width, patch size, coincidence
    (4, 2, 6, 9, 3, ""),
    (3, 5, 8, 4, 2, ""),
    (2, 2, 6, 6, 3, "square images"),
    (3, 4, 8, 8, 2, "square images"),
    (2, 1, 6, 4, 2, "one channel"),
    (3, 1, 6, 9, 3, "one channel"),
    (2, 3, 4, 10, 2, "three channels"),
    (4, 3, 9, 6, 3, "three channels"),
    (1, 4, 8, 6, 2, "a batch of one"),
    (1, 2, 6, 9, 3, "a batch of one"),
    (3, 2, 4, 5, 1, "trivial"),  # a patch is a pixel
)


def _describe(batch: int, channels: int, height: int, width: int, patch_size: int) -> str:
    images = "one image" if batch == 1 else f"{batch} images"
    return f"{images} of {channels} × {height} × {width} pixels, P = {patch_size}"


def _patchify_cases() -> list[Case]:
    return [
        Case(_describe(*sizes), (pixels(*sizes[:4]), sizes[4]), "B N C·P·P", _sizes(*sizes), only)
        for *sizes, only in _IMAGE_CASES
    ]


def _unpatchify_cases() -> list[Case]:
    return [
        Case(
            f"patches of {_describe(*sizes)}",
            (patchify(pixels(*sizes[:4]), sizes[4]), sizes[4], *sizes[1:4]),
            "B C H W",
            _sizes(*sizes),
            only,
        )
        for *sizes, only in _IMAGE_CASES
    ]


def _unread_cases() -> list[Case]:
    def case(height: int, width: int, patch_size: int, only: str = "") -> Case:
        return Case(
            f"{height} × {width}, P = {patch_size}",
            (height, width, patch_size),
            letters={"H": height, "W": width, "P": patch_size},
            only=only,
        )

    return [
        case(10, 9, 4),
        case(17, 23, 5),
        case(9, 8, 4),
        case(8, 11, 4),
        case(220, 220, 16, "square images"),
        case(9, 9, 4, "square images"),
        case(12, 20, 4, "trivial"),
        case(5, 7, 1, "trivial"),
    ]


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
    rows = [
        "".join(f"[{value:2.0f}]" if value in taken else f" {value:2.0f} " for value in row).rstrip()
        for row in images[0, 0].tolist()
    ]
    return f"Image 0, channel 0; [ ] marks what your patch {wrong[0]} took:\n" + "\n".join(rows)


def _split(images, patch_size):
    batch, channels, height, width = images.shape
    return images.reshape(batch, channels, height // patch_size, patch_size, width // patch_size, patch_size)


def _patchify_order(*order):
    def wrong(images, patch_size):
        batch, channels, height, width = images.shape
        count = (height // patch_size) * (width // patch_size)
        return _split(images, patch_size).permute(order).reshape(batch, count, channels * patch_size**2)

    return wrong


def _reshape_only(images, patch_size):
    batch, channels, height, width = images.shape
    return images.reshape(batch, (height // patch_size) * (width // patch_size), -1)


def _split_only(images, patch_size):
    batch, channels, height, width = images.shape
    return _split(images, patch_size).flatten(1).reshape(batch, -1, patch_size * patch_size)


def _split_wrong_way_round(images, patch_size):
    batch, channels, height, width = images.shape
    rows, columns = height // patch_size, width // patch_size
    split = images.reshape(batch, channels, patch_size, rows, patch_size, columns)
    return split.permute(0, 3, 5, 1, 2, 4).reshape(batch, rows * columns, -1)


def _size_for_count(images, patch_size):
    batch, channels, height, width = images.shape
    split = images.reshape(batch, channels, patch_size, height // patch_size, patch_size, width // patch_size)
    return split.permute(0, 2, 4, 1, 3, 5).reshape(batch, patch_size * patch_size, -1)


def _channels_as_patches(images, patch_size):
    return _split(images, patch_size).permute(0, 1, 2, 4, 3, 5).reshape(len(images), -1, patch_size * patch_size)


_EXAMPLE = (
    "The sizes are those of the example in the lesson. Take batch, channels, height and width from images.shape, and"
    " rows and columns from height and width."
)


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


def _square_only(images, patch_size):
    batch, channels, height, _ = images.shape
    side = height // patch_size
    split = images.reshape(batch, channels, side, patch_size, side, patch_size)
    return split.permute(0, 2, 4, 1, 3, 5).reshape(batch, side * side, -1)


def _every_window(images, patch_size):
    return F.unfold(images, patch_size).transpose(1, 2)


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


def _grid_from_root(patches, patch_size, channels, height, width):
    side = int(math.sqrt(patches.shape[1]))
    split = patches.reshape(len(patches), side, side, channels, patch_size, patch_size)
    return split.permute(0, 3, 1, 4, 2, 5).reshape(len(patches), channels, height, width)


def _grid_swapped(patches, patch_size, channels, height, width):
    rows, columns = height // patch_size, width // patch_size
    split = patches.reshape(len(patches), columns, rows, channels, patch_size, patch_size)
    return split.permute(0, 3, 1, 4, 2, 5).reshape(len(patches), channels, height, width)


def _put_back_by_reshape(patches, patch_size, channels, height, width):
    return patches.reshape(len(patches), channels, height, width)


def _lying_down(patches, patch_size, channels, height, width):
    return unpatchify(patches, patch_size, channels, height, width).transpose(2, 3)


def _channel_axis_last(patches, patch_size, channels, height, width):
    return unpatchify(patches, patch_size, channels, height, width).permute(0, 2, 3, 1)


def _fold_without_turning(patches, patch_size, channels, height, width):
    return F.fold(patches, (height, width), patch_size, stride=patch_size)


def _starts_one_apart(images, patch_size):
    rows, columns = images.shape[2] // patch_size, images.shape[3] // patch_size
    cut = [images[:, :, y : y + patch_size, x : x + patch_size].flatten(1) for y in range(rows) for x in range(columns)]
    return torch.stack(cut, 1)


def _back_in_order(*order):
    def wrong(patches, patch_size, channels, height, width):
        rows, columns = height // patch_size, width // patch_size
        split = patches.reshape(len(patches), rows, columns, channels, patch_size, patch_size)
        return split.permute(order).reshape(len(patches), channels, height, width)

    return wrong


def _split_like_an_image(patches, patch_size, channels, height, width):
    return patchify(patches.reshape(len(patches), channels, height, width), patch_size).reshape(
        len(patches), channels, height, width
    )


EXERCISES = (
    Exercise(
        name="count_patches",
        lesson="04",
        solution=count_patches,
        cases=_count_cases,
        result=int,
        quantities=lambda height, width, patch_size, stride: {
            "number of rows": (height - patch_size) // stride + 1,
            "number of columns": (width - patch_size) // stride + 1,
        },
        wrong=(
            WrongAnswer(
                "brackets missing",
                lambda h, w, p, s: (h - p) // s + 1 * (w - p) // s + 1,
                "* binds before +: put brackets round each side, (...) * (...).",
            ),
            WrongAnswer(
                "rounded to the nearest",
                lambda h, w, p, s: (round((h - p) / s) + 1) * (round((w - p) / s) + 1),
                "round() sometimes goes up, to a patch that hangs over the border. Only whole patches count: //.",
            ),
            WrongAnswer(
                "rounded down after the product",
                lambda h, w, p, s: (h - p + s) * (w - p + s) // (s * s),
                "Round each side down before you multiply: parts of a patch on both sides add up to whole ones in the"
                " product, and no such patch is there.",
            ),
            WrongAnswer(
                "rounded to the nearest after the product",
                lambda h, w, p, s: round(((h - p) / s + 1) * ((w - p) / s + 1)),
                "Round each side before you multiply, and round it down: only whole patches count.",
            ),
            WrongAnswer(
                "one added too early",
                lambda h, w, p, s: ((h - p + 1) // s) * ((w - p + 1) // s),
                "The 1 is added after the division: first the steps, (size − P) // S, then one patch more.",
            ),
            WrongAnswer(
                "every start, then divided",
                lambda h, w, p, s: (h // s + 1) * (w // s + 1),
                "The last start is at size − P, not at size: subtract P before you divide.",
            ),
            WrongAnswer(
                "one added once",
                lambda h, w, p, s: ((h - p) // s) * ((w - p) // s) + 1,
                "Each side has one patch more than steps: add 1 to each before you multiply.",
            ),
            WrongAnswer(
                "rows only",
                lambda h, w, p, s: (h - p) // s + 1,
                "That is how many patches stand one below the other. How many are side by side, and how many in all?",
            ),
            WrongAnswer(
                "last start left out",
                lambda h, w, p, s: len(range(0, h - p, s)) * len(range(0, w - p, s)),
                "range(0, size - P, S) stops before size - P, and a patch can start there: range(0, size - P + 1, S).",
            ),
            WrongAnswer(
                "every start",
                lambda h, w, p, s: len(range(0, h, s)) * len(range(0, w, s)),
                "Starts near the border were counted whose patch hangs over. The last start is at size − P.",
            ),
            WrongAnswer(
                "stride ignored",
                lambda h, w, p, s: (h // p) * (w // p),
                "size // P counts patches that lie side by side. "
                "With a stride smaller than P they overlap, and there are more of them.",
            ),
            WrongAnswer(
                "divided by the stride",
                lambda h, w, p, s: (h // s) * (w // s),
                "size // S lets the last patches hang over "
                "the border. The last start is at size − P, so that is what the stride divides.",
            ),
            WrongAnswer(
                "first patch forgotten",
                lambda h, w, p, s: ((h - p) // s) * ((w - p) // s),
                "(size − P) // S counts the "
                "steps. There is one patch more than there are steps, as there is one fence post more than gaps.",
            ),
            WrongAnswer(
                "height used twice",
                lambda h, w, p, s: ((h - p) // s + 1) ** 2,
                "The height was used for both sides: right for square images only.",
            ),
            WrongAnswer(
                "width used twice",
                lambda h, w, p, s: ((w - p) // s + 1) ** 2,
                "The width was used for both sides: right for square images only.",
            ),
            WrongAnswer(
                "sides added",
                lambda h, w, p, s: (h - p) // s + 1 + (w - p) // s + 1,
                "Rows and columns of the grid were added: a grid of 3 rows and 4 columns has 12 places.",
            ),
            WrongAnswer(
                "patch size and stride swapped",
                lambda h, w, p, s: ((h - s) // p + 1) * ((w - s) // p + 1),
                "Patch size and stride have changed places: the first start is 0, the last is size − P, and S lies"
                " between two starts.",
            ),
            WrongAnswer(
                "area divided",
                lambda h, w, p, s: h * w // (p * p),
                "The number of pixels was divided by those of a patch. "
                "That takes no account of the border or the stride.",
            ),
            WrongAnswer(
                "patch size as count",
                lambda h, w, p, s: p * p,
                "P is the side of a patch in pixels, not the number of patches along a side.",
            ),
            WrongAnswer(
                "float result",
                lambda h, w, p, s: ((h - p) / s + 1) * ((w - p) / s + 1),
                "Use //, which counts whole steps: half a patch is no patch.",
            ),
            WrongAnswer(
                "hangs over",
                lambda h, w, p, s: (-(-(h - p) // s) + 1) * (-(-(w - p) // s) + 1),
                "Rounding up counts patches that hang over the border. Only whole patches count: round down.",
            ),
        ),
        hints=(
            "One side first. At which pixels can a patch start? The first start is 0; what is the last one?",
            (
                "The last start is size − P. Starts are S apart. How many are there between 0 and size − P, both"
                " included?"
            ),
            "((height - patch_size) // stride + 1) and the same for the width; multiply the two.",
        ),
        praise="With S = P this is size // P; with a smaller stride the same formula counts overlapping patches.",
    ),
    Exercise(
        name="patchify",
        lesson="04",
        solution=patchify,
        cases=_patchify_cases,
        result=Tensor,
        picture=marked_pixels,
        wrong=(
            WrongAnswer(
                "dilation for stride",
                lambda x, p: F.unfold(x, p, p).transpose(1, 2),
                "The third argument of F.unfold is the "
                "dilation, which spreads the pixels of a patch. Say stride=patch_size.",
            ),
            WrongAnswer(
                "slices one pixel short",
                lambda x, p: _loops(x, p, short=1),
                "A slice i:i+P−1 leaves out its last pixel: Python's end is not included, so i:i+P has P pixels.",
            ),
            WrongAnswer(
                "last row and column missing",
                lambda x, p: _loops(x, p, stop=1),
                "range stops before its end: range(0, H − P, P) never starts the last patch. range(0, H, P) does.",
            ),
            WrongAnswer(
                "return inside the loop",
                lambda x, p: _loops(x, p)[:, :1],
                "Only the first patch came back. A `return` "
                "inside the loop ends the function in the first round: move it to the left.",
            ),
            WrongAnswer(
                "merge missing",
                lambda x, p: _split(x, p).permute(0, 2, 4, 1, 3, 5),
                "Split and swapped, but not merged: reshape to (B, N, C·P·P).",
            ),
            WrongAnswer(
                "batch flattened into each patch",
                lambda x, p: patchify(x, p).transpose(0, 1).flatten(1),
                "flatten() also flattened the batch: flatten(1) begins behind it. And the batch axis stays in front.",
            ),
            WrongAnswer(
                "images mixed",
                lambda x, p: patchify(x, p).transpose(0, 1).reshape(patchify(x, p).shape),
                "The patches of all images were stacked behind each other and then reshaped, so images are mixed:"
                " torch.stack(..., dim=1) puts the patches of one image together.",
            ),
            WrongAnswer(
                "unfold reshaped",
                lambda x, p: F.unfold(x, p, stride=p).reshape(len(x), -1, x.shape[1] * p * p),
                "F.unfold puts the patches into the COLUMNS. A reshape gives the wanted shape but does not turn"
                " them: swap the last two axes with transpose(1, 2).",
            ),
            WrongAnswer(
                "grey",
                lambda x, p: patchify(x[:, :1], p),
                "Only one channel is left. A patch holds all the channels of its pixels, so its row has C·P·P numbers.",
            ),
            WrongAnswer(
                "starts one pixel apart",
                _starts_one_apart,
                "The corner of patch (r, k) is at pixel (r·P, k·P): your slices start at (r, k). Multiply by the"
                " patch size.",
            ),
            WrongAnswer(
                "windows not permuted",
                lambda x, p: x.unfold(2, p, p).unfold(3, p, p).reshape(len(x), -1, x.shape[1] * p * p),
                "Your axes now stand (B, C, rows, columns, P, P): the channel is in front of the grid. It belongs"
                " behind it, (B, rows, columns, C, P, P). From the split (B, C, rows, P, columns, P) that is"
                " permute(0, 2, 4, 1, 3, 5); after unfold, permute(0, 2, 3, 1, 4, 5).",
            ),
            WrongAnswer(
                "channel inside the grid",
                _patchify_order(0, 2, 1, 4, 3, 5),
                "Your axes now stand (B, rows, C, columns, P, P): the channel is between the two axes of the grid. It"
                " belongs behind both.",
            ),
            WrongAnswer(
                "grid column inside the patch",
                _patchify_order(0, 2, 3, 1, 4, 5),
                "Your axes now stand (B, rows, P, C, columns, P): the grid column is inside the patch. In which order"
                " did they stand before permute? The split gives (B, C, rows, P, columns, P), unfold gives"
                " (B, C, rows, columns, P, P).",
            ),
            WrongAnswer(
                "sizes of the example",
                _sizes_of_the_example(lambda b, c, h, w, p: (1, 1, 3, 2, 4, 2), lambda b, c, h, w, p: (1, 12, 4)),
                _EXAMPLE,
            ),
            WrongAnswer(
                "sizes of the example in the split",
                _sizes_of_the_example(
                    lambda b, c, h, w, p: (1, 1, 3, 2, 4, 2), lambda b, c, h, w, p: (b, (h // p) * (w // p), c * p * p)
                ),
                _EXAMPLE,
            ),
            WrongAnswer(
                "grid of the example",
                _sizes_of_the_example(
                    lambda b, c, h, w, p: (b, c, 3, p, 4, p), lambda b, c, h, w, p: (b, 12, c * p * p)
                ),
                _EXAMPLE,
            ),
            WrongAnswer(
                "reshape alone",
                _reshape_only,
                "A reshape keeps the reading order: it cuts the row-by-row stream of pixels into pieces of equal"
                " length. Such a piece is a strip, not a tile. Split both sides first, then change the reading"
                " order with permute, then merge. If your code has a permute: it gives a new tensor and leaves the old"
                " one as it was. Is its result kept?",
            ),
            WrongAnswer(
                "column by column",
                _patchify_order(0, 4, 2, 1, 3, 5),
                "The tiles are right, but they are numbered from top "
                "to bottom. Patches are numbered row by row: the grid row comes before the grid column.",
            ),
            WrongAnswer(
                "channel last",
                _patchify_order(0, 2, 4, 3, 5, 1),
                "Each patch has the right numbers, flattened row, column, "
                "channel. The contract is channel, row, column, as in a Conv2d weight.",
            ),
            WrongAnswer(
                "patches turned",
                _patchify_order(0, 2, 4, 1, 5, 3),
                "Row and column inside the patch have changed places: every tile lies on its side.",
            ),
            WrongAnswer(
                "channel between row and column",
                _patchify_order(0, 2, 4, 3, 1, 5),
                "Inside the patch the order is row, channel, column. The contract is channel, row, column.",
            ),
            WrongAnswer(
                "grid and tile turned",
                _patchify_order(0, 4, 2, 1, 5, 3),
                "Rows and columns have changed places twice: in "
                "the numbering of the patches and inside each of them. That is patchify of the turned image.",
            ),
            WrongAnswer(
                "row and grid mixed",
                _patchify_order(0, 3, 5, 1, 2, 4),
                "permute took the axes inside the patch for those of "
                "the grid. After the split the axes are batch, channel, grid row, row, grid column, column.",
            ),
            WrongAnswer(
                "split the wrong way round",
                _split_wrong_way_round,
                "Height and width were split into (P, rows) and (P, columns): the pixels of such a "
                "patch lie far apart. Neighbours stay together when it is split into (rows, P).",
            ),
            WrongAnswer(
                "patch size as count",
                _size_for_count,
                "P is the side of a patch in pixels. You cut the image into P × P patches.",
            ),
            WrongAnswer(
                "nothing moved",
                _split_only,
                "Split and flattened again, without moving an axis: that is a plain reshape "
                "into pieces of P·P numbers.",
            ),
            WrongAnswer(
                "channels apart",
                _channels_as_patches,
                "Each channel became patches of its own. A patch holds all the "
                "channels of its pixels, so its row has C·P·P numbers.",
            ),
            WrongAnswer(
                "square images only", _square_only, "One side was used for both: right for square images only."
            ),
            WrongAnswer(
                "unfold not turned",
                lambda x, p: F.unfold(x, p, stride=p),
                "Your patches are the columns. Swap the last two axes: .transpose(1, 2).",
            ),
            WrongAnswer(
                "every window",
                _every_window,
                "These patches start at every pixel. Side by side means: P pixels from one start to the next.",
            ),
            WrongAnswer(
                "batch lost",
                lambda x, p: patchify(x, p)[0],
                "Only the first image came back: the batch axis stays in front.",
            ),
            WrongAnswer(
                "batch and patches merged",
                lambda x, p: patchify(x, p).flatten(0, 1),
                "The patches of all images stand in one "
                "long list. Keep the batch axis: which image a patch belongs to must not get lost.",
            ),
            WrongAnswer(
                "grid not flattened",
                lambda x, p: patchify(x, p).unflatten(1, (x.shape[2] // p, x.shape[3] // p)),
                "The patches still lie in their grid of rows and columns. Merge the two axes into one.",
            ),
            WrongAnswer(
                "patches not flattened",
                lambda x, p: patchify(x, p).unflatten(2, (x.shape[1], p, p)),
                "The tiles are right but still have three axes. Flatten each into one row of C·P·P numbers.",
            ),
        ),
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
    ),
    Exercise(
        name="unpatchify",
        lesson="04",
        solution=unpatchify,
        cases=_unpatchify_cases,
        result=Tensor,
        wrong=(
            WrongAnswer(
                "permute of patchify",
                _back_in_order(0, 2, 4, 1, 3, 5),
                "That is the permute of patchify. The way back needs its inverse: the axes are now batch, grid"
                " row, grid column, channel, row, column, and each grid axis has to come just before its own axis"
                " inside.",
            ),
            WrongAnswer(
                "grid and tile not brought together",
                _back_in_order(0, 3, 1, 2, 4, 5),
                "Grid row and grid column stand side by side. The height is made of (grid row, row) and the width"
                " of (grid column, column).",
            ),
            WrongAnswer(
                "grid turned",
                _back_in_order(0, 3, 2, 4, 1, 5),
                "Grid row and grid column have changed places: the height is (grid row, row), the width (grid"
                " column, column).",
            ),
            WrongAnswer(
                "inside and grid turned",
                _back_in_order(0, 3, 4, 1, 5, 2),
                "Grid and inside have changed places: the height is (row, grid row) now. The grid axis comes first and"
                " its own axis inside just after it, on both sides.",
            ),
            WrongAnswer(
                "split only",
                lambda patches, p, c, h, w: patches.reshape(len(patches), h // p, w // p, c, p, p),
                "Split, and that is the right split, but the axes are neither swapped nor merged. Bring each grid axis"
                " in front of its own axis inside, then reshape to (B, C, H, W).",
            ),
            WrongAnswer(
                "merge missing",
                lambda patches, p, c, h, w: patches.reshape(len(patches), h // p, w // p, c, p, p).permute(
                    0, 3, 1, 4, 2, 5
                ),
                "Split and swapped, but not merged: reshape to (B, C, H, W).",
            ),
            WrongAnswer(
                "split like an image",
                _split_like_an_image,
                "The patches were split as if they were still an image. In memory they lie as (B, rows, columns,"
                " C, P, P): split them like that.",
            ),
            WrongAnswer(
                "reshape alone",
                _put_back_by_reshape,
                "A reshape leaves the numbers in their order: patch after patch. In the "
                "image the first row runs through all the patches of the top row. Split, swap, merge, backwards. "
                "If your code has a permute: it gives a new tensor and leaves the old one as it was. Is its result "
                "kept?",
            ),
            WrongAnswer(
                "channel last",
                _unpatchify_order(channel_first=False),
                "Each patch was read as row, column, channel, but it "
                "was written as channel, row, column. No number leaves its patch, so a trained model may never "
                "show it; the round trip does.",
            ),
            WrongAnswer(
                "patches turned",
                _unpatchify_order(swap_inside=True),
                "Row and column inside the patch have changed places: each tile lies on its side.",
            ),
            WrongAnswer(
                "column by column",
                _unpatchify_order(rows_first=False),
                "The patches were laid from top to bottom. They are numbered row by row.",
            ),
            WrongAnswer(
                "grid swapped",
                _grid_swapped,
                "Rows and columns of the grid have changed places. The number of patches is the "
                "same, so nothing complains, but the picture is scrambled.",
            ),
            WrongAnswer(
                "grid guessed from N",
                _grid_from_root,
                "The grid was guessed as √N × √N. 12 patches can be 3 × 4 or 2 × 6: take it from height and width.",
            ),
            WrongAnswer("image turned", _lying_down, "Height and width have changed places."),
            WrongAnswer(
                "channels as last axis",
                _channel_axis_last,
                "This is the order in which matplotlib draws, (B, H, W, C). The contract is (B, C, H, W).",
            ),
            WrongAnswer(
                "fold not turned",
                _fold_without_turning,
                "F.fold wants the patches in the COLUMNS: turn the last two axes first.",
            ),
            WrongAnswer(
                "batch lost",
                lambda *args: unpatchify(*args)[0],
                "Only the first image came back: the batch axis stays in front.",
            ),
        ),
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
    ),
    Exercise(
        name="unread_pixels",
        lesson="04",
        solution=unread_pixels,
        cases=_unread_cases,
        result=int,
        quantities=lambda height, width, patch_size: {
            "height that is read": height // patch_size * patch_size,
            "width that is read": width // patch_size * patch_size,
        },
        wrong=(
            WrongAnswer(
                "lengths swapped",
                lambda h, w, p: (h % p) * h + (w % p) * w - (h % p) * (w % p),
                "The strip below is as long as the image is WIDE, the one on the right as long as it is HIGH.",
            ),
            WrongAnswer(
                "grid times P",
                lambda h, w, p: h * w - (h // p) * (w // p) * p,
                "Each patch reads P·P pixels, not P.",
            ),
            WrongAnswer(
                "patches taken off",
                lambda h, w, p: h * w - (h // p) * (w // p),
                "The number of PATCHES was subtracted from the number of pixels. Each patch reads P·P pixels.",
            ),
            WrongAnswer(
                "height used twice",
                lambda h, w, p: h * h - (h // p * p) ** 2,
                "The height was used for both sides: right for square images only.",
            ),
            WrongAnswer(
                "height used twice for what is read",
                lambda h, w, p: h * w - (h // p * p) ** 2,
                "The height was used for both sides of what is read: right for square images only.",
            ),
            WrongAnswer(
                "width used twice for what is read",
                lambda h, w, p: h * w - (w // p * p) ** 2,
                "The width was used for both sides of what is read: right for square images only.",
            ),
            WrongAnswer(
                "the ones that are read, height used twice",
                lambda h, w, p: (h // p * p) ** 2,
                "The height was used for both sides. And these would be the pixels that are read: what is left of the"
                " image?",
            ),
            WrongAnswer(
                "the ones that are read, width used twice",
                lambda h, w, p: (w // p * p) ** 2,
                "The width was used for both sides. And these would be the pixels that are read: what is left of the"
                " image?",
            ),
            WrongAnswer(
                "number of patches",
                lambda h, w, p: (h // p) * (w // p),
                "That is how many patches there are. Each reads P·P pixels; how many pixels are left over?",
            ),
            WrongAnswer(
                "corner that padding adds",
                lambda h, w, p: (-h % p) * (-w % p),
                "-height % P is what padding would ADD until the patches fit; height % P is what is left over. And the"
                " product of the two is a corner, not the two whole strips.",
            ),
            WrongAnswer(
                "difference turned round",
                lambda h, w, p: (h // p * p) * (w // p * p) - h * w,
                "The difference is the wrong way round: the whole image minus what is read.",
            ),
            WrongAnswer(
                "percent",
                lambda h, w, p: 100 * (h * w - (h // p * p) * (w // p * p)) / (h * w),
                "That is how many per cent. The question is how many pixels.",
            ),
            WrongAnswer(
                "corner only",
                lambda h, w, p: (h % p) * (w % p),
                "That is only the corner where the two strips meet. The whole "
                "strip below and the whole strip on the right are not read.",
            ),
            WrongAnswer(
                "corner twice",
                lambda h, w, p: (h % p) * w + (w % p) * h,
                "The corner where the strip below and the strip on the right meet was counted twice.",
            ),
            WrongAnswer(
                "corner missing",
                lambda h, w, p: (h % p) * (w - w % p) + (w % p) * (h - h % p),
                "The corner where the two strips meet is not read either.",
            ),
            WrongAnswer(
                "strips without length",
                lambda h, w, p: h % p + w % p,
                "These are the widths of the two strips. A strip has a length as well.",
            ),
            WrongAnswer("strip below only", lambda h, w, p: (h % p) * w, "The strip on the right is missing."),
            WrongAnswer("strip on the right only", lambda h, w, p: (w % p) * h, "The strip below is missing."),
            WrongAnswer(
                "the ones that are read",
                lambda h, w, p: (h // p * p) * (w // p * p),
                "These are the pixels that are read. What is left of the image?",
            ),
            WrongAnswer(
                "remainder of the area",
                lambda h, w, p: h * w % (p * p),
                "The remainder of the area says nothing about the border: patches have to fit along each side.",
            ),
            WrongAnswer(
                "padding",
                lambda h, w, p: (-(-h // p) * p) * (-(-w // p) * p) - h * w,
                "That is how many pixels padding would ADD. The question is how many are left out without it.",
            ),
            WrongAnswer(
                "share",
                lambda h, w, p: 1 - (h // p * p) * (w // p * p) / (h * w),
                "That is a share of the image. The question is how many pixels.",
            ),
        ),
        hints=(
            "Which part of the image do the patches cover? How many pixels high and wide is it?",
            "height // P * P pixels high. Subtract what is covered from the whole.",
            "height * width - (height // patch_size * patch_size) * (width // patch_size * patch_size)",
        ),
        praise="PyTorch's own ways leave them out without a word; the course's patchify refuses such sizes.",
    ),
)

QUESTIONS = (
    Question(
        name="attention_pairs",
        lesson="04",
        text=(
            "A transformer compares every token with every token. For a 28 × 28 image, how many times fewer pairs"
            " are there with patches of 7 × 7 than with single pixels as tokens?"
        ),
        options=(
            Option(
                "7 times",
                "7 is the side of a patch. There are 49 times fewer tokens, and pairs go with the square of that.",
            ),
            Option(
                "49 times",
                "There are 49 times fewer tokens. But each of them meets every other, so the saving counts twice.",
            ),
            Option(
                "no fewer: the number of pixels is the same",
                "All the pixels are still there, but what meets is tokens: 16 in place of 784.",
            ),
            Option(
                "2,401 times",
                "784² = 614,656 pairs against 16² = 256. 49 × 49 = 2,401: the fourth power of the patch side.",
                right=True,
            ),
        ),
    ),
    Question(
        name="reshape_strips",
        lesson="04",
        text="A 28 × 28 image is reshaped to (16, 49). What does the first of these 16 rows contain?",
        options=(
            Option(
                "the top left 7 × 7 pixels",
                "That would be a tile. A reshape takes the numbers in reading order: a whole row of 28, then the next.",
            ),
            Option(
                "the top row and three quarters of the second",
                "49 = 28 + 21: one row and 21 pixels of the next. 1.75 rows, a strip right across the image.",
                right=True,
            ),
            Option("the first 49 pixels of the top row", "The top row has only 28 pixels."),
            Option("49 pixels from all over the image", "A reshape does not jump: it goes on where it stopped."),
        ),
    ),
    Question(
        name="seven_or_four",
        lesson="04",
        text=(
            "A text cuts patches of 7 × 7 from a 28 × 28 image and says 'stride 4, so we get 16 patches'. What is"
            " wrong?"
        ),
        options=(
            Option("nothing", "With stride 4 the starts are 0, 4, 8, 12, 16 and 20: six on each side, not four."),
            Option(
                "stride 4 gives 36 patches; 16 takes stride 7",
                "Side by side means that the stride is the patch size, 7: four starts on each side. With 4 the patches"
                " overlap.",
                right=True,
            ),
            Option(
                "stride 4 gives 49 patches",
                "28 // 4 = 7 starts would let the last patch hang over the border: a patch is 7 wide, "
                "so the last start is at 21 or before.",
            ),
            Option("the patches must be 4 × 4", "Then 7 × 7 = 49 patches of 16 pixels come out: a different cut."),
        ),
    ),
)
