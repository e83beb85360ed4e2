"""The pictures of lessons 08 and 10: what is inside a trained model, each with a text that says what is seen."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from course_lib.showing.drawing import (
    BLUE,
    GREEN,
    GREY,
    LIGHT,
    VERMILION,
    WHITE,
    Drawing,
    channels_to_back,
    diverge,
    shade,
)
from course_lib.showing.picture import Picture
from course_lib.showing.tables import number_cell

LINES = (BLUE, VERMILION, GREEN)


def feature_maps(image: Tensor, **maps: Tensor) -> Picture:
    """An image (1, H, W) beside one row of maps (C, h, w) for each name, all on one scale from 0 to their largest."""
    most = max(len(channels) for channels in maps.values())
    high = max(channels.max().item() for channels in maps.values())
    tile, gap, left = 76, 8, 130
    drawing = Drawing(left + most * (tile + gap) + 10, len(maps) * (tile + 34) + 20)
    drawing.label(16, 16, "the image", bold=True)
    drawing.pixels(16, 32, 96, 96, channels_to_back(image))
    told = []
    for row, (name, channels) in enumerate(maps.items()):
        y, name = row * (tile + 34) + 32, name.replace("_", " ")
        drawing.label(left, y - 16, name, bold=True)
        for number, channel in enumerate(channels):
            x = left + number * (tile + gap)
            drawing.pixels(x, y, tile, tile, (channel / high).clamp(0, 1))
            drawing.rect(x, y, tile, tile, stroke=GREY)
        told.append(f"{name}: {len(channels)} maps of {channels.shape[1]} × {channels.shape[2]} cells")
    drawing.text = (
        f"A handwritten digit, and beside it rows of small grey pictures, one for each channel of a feature map;"
        f" bright cells hold large numbers. {'; '.join(told)}."
    )
    return drawing.picture()


def reach(image: Tensor, **strengths: Tensor) -> Picture:
    """An image (C, H, W) once for each name: bright where a strength (H, W) is above 0, dimmed where it is 0."""
    height, width = image.shape[-2:]
    scale = max(300 // height, 1)
    drawing = Drawing(len(strengths) * (width * scale + 24) + 16, height * scale + 52)
    told = []
    for place, (name, strength) in enumerate(strengths.items()):
        x, name = 20 + place * (width * scale + 24), name.replace("_", " ")
        shown = image * torch.where(strength > 0, 1.0, 0.3)
        drawing.label(x, 20, name, bold=True)
        drawing.pixels(x, 36, width * scale, height * scale, channels_to_back(shown))
        rows, columns = (strength.amax(dim=axis).nonzero().flatten().tolist() for axis in (1, 0))
        told.append(f"{name}: rows {rows[0]} to {rows[-1]}, columns {columns[0]} to {columns[-1]}")
        box = x + columns[0] * scale, 36 + rows[0] * scale, len(columns) * scale, len(rows) * scale
        for colour, thick in ((WHITE, 5), (VERMILION, 3)):
            drawing.rect(*box, stroke=colour, stroke_width=thick)
    drawing.text = (
        f"The same picture {len(strengths)} times, dimmed but for a framed square of pixels that can change one token."
        f" {'; '.join(told)}."
    )
    return drawing.picture()


def learning_curves(**accuracies: Sequence[float]) -> Picture:
    """Held-out accuracy after each epoch, a line for each name; each line ends in its name and last value."""
    drawing, left, top, width, height = Drawing(720, 300), 60, 20, 430, 230
    most = max(len(values) for values in accuracies.values())
    low = 0.5

    def place(epoch: int, value: float) -> tuple[float, float]:
        return left + width * epoch / most, top + height * (1 - (max(value, low) - low) / (1 - low))

    for tenth in range(5, 11):
        y = place(0, tenth / 10)[1]
        drawing.line(left, y, left + width, y, stroke=LIGHT, width=1)
        drawing.label(left - 8, y, f"{tenth / 10:.0%}", size=11, anchor="end")
    for epoch in range(0, most + 1, 5):
        drawing.label(place(epoch, low)[0], top + height + 14, str(epoch), size=11, anchor="middle")
    drawing.label(left + width / 2, top + height + 34, "epochs", size=12, anchor="middle")
    for row, ((name, values), colour) in enumerate(zip(accuracies.items(), LINES, strict=False)):
        points = [place(epoch, value) for epoch, value in enumerate(values, 1)]
        for (x1, y1), (x2, y2) in zip(points, points[1:], strict=False):
            drawing.line(x1, y1, x2, y2, stroke=colour, width=2)
        y = top + 26 + 34 * row
        drawing.line(left + width + 14, y, left + width + 40, y, stroke=colour, width=3)
        told = f"{name.replace('_', ' ')}: {values[-1]:.1%}"
        drawing.label(left + width + 48, y, told, bold=True)
    told = "; ".join(f"{name.replace('_', ' ')} {len(values)} epochs" for name, values in accuracies.items())
    drawing.text = (
        f"Lines that rise with the epochs, one for each front end: the share of held-out digits that are right after"
        f" each epoch, from 50 % up. {told}. Beside them the names with the last value."
    )
    return drawing.picture()


def filters(**rows: Tensor) -> Picture:
    """One row of squares for each name, patches (n, P, P) brought to length 1; blue below 0, orange above."""
    tile, gap = 72, 8
    most = max(len(patches) for patches in rows.values())
    drawing = Drawing(most * (tile + gap) + 16, len(rows) * (tile + 40) + 8)
    units = {name: patches / patches.flatten(1).norm(dim=1)[:, None, None] for name, patches in rows.items()}
    limit = max(patches.abs().max().item() for patches in units.values())
    for line, (name, patches) in enumerate(units.items()):
        y = 36 + line * (tile + 40)
        drawing.label(12, y - 16, name.replace("_", " "), bold=True)
        for number, patch in enumerate(patches.tolist()):
            _heat(drawing, 12 + number * (tile + gap), y, tile / len(patch), patch, limit)
    side = next(iter(rows.values())).shape[-1]
    named = "; ".join(f"{name.replace('_', ' ')}, {len(patches)} squares" for name, patches in rows.items())
    drawing.text = (
        f"Rows of small squares of {side} × {side} cells: {named}. Orange cells are above 0, blue ones below, white"
        " ones near 0, all on one scale."
    )
    return drawing.picture()


def _heat(drawing: Drawing, x: float, y: float, cell: float, values: list[list[float]], limit: float) -> None:
    for row, numbers in enumerate(values):
        for column, value in enumerate(numbers):
            drawing.rect(x + column * cell, y + row * cell, cell, cell, fill=diverge(value, limit))
    drawing.rect(x, y, len(values[0]) * cell, len(values) * cell, stroke=GREY)


def position_similarity(positions: Tensor, grid: tuple[int, int]) -> Picture:
    """For each place of a grid a small map: the cosine of its row of positions (N, D) with every other row."""
    rows, columns = grid
    cosine = torch.nn.functional.cosine_similarity(positions[:, None], positions[None], dim=-1)
    cell, gap = 22, 16
    side = columns * cell + gap, rows * cell + gap
    drawing = Drawing(columns * side[0] + 16, rows * side[1] + 16)
    for place, values in enumerate(cosine.reshape(-1, rows, columns).tolist()):
        x, y = 14 + place % columns * side[0], 14 + place // columns * side[1]
        _heat(drawing, x, y, cell, values, 1.0)
        own = x + place % columns * cell, y + place // columns * cell
        drawing.rect(*own, cell, cell, stroke=VERMILION, stroke_width=2)
    drawing.text = (
        f"{rows} × {columns} small maps, one for each place of the grid and laid out like it. A map shows how alike the"
        " row of positions of its own place, framed, is to that of every place: orange for alike, white for"
        " unrelated, blue for opposite."
    )
    return drawing.picture()


def confusion_matrix(counts: Tensor) -> Picture:
    """How often digits of each kind (row) were answered as each kind (column); (10, 10) whole numbers."""
    cell, left, top, most = 34, 96, 70, counts.max().item()
    kinds = len(counts)
    drawing = Drawing(left + kinds * cell + 20, top + kinds * cell + 20)
    drawing.label(left + kinds * cell / 2, 20, "the model's answer", anchor="middle", bold=True)
    drawing.label(12, top - 20, "it is a", bold=True)
    wrong = []
    for row, numbers in enumerate(counts.tolist()):
        drawing.label(left - 14, top + (row + 0.5) * cell, str(row), anchor="end", bold=True)
        drawing.label(left + (row + 0.5) * cell, top - 16, str(row), anchor="middle", bold=True)
        for column, number in enumerate(numbers):
            x, y = left + column * cell, top + row * cell
            number_cell(drawing, x, y, cell, cell, shade(number, 0, most) if number else WHITE, str(number or ""))
            if row != column and number:
                drawing.rect(x + 1, y + 1, cell - 2, cell - 2, stroke=VERMILION, stroke_width=2)
                wrong.append(f"{number} × {row} taken for {column}")
    right, total = int(counts.diagonal().sum()), int(counts.sum())
    drawing.text = (
        f"A table of {kinds} × {kinds} numbers. Row: what the digit is, column: what the model answered. {right} of"
        f" {total} lie on the diagonal. Framed, off the diagonal: {', '.join(wrong) or 'none'}."
    )
    return drawing.picture()


def captioned_digits(images: Tensor, captions: Sequence[str]) -> Picture:
    """Digits (n, 1, H, W) in a row, each with a line below it."""
    tile, gap = 96, 20
    drawing = Drawing(len(images) * (tile + gap) + 12, tile + 50)
    for number, (image, caption) in enumerate(zip(images, captions, strict=True)):
        x = 14 + number * (tile + gap)
        drawing.pixels(x, 12, tile, tile, channels_to_back(image))
        drawing.label(x + tile / 2, tile + 30, caption, size=12, anchor="middle", bold=True)
    drawing.text = f"{len(images)} handwritten digits in a row, each with a line below it: {'; '.join(captions)}."
    return drawing.picture()
