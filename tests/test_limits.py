"""The time limit of a check, and a press of Stop while it runs: told truly, and nothing is left over."""

import random
import signal
import sys
import time

import pytest
import torch

from course_lib import checking, limits, outcomes, progress
from course_lib.checking import check
from tests.test_checking import EXERCISES, fresh, from_source

__all__ = ["fresh"]  # a fixture for each test


@pytest.fixture
def recorded():
    """A function that gives what was recorded so far: for each check whether it passed."""
    return lambda: [event["passed"] for event in progress.events() if event["kind"] == "check"]


# The first pass is over after as many calls as there are cases; then comes the second one.
TWO_PASSES = """calls = []

def count_patches(height, width, patch_size, stride):
    calls.append(1)
    if len(calls) == {when}:
        {deed}
    return ((height - patch_size) // stride + 1) * ((width - patch_size) // stride + 1){wrong}
"""
CASES = len(EXERCISES["count_patches"].cases())


def two_passes(tmp_path, when, deed, wrong=""):
    source = "import signal, time\n" + TWO_PASSES.format(when=when, deed=deed, wrong=wrong)
    return from_source(tmp_path, source, "count_patches")


@pytest.mark.parametrize("when", [1, CASES, CASES + 1, 2 * CASES])
def test_a_stop_in_any_call_is_told_as_that_and_nothing_is_recorded(tmp_path, recorded, when):
    answer = two_passes(tmp_path, when, "signal.raise_signal(signal.SIGINT)")
    result = check(answer)
    assert not result.passed and result.diagnosis == "interrupted" and "othing is recorded" in result.message
    assert recorded() == []
    assert check(answer).passed and recorded() == [True]


def test_an_answer_that_raises_the_interrupt_itself_the_second_time_does_not_pass(tmp_path):
    result = check(two_passes(tmp_path, CASES + 1, "raise KeyboardInterrupt"))
    assert not result.passed and result.diagnosis == "not the same twice"


def test_a_second_call_that_does_not_come_to_an_end_is_told_as_that(tmp_path, monkeypatch):
    monkeypatch.setattr(checking, "TIME_LIMIT", 1.0)
    result = check(two_passes(tmp_path, CASES + 1, "while True: pass"))
    assert result.diagnosis == "timed out" and "when it is called for the second time" in result.message


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="only a true signal wakes what sleeps")
def test_an_answer_that_sleeps_is_woken(tmp_path, monkeypatch):
    monkeypatch.setattr(checking, "TIME_LIMIT", 0.3)
    result = check(two_passes(tmp_path, 2, "time.sleep(3600)"))
    assert result.diagnosis == "timed out" and "`time.sleep(3600)`" in result.message


@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass only where a test says so."""
    passed = [0.0]
    monkeypatch.setattr(limits.time, "monotonic", lambda: passed[0])
    return passed


@pytest.mark.parametrize("wrong", ["", " + 1"])
def test_all_calls_of_a_check_share_one_limit_and_a_slow_answer_is_judged_by_what_it_did(tmp_path, clock, wrong):
    answer = two_passes(tmp_path, 0, "pass", wrong)
    slow = 0.7 * checking.TIME_LIMIT / CASES

    def count_patches(height, width, patch_size, stride):
        clock[0] += slow
        return answer(height, width, patch_size, stride)

    result = check(count_patches)
    assert result.passed == (not wrong) and result.diagnosis != "timed out"
    assert clock[0] <= checking.TIME_LIMIT + slow


def test_a_limit_that_ends_with_the_answer_interrupts_nothing_after_it(tmp_path, monkeypatch):
    """A tick of the limit that came as the answer ended reached whatever ran next."""
    late = []
    before = signal.signal(signal.SIGINT, lambda *_: late.append(1))
    try:
        for seconds in [0.01 * step for step in range(1, 12)]:
            monkeypatch.setattr(checking, "TIME_LIMIT", seconds)
            result = check(two_passes(tmp_path, 3, "time.sleep(0.06)", " + 1"))
            assert not result.passed
        time.sleep(0.1)
    finally:
        signal.signal(signal.SIGINT, before)
    assert late == []


@pytest.mark.parametrize("wrong", ["", " + 1"])
def test_an_interrupt_at_any_moment_leaves_a_true_verdict_and_everything_as_it_was(tmp_path, recorded, wrong):
    """Sent in turn at moments all over the check, in the answer's lines and in ours."""
    files = {checking.__file__, outcomes.__file__, limits.__file__}
    answer = two_passes(tmp_path, 0, "pass", wrong)
    files.add(answer.__code__.co_filename)
    steps, moment = 0, -1

    def trace(frame, event, _):
        nonlocal steps
        if frame.f_code.co_filename not in files:
            return None
        steps += 1
        if steps == moment and signal.getsignal(signal.SIGINT) is not note:  # while check takes the interrupts
            signal.raise_signal(signal.SIGINT)
        return trace

    def traced():
        nonlocal steps
        steps = 0
        sys.settrace(trace)
        try:
            return check(answer)
        finally:
            sys.settrace(None)

    def note(*_):
        pytest.fail("an interrupt was left over")

    usual, stopped = traced(), 0
    before = signal.signal(signal.SIGINT, note)
    try:
        for moment in sorted(random.Random(4).sample(range(1, steps), 150)):
            state = torch.get_rng_state()
            with torch.no_grad():
                result = traced()
                assert not torch.is_grad_enabled()
            stopped += result.diagnosis == "interrupted"
            assert result.diagnosis in (usual.diagnosis, "interrupted"), moment
            assert result.passed == (usual.passed and result.diagnosis is None)
            assert torch.equal(torch.get_rng_state(), state) and signal.getsignal(signal.SIGINT) is note
    finally:
        signal.signal(signal.SIGINT, before)
    assert stopped > 20 and set(recorded()) == {usual.passed}
    moment = -1
    assert check(answer).diagnosis == usual.diagnosis


def test_a_part_of_a_check_has_a_limit_of_its_own_and_the_rest_goes_on(clock):
    with limits.watched(20.0) as watch:

        def take(seconds):
            clock[0] += seconds

        with watch.at_most(2.0):
            watch.call(lambda: take(3.0))
            with pytest.raises(KeyboardInterrupt):
                watch.call(lambda: take(1.0))
            assert watch.expired
        watch.call(lambda: take(16.0))
        assert watch.used == 19.0 and not watch.expired
