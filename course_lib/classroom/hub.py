"""What notebooks/teaching/jupyterhub_config.py asks for: the class list, and a place and a number for each learner."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from course_lib import COURSE
from course_lib.classroom.places import ClassError

FIRST_UID = 20_000  # user numbers of learners start here, above those of people and below those of containers
PROCESSES = 500  # threads of a learner: a server and a kernel have about 20 each
# Bytes that one kernel may take for itself: every lesson runs with it, as tests/tools/bench_memory.py shows.
KERNEL = 2 << 30
CGROUPS = Path("/sys/fs/cgroup")  # where Linux keeps its control groups

# Many learners share the processors, so that each kernel uses one. Tensors of a megabyte and more go back to the
# system when they are freed; smaller ones are kept for the next, since asking the system each time takes longer.
THRIFT = {
    "OMP_NUM_THREADS": "1",
    "MALLOC_MMAP_THRESHOLD_": str(1 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(8 << 20),
}


def class_list(path: Path) -> set[str]:
    """The names in a class list, one a line; ClassError where it is missing, empty, or a name will not do.

    Blank lines and what follows # are left out.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ClassError(f"{path} cannot be read ({error}): it has to hold a learner's name a line") from error
    found: set[str] = set()
    for number, line in enumerate(lines, 1):
        name = line.partition("#")[0].strip()
        if name and not re.fullmatch(r"[a-z][a-z0-9._-]{0,31}", name):
            raise ClassError(
                f"{path}, line {number}: {name!r} is no name to log in with. Use up to 32 characters out of a to z, "
                "0 to 9, dot, - and _, a letter first"
            )
        if name and name in found:
            raise ClassError(f"{path}, line {number}: {name} is there twice. Each learner needs a name of their own")
        found.add(name)
    found.discard("")
    if not found:
        raise ClassError(f"{path} holds no name: write a learner's name a line")
    return found


def check_server(folder: Path, memory: int | None) -> None:
    """ClassError where this computer cannot keep learners apart, or closes course or class `folder` to them.

    `memory` is what a learner may take as a whole, in bytes; None if only each kernel is limited.
    """
    if not sys.platform.startswith("linux"):
        raise ClassError("a hub for a class runs on Linux only: its learners are kept apart by means of Linux")
    if os.geteuid() != 0:
        raise ClassError("the hub has to be started by root, to give each learner a user number of their own: use sudo")
    lacking = [name for name in ("setpriv", "prlimit", "configurable-http-proxy") if not shutil.which(name)]
    if lacking:
        raise ClassError(
            f"not found on PATH: {', '.join(lacking)}. setpriv and prlimit come with util-linux, the proxy with "
            "npm install --global configurable-http-proxy"
        )
    code = "import os, sys, course_lib, jupyterhub; os.chdir(sys.argv[1])"
    test = [*as_learner(FIRST_UID, memory), sys.executable, "-c", code, str(folder)]
    tried = subprocess.run(test, cwd="/", env={"PYTHONPATH": str(COURSE)}, capture_output=True, text=True)
    if tried.returncode:
        raise ClassError(
            f"learners could not start {sys.executable}, read {COURSE} and reach {folder}. All three have to lie where "
            f"every user may go, such as /srv or /opt ({tried.stderr.strip().splitlines()[-1:]})"
        )


def as_learner(uid: int, memory: int | None) -> list[str]:
    """The start of a command that runs under a learner's number, without further rights, with limited memory.

    More than KERNEL bytes in one process raise MemoryError there. More than `memory` bytes in all processes of the
    learner end some, the largest first. ClassError where this computer cannot limit them together.
    """
    together = _joining(memory_group(uid, memory)) if memory else []
    rights = [f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--no-new-privs", "--bounding-set=-all"]
    return [*together, "prlimit", f"--data={KERNEL}", f"--nproc={PROCESSES}", "setpriv", *rights]


def _joining(group: Path) -> list[str]:
    """The start of a command that runs in a control group, with all that it starts."""
    return ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(group / "cgroup.procs")]


def memory_group(uid: int, memory: int) -> Path:
    """A learner's control group, whose processes together may take `memory` bytes; made at the first call."""
    try:
        if (CGROUPS / "cgroup.controllers").exists():  # version 2
            course, limit, swap = CGROUPS / "course", "memory.max", "memory.swap.max"
        else:
            own = re.search(r"^\d+:memory:/(.*)$", Path("/proc/self/cgroup").read_text(), re.MULTILINE)
            course = CGROUPS / "memory" / (own[1] if own else "") / "course"
            limit, swap = "memory.limit_in_bytes", "memory.swappiness"
        course.mkdir(exist_ok=True)
        for above in (CGROUPS, course):
            _set(above / "cgroup.subtree_control", "+memory", optional=True)
        group = course / str(uid)
        group.mkdir(exist_ok=True)
        _set(group / limit, memory)
        _set(group / swap, 0, optional=True)
    except OSError as error:
        raise ClassError(
            f"the memory of a learner as a whole cannot be limited here ({error}), as in many containers: run the hub "
            "on the server itself, or set c.Spawner.mem_limit = None, which limits each kernel alone"
        ) from error
    return group


def _set(path: Path, value: int | str, optional: bool = False) -> None:
    """Write into a file of a control group. Such files are there or not: none is made."""
    if path.exists() or not optional:
        with path.open("r+") as file:
            file.write(str(value))


def account(folder: Path, name: str) -> int:
    """The user number of a learner, made with home and record at the first call; ClassError for a foreign home.

    The owner of the home tells the number, so it stays the same while the home is there.
    """
    homes, progress = folder / "homes", folder / "progress"
    for place in (homes, progress):
        place.mkdir(exist_ok=True)
        place.chmod(0o711)  # learners get through to what is theirs, and see no list of the others
    home, record = homes / name, progress / f"{name}.jsonl"
    if not home.exists():
        _give(home, _free_uid(homes), 0o700, Path.mkdir)
    uid = home.stat().st_uid
    if uid < FIRST_UID:
        raise ClassError(f"{home} belongs to user {uid}, not to a learner: restore it with its owner, or move it away")
    if not record.exists():
        _give(record, uid, 0o600, Path.touch)
    return uid


def _give(path: Path, uid: int, mode: int, make) -> None:
    """Make a file or folder that only a learner can use. It gets its name last, when all of it is right."""
    new = path.with_name(f".{path.name}.new")
    make(new, mode=mode, exist_ok=True)
    os.chown(new, uid, uid)
    new.rename(path)


def _free_uid(homes: Path) -> int:
    """The next number that neither a home nor an account of the system has."""
    import pwd

    uid = max([FIRST_UID - 1, *(home.stat().st_uid for home in homes.iterdir())]) + 1
    while True:
        try:
            pwd.getpwuid(uid)
        except KeyError:
            return uid
        uid += 1


def server_command(folder: Path, name: str, memory: int | None) -> list[str]:
    """The command that starts a learner's server: it brings the copy of the lessons up to date first."""
    python = [sys.executable, "-m"]
    copies = [*python, "course_lib.setup.copies", str(COURSE / "notebooks"), "notebooks"]
    return [*as_learner(account(folder, name), memory), *copies, *python, "jupyterhub.singleuser"]
