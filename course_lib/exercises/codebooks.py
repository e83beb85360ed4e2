"""Codebooks and patches for the cases of lesson 09."""

from __future__ import annotations

import torch
from torch import Tensor

from course_lib.exercises.model import Case, in_dtype, random_numbers


def codebook_of(codes: int, length: int) -> Tensor:
    """Codes of different lengths, so that the dot product and the distance choose differently."""
    return random_numbers(codes, length, seed=codes) * torch.linspace(0.4, 1.6, codes, dtype=torch.float64)[:, None]


SIZES = ((2, 5, 2, 2, 7, ""), (3, 4, 2, 3, 6, ""), (4, 9, 5, 1, 3, ""), (1, 6, 2, 2, 5, "a batch of one"),
         (1, 3, 4, 2, 8, "a batch of one"), (1, 1, 1, 1, 1, "trivial"))  # fmt: skip


def patch_cases() -> list[Case]:
    def case(batch: int, count: int, channels: int, side: int, codes: int, only: str) -> Case:
        codebook = codebook_of(codes, channels * side**2)
        near = codebook[torch.arange(batch * count).reshape(batch, count) * 3 % codes]  # every code is wanted
        return Case(
            f"{batch} × {count} patches of {channels}·{side}·{side} numbers and {codes} codes",
            (near + 0.8 * random_numbers(*near.shape, seed=count), codebook),
            "B N",
            {"B": batch, "N": count, "C": channels, "P": side, "K": codes},
            only,
        )

    return [*(case(*sizes) for sizes in SIZES), in_dtype(case(2, 6, 2, 3, 5, ""), torch.float32)]
