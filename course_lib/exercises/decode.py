"""Lesson 09, decode: ids (B, N) and a codebook (K, L) -> the codes (B, N, L)."""

from __future__ import annotations

import torch
from torch import Tensor

from course_lib.exercises.codebooks import codebook_of
from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise, in_dtype


def decode(ids, codebook):
    return codebook[ids]


def cases() -> list[Case]:
    def case(ids: list, channels: int, side: int, codes: int, only: str = "") -> Case:
        shape = torch.tensor(ids).shape
        letters = {"N": shape[-1], "C": channels, "P": side, "K": codes}
        if len(shape) == 2:
            letters["B"] = shape[0]
        return Case(
            f"ids {ids} and {codes} codes of {channels}·{side}·{side} numbers",
            (torch.tensor(ids), codebook_of(codes, channels * side**2).requires_grad_()),
            "B N C·P·P" if len(shape) == 2 else "N C·P·P",
            letters,
            only,
        )

    return [
        case([[0, 4, 4, 1], [2, 0, 1, 3], [4, 4, 2, 0]], 2, 2, 6),
        case([[6, 2, 2, 5, 0], [1, 6, 3, 6, 4]], 2, 3, 7),
        case([3, 1, 1, 0, 3, 2], 5, 1, 4),
        in_dtype(case([[1, 0, 3, 5], [4, 2, 2, 0]], 2, 3, 6), torch.float32),
        case([[2, 0, 1, 1, 2, 0, 3]], 4, 2, 5, "a batch of one"),
        case([[3, 3, 1]], 2, 2, 4, "a batch of one"),
        case([[0]], 1, 1, 1, "trivial"),
    ]


WRONG = mistakes(
    decode,
    r"""
table turned
    The codebook must not be turned: code k is codebook[k], a row.
        codebook[ids] → codebook.T[ids]

columns picked
    codebook[:, ids] picks columns. A code is a row: codebook[ids].
        codebook[ids] → codebook[:, ids]

counted from 1
    Each patch got the code BEFORE its own: ids count from 0, and −1 wraps round to the last code.
        codebook[ids] → codebook[ids - 1]

one row further
    Each patch got the code AFTER its own, and the last id finds none. Ids count from 0, as rows do.
        codebook[ids] → codebook[ids + 1]

detached from the codebook
    A lookup hands its gradient to the rows it took: index the codebook itself, no copy of its numbers.
        codebook[ids] → codebook[ids].detach()

one-hot rows
    These are the one-hot rows of the ids. The product with the codebook is missing.
        return F.one_hot(ids, len(codebook)).to(codebook.dtype)

width from the ids
    F.one_hot took the width from the largest id that occurs. The codebook has K rows, used or not: F.one_hot(ids,
    len(codebook)).
        return F.one_hot(ids).to(codebook.dtype) @ codebook

each code once
    Each code that occurs came once. Wanted is one code for every PATCH, in the order of the ids.
        return codebook[ids.unique()]

shape of the ids lost
    The ids were flattened. The result keeps their shape, with the numbers of the code as a last axis.
        return codebook[ids.flatten()].unsqueeze(0)

numbers before patches
    Patches and numbers are swapped: the numbers of a code are the last axis.
        codebook[ids] → codebook[ids].mT

first image only
    Only the first row of ids was looked up. All of them are wanted.
        codebook[ids] → codebook[ids][0]

codes added up
    The codes of all patches were added up. Every patch keeps a code of its own.
        return codebook[ids].sum(-2)

ids as factors
    The ids were used as numbers to multiply with. An id is a name: it says which row to take.
        return ids.unsqueeze(-1) * codebook[0]

codebook before the one-hot rows
    The factors stand in the wrong order. Each one-hot row picks a row of the codebook: rows @ codebook.
        return codebook @ F.one_hot(ids, len(codebook)).to(codebook.dtype)

codebook turned in the product
    One-hot rows have K numbers, and the codebook has K rows: they meet as they are. Leave out .T.
        return F.one_hot(ids, len(codebook)).to(codebook.dtype) @ codebook.T

ids in a product
    The ids were multiplied as numbers. An id is a name: look it up, codebook[ids], or make its one-hot row first.
        return ids @ codebook

ids flattened
    The ids were flattened, which is right only where they have one axis. The result keeps their shape:
    codebook[ids] takes ids of any shape.
        codebook[ids] → codebook[ids.flatten()]

table and ids swapped
    F.embedding takes the ids first and the table second: F.embedding(ids, codebook).
        return F.embedding(codebook, ids)

ids indexed by the codebook
    The codebook is the table and the ids say which rows to take: codebook[ids], not ids[codebook].
        return ids[codebook]
""",
)


EXERCISE = Exercise(
    name="decode",
    solution=decode,
    cases=cases,
    result=Tensor,
    wrong=WRONG,
    hints=(
        "You wrote this in lesson 02, with words. What was it called there?",
        "A table that is indexed with a tensor of ids gives one row for each id, in the shape of the ids.",
        "result = codebook[ids]",
    ),
    praise="Decoding is the lookup of lesson 02, with patches for rows.",
)
