"""From ids to vectors: the lookup, the product it stands for, and layers that hold the table (lesson 02)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.words import check_ids, one_hot


def lookup_by_index(ids: Any, weight: Tensor) -> Tensor:
    """Rows of the table: ids (…), weight (V, D) -> (…, D). Raises as words.check_ids does."""
    _check_table(weight)
    return F.embedding(check_ids(ids, len(weight)), weight)


def lookup_by_matmul(ids: Any, weight: Tensor) -> Tensor:
    """The same rows by one-hot rows times the table: ids (…), weight (V, D) -> (…, D), number for number."""
    _check_table(weight)
    return one_hot(ids, len(weight)).to(weight.dtype) @ weight


def rows_with_gradient(ids: Any, vocabulary_size: int) -> Tensor:
    """(V,) int64: how many times each row of the table is used, so how many times its gradient is added."""
    return torch.bincount(check_ids(ids, vocabulary_size).flatten(), minlength=vocabulary_size)


def linear_from_embedding(embedding: nn.Embedding) -> nn.Linear:
    """A linear layer without bias that maps one-hot rows to the rows of the embedding's table.

    nn.Embedding stores (V, D), nn.Linear stores (out, in) = (D, V): the weight is turned. Dtype, device
    and requires_grad are carried over. An embedding with max_norm is refused: it changes when it is read.
    """
    if not isinstance(embedding, nn.Embedding):
        raise TypeError(f"expected an nn.Embedding, got {type(embedding).__name__}")
    if embedding.max_norm is not None:
        raise ValueError(
            "this embedding has max_norm, so reading rescales its rows; a linear layer cannot do that"
        )
    table = embedding.weight
    # skip_init: the values are replaced at once, and the global random stream stays where it is
    linear = nn.utils.skip_init(nn.Linear, *table.shape, bias=False, device=table.device, dtype=table.dtype)
    with torch.no_grad():
        linear.weight.copy_(table.T)
    linear.weight.requires_grad_(table.requires_grad)
    return linear


def _check_table(weight: Tensor) -> None:
    if not isinstance(weight, Tensor) or weight.ndim != 2:
        came = tuple(weight.shape) if isinstance(weight, Tensor) else type(weight).__name__
        raise ValueError(f"weight must be a table (V, D), got {came}")
