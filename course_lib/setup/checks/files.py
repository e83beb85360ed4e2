"""Whether the files of the course are whole, none hides a library, and what the learner does can be saved."""

from __future__ import annotations

import ast
import errno
import os
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from course_lib import COURSE, is_here
from course_lib.setup import shadows
from course_lib.setup.checks import Fact
from course_lib.setup.faults import explain
from course_lib.setup.machine import STATE
from course_lib.setup.notebook_file import damage, parse

LESSONS, COPIES, LIBRARY = COURSE / "notebooks", COURSE / "my_lessons", COURSE / "course_lib"
CHECKPOINTS = ".ipynb_checkpoints"
ENOUGH = 100_000  # bytes: some disks that are full still take an empty file


def in_notebook() -> bool:
    """Whether the report is made in a cell: then the current folder is that of the learner's notebook."""
    return "IPython" in sys.modules and sys.modules["IPython"].get_ipython() is not None


def names() -> list[Fact]:
    """A line on the learner's files that are imported in the place of a library."""
    course = [COURSE] if is_here() else []  # else it is the folder of all packages
    found = [path for folder in [*course, *_lessons()] for path in shadows.find(str(folder))]
    return [("problem", "names", shadows.told([_short(path) for path in found]))] if found else []


def files(record: Path | None) -> list[Fact]:
    """A line on each file that is damaged and each that cannot be saved; without one, what was looked at.

    `record` is where progress is kept, if it is.
    """
    damaged = [*damaged_notebooks(_lessons()), *damaged_modules(LIBRARY)]
    unsaved = saving(record)
    whole = [] if damaged else [("ok", "files", "the lessons and course_lib can be read")]
    return [*damaged, *whole, *(unsaved or [("ok", "saving", "your work can be saved")])]


def _lessons() -> list[Path]:
    """The folders in which learners have notebooks."""
    here = [Path.cwd()] if in_notebook() else []
    return list(dict.fromkeys([LESSONS, COPIES, *here]))


def damaged_notebooks(folders: list[Path]) -> list[Fact]:
    """Notebooks that JupyterLab cannot open, as after a merge or on a disk that was full."""
    found = []
    for path in (path for folder in folders for path in sorted(folder.glob("*.ipynb"))):
        try:
            parse(path.read_bytes())
        except OSError as error:
            found.append(_refused(path, error, "reading"))
        except ValueError as error:
            found.append(damage(path, str(error)) if path.parent == LESSONS else _damaged_copy(path, str(error)))
    return [("problem", "files", text) for text in found]


def _damaged_copy(path: Path, what: str) -> str:
    """The same for the learner's own: nothing of it is lost, and a fresh copy comes by itself."""
    state = path.parent / CHECKPOINTS / f"{path.stem}-checkpoint.ipynb"
    older = f"; an older state of it is {_short(state)}" if state.exists() else ""
    fresh = " and start again, to get a fresh copy" if (LESSONS / path.name).exists() else ""
    return f"{_short(path)} is damaged: {what}. Rename it{fresh}{older}"


def damaged_modules(folder: Path) -> list[Fact]:
    """Parts of the course's library that Python cannot read, as after a merge."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        try:
            ast.parse(path.read_bytes())
        except (OSError, SyntaxError, ValueError) as error:
            cure = f"run `git checkout HEAD -- {_short(path)}` in the course folder, or fetch the course again"
            found.append(("problem", "files", f"{_short(path)} is damaged: {error}. To restore it, {cure}"))
    return found


def saving(record: Path | None) -> list[Fact]:
    """What cannot be saved where the learner works: a line for each place, by trying."""
    if in_notebook() or not is_here():
        lessons, rest = Path.cwd(), []
    else:
        lessons, rest = COPIES if COPIES.exists() else LESSONS, [*cannot_write(COURSE), *_each_cannot_write(STATE)]
    faults = [*rest, *cannot_write(lessons), *_each_cannot_write(lessons / CHECKPOINTS)]
    faults += [fault for path in sorted(lessons.glob("*.ipynb")) for fault in cannot_write(path)]
    lines = [_refused(path, error, "saving") for path, error in faults[:3]]
    if len(faults) > 3:
        lines.append(f"saving in {len(faults) - 3} more places fails")
    for place, error in cannot_write(record) if record else ():
        elsewhere = "or set COURSE_PROGRESS to a file elsewhere"
        lines.append(f"{_refused(place, error, 'keeping your progress in').rstrip('.')}, {elsewhere}")
    return [("problem", "saving", line) for line in lines]


def cannot_write(path: Path) -> list[tuple[Path, OSError]]:
    """A file or folder with the reason if it cannot be written, or made where it is missing; otherwise nothing.

    It is tried, with a file that goes away again: permissions do not tell of disks that are full or read-only.
    """
    try:
        if path.is_file():
            path.open("r+b").close()
        else:
            folder = next(place for place in (path, *path.absolute().parents) if os.path.lexists(place))
            with tempfile.NamedTemporaryFile(dir=folder, prefix=".can_save_") as file:
                file.write(bytes(ENOUGH))
                file.flush()
    except OSError as error:
        return [(path, error)]
    return []


def _each_cannot_write(folder: Path) -> Iterator[tuple[Path, OSError]]:
    """The same for a folder, if there is one, and all that is in it."""
    if folder.is_dir():
        yield from cannot_write(folder)
        inside = (Path(place) / name for place, folders, names in os.walk(folder) for name in [*folders, *names])
        for path in inside:
            if path.is_file() or path.is_dir():
                yield from cannot_write(path)


def _refused(path: Path, error: OSError, doing: str) -> str:
    """One line on a file or folder that the system does not let us use, with what helps."""
    doing = f"{doing} {_short(path)}"
    if error.errno in (errno.EACCES, errno.EPERM) and path.exists() and _is_mine(path):
        right = "take away its property “read-only”"
        cure = right if os.name == "nt" else f"run `chmod -R u+rwX {shlex.quote(str(path))}`"
        return f"{doing} fails, it may only be read: {cure}"
    return explain(f"[errno {error.errno}] {error.strerror}", doing)


def _is_mine(path: Path) -> bool:
    return os.name == "nt" or path.stat().st_uid == os.geteuid()


def _short(path: Path | str) -> str:
    """A path as it is seen from the course folder."""
    path = Path(path)
    return str(path.relative_to(COURSE) if COURSE in path.parents else path)
