"""The learner's own record of checks, hints and quiz answers: one line of JSON an event, append only."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from course_lib import COURSE, is_here
from course_lib.setup.printable import printable

_warned = False


def file() -> Path | None:
    """Where progress is kept: COURSE_PROGRESS, or .progress/events.jsonl in the course; None for "off".

    Where only the package is installed, the folder of the notebook takes the place of the course.
    """
    place = os.environ.get("COURSE_PROGRESS", "")
    if place.lower() == "off":
        return None
    return Path(place) if place else (COURSE if is_here() else Path.cwd()) / ".progress" / "events.jsonl"


def record(kind: str, name: str, **details: Any) -> None:
    """Append one event; where nothing can be written, say so once and go on."""
    path = file()
    if path is None:
        return
    event = {
        "time": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "kind": kind,
        "name": name,
        **details,
    }
    line = (json.dumps(event, ensure_ascii=False) + "\n").encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # one write to a file opened for appending: two notebooks at once do not mix their lines
        handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
        try:
            line = (b"" if _ends_whole(handle) else b"\n") + line
            if os.write(handle, line) < len(line):  # a disk that fills up takes a part without a word
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        finally:
            os.close(handle)
    except OSError as error:
        _warn_once(path, error)


def events(path: Path | None = None) -> Iterator[dict[str, Any]]:
    """Every event of the own record, or of another file, that can be read, oldest first.

    Torn and foreign lines are skipped and stay in the file.
    """
    path = path or file()
    try:
        lines = path.read_bytes().splitlines() if path else []
    except OSError:
        return
    for line in lines:
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict) and isinstance(event.get("kind"), str) and isinstance(event.get("name"), str):
            yield event


def solved() -> set[str]:
    """Names of the exercises that passed a check at least once."""
    return {event["name"] for event in events() if event["kind"] == "check" and event.get("passed") is True}


def tries() -> dict[str, int]:
    """How many checks each exercise had."""
    counted: dict[str, int] = {}
    for event in events():
        if event["kind"] == "check":
            counted[event["name"]] = counted.get(event["name"], 0) + 1
    return counted


def show() -> str:
    """Everything that the own record holds, a line for each event, and how to delete it."""
    path, lines = file(), [_line(event) for event in events()]
    if path is None:
        return "No progress is kept: COURSE_PROGRESS is off."
    if not path.exists():
        return f"No progress is kept yet. It will be in {printable(path)}"
    skipped = sum(map(bool, path.read_bytes().split(b"\n"))) - len(lines)
    unread = [f"and {skipped} that cannot be read"] if skipped else []
    how = "To delete it: progress.delete() in a notebook, or python3 -m course_lib progress --delete"
    return "\n".join([f"Your progress, {_count(lines)} in {printable(path)}", *lines, *unread, how])


def _line(event: dict[str, Any]) -> str:
    details = {key: value for key, value in event.items() if key not in ("time", "kind", "name")}
    found = ", ".join(f"{key} {value}" for key, value in details.items() if value is not None)
    return printable(f"{event.get('time', '')}  {event['kind']:8}  {event['name']}  {found}").rstrip()


def _count(found: list) -> str:
    return "1 event" if len(found) == 1 else f"{len(found)} events"


def delete() -> str:
    """Delete the own record, and say what was deleted; OSError where the file cannot be deleted."""
    path, count = file(), _count(list(events()))
    if path is None or not path.exists():
        return "There is no progress to delete."
    path.unlink()
    return f"Deleted: your progress, {count} in {printable(path)}"


def main(arguments: list[str]) -> int:
    """Show the own record, or with --delete delete it; 2 for anything else."""
    if arguments not in ([], ["--delete"]):
        print(f"expected nothing or --delete, got {printable(' '.join(arguments))}", file=sys.stderr)
        return 2
    print(delete() if arguments else show())
    return 0


def _ends_whole(handle: int) -> bool:
    """Whether the file is empty or ends with a line break: a kill in the middle of a write leaves a torn line."""
    size = os.lseek(handle, 0, os.SEEK_END)
    if size == 0:
        return True
    os.lseek(handle, size - 1, os.SEEK_SET)
    return os.read(handle, 1) == b"\n"


def _warn_once(path: Path, error: OSError) -> None:
    global _warned
    if not _warned:
        _warned = True
        print(
            f"Your progress cannot be kept: {printable(path)} is not writable ({error.strerror}). Everything else "
            "works; set COURSE_PROGRESS to a file elsewhere to keep it."
        )
