"""What several exercises of lesson 02 share."""

from __future__ import annotations

import torch

from course_lib.exercises.model import Case, table
from course_lib.words import check_ids


def _lookup_cases() -> list[Case]:
    refuse = {"raises": (ValueError, IndexError)}
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
            "no ids and a table (4, 2)",
            (torch.tensor([], dtype=torch.int64), table(4, 2)),
            "T D",
            {"T": 0, "V": 4, "D": 2},
            only="trivial",
        ),
        Case(
            "ids [[0, 1, 4], [2, 3, −1]] and a table of 9 rows",
            (torch.tensor([[0, 1, 4], [2, 3, -1]]), table(9, 4)),
            **refuse,
            mentions=((-1,), (1,), (2,), (8, 9)),
        ),
        Case(
            "ids [3, 4, 0, 9, 2] and a table of 9 rows",
            (torch.tensor([3, 4, 0, 9, 2]), table(9, 4)),
            **refuse,
            mentions=((9,), (3,), (8, 9)),
        ),
    ]


def _says_too_little(ids, weight):
    if ((ids < 0) | (ids >= len(weight))).any():
        raise ValueError("id outside the table")
    return weight[ids]


def _detached(ids, weight):
    check_ids(ids, len(weight))
    return weight.detach()[ids]


def _flattened(ids, weight):
    check_ids(ids, len(weight))
    return weight[ids.flatten()]


def _summed(ids, weight):
    check_ids(ids, len(weight))
    return weight[ids].sum(-2)
