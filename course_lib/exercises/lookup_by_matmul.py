"""Lesson 02, lookup_by_matmul: ids (…) and a table (V, D) -> vectors (…, D), as a product with one-hot rows."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise, table
from course_lib.words import check_ids, one_hot


def lookup_by_matmul(ids, weight):
    check_ids(ids, len(weight))
    rows = F.one_hot(ids, len(weight)).to(weight.dtype)
    return rows @ weight


def cases() -> list[Case]:
    return [*allowed(), *outside((ValueError, IndexError, RuntimeError), named=False)]


def allowed() -> list[Case]:
    return [
        Case("4 ids and a table (6, 3)", (torch.tensor([5, 0, 2, 2]), table(6, 3)), "T D", {"T": 4, "V": 6, "D": 3}),
        Case(
            "ids of shape (2, 3) and a table (7, 4)",
            (torch.tensor([[1, 6, 0], [3, 3, 5]]), table(7, 4)),
            "B T D",
            {"B": 2, "T": 3, "V": 7, "D": 4},
        ),
        Case(
            "ids [2, 0, 4, 2] and a table (8, 3)",
            (torch.tensor([2, 0, 4, 2]), table(8, 3)),
            "T D",
            {"T": 4, "V": 8, "D": 3},
        ),
        Case(
            "4 ids and a square table (3, 3)",
            (torch.tensor([1, 0, 2, 2]), table(3, 3)),
            "T D",
            {"T": 4, "V": 3, "D": 3},
            only="square tables",
        ),
        Case(
            "3 ids and a square table (5, 5)",
            (torch.tensor([4, 1, 0]), table(5, 5)),
            "T D",
            {"T": 3, "V": 5, "D": 5},
            only="square tables",
        ),
        Case(
            "one id and a table (1, 1)",
            (torch.tensor([0]), table(1, 1)),
            "T D",
            {"T": 1, "V": 1, "D": 1},
            only="trivial",
        ),
        Case(
            "no ids and a table (4, 2)",
            (torch.tensor([], dtype=torch.int64), table(4, 2)),
            "T D",
            {"T": 0, "V": 4, "D": 2},
            only="trivial",
        ),
    ]


def outside(refuse: tuple[type[Exception], ...], named: bool) -> list[Case]:
    """Ids that the table does not have, which the error has to name where `named` says so."""

    def case(ids: list, wrong: int, rows: int) -> Case:
        return Case(
            f"ids {ids} and a table of {rows} rows".replace("-", "−"),
            (torch.tensor(ids), table(rows, 4)),
            raises=refuse,
            mentions=((wrong,),) * named,
        )

    return [
        case([[0, 1, 4], [2, 3, -1]], -1, 9),
        case([3, 4, 0, 12, 2], 12, 9),
        case([14, 3], 14, 9),
        case([-2, 3], -2, 9),
        case([2, 7], 7, 7),
    ]


WRONG = mistakes(
    lookup_by_matmul,
    r"""
table turned
    The table must not be turned: row i of the product is (one-hot row i) @ weight, and the single 1 picks a ROW of
    weight. Where V = D nothing stops you.
        @ weight → @ weight.T

negative ids wrap
    Indexing, torch.eye(V)[ids] or weight[ids], counts −1 from the end, so an id that is no word got the last word's
    row. Call check_ids(ids, len(weight)) first, and let its error through.
        return torch.eye(len(weight))[ids] @ weight

width left to torch
    You did not give the width, so F.one_hot took the largest id of this batch plus 1, and that many numbers meet
    the rows of the table: F.one_hot(ids, len(weight)).
        F.one_hot(ids, len(weight)) → F.one_hot(ids)

width of a row
    The one-hot rows are as wide as a row of the table is long, D. Their width is the number of words, the rows of the
    table: len(weight).
        F.one_hot(ids, len(weight)) → F.one_hot(ids, weight.shape[1])

one-hot rows alone
    These are the one-hot rows of the ids. The product with the table is missing.
        rows @ weight → rows

width from the tokens
    The width is the number of rows of the table, len(weight). len(ids) is how many tokens there are, so ids were
    refused that the table does have.
        return one_hot(ids, len(ids)) @ weight

row of zeros
    An id outside the table got a vector of zeros, and nobody would notice. Call check_ids(ids, len(weight)) first.
        return (ids.unsqueeze(-1) == torch.arange(len(weight))).to(weight.dtype) @ weight

integer rows
    F.one_hot answers in int64, the table is float32, and a product wants one dtype: convert the rows with
    .to(weight.dtype).
        rows = … → rows = F.one_hot(ids, len(weight))

ids as floats
    The ids themselves were multiplied. An id is a name, not an amount: make the one-hot rows first.
        rows = … → rows = ids.float()

detached from the table
    Take the rows from the table itself, not from a copy of its numbers.
        @ weight → @ weight.detach()

batch flattened
    Ids may have any shape: each of them is replaced by its vector, so one axis comes behind those that were there.
        F.one_hot(ids → F.one_hot(ids.flatten()

vectors added up
    The vectors of the tokens were added up: each token keeps its own.
        rows @ weight → (rows @ weight).sum(-2)

one axis of ids only
    "tv,vd->td" names one axis of ids. Ids may have any: "...v,vd->...d", or @.
        return torch.einsum("tv,vd->td", rows, weight)
""",
    one_hot=one_hot,
)


EXERCISE = Exercise(
    name="lookup_by_matmul",
    solution=lookup_by_matmul,
    cases=cases,
    result=torch.Tensor,
    wrong=WRONG,
    hints=(
        "Two steps: ids to one-hot rows, then rows times the table. Which sizes have to meet in the product?",
        "(…, V) @ (V, D): the table stays as it is. F.one_hot answers in int64, so convert the rows to the dtype of the"
        " table first.",
        "check_ids(ids, len(weight)), then F.one_hot(ids, len(weight)).to(weight.dtype) @ weight.",
    ),
    praise="A one-hot row has one 1, so its product with the table keeps one row and throws the others away:"
    " weight[ids] gives the same.",
)
