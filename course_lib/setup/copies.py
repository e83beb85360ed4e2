"""A learner's copy of the lessons: made, and brought up to date without touching the learner's own work.

    python -m course_lib.setup.copies LESSONS COPY COMMAND...      updates COPY, then runs COMMAND in its place

A hub runs it so, as the learner, so that it can write nowhere else. Standard library only.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from contextlib import suppress
from itertools import count
from pathlib import Path

from course_lib.setup.notebook_file import damage, parse

GIVEN = ".given.json"  # what each file of the copy was like when it was given
FILES = ("*.ipynb", "glossary.md")

Mark = dict[str, str]
"""A file that was given: "edition", the hash of its bytes, and "work", its `work`; each empty where it is not known.
If the learner had worked on the lesson itself, "taken" is the `work` that was copied from there."""


def update(lessons: Path, copy: Path) -> list[str]:
    """Add to `copy` the lessons that it lacks, and renew those that the learner left as they were.

    A file that the learner changed stays. One that was deleted comes back, which is how to get a fresh one. Returns
    what the learner should know, a line each. Nothing is raised where files cannot be read or written: a line says so.
    """
    if os.path.lexists(copy) and not copy.is_dir():
        return [f"{copy.name} is no folder, so that it cannot hold your lessons: rename it and start again."]
    updating = _Update(lessons, copy)
    for source in _files(lessons):
        updating.bring(source)
    updating.write_record()
    updating.tell_changed_lessons()
    return updating.lines


def work(name: str, content: bytes) -> str:
    """A hash of what people write in a file: of a notebook the types and texts of its cells, else every byte.

    What JupyterLab writes by itself does not count: outputs, metadata, ids, an empty cell at the end. An empty text
    for a file that is empty, and for a damaged notebook.
    """
    if not content or not name.endswith(".ipynb"):
        return _hash(content) if content else ""
    try:
        cells = [(cell["cell_type"], "".join(cell["source"]).rstrip()) for cell in parse(content)["cells"]]
    except ValueError:
        return ""
    while cells and not cells[-1][1]:
        cells.pop()
    return _hash(json.dumps(cells).encode())


class _Update:
    """One update of a copy: what was given before, what could not be written, what to tell."""

    def __init__(self, lessons: Path, copy: Path) -> None:
        self.lessons, self.copy = lessons, copy
        self.given, self.committed = _record(copy / GIVEN), _committed(lessons)
        self.before = json.dumps(self.given)
        self.failed: dict[str, OSError] = {}
        self.lines: list[str] = []

    def bring(self, source: Path) -> None:
        """Bring one file of the copy up to date, as far as the learner's work allows."""
        there, fault = _look(source)
        if fault:
            self.lines.append(damage(source, fault))
        edition = (self.committed or {}).get(source.name, there)
        new = {"edition": _hash(edition), "work": work(source.name, edition)}
        target = self.copy / source.name
        if not new["work"]:
            return  # it is damaged
        if self.committed is None and _was_edited(source, there):
            new = {"edition": "", "work": ""}  # perhaps it holds the learner's work, so it counts as no edition
        try:
            if not os.path.lexists(target):
                self._give(target, there, edition, new)
            elif new["work"]:
                self._keep_or_renew(target, edition, new)
        except OSError as error:
            self.failed[source.name] = error

    def _give(self, target: Path, there: bytes, edition: bytes, new: Mark) -> None:
        """Write a file that the copy lacks. The first time it holds what the learner did on the lesson itself."""
        content, worked = edition, work(target.name, there)
        if target.name not in self.given and worked not in ("", new["work"]):
            content, new["taken"] = there, worked
        _write(target, content)
        self.given[target.name] = {**self.given.get(target.name, {}), **new}

    def _keep_or_renew(self, target: Path, edition: bytes, new: Mark) -> None:
        """Renew a file that the learner left as it was given; keep another, and say what there is to know."""
        name, mark, (mine, fault) = target.name, self.given.get(target.name, {}), _look(target)
        worked = work(name, mine)
        as_given = bool(mark) and (_hash(mine) == mark["edition"] or worked == mark["work"] != "")
        alone = as_given and not target.is_symlink()
        if alone and mark["edition"] != new["edition"]:
            _write(target, edition)
        if alone or worked == new["work"]:
            self.given[name] = {**mark, **new}
        elif fault:
            self._tell_kept(name, f"cannot be used: {fault}. To get the lesson back")
        elif not mark:
            self.given[name] = {**new, "work": ""}
            self._tell_kept(name, "is not the lesson of this edition. To get that too")
        elif new["work"] != mark["work"] if mark["work"] else new["edition"] != mark["edition"]:
            self._tell_kept(name, "holds your work, and there is a newer edition. To get that too")

    def _tell_kept(self, name: str, what: str) -> None:
        free = self._free_name(name)
        self.lines.append(f"{self.copy.name}/{name} {what}, rename yours, for example to {free}, and start again.")

    def _free_name(self, name: str) -> str:
        """A name such as 04_mine.ipynb that nothing in the copy has."""
        stem = name.partition(".")[0].partition("_")[0] + "_mine"
        names = (f"{stem}{number if number > 1 else ''}{Path(name).suffix}" for number in count(1))
        return next(free for free in names if not os.path.lexists(self.copy / free))

    def write_record(self) -> None:
        """Write down what was given, where that is new; say in one line what could not be written, and why."""
        try:
            if json.dumps(self.given) != self.before:
                _write(self.copy / GIVEN, json.dumps(self.given, indent=1).encode())
        except OSError as error:
            self.failed[GIVEN] = error
        if self.failed:
            names = ", ".join(self.failed) if len(self.failed) < 4 else f"{len(self.failed)} files"
            what = f"{self.copy.name}/ is not up to date: {names} could not be written"
            cure = "Free some space on the disk, or see to it that you may write there, and start again."
            self.lines.append(f"{what} ({[*self.failed.values()][0].strerror}). {cure}")

    def tell_changed_lessons(self) -> None:
        """Lessons that were changed where they are make git refuse to pull: say how to restore them without a loss."""
        folder, copy, safe = self.lessons.name, self.copy.name, []
        changed = self.committed or {}
        for name in (source.name for source in _files(self.lessons) if source.name in changed):
            worked, mine = (work(name, _look(place / name)[0]) for place in (self.lessons, self.copy))
            if worked and worked in (mine, work(name, changed[name]), self.given.get(name, {}).get("taken")):
                safe.append(f"{folder}/{name}")
            elif worked:
                saving = f"Copy it there, for example as {self._free_name(name)}"
                restoring = f"then restore the lesson: git checkout HEAD -- {folder}/{name}"
                self.lines.append(f"{folder}/{name} holds work that {copy}/ has not. {saving}, {restoring}")
        if safe:
            what = f"{folder}/ was changed, which can keep git pull from working; your work is in {copy}/ too"
            places = folder if len(safe) == len(changed) else " ".join(safe)
            self.lines.append(f"{what}. To restore the lessons: git checkout HEAD -- {places}")


def _files(lessons: Path) -> list[Path]:
    found = (path for pattern in FILES for path in lessons.glob(pattern))
    return sorted(path for path in found if not path.name.startswith("."))  # as JupyterLab's own while it saves


def _look(path: Path) -> tuple[bytes, str]:
    """The bytes of a file, and what is wrong with it or an empty text."""
    try:
        if path.exists() and not path.is_file():
            return b"", "it is no file"
        content = path.read_bytes()
        if path.suffix == ".ipynb":
            parse(content)
    except OSError as error:
        return b"", f"it cannot be read ({error.strerror})"
    except ValueError as error:
        return content, str(error)
    return content, ""


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _record(path: Path) -> dict[str, Mark]:
    """The marks of the files that were given, by name; none where the record is missing or makes no sense."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    # At first a mark was the hash alone.
    given = found.items() if isinstance(found, dict) else ()
    marks = {name: {"edition": mark, "work": ""} if isinstance(mark, str) else mark for name, mark in given}
    return {name: mark for name, mark in marks.items() if _is_mark(mark)}


def _is_mark(mark: object) -> bool:
    if not isinstance(mark, dict):
        return False
    return {"edition", "work"} <= set(mark) and all(isinstance(value, str) for value in mark.values())


def _committed(lessons: Path) -> dict[str, bytes] | None:
    """The files of `lessons` that differ from the last commit, as they are there; None where git cannot tell.

    Only who may write there can have changed them.
    """

    def git(*arguments: str) -> bytes:
        environ = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
        command = ["git", *arguments]
        return subprocess.run(command, cwd=lessons, env=environ, check=True, capture_output=True, timeout=60).stdout

    if not (lessons.parent / ".git").exists() or not os.access(lessons, os.W_OK):
        return None
    try:
        # Neither what was added nor what is gone: only files that are at both places.
        names = git("diff", "--name-only", "--relative", "--diff-filter=ad", "-z", "HEAD", "--", ".").decode()
        return {name: git("show", f"HEAD:./{name}") for name in names.split("\0") if name}
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def _was_edited(source: Path, content: bytes) -> bool:
    """Whether somebody saved a lesson: editors write the version of Python into it, and editions have none."""
    if source.suffix != ".ipynb" or not os.access(source, os.W_OK):
        return False
    metadata = parse(content).get("metadata")
    language = metadata.get("language_info") if isinstance(metadata, dict) else None
    return isinstance(language, dict) and "version" in language


def _write(target: Path, content: bytes) -> None:
    """Write a file as a whole or, where the disk is full, not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    new = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        new.write_bytes(content)
        new.replace(target)
    finally:
        with suppress(OSError):
            new.unlink()


def main(lessons: str, copy: str, *command: str) -> None:
    """Update the copy and become the command. Without room for new lessons the learner still gets at the old."""
    for line in update(Path(lessons), Path(copy)):
        print(line, file=sys.stderr, flush=True)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
