"""Tables of vectors for the cases of lesson 03, and the cosine between a vector and their rows."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from course_lib.exercises.model import random_numbers


def numbers(*shape: int, seed: int, scale: float = 1.0) -> Tensor:
    return scale * random_numbers(*shape, seed=seed)


def table_of(rows: int, columns: int, seed: int) -> Tensor:
    """Rows of very different length, so that a dot product and a cosine disagree."""
    lengths = torch.linspace(0.2, 6.0, rows, dtype=torch.float64)[
        torch.randperm(rows, generator=torch.Generator().manual_seed(seed))
    ]
    return F.normalize(numbers(rows, columns, seed=seed), dim=1) * lengths.unsqueeze(1)


def cosine(vector, weight):
    return F.cosine_similarity(weight, vector.unsqueeze(0), dim=1)
