"""The one place that handles interrupts during a check: the end of its time, and the learner who stops it."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

TICK = 0.1  # seconds between two looks at the clock
# The end of the time has a signal of its own, so that it is never taken for the learner's interrupt. Nobody else's
# program minds this one: without a handler it is ignored. Windows, where it is only played, has no SIGURG.
if sys.platform == "win32":
    SIGNAL = signal.SIGBREAK
else:
    SIGNAL = signal.SIGURG


class OutOfTime(KeyboardInterrupt):
    """The time limit ended a call; not an Exception, so that `except Exception` in the called code lets it through."""


class Stopped(KeyboardInterrupt):
    """The learner stopped the check; `case` is the one that ran."""

    case: Any = None


class TimeLimit:
    """The seconds that all calls of an answer may take together, and whether the learner has stopped the check.

    An interrupt becomes an error only where it can do no harm: the end of the time inside `call`, the learner's stop
    inside `until_stopped`. Anywhere else it is only noted, so that nothing is left half done. Both are told again and
    again until the call is over: a bare `except:` in a loop swallows one.
    """

    def __init__(self, seconds: float, deaf: bool = False) -> None:
        self.seconds = seconds
        self.stopped = False
        self._deaf = deaf  # the process ignores interrupts from outside
        self._start = time.monotonic()
        self._deadline = self._start + seconds
        self._pause = TICK
        self._ended = threading.Event()
        self._raised: KeyboardInterrupt | None = None

    @property
    def spent(self) -> float:
        """Seconds since the check began."""
        return time.monotonic() - self._start

    @property
    def over(self) -> bool:
        """Whether no time is left."""
        return time.monotonic() >= self._deadline

    def until_stopped(self, function: Callable, *args: Any) -> Any:
        """Call a function of ours; Stopped comes out where the learner stops it."""
        return function(*args)

    def call(self, function: Callable, *args: Any) -> Any:
        """Call what runs the learner's code; OutOfTime or Stopped comes out of it, also where that code caught it."""
        if self.stopped or self.over:
            raise self._error()
        self._raised = None
        try:
            return function(*args)
        finally:
            if self._raised is not None:
                raise self._raised

    @contextmanager
    def at_most(self, seconds: float) -> Iterator[None]:
        """Let the calls inside take so long together, and no longer than the rest of the time."""
        deadline, pause = self._deadline, self._pause
        self._deadline, self._pause = min(deadline, time.monotonic() + seconds), min(pause, seconds / 4)
        try:
            yield
        finally:
            self._deadline, self._pause = deadline, pause

    def _error(self) -> KeyboardInterrupt:
        return Stopped() if self.stopped else OutOfTime(f"stopped after {self.seconds:g} seconds")

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        """What SIGINT and ticks call in the main thread: note the learner's stop, and raise where that is wanted."""
        self.stopped = self.stopped or (number == signal.SIGINT and not self._deaf)
        if (self.stopped and _inside(TimeLimit.until_stopped, frame)) or (self.over and _inside(TimeLimit.call, frame)):
            self._raised = self._error()
            raise self._raised

    def _tick(self) -> None:
        """Wake the main thread from another one, as long as something should end."""
        while not self._ended.wait(self._pause):
            if self.stopped or self.over:
                _wake_main_thread()


@contextmanager
def time_limit(seconds: float) -> Iterator[TimeLimit]:
    """A limit whose time begins now. A check inside an answer shares that of the check around it.

    Only the main thread can be interrupted; in another one, time is looked at between calls alone.
    """
    before = signal.getsignal(signal.SIGINT)
    around = getattr(before, "__self__", None)
    if threading.current_thread() is not threading.main_thread() or before is None:  # None: set by other than Python
        yield TimeLimit(seconds)
    elif isinstance(around, TimeLimit):
        yield around
    else:
        limit = TimeLimit(seconds, deaf=before == signal.SIG_IGN)
        ticks = threading.Thread(target=limit._tick, daemon=True)
        before_ticks = signal.signal(SIGNAL, limit._interrupted)
        signal.signal(signal.SIGINT, limit._interrupted)
        try:
            ticks.start()
            yield limit
        finally:
            limit._ended.set()
            ticks.join()  # from here on none is sent, and one that was sent has come:
            signal.signal(signal.SIGINT, before)  # it calls the old handler first for what is pending
            signal.signal(SIGNAL, before_ticks)


def _inside(method: Callable, frame: FrameType | None) -> bool:
    """Whether a frame is one of that method, or was called from one."""
    while frame is not None and frame.f_code is not method.__code__:
        frame = frame.f_back
    return frame is not None


def _wake_main_thread() -> None:
    """Send a tick: by a true signal where there are some, since that also wakes a sleep."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, SIGNAL)
    else:
        _thread.interrupt_main(SIGNAL)
