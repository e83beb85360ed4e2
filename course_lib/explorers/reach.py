"""Live picture of lesson 08: which pixels one token can see, behind different front ends."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from torch import Tensor

from course_lib import hybrid
from course_lib.showing.controls import Choice, Slider
from course_lib.showing.drawing import BLUE, GREY, LIGHT, ORANGE, VERMILION, WHITE, Drawing, channels_to_back
from course_lib.showing.live import Live

MOST_CELLS = 28  # along a side of the map, for pointing
PLACES = 14  # along a side: a token of ViT-B/16 at 224 pixels
Windows = Sequence[tuple[int, int, int]]


def reach_of_a_token(image: Tensor, fronts: Mapping[str, Windows], front: str) -> Live:
    """Choose a front end, (kernel, stride, padding) of its layers by name, and a place on an image (1, C, H, W)."""

    def draw(front: str, row: int, column: int) -> Drawing:
        return draw_reach(image, front, fronts[front], row, column)

    return Live(
        draw,
        front=Choice("Front end", list(fronts), front),
        row=Slider("Row", 0, PLACES - 1, 6),
        column=Slider("Column", 0, PLACES - 1, 6),
    )


def draw_reach(image: Tensor, name: str, layers: Windows, row: int, column: int) -> Drawing:
    """The drawing behind reach_of_a_token; what the token does not see is dimmed. Sides of the image are equal."""
    size, stride = image.shape[-1], 1
    for _, step, _ in layers:
        stride *= step
    side = size // stride
    cell = [place * side // PLACES for place in (row, column)]
    spans = [hybrid.seen(layers, place) for place in cell]
    inside = [(max(first, 0), min(last, size - 1)) for first, last in spans]
    (top, bottom), (left, right) = inside
    shown = 0.3 * image[0]
    shown[:, top : bottom + 1, left : right + 1] = image[0, :, top : bottom + 1, left : right + 1]
    drawing, scale = Drawing(720, 344), 320 / size
    drawing.pixels(12, 12, 320, 320, channels_to_back(shown))
    _frame(drawing, left, top, right - left + 1, bottom - top + 1, scale, VERMILION)
    x, y = (sum(span) / 2 + 0.5 - stride / 2 for span in (spans[1], spans[0]))
    _frame(drawing, x, y, stride, stride, scale, ORANGE)
    _map(drawing, side, cell)
    _link_cells(drawing, layers, side, size, scale)
    reach, (down, across) = spans[0][1] - spans[0][0] + 1, (last - first + 1 for first, last in inside)
    share = down * across / size**2
    lines = (
        (f"map of {side} × {side} = {side * side:,} cells", True),
        (f"framed cell: row {cell[0]}, column {cell[1]}", False),
        (f"one step on the map: {stride} pixels", False),
        (f"the cell sees {reach} × {reach} pixels,", True),
        (f"{down} × {across} of them on the picture: {share:.0%}", False),
    )
    for place, (text, bold) in enumerate(lines):
        drawing.label(360, 216 + 26 * place, text, bold=bold)
    drawing.text = (
        f"A portrait in front of {name}. Beside it the map, {side} × {side} cells, with the cell in row {cell[0]},"
        f" column {cell[1]} filled; on the portrait a frame of {stride} pixels stands at its place. The cell sees"
        f" {reach} × {reach} pixels: rows {top} to {bottom} and columns {left} to {right}, {share:.0%} of the"
        " picture, are bright and framed, the others dimmed."
    )
    return drawing


def _link_cells(drawing: Drawing, layers: Windows, side: int, size: int, scale: float) -> None:
    """Each cell of the map lights up the pixels that it sees; a finer map is left to the sliders."""
    if side > MOST_CELLS:
        return
    spans = [hybrid.seen(layers, place) for place in range(side)]
    inside = [(max(first, 0), min(last, size - 1)) for first, last in spans]
    for row, column in itertools.product(range(side), range(side)):
        name, width = f"cell {row * side + column}", 168 / side
        (top, bottom), (left, right) = inside[row], inside[column]
        down, across = bottom - top + 1, right - left + 1
        drawing.spot("map", name, 360 + column * width, 20 + row * width, width, width)
        drawing.spot("image", f"seen by {name}", 12 + left * scale, 12 + top * scale, across * scale, down * scale)
        drawing.say(
            name,
            f"{name}, row {row}, column {column}, sees {down} × {across} pixels of the picture: rows {top} to"
            f" {bottom}, columns {left} to {right}",
            [f"seen by {name}"],
        )


def _frame(drawing: Drawing, x: float, y: float, w: float, h: float, scale: float, colour: str) -> None:
    box = (12 + x * scale, 12 + y * scale, w * scale, h * scale)
    drawing.rect(*box, stroke=WHITE, stroke_width=5)
    drawing.rect(*box, stroke=colour, stroke_width=3)


def _map(drawing: Drawing, side: int, cell: list[int]) -> None:
    """The map as a grid of cells; beyond 28 a side its lines would be a grey veil."""
    width = 168 / side
    drawing.rect(360, 20, 168, 168, fill=WHITE, stroke=GREY)
    for line in range(1, side) if side <= 28 else ():
        drawing.line(360 + line * width, 20, 360 + line * width, 188, stroke=LIGHT, width=1)
        drawing.line(360, 20 + line * width, 528, 20 + line * width, stroke=LIGHT, width=1)
    drawing.rect(360 + cell[1] * width, 20 + cell[0] * width, width, width, fill=BLUE)
