"""Live picture of lesson 04: image size, patch size and stride against patches, coverage and unread pixels."""

from __future__ import annotations

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
    small = torch.nn.functional.interpolate(image, size=(size, size), mode="bilinear", antialias=True).clamp(0, 1)[
        0
    ]
    counts = patches.coverage(size, size, patch_size, stride)
    side = (size - patch_size) // stride + 1
    scale = 320 / size
    drawing = Drawing(660, 344)
    drawing.pixels(12, 12, 320, 320, small[0] if len(small) == 1 else small.permute(1, 2, 0))
    for row, column in (counts == 0).nonzero().tolist():
        drawing.rect(12 + column * scale, 12 + row * scale, scale, scale, fill=VERMILION)
    outlined = range(side if side <= MOST_OUTLINED else 0)
    for row in outlined:
        for column in outlined:
            drawing.rect(
                12 + column * stride * scale,
                12 + row * stride * scale,
                patch_size * scale,
                patch_size * scale,
                stroke=SKY,
            )
    for at, colour in ((0, WHITE), (1, BLACK)):  # the first patch, framed twice so that it shows on any picture
        drawing.rect(
            12 + at,
            12 + at,
            patch_size * scale - 2 * at,
            patch_size * scale - 2 * at,
            stroke=colour,
            stroke_width=2,
        )
    most = {1: "once", 2: "twice"}.get(counts.max().item(), f"{counts.max().item()} times")
    unread, numbers = int((counts == 0).sum()), len(small) * patch_size**2
    lines = (
        (f"{side} × {side} = {side * side} patches", True),
        (f"(({size} − {patch_size}) // {stride} + 1) on each side", False),
        (f"{numbers} numbers in a patch", False),
        (f"{(side * side) ** 2:,} pairs of tokens", False),
        (f"{unread} pixels in no patch", unread > 0),
        (f"most often read: {most}", False),
        (f"{side * side * numbers / small.numel():.2f} numbers kept for one of the image", False),
    )
    for place, (text, bold) in enumerate(lines):
        drawing.label(356, 40 + 30 * place, text, bold=bold)
    drawing.text = (
        f"An image of {size} × {size} pixels under patches of {patch_size} × {patch_size}, {stride} pixels apart: "
        f"{side} × {side} = {side * side} patches of {numbers} numbers, {unread} pixels in no patch, "
        f"no pixel read more than {most}."
    )
    return drawing
