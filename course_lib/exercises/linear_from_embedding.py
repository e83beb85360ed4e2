"""Lesson 02, linear_from_embedding: an nn.Embedding (V, D) -> the nn.Linear that does the same to one-hot rows."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from course_lib.exercises.layers import refuse_shared_numbers, trainable
from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise, table


def linear_from_embedding(embedding):
    size, dimension = embedding.weight.shape
    linear = nn.Linear(size, dimension, bias=False)
    with torch.no_grad():
        linear.weight.copy_(embedding.weight.T)
    return linear


def cases() -> list[Case]:
    def case(rows, columns, frozen=False) -> Case:
        square = rows == columns
        values = table(rows, columns, seed=rows).detach()
        return Case(
            f"a {'frozen ' * frozen}{'square ' * square}table ({rows}, {columns})",
            (nn.Embedding.from_pretrained(values, freeze=frozen),),
            "D V",
            {"V": rows, "D": columns},
            only="square tables" if square else "",
        )

    return [case(6, 3), case(4, 7), case(5, 5), case(3, 3), case(8, 2, frozen=True)]


def read(linear: nn.Linear) -> dict[str, Any]:
    return {
        "bias": "none" if linear.bias is None else "a bias",
        "in_features": linear.in_features,
        "out_features": linear.out_features,
        "trainable": trainable(linear),
        "weight": linear.weight.detach(),
    }


WRONG = mistakes(
    linear_from_embedding,
    r"""
weight not turned
    The table is stored (V, D), one row a word. nn.Linear stores (out, in) = (D, V): copy the table turned.
        linear.weight.copy_(embedding.weight.T) → linear.weight = nn.Parameter(embedding.weight.clone())

copied without a turn
    The table is stored (V, D), one row a word. nn.Linear stores (out, in) = (D, V): copy the table turned.
        embedding.weight.T → embedding.weight

sizes and weight not turned
    This layer wants D numbers and gives V. It has to take a one-hot row of V numbers: nn.Linear(V, D), with the
    table turned.
        nn.Linear(size, dimension → nn.Linear(dimension, size
        embedding.weight.T → embedding.weight

bias left on
    The layer still has its bias, numbers that are added to every word's vector. A lookup adds nothing: bias=False.
        bias=False → bias=True

bias left on, weight not turned
    Two things: the layer still has its bias (a lookup adds nothing), and the table (V, D) has to be turned to (D,
    V).
        bias=False → bias=True
        linear.weight.copy_(embedding.weight.T) → linear.weight = nn.Parameter(embedding.weight.clone())

weight reshaped
    reshape reads the numbers in the same order into another form, so it mixes rows and columns. Turning is .T.
        embedding.weight.T → embedding.weight.reshape(dimension, size)

frozen as the table was
    Of a frozen table the layer is frozen too: it took over requires_grad. A new layer learns; leave it so.
        return linear → return linear.requires_grad_(embedding.weight.requires_grad)

frozen
    The weight does not train (requires_grad is False), but the table did.
        return linear → return linear.requires_grad_(False)

bias left on, sizes and weight not turned
    Two things: the layer has a bias (a lookup adds nothing), and it has to take a one-hot row of V numbers:
    nn.Linear(V, D, bias=False), with the table turned.
        bias=False → bias=True
        nn.Linear(size, dimension → nn.Linear(dimension, size
        embedding.weight.T → embedding.weight
""",
)


EXERCISE = Exercise(
    name="linear_from_embedding",
    solution=linear_from_embedding,
    cases=cases,
    result=nn.Linear,
    read=read,
    use=refuse_shared_numbers,
    wrong=WRONG,
    hints=(
        "How many numbers does the layer take, and how many does it give? A one-hot row goes in, a word's vector comes"
        " out.",
        "nn.Linear(V, D, bias=False). Its weight has the shape (D, V); the table has (V, D).",
        "A layer's numbers are replaced by hand under no_grad, as in the cell above: with torch.no_grad():"
        " linear.weight.copy_(embedding.weight.T)",
    ),
    praise="nn.Embedding and nn.Linear hold the same table, one lying, one standing.",
)
