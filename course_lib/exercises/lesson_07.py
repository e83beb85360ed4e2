"""Lesson 07: a place and a summary, positions and the class token."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from course_lib.exercises.model import Case, Exercise, Option, Question, WrongAnswer, random_numbers


def prepend_class_token(tokens, class_token):
    first = class_token.expand(len(tokens), 1, -1)
    return torch.cat([first, tokens], dim=1)


def add_positions(tokens, positions):
    return tokens + positions


def resize_positions(positions, old_grid, new_grid):
    class_row, grid_rows = positions[:1], positions[1:]
    as_image = grid_rows.T.reshape(1, -1, *old_grid)
    resized = F.interpolate(as_image, size=new_grid, mode="bicubic", align_corners=False)
    return torch.cat([class_row, resized[0].flatten(1).T])


def _token_cases() -> list[Case]:
    def case(batch: int, count: int, dimension: int, only: str = "") -> Case:
        args = (
            random_numbers(batch, count, dimension, seed=1).requires_grad_(),  # they come from a layer that learns
            torch.full((dimension,), 9.0, dtype=torch.float64).requires_grad_(),
        )
        return Case(
            f"{batch} × {count} tokens of {dimension} numbers, class token of 9s",
            args,
            "B N+1 D",
            {"B": batch, "N": count, "D": dimension},
            only,
        )

    return [
        case(2, 6, 4),
        case(5, 4, 3),
        case(3, 2, 7),
        case(1, 6, 5, "a batch of one"),
        case(1, 3, 2, "a batch of one"),
    ]


def _position_cases() -> list[Case]:
    def case(batch: int, count: int, dimension: int, only: str = "") -> Case:
        args = (
            random_numbers(batch, count + 1, dimension, seed=2),
            random_numbers(count + 1, dimension, seed=3).requires_grad_(),
        )
        return Case(
            f"{batch} × ({count} + 1) tokens of {dimension} numbers",
            args,
            "B N+1 D",
            {"B": batch, "N": count, "D": dimension},
            only,
        )

    return [
        case(2, 6, 4),
        case(4, 3, 7),
        case(3, 5, 2),
        case(1, 6, 5, "a batch of one"),
        case(1, 4, 3, "a batch of one"),
    ]


def _grid_cases() -> list[Case]:
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
        case((3, 3), (5, 5), 4, "square grids"),
        case((4, 4), (7, 7), 3, "square grids"),
        case((3, 4), (3, 4), 5, "equal grids"),
        case((5, 2), (5, 2), 6, "equal grids"),
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


def _factor(positions, old_grid, new_grid):
    factors = tuple(new / old for new, old in zip(new_grid, old_grid, strict=True))
    image = positions[1:].T.reshape(1, -1, *old_grid)
    resized = F.interpolate(image, scale_factor=factors, mode="bicubic", align_corners=False)
    return torch.cat([positions[:1], resized[0].flatten(1).T])


def _last_row_aside(positions, old_grid, new_grid):
    image = positions[:-1].T.reshape(1, -1, *old_grid)
    resized = F.interpolate(image, size=new_grid, mode="bicubic", align_corners=False)
    return torch.cat([positions[:1], resized[0].flatten(1).T])


def _not_turned_back(positions, old_grid, new_grid):
    image = positions[1:].T.reshape(1, -1, *old_grid)
    resized = F.interpolate(image, size=new_grid, mode="bicubic", align_corners=False)
    return torch.cat([positions[:1], resized.reshape(-1, positions.shape[1])])


def _class_row_too(positions, old_grid, new_grid):
    size = 1 + new_grid[0] * new_grid[1]
    return F.interpolate(positions.T[None], size=size, mode="linear", align_corners=False)[0].T


def _class_last(positions, old_grid, new_grid):
    good = resize_positions(positions, old_grid, new_grid)
    return torch.cat([good[1:], good[:1]])


def _overwritten(tokens, class_token):
    tokens[:, 0] = class_token
    return tokens


def _row_of_the_image(tokens, positions):
    return torch.stack([image + positions[number] for number, image in enumerate(tokens)])


MORE_SUMS = (
    WrongAnswer("positions subtracted", lambda t, p: t - p, "The positions were subtracted. They are added."),
    WrongAnswer(
        "a row left out",
        lambda t, p: t + p[1:],
        "A row of the table was left out, so N rows meet N + 1 tokens. The class token is among them, and row 0"
        " belongs to it.",
    ),
    WrongAnswer(
        "a token left out",
        lambda t, p: t[:, 1:] + p,
        "A token was left out, so N tokens meet N + 1 rows. The class token has a row too, row 0.",
    ),
    WrongAnswer(
        "class token left out",
        lambda t, p: t[:, 1:] + p[1:],
        "Token 0, the class token, is gone, and row 0 with it. There are N + 1 of both: they fit as they are.",
    ),
    WrongAnswer(
        "row of the image",
        _row_of_the_image,
        "Image b got row b of the table at every place. Row n belongs to token n, in every image.",
    ),
    WrongAnswer(
        "tokens times positions",
        lambda t, p: t @ p.T,
        "@ compares every token with every position and gives N + 1 numbers a token. Positions are added.",
    ),
    *(
        WrongAnswer(
            name,
            answer,
            "Your code puts the positions beside the tokens, as tokens or numbers of their own. They are added to"
            " the tokens.",
        )
        for name, answer in (
            ("positions joined", lambda t, p: torch.cat([t, p], 1)),
            ("positions joined for one image", lambda t, p: torch.cat([t, p[None]], 1)),
            ("positions put beside for one image", lambda t, p: torch.cat([t, p[None]], 2)),
            ("positions as one more tensor", lambda t, p: torch.stack([t, p])),
        )
    ),
)


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


MORE_GRIDS = (
    WrongAnswer(
        "new height and width swapped",
        _resize(new_swapped=True),
        "The new grid came out with height and width swapped. size takes rows, then columns, as new_grid has them.",
    ),
    WrongAnswer(
        "class row of zeros",
        _parts_kept(lambda p, rows: torch.cat([0 * p[:1], rows])),
        "The new row 0 is empty. The class row is kept as it was: positions[:1].",
    ),
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


EXERCISES = (
    Exercise(
        name="prepend_class_token",
        lesson="07",
        solution=prepend_class_token,
        cases=_token_cases,
        result=Tensor,
        gradient=1,
        wrong=(
            WrongAnswer(
                "one for each patch",
                lambda t, c: torch.cat([c.expand_as(t), t], 1),
                "Each patch got a class token. One for each image is enough.",
            ),
            WrongAnswer(
                "appended",
                lambda t, c: torch.cat([t, c.expand(len(t), 1, -1)], 1),
                "The 9s of the class token came last. It stands in front, at index 0.",
            ),
            WrongAnswer(
                "added to every token",
                lambda t, c: t + c,
                "The class token was added to the others. It is a token of its own: N + 1 in all.",
            ),
            WrongAnswer(
                "first token replaced",
                lambda t, c: torch.cat([c.expand(len(t), 1, -1), t[:, 1:]], 1),
                "The first patch was overwritten. The class token comes in addition: N + 1 in all.",
            ),
            WrongAnswer(
                "first image only",
                lambda t, c: torch.cat([torch.cat([c.expand(1, 1, -1), 0 * t[1:, :1]]), t], 1),
                "Only the first image got its class token. One parameter serves the whole batch: expand it.",
            ),
            WrongAnswer(
                "detached",
                lambda t, c: torch.cat([c.detach().expand(len(t), 1, -1), t], 1),
                "The class token was cut off from its gradient: it is learned.",
            ),
            WrongAnswer(
                "as one more number",
                lambda t, c: torch.cat([t, c[0].expand(*t.shape[:2], 1)], 2),
                "Each token got one more number. The class token is one more TOKEN: dim=1.",
            ),
            WrongAnswer(
                "tokens overwritten",
                _overwritten,
                "Your code writes into `tokens`, so a patch is lost. The class token comes in addition: N + 1 in all.",
            ),
            WrongAnswer(
                "row of zeros",
                lambda t, c: F.pad(t, (0, 0, 1, 0)),
                "Row 0 is empty: there is room for the class token now, but its numbers were not put in.",
            ),
        ),
        hints=(
            "The class token has the shape (D,). What shape does it need to stand before (B, N, D)?",
            "class_token.expand(len(tokens), 1, -1) repeats it for every image of the batch without copying.",
            "torch.cat([class_token.expand(len(tokens), 1, -1), tokens], dim=1)",
        ),
        praise="One parameter, at index 0 of every image.",
    ),
    Exercise(
        name="add_positions",
        lesson="07",
        solution=add_positions,
        cases=_position_cases,
        result=Tensor,
        gradient=1,
        wrong=(
            WrongAnswer(
                "positions as tokens",
                lambda t, p: torch.cat([t, p.expand(len(t), -1, -1)], 1),
                "Positions became tokens of their own. They are added to the tokens.",
            ),
            WrongAnswer(
                "class token without position",
                lambda t, p: torch.cat([t[:, :1], t[:, 1:] + p[1:]], 1),
                "Token 0, the class token, got no position. It has a row too: N + 1 rows for N + 1 tokens.",
            ),
            WrongAnswer("rows shifted by one", lambda t, p: t + p.roll(1, 0), "Each token got the row before its own."),
            WrongAnswer(
                "rows shifted the other way",
                lambda t, p: t + p.roll(-1, 0),
                "Each token got the row behind its own.",
            ),
            WrongAnswer(
                "one row for all",
                lambda t, p: t + p[0],
                "Every token got the same row: then positions tell nothing.",
            ),
            WrongAnswer("positions multiplied", lambda t, p: t * p, "Positions are added, not multiplied."),
            WrongAnswer(
                "positions appended",
                lambda t, p: torch.cat([t, p.expand(len(t), -1, -1)], 2),
                "Positions were put beside the numbers of the token. They are added to them.",
            ),
            WrongAnswer("averaged position", lambda t, p: t + p.mean(0), "Every token got the mean of all rows."),
            *MORE_SUMS,
        ),
        hints=(
            "tokens (B, N + 1, D), positions (N + 1, D): which axis is missing, and what does PyTorch do then?",
            "It repeats the positions for every image of the batch. Row 0 belongs to the class token.",
            "result = tokens + positions",
        ),
        praise="Every place has a row of its own, the class token's included.",
    ),
    Exercise(
        name="resize_positions",
        lesson="07",
        solution=resize_positions,
        cases=_grid_cases,
        result=Tensor,
        slack=1e-9,
        wrong=(
            WrongAnswer(
                "factor in place of size",
                _factor,
                "A factor in place of a size loses a row to rounding for some sizes: size=new_grid.",
            ),
            WrongAnswer(
                "wrong row set aside", _last_row_aside, "The class row is row 0, so the grid is positions[1:]."
            ),
            WrongAnswer(
                "not turned back",
                _not_turned_back,
                "Back from (D, rows, columns) to rows needs a transpose as well: .flatten(1).T.",
            ),
            WrongAnswer(
                "class row interpolated",
                _class_row_too,
                "All rows were stretched as one line, the class row among them. Keep row "
                "0 aside and resize the grid as an image.",
            ),
            WrongAnswer(
                "height and width swapped",
                _resize(swapped=True),
                "The rows were laid into a grid with height and width swapped. For square grids nobody notices.",
            ),
            WrongAnswer(
                "bilinear",
                _resize(mode="bilinear"),
                "These are the numbers of bilinear. This course resizes bicubic.",
            ),
            WrongAnswer(
                "nearest",
                _resize(mode="nearest"),
                "Rows were copied from the nearest place. Interpolate them: bicubic.",
            ),
            WrongAnswer(
                "corners aligned",
                _resize(corners=True),
                "align_corners=True pins the outer rows to the border and stretches the rest. "
                "The convention here is align_corners=False.",
            ),
            WrongAnswer(
                "reshape in place of transpose",
                _resize(turned=False),
                "(N, D) was reshaped to (D, rows, columns): right shape, scrambled numbers. Turn it first: .T.",
            ),
            WrongAnswer("class row lost", _resize(keep_class=False), "The class row is gone: put it back in front."),
            WrongAnswer("class row last", _class_last, "The class row came last: it stands in front."),
            *MORE_GRIDS,
        ),
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
    ),
)

QUESTIONS = (
    Question(
        name="shuffled",
        lesson="07",
        text=(
            "All 16 patches of an image are shuffled before attention without positions. What happens to the results?"
        ),
        options=(
            Option(
                "they are shuffled the same way, and nothing else changes",
                "Every token meets the same others as before, only in another order. Attention does not know orders.",
                right=True,
            ),
            Option("they all change", "That would take something that tells places apart. Nothing does yet."),
            Option("nothing changes at all", "The result of a token moves along with the token."),
            Option("an error", "Shapes are the same as before."),
        ),
    ),
    Question(
        name="same_count_grid",
        lesson="07",
        text=(
            "A table of positions was learned for a 14 × 14 grid. Another image gives a 7 × 28 grid, 196 patches"
            " as well. Can the table be added as it is?"
        ),
        options=(
            Option(
                "yes: both have 196 patches",
                "They fit in number, so nothing complains. But the row of patch 14 was learned for the start of"
                " the second line, and would now stand in the middle of the first.",
            ),
            Option(
                "no: patch 14 would get a wrong place",
                "The table is a picture of 14 × 14 places. It has to be resized to 7 × 28, and so the "
                "grid has to travel with the table.",
                right=True,
            ),
            Option("no: an error stops it", "196 + 1 rows meet 196 + 1 tokens: a plain + does not complain."),
            Option("only without a class token", "The class row fits in both. The grid does not."),
        ),
    ),
)
