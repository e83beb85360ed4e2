"""Lesson 02, exercise lookup_by_index."""

from __future__ import annotations

import torch

from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Exercise
from course_lib.exercises.shared_02 import _detached, _flattened, _lookup_cases, _says_too_little, _summed
from course_lib.words import check_ids


def lookup_by_index(ids, weight):
    check_ids(ids, len(weight))
    return weight[ids]


WRONG = mistakes(
    lookup_by_index,
    r"""
rows one too early
    Each token got the row before its own. Ids start at 0, as rows do: take nothing off.
        return weight[check_ids(ids, len(weight)) - 1]

table turned
    weight.T has the columns of the table as its rows. Where V = D nothing stops you, and each word gets a column in
    place of its row.
        check_ids(ids, len(weight))
        return weight.T[ids]

columns picked
    weight[:, ids] picks columns. A word's vector is a row.
        check_ids(ids, len(weight))
        return weight[:, ids]

negative ids wrap
    Python counts −1 from the end, so an id that is no word got the last word's row. Call check_ids(ids,
    len(weight)) first, and let its error through: where `except` catches it, nobody is stopped.
        return weight[ids]

error says too little
    Whoever reads this error in a program with a million ids has to know which one it was: check_ids(ids,
    len(weight)) says it, before torch says less.
        return _says_too_little(ids, weight)

detached from the table
    Take the rows from the table itself, not from a copy of its numbers.
        return _detached(ids, weight)

ids as floats
    An id names a row, it is not an amount: keep it an int64.
        check_ids(ids, len(weight))
        return weight[ids.float()]

batch flattened
    Ids may have any shape: each of them is replaced by its vector, so one axis comes behind those that were there.
        return _flattened(ids, weight)

vectors added up
    The vectors of the tokens were added up: each token keeps its own.
        return _summed(ids, weight)
""",
    _detached=_detached,
    _flattened=_flattened,
    _says_too_little=_says_too_little,
    _summed=_summed,
    check_ids=check_ids,
)


EXERCISE = Exercise(
    name="lookup_by_index",
    solution=lookup_by_index,
    cases=_lookup_cases,
    result=torch.Tensor,
    gradient=1,
    wrong=WRONG,
    hints=(
        "Indexing with a tensor of ids gives a row for each of them, in their shape.",
        "weight[ids] is nearly all. What does it do with an id of −1?",
        "check_ids(ids, len(weight)) on the first line, return weight[ids] on the second.",
    ),
    praise="The same numbers as the product, and nothing was multiplied.",
)
