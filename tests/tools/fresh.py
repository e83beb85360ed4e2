"""Tries the README's two commands on the smallest machine: a bare Debian with Python and a clone of the course.

    sudo python3 -m tests.tools.fresh                        all steps, as root and as an ordinary user
    sudo python3 -m tests.tools.fresh start --suite trixie   only what comes before the installation
    sudo python3 -m tests.tools.fresh test --user learner -- tests/test_data.py

Steps: `start` (help, doctor, and what `lab` says without python3-venv and without a network), `lab` (until its
address answers, then Ctrl-C, then once more), `test` (what follows -- is passed on). Each try is one line that
begins with works or fails; the exit code is 1 if one failed. It takes the last commit, needs network, debootstrap,
root and 8 GB of disk, and leaves nothing behind but its log. --bind names folders of this machine that pip reads.
"""

from __future__ import annotations

import argparse
import os
import pty
import re
import select
import shutil
import signal
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from tests.support.bare_root import LEARNER, MIRROR, BareRoot, lacking

COURSE_LIB = ["python3", "-m", "course_lib"]
ADDRESS = re.compile(r"(http://(?:127\.0\.0\.1|localhost):\d+)/lab\S*[?&]token=(\w+)")
PATIENCE = 3600  # seconds for an installation
PARTING = 20  # and for the server to end


class Terminal:
    """A command in a terminal of its own, where Ctrl-C can be pressed; all that it shows is in `shown`."""

    def __init__(self, command: list[str]) -> None:
        self.pid, self.screen = pty.fork()
        if self.pid == 0:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # nohup and & hand it down as ignored
            os.execvp(command[0], command)
        self.shown, self.code = "", None

    def wait(self, seconds: float, pattern: re.Pattern | None = None) -> re.Match | None:
        """Reads until the pattern is shown, the command ends or the time is up."""
        deadline = time.monotonic() + seconds
        while self.code is None and time.monotonic() < deadline:
            if select.select([self.screen], [], [], 0.5)[0]:
                try:
                    self.shown += os.read(self.screen, 65536).decode(errors="replace")
                except OSError:  # the other end is closed: the command is about to end
                    time.sleep(0.1)
            if pattern and (found := pattern.search(self.shown)):
                return found
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.code = os.waitstatus_to_exitcode(status) if pid else None
        return None

    def press_ctrl_c(self) -> None:
        os.write(self.screen, b"\x03")

    def end(self) -> None:
        """Ends what is still there."""
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)  # unshare takes its children along
            os.waitpid(self.pid, 0)
        os.close(self.screen)


class Tries:
    """Says of each try whether it works, and keeps what the commands showed in a log."""

    def __init__(self, log: Path) -> None:
        self.log, self.failed = log.open("w", encoding="utf-8"), 0

    def tell(self, user: str, what: str, works: bool, seen: str, shown: str) -> None:
        self.failed += not works
        print(f"{'works' if works else 'fails'}  {user:<8} {what}: {seen}", flush=True)
        print(f"== {user} {what}\n{shown}", file=self.log, flush=True)


def last_line(text: str) -> str:
    return (text.strip().splitlines() or ["nothing was shown"])[-1].strip()


def answer(address: str) -> int:
    """The status that an address answers with, 0 where nobody does for half a minute."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(address, timeout=30) as page:
                return page.status
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            time.sleep(0.5)
    return 0


def try_start(root: BareRoot, tries: Tries, users: list[str]) -> None:
    """Everything before the installation; the root has no python3-venv yet, and has it afterwards."""
    places = {user: root.clone(user) for user in users}

    def try_one(what: str, arguments: list[str], code: int, told: str, **more) -> None:
        for user, course in places.items():
            done = root.run(user, course, [*COURSE_LIB, *arguments], **more)
            works = done.returncode == code and told in done.stdout and "Traceback" not in done.stdout
            seen = f"exit code {done.returncode}, {last_line(done.stdout)}"
            tries.tell(user, what, works, seen, done.stdout)

    try_one("help", ["--help"], 0, "opens JupyterLab at your copy of the first lesson")
    try_one("doctor before the installation", ["doctor"], 1, "torch        not installed")
    try_one("progress", ["progress"], 0, "")
    try_one("lab without python3-venv", ["lab"], 1, "sudo apt install python3-venv")
    install = "apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends python3-venv"
    done = root.run("root", "/", ["sh", "-c", install])
    tries.tell("root", "apt install python3-venv", done.returncode == 0, last_line(done.stdout), done.stdout)
    offline = {"network": False, "PIP_RETRIES": "1"}
    for what in ("lab", "test"):
        try_one(f"{what} without a network", [what], 1, "no connection to the package index", **offline)
    for course in places.values():
        shutil.rmtree(f"{root.folder}{course}")


def try_lab(root: BareRoot, tries: Tries, user: str, course: str) -> None:
    """The first command, twice: it installs, answers with its token, ends at Ctrl-C, and comes back."""
    for what in ("lab, the first time", "lab, again"):
        start = time.monotonic()
        terminal = Terminal(root.command(user, course, [*COURSE_LIB, "lab"]))
        try:
            found = terminal.wait(PATIENCE, ADDRESS)
            if found is None:
                tries.tell(user, what, False, f"no address; {last_line(terminal.shown)}", terminal.shown)
                return
            seconds = time.monotonic() - start
            server, token = found.groups()
            lesson = f"{server}/lab/tree/my_lessons/00_start_here.ipynb"
            statuses = {
                "lesson 00": answer(f"{lesson}?token={token}"),
                "its kernels": answer(f"{server}/api/kernelspecs?token={token}"),
                "without the token": answer(f"{server}/api/kernelspecs"),
            }
            terminal.press_ctrl_c()
            terminal.wait(PARTING)
            works = list(statuses.values()) == [200, 200, 403] and terminal.code == 0
            seen = f"{seconds:.0f} s, {statuses}, after Ctrl-C exit code {terminal.code}"
            tries.tell(user, what, works, seen, terminal.shown)
        finally:
            terminal.end()


def try_test(root: BareRoot, tries: Tries, user: str, course: str, arguments: list[str]) -> None:
    """The second command, with arguments for pytest."""
    done = root.run(user, course, [*COURSE_LIB, "test", *arguments])
    works = done.returncode == 0 and last_line(done.stdout).startswith("Passed: ruff check, ruff format, mypy, pytest")
    counts = re.findall(r"=+ (.*\b(?:passed|failed|error)\b.*) =+", done.stdout)
    seen = f"exit code {done.returncode}, {(counts or [''])[-1]}; {last_line(done.stdout)}"
    tries.tell(user, " ".join(["test", *arguments]), works, seen, done.stdout)


def main(arguments: list[str]) -> int:
    end = [*arguments, "--"].index("--")
    own, passed_on = arguments[:end], arguments[end + 1 :]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("steps", nargs="*", metavar="step", help="start, lab, test; without one all of them")
    parser.add_argument("--user", nargs="+", choices=("root", LEARNER), default=["root", LEARNER])
    parser.add_argument("--suite", default="bookworm", help="the release of Debian")
    parser.add_argument("--mirror", default=MIRROR)
    parser.add_argument("--bind", nargs="*", default=[], metavar="FOLDER")
    parser.add_argument("--log", type=Path, default=Path("fresh.log"))
    options = parser.parse_args(own)
    steps = options.steps or ["start", "lab", "test"]
    if set(steps) - {"start", "lab", "test"}:
        parser.error("the steps are start, lab and test")
    if lacking():
        parser.error(lacking())
    tries = Tries(options.log)
    packages = ["python3"] if "start" in steps else ["python3", "python3-venv"]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        root = BareRoot(Path(folder) / "root", options.bind)
        root.make(options.suite, options.mirror, packages)
        root.add_learner()
        version = root.run("root", "/", ["python3", "--version"]).stdout.strip()
        print(f"Debian {options.suite}, {version}; what the commands showed goes to {options.log}", flush=True)
        if "start" in steps:
            try_start(root, tries, options.user)
        for user in options.user if {"lab", "test"} & set(steps) else []:
            course = root.clone(user)
            if "lab" in steps:
                try_lab(root, tries, user, course)
            if "test" in steps:
                try_test(root, tries, user, course, passed_on)
            shutil.rmtree(f"{root.folder}{course}")
    print(f"{tries.failed} failed" if tries.failed else "all work")
    return min(tries.failed, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
