"""Pictures as rows of numbers: cutting an image into patches and putting it together (lesson 04).

The order of the numbers inside a patch is a contract: channel first, then row, then column, the order
in which a Conv2d weight is stored. Patches are numbered row by row.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from course_lib.letters import both_sides, check_sizes, positive_int

PatchSize = int | tuple[int, int]


def count_patches(height: int, width: int, patch_size: PatchSize, stride: PatchSize | None = None) -> int:
    """How many patches fit wholly into the image; `stride` is the step between them (default: patch size).

    Raises ValueError where not a single patch fits.
    """
    rows, columns = _grid(height, width, patch_size, stride)
    return rows * columns


def unread_pixels(height: int, width: int, patch_size: PatchSize) -> int:
    """How many pixels lie in no patch when side-by-side patches are laid from the top left corner."""
    patch_height, patch_width = both_sides("patch_size", patch_size)
    rows, columns = _grid(height, width, patch_size, None)
    return height * width - rows * patch_height * columns * patch_width


def patchify(images: Tensor, patch_size: PatchSize, *, pad: bool = False) -> Tensor:
    """(B, C, H, W) -> (B, N, C·P·P): side-by-side patches row by row, each flattened channel, row, column.

    Any dtype, any batch size, also 0. Sides that are no multiple of the patch size raise a ValueError
    that names them and the nearest sizes that work; with `pad` zeros are added below and on the right.
    """
    check_images(images)
    patch_height, patch_width = both_sides("patch_size", patch_size)
    height, width = images.shape[-2:]
    if pad:
        check_sizes(height=height, width=width)
        images = F.pad(images, (0, -width % patch_width, 0, -height % patch_height))
    else:
        check_multiples(height, width, patch_size)
    batch, channels, height, width = images.shape
    rows, columns = height // patch_height, width // patch_width
    split = images.reshape(batch, channels, rows, patch_height, columns, patch_width)
    patches_first = _laid_out(split.permute(0, 2, 4, 1, 3, 5))
    return patches_first.reshape(batch, rows * columns, channels * patch_height * patch_width)


def unpatchify(patches: Tensor, patch_size: PatchSize, channels: int, height: int, width: int) -> Tensor:
    """(B, N, C·P·P) -> (B, C, H, W): the exact inverse of patchify; what `pad` added is cut off again.

    The image size has to be given: 12 patches can be 3 × 4 or 2 × 6. A ValueError tells when it does
    not fit the number of patches or their length.
    """
    patch_height, patch_width = both_sides("patch_size", patch_size)
    channels = positive_int("channels", channels)
    rows = -(-positive_int("height", height) // patch_height)
    columns = -(-positive_int("width", width) // patch_width)
    length = channels * patch_height * patch_width
    check_tensor("patches", patches, "(B, N, C·P·P)")
    if patches.ndim != 3 or patches.shape[1:] != (rows * columns, length):
        raise ValueError(
            f"an image of {channels} × {height} × {width} with patches of {patch_height} × {patch_width} needs "
            f"patches of shape (B, {rows * columns}, {length}), got {tuple(patches.shape)}"
        )
    batch = patches.shape[0]
    split = patches.reshape(batch, rows, columns, channels, patch_height, patch_width)
    whole = _laid_out(split.permute(0, 3, 1, 4, 2, 5))
    whole = whole.reshape(batch, channels, rows * patch_height, columns * patch_width)
    return whole[:, :, :height, :width]


def overlapping_patches(images: Tensor, patch_size: PatchSize, stride: PatchSize) -> Tensor:
    """(B, C, H, W) -> (B, N, C·P·P) with `stride` pixels from one patch to the next, in patchify's order.

    As in a convolution, rows and columns that no whole patch reaches are left out; coverage() shows them.
    """
    check_images(images)
    patch_height, patch_width = both_sides("patch_size", patch_size)
    step_down, step_right = both_sides("stride", stride)
    height, width = images.shape[-2:]
    rows, columns = _grid(height, width, patch_size, stride)
    windows = images.unfold(2, patch_height, step_down).unfold(3, patch_width, step_right)
    length = images.shape[1] * patch_height * patch_width
    return _laid_out(windows.permute(0, 2, 3, 1, 4, 5)).reshape(images.shape[0], rows * columns, length)


def coverage(height: int, width: int, patch_size: PatchSize, stride: PatchSize | None = None) -> Tensor:
    """(H, W) int64: how many patches read each pixel."""
    patch_height, patch_width = both_sides("patch_size", patch_size)
    step_down, step_right = both_sides("stride", patch_size if stride is None else stride)
    rows, columns = _grid(height, width, patch_size, stride)
    down, right = torch.zeros(height, dtype=torch.int64), torch.zeros(width, dtype=torch.int64)
    for row in range(rows):
        down[row * step_down : row * step_down + patch_height] += 1
    for column in range(columns):
        right[column * step_right : column * step_right + patch_width] += 1
    return down[:, None] * right


def channels_last(patches: Tensor, patch_size: PatchSize, channels: int) -> Tensor:
    """(B, N, C·P·P) -> (B, N, P·P·C): the same patches, each flattened row, column, channel."""
    patch_height, patch_width = _check_length(patches, patch_size, channels)
    return _laid_out(patches.unflatten(2, (channels, patch_height, patch_width)).permute(0, 1, 3, 4, 2)).flatten(2)


def channels_first(patches: Tensor, patch_size: PatchSize, channels: int) -> Tensor:
    """(B, N, P·P·C) -> (B, N, C·P·P): the inverse of channels_last."""
    patch_height, patch_width = _check_length(patches, patch_size, channels)
    return _laid_out(patches.unflatten(2, (patch_height, patch_width, channels)).permute(0, 1, 4, 2, 3)).flatten(2)


def _laid_out(turned: Tensor) -> Tensor:
    """A copy in the order of the axes, which can be reshaped without another copy.

    Reshape alone would hand back a view of the image where patches are single pixels or the whole image.
    """
    return turned.clone(memory_format=torch.contiguous_format)


def _grid(height: int, width: int, patch_size: PatchSize, stride: PatchSize | None) -> tuple[int, int]:
    """Rows and columns of the grid of whole patches."""
    height, width = positive_int("height", height), positive_int("width", width)
    sides = both_sides("patch_size", patch_size)
    steps = both_sides("stride", patch_size if stride is None else stride)
    small = [
        f"{name} {size} is smaller than patch size {side}"
        for name, size, side in zip(("height", "width"), (height, width), sides, strict=True)
        if size < side
    ]
    if small:
        raise ValueError("image " + " and ".join(small) + ": no patch fits")
    rows, columns = ((size - side) // step + 1 for size, side, step in zip((height, width), sides, steps, strict=True))
    return rows, columns


def check_tensor(name: str, value: Tensor, axes: str) -> None:
    """TypeError that names what should be a tensor with these axes and is none."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{name} must be a tensor {axes}, got {type(value).__name__}")


def check_images(images: Tensor) -> None:
    """TypeError or ValueError where images are no tensor (B, C, H, W); three axes get the cure."""
    check_tensor("images", images, "(B, C, H, W)")
    if images.ndim != 4:
        hint = ": add x[None] for a batch of one" if images.ndim == 3 else ""
        raise ValueError(f"images must have 4 axes (B, C, H, W), got {tuple(images.shape)}{hint}")


def check_multiples(height: int, width: int, patch_size: PatchSize) -> None:
    """ValueError that names each side which is no multiple of the patch size, and the nearest sizes that work."""
    patch_height, patch_width = both_sides("patch_size", patch_size)
    problems = []
    for name, size, side in (("height", height, patch_height), ("width", width, patch_width)):
        if size % side or size == 0:
            below, above = size // side * side, (size // side + 1) * side
            fits = f"{below} or {above}" if below else f"{above}"
            problems.append(f"image {name} {size} is not a multiple of patch size {side}: use {fits}")
    if problems:
        raise ValueError("; ".join(problems) + ", or pad=True")


def _check_length(patches: Tensor, patch_size: PatchSize, channels: int) -> tuple[int, int]:
    patch_height, patch_width = both_sides("patch_size", patch_size)
    length = positive_int("channels", channels) * patch_height * patch_width
    check_tensor("patches", patches, "(B, N, C·P·P)")
    if patches.ndim != 3 or patches.shape[2] != length:
        raise ValueError(
            f"patches must have shape (B, N, {length}) for {channels} channels and patch size "
            f"{patch_height} × {patch_width}, got {tuple(patches.shape)}"
        )
    return patch_height, patch_width
