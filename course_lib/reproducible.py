"""The same numbers each time: one thread, random numbers from a seed of their own, no model half trained."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from course_lib.letters import whole_number


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
        torch.random.manual_seed(whole_number("seed", seed, least=0))
        yield


@contextmanager
def whole_or_not_at_all(model: nn.Module) -> Iterator[None]:
    """Give a model back the numbers and the mode that it had where what is done inside is interrupted or fails."""
    was_training, before = model.training, {name: value.clone() for name, value in model.state_dict().items()}
    try:
        yield
    except BaseException:
        model.load_state_dict(before)
        model.train(was_training)
        raise
