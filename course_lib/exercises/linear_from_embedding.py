"""Lesson 02, exercise linear_from_embedding."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise, table


def linear_from_embedding(embedding):
    size, dimension = embedding.weight.shape
    linear = nn.Linear(size, dimension, bias=False)
    with torch.no_grad():
        linear.weight.copy_(embedding.weight.T)
    return linear


def _embedding(rows: int, columns: int, dtype: torch.dtype = torch.float32, frozen: bool = False) -> nn.Embedding:
    values = table(rows, columns, seed=rows).detach().to(dtype)
    return nn.Embedding.from_pretrained(values, freeze=frozen)


def _embedding_cases() -> list[Case]:
    return [
        Case("a table (6, 3)", (_embedding(6, 3),), "D V", {"V": 6, "D": 3}),
        Case("a table (4, 7)", (_embedding(4, 7),), "D V", {"V": 4, "D": 7}),
        Case("a square table (5, 5)", (_embedding(5, 5),), "D V", {"V": 5, "D": 5}, only="square tables"),
        Case("a square table (3, 3)", (_embedding(3, 3),), "D V", {"V": 3, "D": 3}, only="square tables"),
    ]


def _read_linear(linear: nn.Linear) -> dict[str, Any]:
    return {
        "bias": "none" if linear.bias is None else "a bias",
        "in_features": linear.in_features,
        "out_features": linear.out_features,
        "trainable": linear.weight.requires_grad,
        "weight": linear.weight.detach(),
    }


def _linear(embedding, turned=True, bias=False, copied=True, swapped=False):
    size, dimension = embedding.weight.shape
    linear = nn.Linear(dimension if swapped else size, size if swapped else dimension, bias=bias)
    values = embedding.weight.T if turned else embedding.weight
    if copied:
        linear.weight = nn.Parameter(values.detach().clone())
    return linear


WRONG = mistakes(
    linear_from_embedding,
    r"""
weight not turned
    The table is stored (V, D), one row a word. nn.Linear stores (out, in) = (D, V): copy the table turned.
        return _linear(embedding, turned=False)

copied without a turn
    The table is stored (V, D), one row a word. nn.Linear stores (out, in) = (D, V): copy the table turned.
        linear = nn.Linear(*embedding.weight.shape, bias=False)
        with torch.no_grad():
            linear.weight.copy_(embedding.weight)
        return linear

sizes and weight not turned
    This layer wants D numbers and gives V. It has to take a one-hot row of V numbers: nn.Linear(V, D), with the
    table turned.
        return _linear(embedding, turned=False, swapped=True)

bias left on
    The layer still has its bias, numbers that are added to every word's vector. A lookup adds nothing: bias=False.
        return _linear(embedding, bias=True)

bias left on, weight not turned
    Two things: the layer still has its bias (a lookup adds nothing), and the table (V, D) has to be turned to (D,
    V).
        return _linear(embedding, bias=True, turned=False)

weight reshaped
    reshape reads the numbers in the same order into another form, so it mixes rows and columns. Turning is .T.
        size, dimension = embedding.weight.shape
        linear = nn.Linear(size, dimension, bias=False)
        linear.weight = nn.Parameter(embedding.weight.detach().reshape(dimension, size))
        return linear

frozen
    The weight does not train (requires_grad is False), but the table did.
        linear = _linear(embedding)
        linear.weight.requires_grad_(False)
        return linear
""",
)


EXERCISE = Exercise(
    name="linear_from_embedding",
    solution=linear_from_embedding,
    cases=_embedding_cases,
    result=nn.Linear,
    read=_read_linear,
    wrong=WRONG,
    hints=(
        (
            "How many numbers does the layer take, and how many does it give? A one-hot row goes in, a word's"
            " vector comes out."
        ),
        "nn.Linear(V, D, bias=False). Its weight has the shape (D, V); the table has (V, D).",
        (
            "A layer's numbers are replaced by hand under no_grad, as in the cell above: with torch.no_grad():"
            " linear.weight.copy_(embedding.weight.T)"
        ),
    ),
    praise="nn.Embedding and nn.Linear hold the same table, one lying, one standing.",
)
