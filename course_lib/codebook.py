"""A dictionary of patches: K codes, the number of the nearest one for each patch, and the way back (lesson 09)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from course_lib.letters import positive_int
from course_lib.words import check_ids


@torch.no_grad()  # codes move by means here, not by gradients
def kmeans(patches: Tensor, *, codes: int, steps: int = 20, seed: int = 0) -> Tensor:
    """Learn a codebook (K, L) of K = `codes` codes from patches (N, L), L = C·P·P numbers each.

    Lloyd's algorithm: begin with K of the patches; in each step every patch takes its nearest code, and every
    code becomes the mean of its patches. Raises ValueError where there are fewer patches than codes.
    """
    codes, steps = positive_int("codes", codes), positive_int("steps", steps)
    _check_numbers("patches", patches)
    if patches.ndim != 2 or len(patches) < codes:
        raise ValueError(f"expected patches (N, L), at least {codes} for {codes} codes, got {tuple(patches.shape)}")
    generator = torch.Generator().manual_seed(seed)
    codebook = patches[torch.randperm(len(patches), generator=generator)[:codes]]
    for _ in range(steps):
        ids = nearest_code(patches, codebook)
        for code in ids.unique().tolist():  # a code that no patch takes stays as it is
            codebook[code] = patches[ids == code].mean(dim=0)
    return codebook


def nearest_code(patches: Tensor, codebook: Tensor) -> Tensor:
    """patches (…, L), codebook (K, L) -> ids (…) int64: the code at the smallest distance from each patch."""
    _check_pair(patches, codebook)
    rows = patches.reshape(-1, codebook.shape[1])
    # Not by way of a matrix product, whose rounding lets near ties fall differently from machine to machine.
    distances = torch.cdist(rows, codebook, compute_mode="donot_use_mm_for_euclid_dist")
    return distances.argmin(dim=-1).reshape(patches.shape[:-1])


def decode(ids: Any, codebook: Tensor) -> Tensor:
    """ids (…), codebook (K, L) -> (…, L): the codes with these ids, a lookup. Raises as words.check_ids does."""
    _check_codebook(codebook)
    return F.embedding(check_ids(ids, len(codebook)), codebook)


def quantisation_error(patches: Tensor, codebook: Tensor) -> Tensor:
    """Mean of the squared differences between patches (…, L) and their nearest codes: one number.

    Raises ValueError where there is no patch to take the mean of.
    """
    _check_pair(patches, codebook)
    if patches.numel() == 0:
        raise ValueError(f"the mean needs at least one patch, got {tuple(patches.shape)}")
    return F.mse_loss(decode(nearest_code(patches, codebook), codebook), patches)


def straight_through(vectors: Tensor, quantised: Tensor) -> Tensor:
    """The values of `quantised`, with a gradient that goes to `vectors` as if nothing had been chosen.

    Up to rounding: v + (q − v). Source: VQ-VAE, https://arxiv.org/abs/1711.00937, section 3.2.
    """
    _check_numbers("vectors", vectors)
    _check_numbers("quantised", quantised)
    if vectors.shape != quantised.shape:
        raise ValueError(f"expected two equal shapes, got {tuple(vectors.shape)} and {tuple(quantised.shape)}")
    return vectors + (quantised - vectors).detach()


def code_bits(codes: int) -> int:
    """Bits that tell one of `codes` codes from the others: log2 K, rounded up; 0 for a single code."""
    return (positive_int("codes", codes) - 1).bit_length()


def _check_numbers(name: str, value: Tensor) -> None:
    if not isinstance(value, Tensor) or not value.is_floating_point():
        came = value.dtype if isinstance(value, Tensor) else type(value).__name__
        raise TypeError(f"{name} must be a tensor of floats, got {came}")


def _check_codebook(codebook: Tensor) -> None:
    _check_numbers("codebook", codebook)
    if codebook.ndim != 2 or codebook.numel() == 0:
        raise ValueError(f"codebook must be a table (K, L) of at least one code, got {tuple(codebook.shape)}")


def _check_pair(patches: Tensor, codebook: Tensor) -> None:
    _check_numbers("patches", patches)
    _check_codebook(codebook)
    if patches.shape[-1:] != codebook.shape[1:]:
        raise ValueError(
            f"patches (…, L) and codebook (K, L) need the same L, got {tuple(patches.shape)} and"
            f" {tuple(codebook.shape)}"
        )
    if patches.dtype != codebook.dtype:
        raise TypeError(f"patches and codebook need the same dtype, got {patches.dtype} and {codebook.dtype}")
