"""Tables in a drawing: names of rows and columns, cells that hold a number, lines around some of the cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from course_lib.showing.drawing import GREY, LIGHT, Drawing, ink

CELL = 26  # pixels of one number in a table


def table_frame(
    rows: Sequence[str], columns: Sequence[str], cell: int = CELL, id_width: int = 50
) -> tuple[Drawing, int, int]:
    """An empty drawing with row names on the left and column names, turned into numbered rows, on top."""
    left, top = 30 + id_width + 9 * max(map(len, rows)), 64
    drawing = Drawing(left + cell * len(columns) + 20, top + cell * len(rows) + 16)
    for row, name in enumerate(rows):
        drawing.label(left - 10 - id_width, top + (row + 0.5) * cell, name, anchor="end", bold=True)
    for column, name in enumerate(columns):
        drawing.label(left + (column + 0.5) * cell, 18 + 17 * (column % 2), name, size=11, anchor="middle")
        drawing.label(
            left + (column + 0.5) * cell,
            top - 10,
            str(column) if id_width else "",
            size=10,
            anchor="middle",
            colour=GREY,
        )
    return drawing, left, top


def number_cells(
    drawing: Drawing,
    left: float,
    top: float,
    values: Tensor,
    colour: Callable[[float], str],
    *,
    decimals: int,
    cell: int = CELL,
    wide: int | None = None,
) -> None:
    """The numbers (R, C) as cells, `cell` high and `wide` wide, or as wide as high; each is filled with its colour."""
    wide = wide or cell
    for row, numbers in enumerate(values.tolist()):
        for column, value in enumerate(numbers):
            number_cell(
                drawing, left + column * wide, top + row * cell, wide, cell, colour(value), f"{value:.{decimals}f}"
            )


def number_cell(
    drawing: Drawing, x: float, y: float, w: float, h: float, fill: str, text: str, size: float = 12
) -> None:
    """A filled cell with its top left corner at (x, y) and a text in the middle, black or white as it reads better."""
    drawing.rect(x, y, w, h, fill=fill, stroke=LIGHT)
    drawing.label(x + w / 2, y + h / 2, text, size=size, anchor="middle", colour=ink(fill))


def outline(inside: Tensor) -> list[tuple[int, int, int, int]]:
    """The lines x1, y1, x2, y2, counted in cells, around those cells of a grid (H, W) that are `inside`."""
    padded = torch.nn.functional.pad(inside, (1, 1, 1, 1))
    lines = []
    for y, x in inside.nonzero().tolist():
        sides = (
            ((y, x + 1), (x, y, x + 1, y)),
            ((y + 2, x + 1), (x, y + 1, x + 1, y + 1)),
            ((y + 1, x), (x, y, x, y + 1)),
            ((y + 1, x + 2), (x + 1, y, x + 1, y + 1)),
        )
        lines += [line for neighbour, line in sides if not padded[neighbour]]
    return lines
