"""Live picture of lesson 04: image size, patch size and stride against patches, coverage and unread pixels."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor

from course_lib import patches
from course_lib.drawing import BLACK, SKY, VERMILION, WHITE, Drawing
from course_lib.explorers.controls import Slider
from course_lib.explorers.live import Live

MOST_OUTLINED = 24  # patches along a side; more lines than that would only be a grey veil


def patch_grid(image: Tensor, size: int, patch_size: int, stride: int) -> Live:
    """Sliders for image size, patch size and stride over an image (1, C, H, W) with equal sides."""

    def draw(size: int, patch_size: int, stride: int) -> Drawing:
        return draw_patch_grid(image, size, patch_size, stride)

    return Live(
        draw,
        size=Slider("Image size", 16, 64, size),
        patch_size=Slider("Patch size P", 2, 16, patch_size),
        stride=Slider("Stride S", 1, 16, stride),
    )


def draw_patch_grid(image: Tensor, size: int, patch_size: int, stride: int) -> Drawing:
    """The drawing behind patch_grid: patches outlined, unread pixels painted over, the counts beside it."""
    small = torch.nn.functional.interpolate(image, size=(size, size), mode="bilinear", antialias=True).clamp(0, 1)[0]
    counts = patches.coverage(size, size, patch_size, stride)
    side = (size - patch_size) // stride + 1
    scale = 320 / size
    drawing = Drawing(660, 344)
    drawing.pixels(12, 12, 320, 320, small[0] if len(small) == 1 else small.permute(1, 2, 0))
    for start, end in _gaps(counts.amax(dim=0)):  # what no patch reads are whole rows and whole columns
        drawing.rect(12 + start * scale, 12, (end - start) * scale, 320, fill=VERMILION)
        drawing.rect(12, 12 + start * scale, 320, (end - start) * scale, fill=VERMILION)
    outlined = range(side if side <= MOST_OUTLINED else 0)
    for row, column in itertools.product(outlined, outlined):
        x, y = 12 + column * stride * scale, 12 + row * stride * scale
        drawing.rect(x, y, patch_size * scale, patch_size * scale, stroke=SKY)
    for number in range(min(side, 2)):  # the first patches, framed twice so that they show on any picture
        for inset, colour in ((0, WHITE), (1, BLACK)):
            x, width = 12 + number * stride * scale + inset, patch_size * scale - 2 * inset
            drawing.rect(x, 12 + inset, width, width, stroke=colour, stroke_width=2)
    unread, numbers, total = int((counts == 0).sum()), len(small) * patch_size**2, side * side
    lines = (
        (f"{side} × {side} = {total:,} {'patch' if total == 1 else 'patches'}", True),
        (f"{numbers} numbers in a patch", False),
        (f"{total**2:,} {'pair' if total == 1 else 'pairs'} of tokens", False),
        (f"{unread:,} pixels in no patch", unread > 0),
        (f"a pixel is read at most {_times(int(counts.max()))}", False),
        (f"numbers kept: {total * numbers / small.numel():.2f} × the image's", False),
        ("" if outlined else "too many patches to outline: the first two are framed", False),
    )
    for place, (text, bold) in enumerate(lines):
        drawing.label(356, 40 + 30 * place, text, bold=bold, size=13 if place < 6 else 11)
    drawing.text = (
        f"An image of {size} × {size} pixels under patches of {patch_size} × {patch_size} with stride {stride}: "
        f"{side} × {side} = {total:,} patches of {numbers} numbers, {unread:,} pixels in no patch, "
        f"a pixel read at most {_times(int(counts.max()))}."
    )
    return drawing


def _gaps(counts: Tensor) -> list[tuple[int, int]]:
    """Start and end of each run of zeros."""
    edges = torch.nn.functional.pad((counts == 0).int(), (1, 1)).diff().nonzero().flatten().tolist()
    return list(zip(edges[::2], edges[1::2], strict=True))


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")
