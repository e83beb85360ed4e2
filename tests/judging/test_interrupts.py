"""A check that is stopped, or whose time ends, in whatever moment: nothing false is told, recorded or left behind."""

from __future__ import annotations

import _thread
import random
import signal
import sys
import threading
import time
import types
import warnings

import pytest
import torch

from course_lib import checking, progress
from course_lib.checking import check
from course_lib.exercises import all_exercises
from course_lib.exercises.patchify import patchify as solved_patchify
from course_lib.judging import running, timelimit, verdict
from course_lib.judging.timelimit import OutOfTime, Stopped, time_limit

EXERCISES = all_exercises()
SOLVED = EXERCISES["count_patches"].solution
CASES = len(EXERCISES["count_patches"].cases())
NEEDS_SIGNALS = pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="only a true signal wakes a sleep")


@pytest.fixture(autouse=True)
def fresh(monkeypatch, tmp_path):
    """A record of its own for each test, and the usual answer to an interrupt."""
    monkeypatch.setenv("COURSE_PROGRESS", str(tmp_path / "events.jsonl"))
    monkeypatch.setattr(checking, "_tried", set())
    # A stop that lands where Python can raise nothing, as in a generator that is being closed, is only told by this
    # hook; pytest's takes a second one meanwhile for a fault of its own.
    monkeypatch.setattr(sys, "unraisablehook", lambda told: None)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


class Clock:
    """A clock that answers turn on themselves, so that no test depends on how fast the machine is."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now

    def endless(self):
        """A loop that never ends by itself."""
        while True:
            self.now += 1


@pytest.fixture
def clock(monkeypatch):
    own = Clock()
    monkeypatch.setattr(timelimit, "time", own)
    return own


def recorded():
    return [(event["passed"], event["diagnosis"]) for event in progress.events()]


def counting(answer):
    """An answer to count_patches that is told the number of its call, from 1 on."""
    calls = []

    def count_patches(height, width, patch_size, stride):
        calls.append(1)
        return answer(len(calls), height, width, patch_size, stride)

    count_patches.calls = calls
    return count_patches


def stop():
    signal.raise_signal(signal.SIGINT)


def stop_from_another_thread():
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


# ---------------------------------------------------------------- the learner stops the check


@pytest.mark.parametrize("call", [1, CASES, CASES + 1, 2 * CASES])
def test_a_right_answer_that_is_stopped_in_either_pass_is_neither_right_nor_wrong(call):
    result = check(counting(lambda number, *args: (number == call and stop()) or SOLVED(*args)))
    assert (result.passed, result.attempted, result.diagnosis) == (False, True, "interrupted")
    assert result.message.startswith("count_patches: stopped before it was finished") and result.kind == "open"
    assert "it was interrupted on line " in result.message and "Run it again." in result.message
    assert recorded() == []


@pytest.mark.parametrize("call", [1, CASES + 1, 2 * CASES + 1, 3 * CASES])
def test_a_wrong_answer_that_is_stopped_is_not_recorded_as_wrong(call):
    answer = counting(lambda number, *args: (number == call and stop()) or hash(args) % 1000003)
    assert check(answer).diagnosis == "interrupted" and len(answer.calls) == call
    assert recorded() == []


def test_the_case_on_which_a_check_was_stopped_is_told():
    label = EXERCISES["count_patches"].cases()[2].label
    message = check(counting(lambda number, *args: (number == 3 and stop()) or SOLVED(*args))).message
    assert f"On {label}, it was interrupted" in message


def test_a_check_that_was_stopped_in_our_own_code_shows_none_of_it(monkeypatch):
    monkeypatch.setattr(verdict, "_known", lambda *_: stop())
    message = check(counting(lambda number, *args: 5)).message
    assert "stopped before it was finished" in message and "line" not in message


@pytest.mark.parametrize("call", [1, 2 * CASES])
def test_a_stop_that_the_answer_swallows_counts_all_the_same(call):
    def swallowing(number, *args):
        try:
            if number == call:
                stop()
        except BaseException:
            pass
        return SOLVED(*args)

    assert check(counting(swallowing)).diagnosis == "interrupted"
    assert recorded() == []


def test_a_stop_after_the_verdict_takes_nothing_back(monkeypatch):
    record = progress.record
    monkeypatch.setattr(progress, "record", lambda *args, **details: (stop(), record(*args, **details)))
    assert check(SOLVED).passed
    assert recorded() == [(True, None)]


def test_an_error_that_an_answer_raises_itself_is_no_stop():
    def interrupting(number, *args):
        raise KeyboardInterrupt

    def leaving(number, *args):
        raise GeneratorExit

    assert check(counting(interrupting)).diagnosis == check(counting(leaving)).diagnosis == "raised"
    assert recorded() == [(False, "raised")] * 2


# ---------------------------------------------------------------- the time ends


def test_a_second_pass_that_never_ends_is_told_as_that(clock):
    answer = counting(lambda number, *args: clock.endless() if number == CASES + 1 else SOLVED(*args))
    result = check(answer)
    assert not result.passed and result.diagnosis == "timed out"
    last = EXERCISES["count_patches"].cases()[-1].label
    assert f"called a second time with the same input, on {last}, your code did not come to an end" in result.message
    assert "it was stopped after 20 seconds" in result.message and "the call before" in result.message
    assert recorded() == [(False, "timed out")]


@pytest.mark.parametrize("pass_seconds", [6, 9, 15, 19])
def test_a_right_answer_is_not_refused_for_slowness(clock, pass_seconds):
    def slow(number, *args):
        clock.now += pass_seconds / CASES
        return SOLVED(*args)

    result = check(counting(slow))
    assert result.passed and recorded() == [(True, None)]
    once_only = f"That took {pass_seconds:.1f} seconds. Of 20 too few were left"
    assert (once_only in result.message) == (2 * pass_seconds > 20)


def test_a_right_answer_that_differs_in_what_time_allowed_of_the_second_pass_is_told(clock):
    def tiring(number, *args):
        clock.now += 15 / CASES
        return SOLVED(*args) + (number > CASES)

    assert check(counting(tiring)).diagnosis == "not the same twice"


@pytest.mark.parametrize("pass_seconds", [1, 6, 9, 15, 19])
def test_one_budget_holds_for_all_that_a_check_calls(clock, pass_seconds):
    def wrong(number, *args):
        clock.now += pass_seconds / CASES
        return hash(args) % 1000003

    result = check(counting(wrong))
    assert not result.passed and result.diagnosis == "different"
    assert clock.now <= 20 + pass_seconds / CASES


def test_a_known_wrong_answer_is_named_also_where_its_first_pass_took_nearly_all_the_time(clock):
    known = EXERCISES["count_patches"].wrong[0]

    def wrong(number, *args):
        clock.now += 19 / CASES
        return known.answer(*args)

    assert check(counting(wrong)).diagnosis == known.name


def test_an_end_between_two_cases_is_told_with_the_case_that_was_not_run(clock):
    def slow(number, *args):
        clock.now += 10
        return SOLVED(*args)

    result = check(counting(slow))
    assert result.diagnosis == "timed out"
    assert f"on {EXERCISES['count_patches'].cases()[2].label}, your code did not come to an end" in result.message


def test_the_search_for_the_line_that_changes_an_input_ends_with_the_time(clock):
    calls = []

    def add_positions(tokens, positions):
        calls.append(1)
        if len(calls) > len(EXERCISES["add_positions"].cases()):
            clock.endless()
        return tokens.add_(positions)

    result = check(add_positions)
    assert result.diagnosis == "changed its input" and "in place (" in result.message
    assert sys.gettrace() is None


@pytest.mark.parametrize("call", [1, CASES])
def test_what_an_answer_makes_of_the_end_of_its_time_does_not_count(clock, call):
    def returning(number, *args):
        try:
            return clock.endless() if number == call else SOLVED(*args)
        except BaseException:
            return 0

    def refusing(number, *args):
        try:
            return clock.endless() if number == call else SOLVED(*args)
        except BaseException as error:
            raise ValueError("no") from error

    assert check(counting(returning)).diagnosis == "timed out"
    clock.now = 0
    assert check(counting(refusing)).diagnosis == "timed out"


def test_a_loop_that_swallows_every_interrupt_but_the_last_is_stopped(clock):
    def stubborn(number, *args):
        for _ in range(5):
            try:
                clock.endless()
            except BaseException:
                pass

    assert check(counting(stubborn)).diagnosis == "timed out"


def test_a_recursion_without_end_that_swallows_its_errors_is_stopped(clock):
    def deeper():
        clock.now += 1
        try:
            deeper()
        except RecursionError:
            pass
        return deeper()

    assert check(counting(lambda number, *args: deeper())).diagnosis in ("timed out", "raised")


@NEEDS_SIGNALS
@pytest.mark.parametrize("wait", [lambda: time.sleep(3600), lambda: threading.Event().wait()])
def test_an_answer_that_only_waits_is_stopped(monkeypatch, wait):
    monkeypatch.setattr(checking, "TIME_LIMIT", 0.3)
    assert check(counting(lambda number, *args: wait())).diagnosis == "timed out"


def test_an_answer_that_waits_for_a_thread_of_its_own_is_stopped(clock):
    done = threading.Event()

    def threaded(number, *args):
        thread = threading.Thread(target=done.wait)
        thread.start()
        while thread.is_alive():
            clock.now += 1
            thread.join(0.01)

    assert check(counting(threaded)).diagnosis == "timed out"
    done.set()


def test_one_long_call_of_torch_ends_by_itself_and_counts(clock):
    def long(number, *args):
        torch.linalg.svd(torch.ones(100, 100))
        clock.now += 19 * (number == CASES)
        return SOLVED(*args)

    assert check(counting(long)).passed


# ---------------------------------------------------------------- where a check is called


def test_in_another_thread_the_time_is_looked_at_between_calls(clock):
    def slow(number, *args):
        clock.now += 10
        return SOLVED(*args)

    results = []
    thread = threading.Thread(target=lambda: results.append(check(counting(slow))))
    thread.start()
    thread.join()
    assert results[0].diagnosis == "timed out"


def test_an_interrupt_from_outside_is_ignored_where_the_process_ignores_them():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert check(counting(lambda number, *args: stop() or SOLVED(*args))).passed
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def nested(inner):
    def count_patches(*args):
        check(inner)
        return SOLVED(*args)

    return renamed(count_patches, "height, width, patch_size, stride")


def renamed(function, arguments):
    space = {"function": function}
    exec(f"def count_patches({arguments}):\n    return function({arguments})\n", space)
    return space["count_patches"]


def test_a_check_inside_an_answer_shares_its_time_and_its_stop(clock):
    assert check(nested(solved_patchify)).passed

    def patchify(images, patch_size):
        clock.endless()

    assert check(nested(patchify)).diagnosis == "timed out"

    def patchify(images, patch_size):
        stop()

    assert check(nested(patchify)).diagnosis == "interrupted"


# ---------------------------------------------------------------- no interrupt outlives its check


def busy(rounds):
    return sum(range(rounds))


@pytest.fixture
def quick_ticks(monkeypatch):
    """Many ticks, and threads that take turns at nearly every step."""
    monkeypatch.setattr(timelimit, "TICK", 1e-5)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("quick_ticks")
def test_no_tick_comes_after_the_limit_is_left():
    draws, ended = random.Random(0), 0
    for _ in range(1000):
        try:
            with time_limit(draws.random() / 1000) as limit:
                limit.call(busy, draws.randrange(100_000))
        except OutOfTime:
            ended += 1
        busy(1000)  # where one that is late would raise
    assert 0 < ended < 1000


@pytest.mark.usefixtures("quick_ticks")
def test_no_tick_of_a_part_of_the_time_comes_after_that_part():
    draws, ended = random.Random(0), 0
    with time_limit(1e9) as limit:
        for _ in range(1000):
            try:
                with limit.at_most(draws.random() / 1000):
                    limit.call(busy, draws.randrange(100_000))
            except OutOfTime:
                ended += 1
            assert limit.call(busy, 1000) == 499_500
    assert 0 < ended < 1000 and not limit.stopped


@pytest.mark.parametrize("send", [stop, _thread.interrupt_main])
def test_a_stop_is_told_from_the_end_of_the_time_also_after_it(clock, send):
    with time_limit(20) as limit:
        clock.now = 30
        send()
        assert limit.over and limit.stopped
        with pytest.raises(Stopped):
            limit.call(busy, 1)


def test_the_way_to_interrupt_without_signals_works_too(monkeypatch, clock):
    """As on Windows."""
    monkeypatch.delattr(signal, "pthread_kill", raising=False)
    assert check(counting(lambda number, *args: clock.endless())).diagnosis == "timed out"
    assert check(SOLVED).passed


# ---------------------------------------------------------------- stopped in any moment


def add_positions(tokens, positions):
    return tokens.add_(positions)


def in_letters(height, width, patch_size, stride):
    return SOLVED(height, width, patch_size, stride) + height * width


def raising(height, width, patch_size, stride):
    raise ValueError(f"no {height}")


def drawing(height, width, patch_size, stride):
    return SOLVED(height, width, patch_size, stride) + int(torch.randint(1, 10**6, (1,)))


def far_off(height, width, patch_size, stride):
    return hash((height, width, patch_size, stride)) % 1000003


ANSWERS = [
    SOLVED,
    solved_patchify,
    EXERCISES["PatchEmbedding"].solution,
    EXERCISES["patchify"].wrong[0].answer,
    EXERCISES["PatchEmbedding"].wrong[0].answer,
    add_positions,
    in_letters,
    raising,
    far_off,
    drawing,
]
NAMES = ["count_patches", "patchify", "PatchEmbedding", "patchify", "PatchEmbedding", "add_positions"]
NAMES += ["count_patches"] * 4
ROUNDS = 40


class Noted:
    """Notes the interrupts that no check takes, in place of raising."""

    count = 0

    def __call__(self, *_):
        self.count += 1


def state():
    return (
        torch.get_rng_state().tolist(),
        torch.is_grad_enabled(),
        sys.gettrace(),
        sys.stdout,
        list(warnings.filters),
        signal.getsignal(signal.SIGINT),
        signal.getsignal(timelimit.SIGNAL),
        threading.active_count(),
    )


def check_and_interrupt(name, answer, at=0):
    """What check says; interrupted at that of the calls and returns of functions that happen in it.

    Also the number of these, and those among them in which something is put back as it was.
    """
    steps, tender = 0, []

    def step(frame, *_):
        nonlocal steps
        steps += 1
        file, function = frame.f_code.co_filename, frame.f_code.co_name
        if file.endswith(("contextlib.py", "warnings.py")) or function in ("changing_line", "fork_rng"):
            tender.append(steps)
        if steps == at:
            stop()

    main, sys.modules["__main__"] = sys.modules["__main__"], types.SimpleNamespace(**{name: answer})
    try:
        sys.setprofile(step)
        result = check(name)
    finally:
        sys.setprofile(None)
        sys.modules["__main__"] = main
    return result, steps, tender


@pytest.mark.parametrize(("name", "answer"), list(zip(NAMES, ANSWERS, strict=True)))
@pytest.mark.parametrize("grad", [True, False])
def test_a_check_that_is_stopped_in_any_moment_leaves_nothing_false_behind(name, answer, grad):
    noted, draws, told = Noted(), random.Random(name), set()
    signal.signal(signal.SIGINT, noted)
    with torch.random.fork_rng(), torch.set_grad_enabled(grad):
        check_and_interrupt(name, answer)  # what is kept from the first time on is kept now
        whole, steps, tender = check_and_interrupt(name, answer)
        moments = [draws.randrange(1, steps + 1) for _ in range(ROUNDS)]
        for moment in moments + draws.sample(tender, min(ROUNDS, len(tender))):
            before, already, missed = state(), len(recorded()), noted.count
            result, *_ = check_and_interrupt(name, answer, moment)
            assert state() == before
            new = recorded()[already:]
            told.add(result.diagnosis)
            if result.diagnosis == "interrupted":
                assert not result.passed and new == [] and noted.count == missed
            else:
                assert (result.passed, result.diagnosis) == (whole.passed, whole.diagnosis)
                assert new == [(whole.passed, whole.diagnosis)]
                assert result.message == whole.message or answer is drawing
            assert check(SOLVED).passed
    signal.signal(signal.SIGINT, signal.default_int_handler)
    assert "interrupted" in told


@pytest.mark.parametrize(("name", "answer"), [(NAMES[i], ANSWERS[i]) for i in (0, 1, 6, 8)])
def test_a_check_that_another_thread_stops_in_any_moment_leaves_nothing_false_behind(name, answer):
    noted, draws = Noted(), random.Random(name)
    signal.signal(signal.SIGINT, noted)
    whole, *_ = check_and_interrupt(name, answer)
    start = time.perf_counter()
    check_and_interrupt(name, answer)
    seconds = time.perf_counter() - start
    for _ in range(ROUNDS):
        already = len(recorded())
        timer = threading.Timer(draws.random() * seconds, stop_from_another_thread)
        timer.start()
        result, *_ = check_and_interrupt(name, answer)
        timer.join()
        new = recorded()[already:]
        if result.diagnosis == "interrupted":
            assert new == []
        else:
            assert result.message == whole.message and new == [(whole.passed, whole.diagnosis)]
        assert check(SOLVED).passed
    assert noted.count < ROUNDS
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_a_run_without_a_limit_is_one_of_ours_and_takes_the_time_it_takes(clock):
    def slow(*args):
        clock.now += 1000
        return SOLVED(*args)

    with time_limit(1):
        got = running.run(EXERCISES["count_patches"], slow)
    assert len(got) == CASES and not any(map(running.timed_out, got))


def test_no_number_of_ticks_is_taken_for_the_learners_stop():
    """On a busy machine one came so late that a second had been sent: it counted as the learner's."""
    with time_limit(1e9) as limit:
        for _ in range(3):
            timelimit._wake_main_thread()
        assert limit.call(busy, 1000) == 499_500 and not limit.stopped
