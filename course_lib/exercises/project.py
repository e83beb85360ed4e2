"""Lesson 05, project: patches (B, N, L) -> tokens (B, N, D) by one matrix and a bias."""

from __future__ import annotations

import torch
from torch import Tensor

from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise, WrongAnswer, from_a_layer, random_numbers


def project(patches, weight, bias):
    return patches @ weight.T + bias


def cases() -> list[Case]:
    def case(batch: int, count: int, length: int, dimension: int, only: str = "") -> Case:
        args = (
            from_a_layer(random_numbers(batch, count, length, seed=1)),
            random_numbers(dimension, length, seed=2).requires_grad_(),
            random_numbers(dimension, seed=3).requires_grad_(),
        )
        images = "one image" if batch == 1 else f"{batch} images"
        return Case(
            f"{images} of {count} patches of {length} numbers, D = {dimension}",
            args,
            "B N D",
            {"B": batch, "N": count, "D": dimension, "L": length},
            only,
        )

    return [
        case(2, 6, 12, 5),
        case(3, 4, 27, 7),
        case(2, 9, 8, 8, "C·P·P = D"),
        case(1, 6, 12, 5, "a batch of one"),
        case(4, 1, 20, 3, "one patch"),
        case(2, 3, 5, 1),
    ]


WRONG = mistakes(
    project,
    r"""
weight not turned
    weight has one ROW for each number of the result, so it has to be turned first. Which attribute of a matrix
    turns it? Where C·P·P = D nothing stops you.
        weight.T → weight

bias forgotten
    Each number is off by the same amount in its column: that is the bias. Every token gets it once.
        patches @ weight.T + bias → patches @ weight.T

bias subtracted
    The bias is added, not subtracted.
        patches @ weight.T + bias → patches @ weight.T - bias

bias twice
    The bias was added twice: F.linear adds it already.
        patches @ weight.T → patches @ weight.T + bias

bias multiplied
    The bias is added to each token, not multiplied.
        patches @ weight.T + bias → patches @ weight.T * bias

patches added up
    The patches were added up: each patch keeps a vector of its own.
        patches @ weight.T + bias → (patches @ weight.T + bias).sum(1)

patches averaged
    The patches were averaged: each patch keeps a vector of its own.
        return (patches @ weight.T + bias).mean(1)

one vector for all
    Every patch got the vector of the first one. The matrix is shared, its result is not: other pixels, other
    vector.
        return (patches[:, :1] @ weight.T + bias).expand(-1, patches.shape[1], -1)

a matrix for each patch
    Every patch got a matrix of its own. One matrix serves them all.
        generator = torch.Generator().manual_seed(0)
        each = torch.randn(patches.shape[1], *weight.shape, generator=generator, dtype=weight.dtype)
        return torch.einsum("bnl,ndl->bnd", patches, each) + bias

tokens and numbers swapped
    The tokens stand in the columns: each token is a row.
        patches @ weight.T + bias → (patches @ weight.T + bias).mT

weight reshaped, not turned
    A reshape keeps the numbers in their order, so the rows are torn apart. To turn a matrix is .T.
        return patches @ weight.reshape(weight.shape[1], weight.shape[0]) + bias

reshape in place of transpose
    The shape is right, the numbers are not: (B, D, N) was reshaped. The axes have to be swapped: .transpose(1, 2).
        return (weight @ patches.transpose(1, 2) + bias[:, None]).reshape(*patches.shape[:2], -1)

first image only
    Only the first image was projected: @ works on the last two axes, so the batch may stay.
        patches @ weight.T → patches[0] @ weight.T

batch and patches merged
    All patches of the batch stand in one list. Keep the batch axis: @ needs no flattening.
        patches @ weight.T → patches.flatten(0, 1) @ weight.T

a nonlinearity after it
    No ReLU here: the projection is the product and the bias, nothing more.
        return (patches @ weight.T + bias).relu()

divided by a root
    Nothing has to be scaled: the projection is the product and the bias, nothing more.
        return (patches @ weight.T + bias) / weight.shape[1] ** 0.5

one number of the bias for all
    Each of the D numbers of a token has a bias of its own: add the whole bias.
        patches @ weight.T + bias → patches @ weight.T + bias[0]

weight on the left
    Here the N patches meet the C·P·P columns of the weight: the weight stands on the left, or the patches were
    turned. A patch is a row: it stays as it is, on the left, and the turned weight follows.
        return weight @ patches

a new layer
    A new nn.Linear has random weights of its own. Use the weight and the bias that you were given, with the dtype
    that they have.
        return torch.nn.Linear(patches.shape[-1], len(weight))(patches)
""",
)


FAMILIES = (
    *(
        WrongAnswer(name, answer, "A patch has no id: it is multiplied, not looked up.")
        for name, answer in (
            ("patch looked up", lambda x, w, b: torch.nn.functional.embedding(x, w)),
            ("patch as an index", lambda x, w, b: w[x]),
            ("rounded patch looked up", lambda x, w, b: torch.nn.functional.embedding(x.long(), w)),
            ("rounded patch as an index", lambda x, w, b: w[x.long()]),
            ("rounded patch as an index, and the bias", lambda x, w, b: w[x.long()] + b),
        )
    ),
    *(
        WrongAnswer(
            name,
            answer,
            "* multiplies place by place and wants the same sizes. Here every row of the weight meets every patch,"
            " and products are summed: that is @.",
        )
        for name, answer in (
            ("star in place of @", lambda x, w, b: x * w),
            ("star in place of @, and the bias", lambda x, w, b: x * w + b),
            ("star and a sum", lambda x, w, b: (x * w).sum(-1)),
            ("star, a sum and the bias", lambda x, w, b: (x * w).sum(-1) + b),
            ("star with the turned weight", lambda x, w, b: x * w.T),
        )
    ),
)


EXERCISE = Exercise(
    name="project",
    solution=project,
    cases=cases,
    result=Tensor,
    slack=1e-10,
    wrong=WRONG + FAMILIES,
    hints=(
        "Each patch is a row of C·P·P numbers. Which side of the weight has that length?",
        "(B, N, C·P·P) @ (C·P·P, D) gives (B, N, D). weight has the shape (D, C·P·P).",
        (
            "return patches @ weight.T + bias: one product with the turned weight, as in F.linear(patches,"
            " weight, bias)."
        ),
    ),
    praise="You wrote what nn.Linear does; lesson 06 asks what nn.Conv2d does.",
)
