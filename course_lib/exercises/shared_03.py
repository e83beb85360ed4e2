"""What several exercises of lesson 03 share."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from course_lib.exercises.model import random_numbers


def _numbers(*shape: int, seed: int, scale: float = 1.0) -> Tensor:
    return scale * random_numbers(*shape, seed=seed)


def _table(rows: int, columns: int, seed: int) -> Tensor:
    """Rows of very different length, so that a dot product and a cosine disagree."""
    lengths = torch.linspace(0.2, 6.0, rows, dtype=torch.float64)[
        torch.randperm(rows, generator=torch.Generator().manual_seed(seed))
    ]
    return F.normalize(_numbers(rows, columns, seed=seed), dim=1) * lengths.unsqueeze(1)


def _cosine(vector, weight):
    return F.cosine_similarity(weight, vector.unsqueeze(0), dim=1)
