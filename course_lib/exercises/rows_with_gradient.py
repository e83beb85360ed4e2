"""Lesson 02, rows_with_gradient: ids (…) -> how often each of the V rows of the table is used, (V,) int64."""

from __future__ import annotations

import torch

from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise


def rows_with_gradient(ids, vocabulary_size):
    counts = torch.zeros(vocabulary_size, dtype=torch.int64)
    for number in ids.flatten():
        counts[number] += 1
    return counts


def cases() -> list[Case]:
    return [
        Case("ids [1, 4, 4, 1, 4] and V = 7", (torch.tensor([1, 4, 4, 1, 4]), 7), "V", {"T": 5, "V": 7}),
        Case(
            "ids of shape (2, 3) and V = 5",
            (torch.tensor([[0, 2, 0], [3, 0, 2]]), 5),
            "V",
            {"B": 2, "T": 3, "V": 5},
        ),
        Case("one id and V = 1", (torch.tensor([0]), 1), "V", {"T": 1, "V": 1}, only="trivial"),
        Case("no ids and V = 4", (torch.tensor([], dtype=torch.int64), 4), "V", {"T": 0, "V": 4}, only="trivial"),
        Case(
            "four different ids and V = 6",
            (torch.tensor([5, 0, 3, 1]), 6),
            "V",
            {"T": 4, "V": 6},
            only="ids without repeats",
        ),
        Case(
            "two sentences without repeats and V = 7",
            (torch.tensor([[6, 1], [0, 4], [2, 5]]), 7),
            "V",
            {"B": 3, "T": 2, "V": 7},
            only="ids without repeats",
        ),
    ]


WRONG = mistakes(
    rows_with_gradient,
    r"""
once in each sentence
    A loop over a batch gives whole sentences, and counts[sentence] += 1 adds once for each DIFFERENT id in it: loop
    over ids.flatten().
        ids.flatten() → ids

each row once
    Each row that is used has a 1, however often it is used: a row that is used three times gets three gradients.
    (If your code has counts[ids] += 1: the right side is computed first, then written, so each DIFFERENT id adds
    once.) Use a loop over ids.flatten(), bincount or index_add_.
        counts[number] += 1 → counts[number] = 1

used or not
    Used or not is only half the answer: how OFTEN each row is used decides how much gradient it gets.
        return … → return counts > 0

width from the batch
    Without minlength the result ends at the largest id of this batch. Rows without a gradient count too: they get
    0.
        return torch.bincount(ids.flatten())

width from the batch, one axis only
    Two things: without minlength the result ends at the largest id of this batch, and bincount takes ids of one
    axis only, so flatten them first.
        return torch.bincount(ids)

one axis only
    bincount takes ids of one axis only: flatten the batch first.
        return torch.bincount(ids, minlength=vocabulary_size)

how many rows are used
    That is how many different rows are used, one number. Wanted is a number for each of the V rows.
        return len(ids.unique())

per position
    These are the one-hot rows, one for each token. Their sum over all tokens is the answer.
        return F.one_hot(ids, vocabulary_size)

one sentence only
    The sum runs over the first axis only. With a batch of sentences all tokens have to be counted: flatten the ids
    first.
        return F.one_hot(ids, vocabulary_size).sum(0)

list of ids
    These are the ids that occur. Wanted is a number for each of the V rows, with 0 where a row is not used.
        return ids.unique()

used rows alone
    unique gives a count for each id that occurs. Each of the V rows has one, 0 where it is not used: bincount with
    minlength, or fill in zeros.
        return ids.unique(return_counts=True)[1]
""",
)


EXERCISE = Exercise(
    name="rows_with_gradient",
    solution=rows_with_gradient,
    cases=cases,
    result=torch.Tensor,
    wrong=WRONG,
    hints=(
        "Each use of a row adds to its gradient. So the question is: how often does each id occur?",
        "Beware of counts[ids] += 1: it adds only once for each different id. A loop over ids.flatten() is safe.",
        "torch.bincount(ids.flatten(), minlength=vocabulary_size) does the loop for you.",
    ),
    praise="Each use adds its gradient to the row; a row without a use gets none.",
)
