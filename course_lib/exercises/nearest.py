"""Lesson 03, nearest: the k rows of a table with the largest cosine to a vector, best first."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F

from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise
from course_lib.exercises.vector_tables import cosine, numbers, table_of


def nearest(vector, weight, k):
    similarity = F.cosine_similarity(weight, vector.unsqueeze(0), dim=1)
    return similarity.topk(k).indices


def cases() -> list[Case]:
    def case(rows: int, columns: int, k: int, row: int, only: str = "", a_row: bool = False) -> Case:
        weight = table_of(rows, columns, seed=rows)
        vector = weight[row].clone() if a_row else weight[row] + 0.3 * numbers(columns, seed=k)
        return Case(
            f"{f'row {row} of ' if a_row else ''}a table ({rows}, {columns}) and k = {k}",
            (vector, weight, k),
            "k",
            {"k": k, "V": rows, "D": columns},
            only,
        )

    return [
        case(9, 4, 3, 2),
        case(12, 5, 4, 7),
        case(7, 3, 2, 0),
        case(11, 6, 3, 5, a_row=True),
        case(5, 5, 3, 1, "square tables"),
        case(8, 3, 1, 4, "k = 1"),
        case(1, 1, 1, 0, "trivial"),
    ]


def _by(score, largest=True):
    def wrong(vector, weight, k):
        return score(vector, weight).topk(k, largest=largest).indices

    return wrong


WRONG = mistakes(
    nearest,
    r"""
dot product
    That is the order of the dot products: long rows win, whatever their direction. Divide by the length of each
    row, the root of the sum of its squares. weight.norm(dim=1) gives one for each row; len(...) counts entries, and
    weight.norm() without dim is a single number for the whole table.
        return _by(lambda v, w: w @ v)(vector, weight, k)

worst first
    The least similar came first. The cosine is 1 for the same direction, so the largest is wanted.
        return _by(cosine, largest=False)(vector, weight, k)

distance
    That is the distance between the points. The cosine compares directions only.
        return _by(lambda v, w: -(w - v).norm(dim=1))(vector, weight, k)

farthest
    The farthest rows came first.
        return _by(lambda v, w: (w - v).norm(dim=1))(vector, weight, k)

best left out
    The best one was left out. That is sensible where the vector is itself a row of the table, but here it is any
    vector.
        return cosine(vector, weight).topk(k + 1).indices[1:]

best last
    The right ids, worst first. Best first is wanted.
        return cosine(vector, weight).topk(k).indices.flip(0)

similarities in place of ids
    These are the cosines. The ids of the rows are wanted: .indices of topk or sort.
        return cosine(vector, weight).topk(k).values

similarities through a list
    These are the cosines. The ids of the rows are wanted: .indices of topk, or range(len(weight)) sorted by the
    cosine of each row.
        return torch.tensor(sorted(cosine(vector, weight).tolist(), reverse=True)[:k])

rows in place of ids
    These are the rows themselves. Their ids are wanted, (k,).
        return weight[cosine(vector, weight).topk(k).indices]

sign of the cosine lost
    The opposite direction counted as near: a cosine of −1 is as far as it gets, so no abs().
        similarity.topk → similarity.abs().topk

one too many
    k ids are wanted, not k + 1.
        return cosine(vector, weight).topk(k + 1).indices

all of them
    All ids came, in the right order. The first k are wanted.
        return cosine(vector, weight).argsort(descending=True)

only the best
    That is the best one alone. The k best are wanted, as a tensor (k,).
        similarity.topk(k).indices → similarity.topk(k).indices[0]

first place cut off
    One is missing: the best was cut off. Here the vector need not be a row of the table, so it stays.
        similarity.topk(k).indices → similarity.topk(k).indices[1:]

divided by the square of the length
    The dot product was divided by the squared length: now short rows win. .norm(dim=1) is the length.
        return _by(lambda v, w: w @ v / w.square().sum(1))(vector, weight, k)

columns compared
    The cosine was taken along the columns, dim=0. A word is a row: dim=1 gives one number for each row.
        dim=1 → dim=0

lengths of the columns
    weight.norm(dim=0) is the length of each column. A word is a row: dim=1.
        return (weight @ vector / weight.norm(dim=0)).topk(k).indices

columns scaled, not rows
    The columns were brought to length 1. A word is a row: dim=1.
        return _by(lambda v, w: F.normalize(w, dim=0) @ v)(vector, weight, k)
""",
    cosine=cosine,
)


EXERCISE = Exercise(
    name="nearest",
    solution=nearest,
    cases=cases,
    result=Tensor,
    slack=1e-6,
    wrong=WRONG,
    hints=(
        (
            "The cosine is the dot product of two vectors divided by both lengths. The length of a vector here is"
            " the root of the sum of its squares, v.norm(), not len(v). F.cosine_similarity does all of that for"
            " a whole table."
        ),
        "F.cosine_similarity(weight, vector.unsqueeze(0), dim=1) gives one number for each row.",
        ".topk(k).indices gives the ids of the k largest, best first.",
    ),
    praise="Directions count, lengths do not.",
)
