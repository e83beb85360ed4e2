"""The measurement: what it prints and how often it runs each way. Times are never compared."""

from __future__ import annotations

import platform
import re

import pytest
import torch

from course_lib.measure import compare


def counted():
    calls = []
    return calls, {name: (lambda name=name: calls.append(name)) for name in ("linear", "conv", "both")}


@pytest.mark.parametrize("runs", [1, 2, 7])
def test_each_way_runs_once_more_than_asked_and_all_take_turns(runs):
    calls, ways = counted()
    compare(runs, **ways)
    assert calls == ["linear", "conv", "both"] * (runs + 1)


def test_without_a_number_each_way_runs_sixteen_times():
    calls, ways = counted()
    compare(**ways)
    assert [calls.count(name) for name in ways] == [16, 16, 16]


def test_a_line_a_way_and_one_for_the_machine():
    *lines, machine = compare(3, linear=lambda: None, conv=lambda: None).splitlines()
    number = r"\d+\.\d\d"
    line = rf"  (\w+) +({number}) ms  \(({number}) to ({number})\)  ({number}) × the first"
    found = [re.fullmatch(line, one) for one in lines]
    assert [one[1] for one in found] == ["linear", "conv"] and found[0][5] == "1.00"
    assert all(float(one[3]) <= float(one[2]) <= float(one[4]) for one in found)
    expected = f"torch {torch.__version__}, {torch.get_num_threads()} threads, {platform.machine()}"
    assert machine.strip() == expected


def test_nothing_learns_while_it_is_measured():
    seen = []
    compare(2, way=lambda: seen.append(torch.is_grad_enabled()))
    assert not any(seen) and torch.is_grad_enabled()


def test_an_error_of_a_way_is_not_swallowed():
    def broken():
        raise ValueError("image height 7")

    with pytest.raises(ValueError, match="image height 7"):
        compare(2, broken=broken)
    assert torch.is_grad_enabled()


@pytest.mark.parametrize(
    ("runs", "error", "text"),
    [(0, ValueError, "runs must be at least 1, got 0"), (True, TypeError, "runs must be a whole number, got True")],
)
def test_a_number_of_runs_that_is_none_is_named(runs, error, text):
    with pytest.raises(error, match=text):
        compare(runs, way=lambda: None)


def test_nothing_to_measure_is_told():
    with pytest.raises(ValueError, match="at least one way to measure, as name=function, got none"):
        compare(3)
