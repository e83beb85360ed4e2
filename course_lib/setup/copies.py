"""A learner's copy of the lessons: made, and brought up to date without touching the learner's own work.

    python -m course_lib.setup.copies LESSONS COPY COMMAND...      updates COPY, then runs COMMAND in its place

It runs as the learner, so that it can write nowhere else.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path

GIVEN = ".given.json"  # what each file of the copy was like when it was given
FILES = ("*.ipynb", "glossary.md")


def update(lessons: Path, copy: Path) -> None:
    """Add to `copy` the lessons that it lacks, and renew those that changed and the learner left as they were.

    A file that the learner changed stays. One that was deleted comes back, which is how to get a fresh one.
    Raises OSError where the copy cannot be written.
    """
    record = copy / GIVEN
    given = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    for source in sorted(path for pattern in FILES for path in lessons.glob(pattern)):
        name = source.relative_to(lessons).as_posix()
        target, content = copy / name, source.read_bytes()
        if target.exists() and _mark(target.read_bytes()) != given.get(name):
            continue
        given[name] = _mark(content)
        _write(target, content)
    _write(record, json.dumps(given, indent=1).encode())


def _mark(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _write(target: Path, content: bytes) -> None:
    """Write a file as a whole or, where the disk is full, not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    new = target.with_name(f".{target.name}.new")
    new.write_bytes(content)
    new.replace(target)


def main(lessons: str, copy: str, *command: str) -> None:
    """Update the copy and become the command. Without room for new lessons the learner still gets at the old."""
    try:
        update(Path(lessons), Path(copy))
    except (OSError, ValueError) as error:
        print(f"The lessons in {copy} are not up to date: {error}", file=sys.stderr, flush=True)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
