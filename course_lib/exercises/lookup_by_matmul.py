"""Lesson 02, exercise lookup_by_matmul."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Exercise, WrongAnswer
from course_lib.exercises.shared_02 import _detached, _flattened, _lookup_cases, _says_too_little, _summed
from course_lib.words import check_ids, one_hot


def lookup_by_matmul(ids, weight):
    check_ids(ids, len(weight))
    rows = F.one_hot(ids, len(weight)).to(weight.dtype)
    return rows @ weight


def _turned(ids, weight):
    check_ids(ids, len(weight))
    return weight.T[ids]


def _picks_columns(ids, weight):
    check_ids(ids, len(weight))
    return weight[:, ids]


def _wraps(ids, weight):
    return weight[ids]


def _float_ids(ids, weight):
    check_ids(ids, len(weight))
    return weight[ids.float()]


_LOOKUP_WRONG = (
    WrongAnswer(
        "rows one too early",
        lambda ids, weight: weight[check_ids(ids, len(weight)) - 1],
        "Each token got the row before its own. Ids start at 0, as rows do: take nothing off.",
    ),
    WrongAnswer(
        "table turned",
        _turned,
        "weight.T has the columns of the table as its rows. Where V = D nothing stops you, and "
        "each word gets a column in place of its row.",
    ),
    WrongAnswer("columns picked", _picks_columns, "weight[:, ids] picks columns. A word's vector is a row."),
    WrongAnswer(
        "negative ids wrap",
        _wraps,
        "Python counts −1 from the end, so an id that is no word got the last word's row. Call check_ids(ids,"
        " len(weight)) first, and let its error through: where `except` catches it, nobody is stopped.",
    ),
    WrongAnswer(
        "error says too little",
        _says_too_little,
        "Whoever reads this error in a program with a million ids has to "
        "know which one it was: check_ids(ids, len(weight)) says it, before torch says less.",
    ),
    WrongAnswer(
        "detached from the table",
        _detached,
        "Take the rows from the table itself, not from a copy of its numbers.",
    ),
    WrongAnswer("ids as floats", _float_ids, "An id names a row, it is not an amount: keep it an int64."),
    WrongAnswer(
        "batch flattened",
        _flattened,
        "Ids may have any shape: each of them is replaced by its vector, so one axis comes "
        "behind those that were there.",
    ),
    WrongAnswer("vectors added up", _summed, "The vectors of the tokens were added up: each token keeps its own."),
)


WRONG = mistakes(
    lookup_by_matmul,
    r"""
table turned
    The table must not be turned: row i of the product is (one-hot row i) @ weight, and the single 1 picks a ROW of
    weight. Where V = D nothing stops you.
        check_ids(ids, len(weight))
        return F.one_hot(ids, len(weight)).to(weight.dtype) @ weight.T

negative ids wrap
    Indexing, torch.eye(V)[ids] or weight[ids], counts −1 from the end, so an id that is no word got the last word's
    row. Call check_ids(ids, len(weight)) first, and let its error through.
        return torch.eye(len(weight))[ids] @ weight

width left to torch
    You did not give the width, so F.one_hot took the largest id of this batch plus 1, and that many numbers meet
    the rows of the table: F.one_hot(ids, len(weight)).
        return F.one_hot(check_ids(ids, len(weight))).to(weight.dtype) @ weight

width left to torch, ids not checked
    You did not give the width, so F.one_hot took the largest id of this batch plus 1, and that many numbers meet
    the rows of the table: F.one_hot(ids, len(weight)). And check_ids belongs before it.
        return F.one_hot(ids).to(weight.dtype) @ weight

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
        check_ids(ids, len(weight))
        return F.one_hot(ids, len(weight)) @ weight

ids as floats
    The ids themselves were multiplied. An id is a name, not an amount: make the one-hot rows first.
        check_ids(ids, len(weight))
        return ids.float() @ weight
""",
    check_ids=check_ids,
    one_hot=one_hot,
)


FAMILIES = (*(wrong for wrong in _LOOKUP_WRONG if wrong.answer in (_detached, _flattened, _summed, _says_too_little)),)


EXERCISE = Exercise(
    name="lookup_by_matmul",
    solution=lookup_by_matmul,
    cases=_lookup_cases,
    result=torch.Tensor,
    gradient=1,
    wrong=WRONG + FAMILIES,
    hints=(
        "Two steps: ids to one-hot rows, then rows times the table. Which sizes have to meet in the product?",
        (
            "(…, V) @ (V, D): the table stays as it is. F.one_hot answers in int64, so convert the rows to the"
            " dtype of the table first."
        ),
        "check_ids(ids, len(weight)), then F.one_hot(ids, len(weight)).to(weight.dtype) @ weight.",
    ),
    praise="A one-hot row has one 1, so its product with the table keeps one row and throws the others away:"
    " weight[ids] gives the same.",
)
