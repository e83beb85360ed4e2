"""The same numbers each time: one thread, and random numbers from a seed of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch use one thread: steps this small gain nothing from two, and sums come out the same everywhere."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Draw torch's random numbers from `seed` inside; outside, the stream stays where it was."""
    with torch.random.fork_rng(devices=[]):
        torch.random.manual_seed(seed)
        yield
