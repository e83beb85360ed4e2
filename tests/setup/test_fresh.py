"""A machine with Python and nothing else: what both commands say before the installation."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest

pytest.importorskip("pty", reason="a bare root file system needs Linux")
from tests.support.bare_root import BareRoot, lacking
from tests.tools import fresh

pytestmark = pytest.mark.skipif(bool(lacking()), reason=lacking())


def running(word: str) -> list[str]:
    """The processes of this machine that have a word in their command line."""
    found = []
    for one in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += [one.parent.name] if word.encode() in one.read_bytes() else []
        except OSError:  # it has just ended
            continue
    return found


@pytest.mark.parametrize("code", [0, 7])
def test_ctrl_c_reaches_what_runs_inside_and_its_exit_code_comes_back(code):
    own = f"import signal, sys, time; signal.signal(signal.SIGINT, lambda *_: sys.exit({code})); "
    own += "print('sta' + 'rted', flush=True); time.sleep(60)"
    terminal = fresh.Terminal(BareRoot(Path("/"), []).command("nobody", "/", ["python3", "-c", own]))
    try:
        assert terminal.wait(60, re.compile("started"))
        terminal.press_ctrl_c()
        terminal.wait(30)
        assert terminal.code == code
    finally:
        terminal.end()


def test_what_an_ordinary_user_runs_inside_ends_with_its_terminal():
    code = "import sys, time; print('sta' + 'rted', flush=True); time.sleep(300)"
    word = f"ends-with-{os.getpid()}"
    terminal = fresh.Terminal(BareRoot(Path("/"), []).command("nobody", "/", ["python3", "-c", code, word]))
    try:
        assert terminal.wait(60, re.compile("started")) and running(word)
    finally:
        terminal.end()
    deadline = time.monotonic() + 20
    while running(word) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert running(word) == []


def test_on_a_bare_debian_root_and_a_learner_are_told_what_is_missing(tmp_path, capsys):
    try:
        code = fresh.main(["start", "--log", str(tmp_path / "log")])
    except RuntimeError as error:
        pytest.skip(f"no bare Debian could be made: {error}")
    lines = capsys.readouterr().out.splitlines()
    tries = [line.split()[:2] for line in lines[1:-1]]
    assert code == 0 and lines[-1] == "all work", "\n".join(lines)
    assert [state for state, _ in tries] == ["works"] * 13
    assert [user for _, user in tries].count("learner") == 6
