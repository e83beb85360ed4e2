"""Lesson 02, lookup_by_index: ids (…) and a table (V, D) -> vectors (…, D), as rows of the table."""

from __future__ import annotations

import torch

from course_lib.exercises.lookup_by_matmul import allowed, outside
from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise
from course_lib.words import check_ids


def lookup_by_index(ids, weight):
    check_ids(ids, len(weight))
    return weight[ids]


def cases() -> list[Case]:
    return [*allowed(), *outside((ValueError, IndexError), named=True)]


WRONG = mistakes(
    lookup_by_index,
    r"""
rows one too early
    Each token got the row before its own. Ids start at 0, as rows do: take nothing off.
        weight[ids] → weight[ids - 1]

table turned
    weight.T has the columns of the table as its rows. Where V = D nothing stops you, and each word gets a column in
    place of its row.
        weight[ids] → weight.T[ids]

columns picked
    weight[:, ids] picks columns. A word's vector is a row.
        weight[ids] → weight[:, ids]

negative ids wrap
    Python counts −1 from the end, so an id that is no word got the last word's row. Call check_ids(ids,
    len(weight)) first, and let its error through: where `except` catches it, nobody is stopped.
        return weight[ids]

ids came back
    check_ids gives the ids back, not their rows. It belongs before the lookup: weight[ids].
        return weight[ids] → return check_ids(ids, len(weight))

negative ids made positive
    abs() turns −1 into the id of another word. An id outside the table is a mistake: it has to raise an error.
        check_ids(ids, len(weight)) → pass
        weight[ids] → weight[ids.abs()]

error says too little
    Whoever reads this error in a program with a million ids has to know which one it was: check_ids(ids,
    len(weight)) says it, before torch says less.
        check_ids… → if ((ids < 0) | (ids >= len(weight))).any(): raise ValueError("id outside the table")

detached from the table
    Take the rows from the table itself, not from a copy of its numbers.
        weight[ids] → weight.detach()[ids]

ids as floats
    An id names a row, it is not an amount: keep it an int64.
        weight[ids] → weight[ids.float()]

batch flattened
    Ids may have any shape: each of them is replaced by its vector, so one axis comes behind those that were there.
        weight[ids] → weight[ids.flatten()]

vectors added up
    The vectors of the tokens were added up: each token keeps its own.
        weight[ids] → weight[ids].sum(-2)

gather
    gather picks single numbers, and wants an index of the table's own form. Rows come from weight[ids].
        return weight.gather(0, ids)
""",
)


EXERCISE = Exercise(
    name="lookup_by_index",
    solution=lookup_by_index,
    cases=cases,
    result=torch.Tensor,
    wrong=WRONG,
    hints=(
        "Indexing with a tensor of ids gives a row for each of them, in their shape.",
        "weight[ids] is nearly all. What does it do with an id of −1?",
        "check_ids(ids, len(weight)) on the first line, return weight[ids] on the second.",
    ),
    praise="The same numbers as the product, and nothing was multiplied.",
)
