"""How long an answer may run in one check, and what a press of Stop does meanwhile: the one place for both."""

from __future__ import annotations

import _thread
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

LOOK = 0.05  # seconds between two looks at the time


class Watch:
    """Counts the seconds that an answer runs, and ends it by a KeyboardInterrupt: in the answer, never beside it."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.used = seconds, 0.0
        self.interrupted = False  # somebody pressed Stop
        self.expired = False  # the time ran out
        self._since: float | None = None  # when the call that runs now began

    def call(self, answer: Callable[[], Any]) -> Any:
        """What the answer gives. KeyboardInterrupt where it is stopped, also if it was stopped in an earlier call."""
        if self.interrupted or self._over():
            raise KeyboardInterrupt
        self._since = time.monotonic()
        try:
            return self._inside(answer)
        finally:
            self.used, self._since = self._total(), None

    @contextmanager
    def at_most(self, seconds: float) -> Iterator[None]:
        """Let the answer take only so many seconds more for what is done inside."""
        whole, self.seconds = self.seconds, min(self.seconds, self.used + seconds)
        try:
            yield
        finally:
            self.seconds, self.expired = whole, False

    def _inside(self, answer: Callable[[], Any]) -> Any:
        return answer()

    def _total(self) -> float:
        return self.used + (time.monotonic() - self._since if self._since is not None else 0.0)

    def _over(self) -> bool:
        self.expired = self.expired or self._total() >= self.seconds
        return self.expired

    def _on_interrupt(self, number: int, frame: FrameType | None) -> None:
        """Raise if the answer runs in this moment; else keep in mind that the next call must not begin."""
        self.interrupted = self.interrupted or not self.expired
        while frame is not None:
            if frame.f_code is Watch._inside.__code__ and frame.f_locals.get("self") is self:
                raise KeyboardInterrupt
            frame = frame.f_back

    def _tick(self, ended: threading.Event) -> None:
        """Interrupt a call whose time is over, again and again: a bare `except:` in a loop swallows one interrupt."""
        wait = LOOK
        while not ended.wait(wait):
            wait = LOOK
            if self._since is not None and self._over():
                _interrupt_main_thread()
                wait = min(self.seconds, 1.0)


def _interrupt_main_thread() -> None:
    """As Ctrl-C does. A true signal also wakes what sleeps; Windows has none for a thread."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
    else:
        _thread.interrupt_main()


@contextmanager
def watched(seconds: float) -> Iterator[Watch]:
    """A Watch for what is done inside. Afterwards interrupts do what they did before, and none is left over.

    Works on every system, for Python code and between calls of others; outside the main thread nothing is stopped.
    """
    watch = Watch(seconds)
    if threading.current_thread() is not threading.main_thread():
        yield watch
        return
    ended = threading.Event()
    ticking = threading.Thread(target=watch._tick, args=(ended,), daemon=True)
    before = signal.signal(signal.SIGINT, watch._on_interrupt)
    try:
        ticking.start()
        yield watch
    finally:
        ended.set()
        ticking.join()
        # signal.signal first hands over what has come until now: a last tick reaches the watch and nobody else.
        # A handler that was none of Python's, told as None, cannot be put back.
        signal.signal(signal.SIGINT, signal.default_int_handler if before is None else before)
