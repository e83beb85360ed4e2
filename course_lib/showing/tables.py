"""Tables of numbers in a drawing: a frame with the names of rows and columns, and cells that hold a number."""

from __future__ import annotations

from collections.abc import Callable, Sequence

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
