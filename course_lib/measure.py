"""Measuring on the learner's own computer: median and spread, no verdict in general."""

from __future__ import annotations

import platform
import statistics
import time
from collections.abc import Callable, Mapping

import torch

from course_lib.letters import positive_int


def seconds(ways: Mapping[str, Callable[[], object]], runs: int) -> dict[str, list[float]]:
    """The seconds of `runs` runs of each way, all ways in turn, after one run that does not count."""
    runs = positive_int("runs", runs)
    if not ways:
        raise ValueError("expected at least one way to measure, as name=function, got none")
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(runs + 1):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            if turn:
                taken[name].append(time.perf_counter() - start)
    return taken


def compare(runs: int = 15, **ways: Callable[[], object]) -> str:
    """Run each way `runs` times in turn, after one run that does not count; a line a way, and one for the machine.

    A line holds the median in milliseconds, the smallest and largest, and the ratio to the first way's median.
    """
    with torch.no_grad():
        measured = seconds(ways, runs)
    first = statistics.median(next(iter(measured.values())))
    lines = []
    for name, taken in measured.items():
        middle = statistics.median(taken)
        spread = f"{min(taken) * 1e3:.2f} to {max(taken) * 1e3:.2f}"
        lines.append(f"  {name:8} {middle * 1e3:7.2f} ms  ({spread})  {middle / first:.2f} × the first")
    machine = f"torch {torch.__version__}, {torch.get_num_threads()} threads, {platform.machine()}"
    return "\n".join([*lines, f"  {machine}"])
