"""Lesson 07, resize_positions: a table of positions for another grid; the row of the class token stays."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise, WrongAnswer, in_dtype, random_numbers


def resize_positions(positions, old_grid, new_grid):
    class_row, grid_rows = positions[:1], positions[1:]
    as_image = grid_rows.T.reshape(1, -1, *old_grid)
    resized = F.interpolate(as_image, size=new_grid, mode="bicubic", align_corners=False)
    return torch.cat([class_row, resized[0].flatten(1).T])


def cases() -> list[Case]:
    def case(old: tuple[int, int], new: tuple[int, int], dimension: int, only: str = "") -> Case:
        args = (random_numbers(1 + old[0] * old[1], dimension, seed=4), old, new)
        return Case(
            f"a {old[0]} × {old[1]} grid resized to {new[0]} × {new[1]}, D = {dimension}",
            args,
            "N+1 D",
            {"D": dimension, "N": new[0] * new[1]},
            only,
        )

    return [
        case((3, 5), (6, 8), 4),
        case((4, 2), (3, 7), 5),
        case((2, 6), (4, 3), 7),
        case((37, 2), (39, 3), 3),
        case((2, 8), (4, 4), 5),
        case((2, 8), (8, 2), 3),
        in_dtype(case((3, 4), (5, 6), 2), torch.float32),
        case((3, 3), (5, 5), 4, "square grids"),
        case((4, 4), (7, 7), 3, "square grids"),
        case((3, 4), (3, 4), 5, "equal grids"),
        case((5, 2), (5, 2), 6, "equal grids"),
        case((1, 1), (1, 1), 1, "trivial"),
    ]


def _resize(mode="bicubic", corners=False, swapped=False, keep_class=True, turned=True, new_swapped=False):
    def wrong(positions, old_grid, new_grid):
        rows = positions[1:]
        old = old_grid[::-1] if swapped else old_grid
        image = rows.T.reshape(1, -1, *old) if turned else rows.reshape(1, -1, *old)
        options = {} if mode == "nearest" else {"align_corners": corners}
        size = new_grid[::-1] if new_swapped else new_grid
        result = F.interpolate(image, size=size, mode=mode, **options)[0].flatten(1).T
        return torch.cat([positions[:1], result]) if keep_class else result

    return wrong


def _parts_kept(change):
    """The right rows for the new grid, put together with the old table by `change`."""

    def wrong(positions, old_grid, new_grid):
        return change(positions, resize_positions(positions, old_grid, new_grid)[1:])

    return wrong


def _as_a_line(mode, corners=False):
    def wrong(positions, old_grid, new_grid):
        options = {} if mode == "nearest" else {"align_corners": corners}
        line = F.interpolate(positions[1:].T[None], size=new_grid[0] * new_grid[1], mode=mode, **options)
        return torch.cat([positions[:1], line[0].T])

    return wrong


def _whole_table_as_grid(layout):
    """All rows, the class row among them, are to become the grid: one too many."""

    def wrong(positions, old_grid, new_grid):
        sizes = {"D": positions.shape[1], "one": 1, "rest": -1, "rows": old_grid[0], "columns": old_grid[1]}
        return (positions.T if layout.endswith("T") else positions).reshape([sizes[w] for w in layout.split()[:-1]])

    return wrong


WRONG = mistakes(
    resize_positions,
    r"""
factor in place of size
    A factor in place of a size loses a row to rounding for some sizes: size=new_grid.
        factors = tuple((new / old for new, old in zip(new_grid, old_grid, strict=True)))
        image = positions[1:].T.reshape(1, -1, *old_grid)
        resized = F.interpolate(image, scale_factor=factors, mode="bicubic", align_corners=False)
        return torch.cat([positions[:1], resized[0].flatten(1).T])

wrong row set aside
    The class row is row 0, so the grid is positions[1:].
        image = positions[:-1].T.reshape(1, -1, *old_grid)
        resized = F.interpolate(image, size=new_grid, mode="bicubic", align_corners=False)
        return torch.cat([positions[:1], resized[0].flatten(1).T])

not turned back
    Back from (D, rows, columns) to rows needs a transpose as well: .flatten(1).T.
        image = positions[1:].T.reshape(1, -1, *old_grid)
        resized = F.interpolate(image, size=new_grid, mode="bicubic", align_corners=False)
        return torch.cat([positions[:1], resized.reshape(-1, positions.shape[1])])

class row interpolated
    All rows were stretched as one line, the class row among them. Keep row 0 aside and resize the grid as an image.
        size = 1 + new_grid[0] * new_grid[1]
        return F.interpolate(positions.T[None], size=size, mode="linear", align_corners=False)[0].T

height and width swapped
    The rows were laid into a grid with height and width swapped. For square grids nobody notices.
        return _resize(swapped=True)(positions, old_grid, new_grid)

bilinear
    These are the numbers of bilinear. This course resizes bicubic.
        "bicubic" → "bilinear"

nearest
    Rows were copied from the nearest place. Interpolate them: bicubic.
        return _resize(mode="nearest")(positions, old_grid, new_grid)

corners aligned
    align_corners=True pins the outer rows to the border and stretches the rest. The convention here is
    align_corners=False.
        align_corners=False → align_corners=True

reshape in place of transpose
    (N, D) was reshaped to (D, rows, columns): right shape, scrambled numbers. Turn it first: .T.
        grid_rows.T → grid_rows

class row lost
    The class row is gone: put it back in front.
        return _resize(keep_class=False)(positions, old_grid, new_grid)

class row last
    The class row came last: it stands in front.
        good = resize_positions(positions, old_grid, new_grid)
        return torch.cat([good[1:], good[:1]])

new height and width swapped
    The new grid came out with height and width swapped. size takes rows, then columns, as new_grid has them.
        return _resize(new_swapped=True)(positions, old_grid, new_grid)

class row of zeros
    The new row 0 is empty. The class row is kept as it was: positions[:1].
        return _parts_kept(lambda p, rows: torch.cat([0 * p[:1], rows]))(positions, old_grid, new_grid)
""",
)


FAMILIES = (
    *(
        WrongAnswer(
            name, _parts_kept(change), "The new row 0 was worked out from the others. The class row is kept as it was."
        )
        for name, change in (
            ("mean of the new rows as class row", lambda p, rows: torch.cat([rows.mean(0, keepdim=True), rows])),
            ("mean of the old rows as class row", lambda p, rows: torch.cat([p[1:].mean(0, keepdim=True), rows])),
            ("mean of all rows as class row", lambda p, rows: torch.cat([p.mean(0, keepdim=True), rows])),
        )
    ),
    *(
        WrongAnswer(
            name,
            answer,
            "The rows of the grid were stretched as one line, so the end of a grid row was mixed with the start of the"
            " next. Give them two axes first, rows and columns.",
        )
        for name, answer in (
            ("grid as a line", _as_a_line("linear")),
            ("grid as a line, corners aligned", _as_a_line("linear", True)),
            ("grid as a line, nearest", _as_a_line("nearest")),
        )
    ),
    *(
        WrongAnswer(
            f"class row among the grid, {layout}",
            _whole_table_as_grid(layout),
            "There are 1 + rows · columns rows here: the class row is among them. Take it away before the rest becomes"
            " a grid.",
        )
        for layout in (
            "rows columns D .",
            "rows columns rest .",
            "one rows columns D .",
            "one rows columns rest .",
            "one D rows columns T",
            "one rest rows columns T",
            "D rows columns T",
            "rest rows columns T",
        )
    ),
)


EXERCISE = Exercise(
    name="resize_positions",
    solution=resize_positions,
    cases=cases,
    result=Tensor,
    slack=1e-9,
    wrong=WRONG + FAMILIES,
    hints=(
        "Three parts: take row 0 aside, resize the rest as an image with D channels, put row 0 back.",
        (
            "positions[1:].T.reshape(1, -1, *old_grid) is that image. F.interpolate(..., size=new_grid,"
            " mode='bicubic', align_corners=False) resizes it."
        ),
        (
            "Call the result resized. Back to rows: rows = resized[0].flatten(1).T, then"
            " torch.cat([positions[:1], rows])."
        ),
    ),
    praise="The grid was resized as the picture it is, and the class row stayed what it was.",
)
