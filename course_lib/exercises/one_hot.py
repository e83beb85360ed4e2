"""Lesson 01, one_hot: ids (…) -> rows (…, V) of zeros with a single 1; an id outside the vocabulary is refused."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise


def one_hot(ids, vocabulary_size):
    if ((ids < 0) | (ids >= vocabulary_size)).any():
        raise ValueError(f"ids must lie in 0..{vocabulary_size - 1}, got {ids.tolist()}")
    return F.one_hot(ids, vocabulary_size).float()


def cases() -> list[Case]:
    refuse = (ValueError, IndexError, RuntimeError)
    return [
        Case("ids [3, 0, 1, 1] and V = 6", (torch.tensor([3, 0, 1, 1]), 6), "T V", {"T": 4, "V": 6}),
        Case(
            "ids of shape (2, 3) and V = 5",
            (torch.tensor([[4, 0, 2], [1, 1, 3]]), 5),
            "B T V",
            {"B": 2, "T": 3, "V": 5},
        ),
        Case("ids [0, 2] and V = 4", (torch.tensor([0, 2]), 4), "T V", {"T": 2, "V": 4}),
        Case(
            "no ids at all and V = 3",
            (torch.tensor([], dtype=torch.int64), 3),
            "T V",
            {"T": 0, "V": 3},
            only="trivial",
        ),
        Case("one id and V = 1", (torch.tensor([0]), 1), "T V", {"T": 1, "V": 1}, only="trivial"),
        Case("ids [5, 1] and V = 4", (torch.tensor([5, 1]), 4), raises=refuse),
        Case("ids [−2, 1] and V = 4", (torch.tensor([-2, 1]), 4), raises=refuse),
        Case("ids [0, −1] and V = 4", (torch.tensor([0, -1]), 4), raises=refuse),
        Case("ids [1, 4, 0] and V = 4", (torch.tensor([1, 4, 0]), 4), raises=refuse),
    ]


WRONG = mistakes(
    one_hot,
    r"""
width left to torch, integer result
    You did not give the width, so F.one_hot took the largest id of this batch plus 1: F.one_hot(ids,
    vocabulary_size). And it answers in int64: .float().
        return F.one_hot(ids)

clamped
    clamp turned an id outside into another word. Refuse it.
        return F.one_hot(ids.clamp(0, vocabulary_size - 1), vocabulary_size).float()

limit off by one
    The largest id is V − 1: an id equal to V is outside too. Compare with >=.
        >= vocabulary_size → > vocabulary_size
        return … → return (ids.unsqueeze(-1) == torch.arange(vocabulary_size)).float()

first axis only
    len(ids) is the length of the first axis only. Ids may have more axes: flatten them, fill the rows, reshape
    back, or let F.one_hot do it.
        if ((ids < 0) | (ids >= vocabulary_size)).any():
            raise ValueError("id outside the vocabulary")
        rows = torch.zeros(len(ids), vocabulary_size)
        for place in range(len(ids)):
            rows[place, ids[place]] = 1
        return rows

all ids in every row
    rows[:, ids] = 1 writes to EVERY row the ones of all tokens. Row t gets the 1 of token t only:
    rows[torch.arange(T), ids] = 1.
        return … → rows = one_hot(ids, vocabulary_size); return (rows + rows.sum(-2, keepdim=True) > 0).float()

whole rows filled
    rows[id] = 1 fills a whole row, and takes the id for the row. The row is the token's place, and the id is its
    column: two indices.
        return … → rows = torch.zeros(len(ids), vocabulary_size); rows[ids] = 1; return rows

whole rows filled, nothing refused
    rows[id] = 1 fills a whole row, and takes the id for the row. The row is the token's place, and the id is its
    column: two indices. And −1 counts from the end: test the ids first.
        rows = torch.zeros(len(ids), vocabulary_size)
        rows[ids] = 1
        return rows

the id in place of 1
    The id itself was written in its column. The column says which word it is; the number there is always 1.
        .float() → .float() * ids.unsqueeze(-1)

width from the batch
    The width was taken from the largest id that happens to be there. It belongs to the vocabulary: otherwise two
    sentences get rows of different length.
        return … → width = int(ids.max()) + 1 if len(ids) else 0; return torch.eye(width)[ids]

width left to torch
    Without a width, F.one_hot takes the largest id of this batch plus 1. The width belongs to the vocabulary: pass
    it.
        return F.one_hot(ids).float()

transposed
    The matrix lies on its side: each token needs a ROW, and the row is as long as the vocabulary.
        .float() → .float().transpose(-1, -2)

ids one too large
    Each 1 stands one place too far to the right. Ids start at 0, as columns do.
        return … → return (ids.unsqueeze(-1) + 1 == torch.arange(vocabulary_size)).float()

ids one too small
    Each 1 stands one place too far to the left. Ids start at 0, as columns do.
        return … → return (ids.unsqueeze(-1) - 1 == torch.arange(vocabulary_size)).float()

integer result
    F.one_hot gives int64. A matrix of floats cannot be multiplied by it, and it takes twice the memory of float32.
        return F.one_hot(ids, vocabulary_size)

row of zeros
    An id outside the vocabulary became a row of zeros, a word that is no word. Nobody would notice until much
    later: refuse it.
        return (ids.unsqueeze(-1) == torch.arange(vocabulary_size)).float()

negative ids wrap
    Indexing counts negative numbers from the end, so −1 quietly became the last word. Refuse it.
        return torch.eye(vocabulary_size)[ids]

ids wrap round
    The remainder turned an id outside into some other word. Refuse it instead.
        return torch.eye(vocabulary_size)[ids % vocabulary_size]

batch flattened
    Ids may have any shape: one row more comes behind the axes that were there.
        F.one_hot(ids → F.one_hot(ids.flatten()

zeros and ones swapped
    Zeros and ones have changed places: one 1 in a row of zeros is wanted.
        F.one_hot → 1 - F.one_hot

one axis of ids only, by comparison
    [:, None] puts the new axis at place 1, which is the end only where ids have one axis. Put it last, for any axes:
    ids.unsqueeze(-1) or ids[..., None].
        if ((ids < 0) | (ids >= vocabulary_size)).any():
            raise ValueError("id outside the vocabulary")
        return (ids[:, None] == torch.arange(vocabulary_size)).float()

one axis of ids only, by two indices
    rows[torch.arange(T), ids] = 1 is right where ids have one axis. Ids may have more: flatten them first and reshape
    back, or let F.one_hot do it.
        if ((ids < 0) | (ids >= vocabulary_size)).any():
            raise ValueError("id outside the vocabulary")
        rows = torch.zeros(len(ids), vocabulary_size)
        rows[torch.arange(len(ids)), ids] = 1
        return rows
""",
)


EXERCISE = Exercise(
    name="one_hot",
    solution=one_hot,
    cases=cases,
    result=torch.Tensor,
    wrong=WRONG,
    hints=(
        "F.one_hot does most of it. Two things are left to you: the width, and the dtype.",
        "Call F.one_hot with both arguments, ids and vocabulary_size. Then it also refuses an id outside. The result is"
        " int64, and float32 is wanted: .float().",
        "return F.one_hot(ids, vocabulary_size).float(). Built in another way, an id outside needs a test of its own:"
        " if ((ids < 0) | (ids >= vocabulary_size)).any(): raise ValueError(...)",
    ),
    praise="The width belongs to the vocabulary, and a word that is not in it is refused.",
)
