"""Runs a step of the set-up: what it writes goes to a file, and a line that moves says how far it is."""

from __future__ import annotations

import os
import queue
import shutil
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path

from course_lib.setup.faults import SetupError, ending, explain

SECONDS = 10  # between two lines where the output is no terminal, and a line cannot move


def run_step(
    command: list[str], doing: str, log: Path, environ: dict[str, str], told: Callable[[str], str] = lambda line: ""
) -> None:
    """Run a step to its end; SetupError, after what the program said, if it fails.

    `told` gets each line that the program writes, an empty one while it is silent, and gives the line to be shown.
    """
    last: deque[str] = deque(maxlen=60)
    with log.open("a", encoding="utf-8", errors="replace") as file:
        file.write(f"== {doing}\n")
        process = subprocess.Popen(
            command, env={**environ, "PYTHONUNBUFFERED": "1"}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, encoding="utf-8", errors="replace",
        )  # fmt: skip
        written: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        reader = threading.Thread(target=_pass_on, args=(process.stdout, written), daemon=True)
        reader.start()
        line = _Line(told)
        try:
            while (text := _next(written)) is not None:
                if text:
                    file.write(text)
                    last.append(text)
                line.show(text)
            process.wait()
        except BaseException:
            process.terminate()
            process.wait()
            raise
        finally:
            line.end()
    if process.returncode:
        text = "".join(last)
        problem = explain(text, doing)
        if process.returncode == -9:
            problem = (
                f"{doing} failed: the system stopped it, most likely for lack of memory. Close other programs "
                "and start again"
            )
        raise SetupError(problem, ending(text, log))


def _pass_on(lines: Iterable[str], written: queue.SimpleQueue[str | None]) -> None:
    """Hand over each line as it comes, and None at the end."""
    for line in lines:
        written.put(line)
    written.put(None)


def _next(written: queue.SimpleQueue[str | None]) -> str | None:
    """The next line; an empty text where none comes for a moment, None at the end."""
    try:
        return written.get(timeout=0.25)
    except queue.Empty:
        return ""


class _Line:
    """A line that is written over itself in a terminal, and now and then anew elsewhere."""

    def __init__(self, told: Callable[[str], str]) -> None:
        self.told, self.start = told, time.monotonic()
        self.moves = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        self.shown, self.at = "", -SECONDS

    def show(self, text: str) -> None:
        """Show what is told of a line of the program, or of its silence."""
        told, seconds = self.told(text), int(time.monotonic() - self.start)
        if not told or seconds - self.at < (0.2 if self.moves else SECONDS) and told[:3] == self.shown[:3]:
            return
        if self.moves and told[:3] != self.shown[:3]:  # the number of the step: the one before stays to be read
            self.end()
        shown = f"{told}  {seconds // 60}:{seconds % 60:02}"
        if self.moves:
            width = shutil.get_terminal_size().columns - 1
            sys.stdout.write("\r" + shown[:width].ljust(width))
            sys.stdout.flush()
        else:
            print(shown, flush=True)
        self.shown, self.at = told, seconds

    def end(self) -> None:
        """Go to a new line, if something is written in this one."""
        if self.moves and self.shown:
            print(flush=True)
