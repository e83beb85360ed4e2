"""Carries out the steps of Containerfile in a bare root file system, where no container engine is at hand.

    sudo python3 -m tests.tools.containerfile INDEX=https://pypi.org/simple

Debian with its own Python stands in for the base image. What follows are build arguments; then --bind FOLDER ... as
for tests/tools/fresh.py. It ends with a line that begins with works or fails. It takes the last commit.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from string import Template

from course_lib import COURSE
from tests.support.bare_root import MIRROR, PATHS, BareRoot, lacking
from tests.tools.fresh import ADDRESS, PATIENCE, Terminal, answer, last_line

WORDS = ("FROM", "ARG", "RUN", "USER", "WORKDIR", "COPY", "ENV", "EXPOSE", "CMD")


def parse(text: str) -> Iterator[tuple[str, str]]:
    """Each instruction as its word and the rest; ValueError for one that is not carried out here."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    for line in re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines():
        word, _, rest = line.strip().partition(" ")
        if word not in WORDS:
            raise ValueError(
                f"Containerfile: {word} is none of {', '.join(WORDS)}, which tests/tools/containerfile.py knows"
            )
        yield word, rest.strip()


class Build:
    """A root file system on its way to the image: who runs the next step, where, and with which variables."""

    def __init__(self, folder: Path, arguments: dict[str, str], binds: list[str]) -> None:
        self.folder, self.arguments, self.binds = folder, arguments, binds
        self.user, self.place, self.variables, self.command = "root", "/", {"PATH": PATHS}, []

    def step(self, word: str, rest: str) -> None:
        """Carry out one instruction; RuntimeError where it fails."""
        if word == "FROM":
            suite = rest.rpartition("-")[2]
            self.root = BareRoot(self.folder, self.binds)
            self.root.make(suite, MIRROR, ["python3", "python3-venv"])
        elif word == "ARG":
            name, _, usual = rest.partition("=")
            self.variables[name] = self.arguments.pop(name, usual)
        elif word == "ENV":
            name, _, value = rest.partition("=")
            self.variables[name] = Template(value).substitute(self.variables)
        elif word == "USER":
            self.user = rest
        elif word == "WORKDIR":
            self.place = rest  # an engine makes it if need be, but whose it is then differs between them
            if not self._outside(rest).is_dir():
                raise RuntimeError(f"WORKDIR {rest} is not there yet")
        elif word == "COPY":
            self._copy(rest)
        elif word == "RUN":
            self._run(["sh", "-c", rest])
        elif word == "CMD":
            self.command = json.loads(rest)

    def inside(self, arguments: list[str]) -> list[str]:
        """The command line that runs something in what was built so far."""
        return self.root.command(self.user, self.place, arguments, **self.variables)

    def _outside(self, place: str) -> Path:
        return Path(f"{self.folder}{place}")

    def _run(self, arguments: list[str]) -> None:
        done = subprocess.run(self.inside(arguments), capture_output=True, encoding="utf-8", errors="replace")
        if done.returncode:
            raise RuntimeError("\n".join((done.stdout + done.stderr).splitlines()[-5:]))

    def _copy(self, rest: str) -> None:
        owner, here, there = re.fullmatch(r"--chown=(\S+) (\.) (\.)", rest).groups()
        with tempfile.TemporaryDirectory() as clone:
            subprocess.run(["git", "clone", "--quiet", str(COURSE), clone], check=True)
            shutil.rmtree(f"{clone}/.git")  # .dockerignore keeps it out as well
            shutil.copytree(clone, self._outside(self.place), dirs_exist_ok=True)
        everything = [str(Path(self.place, path.name)) for path in self._outside(self.place).iterdir()]
        subprocess.run(["chroot", str(self.folder), "chown", "-R", owner, *everything], check=True)


def try_command(build: Build) -> tuple[bool, str]:
    """Whether the server of CMD answers at its address with its token, also from outside; and what was seen."""
    terminal = Terminal(build.inside(build.command))
    try:
        found = terminal.wait(PATIENCE, ADDRESS)
        if found is None:
            return False, f"no address; {last_line(terminal.shown)}"
        server, token = found.groups()
        lesson = "/lab/tree/notebooks/00_start_here.ipynb"
        outside = re.sub("127.0.0.1|localhost", "127.0.0.2", server)  # answers only where all addresses are bound
        statuses = [answer(f"{one}{lesson}?token={token}") for one in (server, outside)]
        statuses.append(answer(f"{outside}/api/kernelspecs"))
        return statuses == [200, 200, 403], f"lesson 00 {statuses[0]}, published {statuses[1]}, no token {statuses[2]}"
    finally:
        terminal.end()


def main(arguments: list[str]) -> int:
    if lacking():
        sys.exit(lacking())
    end = [*arguments, "--bind"].index("--bind")
    given = dict(argument.split("=", 1) for argument in arguments[:end])
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        build = Build(Path(folder) / "root", given, arguments[end + 1 :])
        for word, rest in parse((COURSE / "Containerfile").read_text(encoding="utf-8")):
            print(shlex.join([word]), rest, flush=True)
            try:
                build.step(word, rest)
            except RuntimeError as error:
                print(f"fails  {word} {rest}: {error}")
                return 1
        works, seen = try_command(build)
    print(f"{'works' if works else 'fails'}  {seen}")
    return int(not works)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
