"""Makes the environment .venv with what a command needs, or finds that this Python has it all.

Three steps, each of which can be interrupted and begun again: the environment, the downloads, the unpacking.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from course_lib import COURSE
from course_lib.setup import machine
from course_lib.setup.faults import START, SetupError
from course_lib.setup.requirements import misplaced, project_dependencies, requirement_lines, split_requirement, unmet
from course_lib.setup.watching import run_step

VENV = COURSE / ".venv"
VENV_PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
SITE_PACKAGES = "Lib/site-packages" if os.name == "nt" else "lib/*/site-packages"
CPU_INDEX = "https://download.pytorch.org/whl/cpu"


@dataclass(frozen=True)
class Build:
    """A build of PyTorch: gigabytes of the environment that comes of it, and of what is downloaded for it."""

    name: str
    unpacked: float
    downloads: float

    @property
    def room(self) -> float:
        """What has to be free: pip keeps all downloads until it has unpacked them."""
        return round(self.unpacked + self.downloads + 0.2, 1)


SMALL = Build("small", 1.4, 0.4)  # without a library for graphics cards; on Windows and macOS the only one
LARGE = Build("usual", 6.2, 3.1)  # for Linux with a graphics card of NVIDIA


def requirement_files(command: str) -> list[Path]:
    """The requirement files that `command` ("lab" or "test") needs."""
    files = [COURSE / "requirements.txt"]
    return files + [COURSE / "tests" / "requirements.txt"] if command == "test" else files


def needed(command: str) -> list[str]:
    """The requirements that a Python has to satisfy to run `command`."""
    found = project_dependencies((COURSE / "pyproject.toml").read_text(encoding="utf-8"))
    for file in requirement_files(command)[1:]:
        found += requirement_lines(file.read_text(encoding="utf-8"))
    return found


def lacking(command: str) -> list[str]:
    """What this Python lacks for `command`, also where another module hides the one that is installed."""
    wanted = needed(command)
    return unmet(wanted) or misplaced(wanted)


def fingerprint(command: str) -> str:
    """What the mark of a complete .venv holds: it changes with the requirements and with the folder."""
    texts = [file.read_text(encoding="utf-8") for file in requirement_files(command)]
    return hashlib.sha256("\n".join([str(COURSE)] + needed(command) + texts).encode()).hexdigest()


def mark(command: str) -> Path:
    """The file in .venv that says, by its content, that everything for `command` is installed."""
    return VENV / ("complete-" + command)


def is_complete(command: str) -> bool:
    """Whether .venv was installed to the end, from the requirement files as they are now."""
    return mark(command).exists() and mark(command).read_text(encoding="utf-8") == fingerprint(command)


def environment(command: str, build: str = "") -> str:
    """The Python to run `command` with: this one if it has everything, else the one in .venv, made ready.

    `build` is "cpu" or "gpu" where the learner chose one of PyTorch's builds. Raises SetupError.
    """
    missing = lacking(command)
    if not missing:
        return sys.executable
    if is_complete(command):
        check_venv()
        if build:
            print(f"--{build} changes nothing: all is installed. For another build, delete the folder .venv first.")
    else:
        machine.check_platform()
        machine.check_writable(COURSE)
        print("Installing into .venv, since this Python lacks: " + ", ".join(missing))
        print("This is needed once and takes some minutes. If it is interrupted, start again.", flush=True)
        make_venv()
        check_pip()
        install(command, build)
    return str(VENV_PYTHON)


def pip_environ() -> dict[str, str]:
    """The environment variables for pip: the learner's, without what would let it install somewhere else."""
    elsewhere = ("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_DRY_RUN", "PIP_REPORT")
    kept = {key: value for key, value in _isolated().items() if key not in elsewhere}
    # Its downloads lie in .venv until they are unpacked: on many systems /tmp is a small disk in memory.
    ours = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", "PIP_USER": "0", "TMPDIR": str(_downloads())}
    return {**kept, **ours}


def check_pip() -> None:
    """SetupError where pip's configuration sends packages to another place, or its index does not answer."""
    command = [str(VENV_PYTHON), "-m", "pip", "config", "list"]
    told = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", env=pip_environ()).stdout
    setting = re.search(r"^((?:install|global)\.(?:target|prefix|root))=(.*)$", told, re.MULTILINE)
    if setting:
        raise SetupError(
            f"pip is set up to install into another folder, {setting[2]}. Take that away with "
            f"`{VENV_PYTHON} -m pip config unset {setting[1]}` and {START}"
        )
    with _downloading():
        # A small package, so that gigabytes are not begun where the last of them cannot be had.
        command = [str(VENV_PYTHON), "-m", "pip", "download", "--quiet", "--no-deps", "--retries=1", "--timeout=20"]
        command += [f"--dest={_downloads()}", f"anywidget=={_pins()['anywidget']}"]
        _step(command, "asking the package index", _moving("1/3 Environment, package index"))


def _isolated() -> dict[str, str]:
    """The environment variables without those that let a Python of our own take modules from elsewhere."""
    return {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}


def _downloads() -> Path:
    return VENV / "downloads"


@contextlib.contextmanager
def _downloading() -> Iterator[None]:
    """Makes the folder of downloads anew, and takes it away."""
    shutil.rmtree(_downloads(), ignore_errors=True)
    _downloads().mkdir(parents=True)
    try:
        yield
    finally:
        shutil.rmtree(_downloads(), ignore_errors=True)


def _step(command: list[str], doing: str, told=lambda line: "") -> None:
    run_step(command, doing, machine.state("installation.log"), pip_environ(), told)


def starts(python: Path, code: str) -> bool:
    """Whether a Python exists, starts and runs `code` without an error."""
    try:
        done = subprocess.run([str(python), "-c", code], stderr=subprocess.DEVNULL, env=_isolated())
        return done.returncode == 0
    except OSError:
        return False


def make_venv() -> None:
    """Makes .venv with a Python and pip; goes on with one whose making was interrupted."""
    if not os.path.lexists(VENV_PYTHON):
        if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
            raise SetupError(
                "this Python cannot make environments (no venv or ensurepip module). On Debian and Ubuntu: "
                "sudo apt install python3-venv; elsewhere install Python from python.org. Then start again"
            )
        _step([sys.executable, "-m", "venv", str(VENV)], "making the environment .venv", _moving("1/3 Environment"))
    check_venv()
    if not starts(VENV_PYTHON, "import pip"):
        command = [str(VENV_PYTHON), "-m", "ensurepip", "--upgrade", "--default-pip"]
        _step(command, "adding pip to .venv", _moving("1/3 Environment, pip"))


def check_venv() -> None:
    """SetupError where the Python in .venv does not start, or is too old."""
    try:
        code = "import sys; print(*sys.version_info[:2], sep='.')"
        done = subprocess.run([str(VENV_PYTHON), "-c", code], capture_output=True, text=True, env=_isolated())
        version = done.stdout.strip() if done.returncode == 0 else ""
    except PermissionError:
        raise SetupError(
            f"programs in {COURSE} may not be started, as on a disk that is mounted noexec. Copy the course to "
            f"another disk and {START} there"
        ) from None
    except OSError:
        version = ""
    if not re.fullmatch(r"\d+\.\d+", version):
        raise SetupError(
            "the environment .venv is broken: its Python does not start, as when the course was moved or that Python "
            "was removed. Delete the folder .venv and start again"
        )
    if tuple(map(int, version.split("."))) < (3, 10):
        raise SetupError(
            f"the environment .venv holds Python {version}, and 3.10 or newer is needed. Delete the folder .venv, or "
            f"rename it if it is yours, and {START} with a newer Python"
        )


def install(command: str, asked: str) -> None:
    """Installs what `command` needs into .venv; the marks are taken away first and written last."""
    for old in VENV.glob("complete-*"):
        old.unlink()
    # pip writes INSTALLER last, and takes a package that was cut short while unpacking for installed.
    for package in VENV.glob(SITE_PACKAGES + "/*.dist-info"):
        if not (package / "INSTALLER").exists():
            shutil.rmtree(package)
    with _downloading():
        build, wheels = _pytorch(asked)
        arguments = [str(VENV_PYTHON), "-m", "pip", "install", *map(str, wheels)]
        for file in requirement_files(command):
            arguments += ["-r", str(file)]
        if not machine.room_to_keep_downloads(COURSE, build.room, build.downloads):
            arguments.append("--no-cache-dir")
        _step(arguments, "installing the packages", Installing(build))
    for name in {"lab", command}:
        mark(name).write_text(fingerprint(name), encoding="utf-8")


def _pytorch(asked: str) -> tuple[Build, list[Path]]:
    """The build of PyTorch that will be installed, and its files where they come from an index of their own."""
    if any(VENV.glob(f"{SITE_PACKAGES}/torch-{_pins()['torch']}*.dist-info")):
        return Build("installed", 0.5, 0.3), []  # only the rest
    if sys.platform != "linux":
        if asked:
            print(f"--{asked} changes nothing here: on this system there is one build of PyTorch for pip.")
        machine.check_room(COURSE, SMALL.room)
        return SMALL, []
    if asked == "gpu" or not asked and machine.has_nvidia_card():
        smaller = ", or add --cpu for the small build of PyTorch without it"
        machine.check_room(COURSE, LARGE.room, smaller.replace("it", "a graphics card") if not asked else "")
        return LARGE, []
    machine.check_room(COURSE, SMALL.room)
    why = "as asked" if asked else "since no graphics card of NVIDIA was found; --gpu takes the usual one"
    print(f"PyTorch: the small build, {SMALL.unpacked} GB in all, {why}.", flush=True)
    try:
        return SMALL, _small_build()
    except SetupError as error:
        if asked:
            raise SetupError(
                f"the small build of PyTorch cannot be had from {CPU_INDEX} ({error}). Without --cpu the usual "
                f"build is taken from the package index, {LARGE.unpacked} GB"
            ) from error
        print(
            f"The small build cannot be had: {CPU_INDEX} does not give it. Taking the usual build, "
            f"{LARGE.unpacked} GB in all.",
            flush=True,
        )
        machine.check_room(COURSE, LARGE.room)
        return LARGE, []


def _pins() -> dict[str, str]:
    """The versions of packages that the course was tested with."""
    lines = map(split_requirement, requirement_lines((COURSE / "requirements.txt").read_text(encoding="utf-8")))
    return {name: pin.lstrip("=") for name, pin, applies in lines if applies}


def _small_build() -> list[Path]:
    """Downloads the small build of the pinned versions; SetupError where their index does not give it."""
    wanted = [f"{name}=={_pins()[name]}+cpu" for name in ("torch", "torchvision")]
    folder = _downloads() / "cpu"
    command = [str(VENV_PYTHON), "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--retries=1"]
    command += ["--timeout=20", f"--index-url={CPU_INDEX}", f"--dest={folder}", *wanted]
    _step(command, "asking for the small build", Installing(SMALL))
    return sorted(folder.glob("*.whl"))


def _moving(text: str):
    return lambda line: text


class Installing:
    """Tells how far pip is: gigabytes downloaded, then gigabytes unpacked, and the file that it is at."""

    def __init__(self, build: Build) -> None:
        self.build, self.file, self.unpacked = build, "", 0.0
        self.free: int | None = None  # bytes on the disk, as the unpacking begins

    def __call__(self, line: str) -> str:
        """The line to be shown after pip wrote this one."""
        loading = re.match(r"\s*(?:Downloading|Using cached) (?:\S+/)?([\w.]+-[\d.]+)\S*(?: \((.+?)\))?", line)
        if loading:
            self.file = ", " + " ".join(filter(None, loading.groups()))
        if line.startswith("Installing collected packages"):
            self.free = shutil.disk_usage(VENV).free
        if self.free is None:
            size = _size(_downloads()) / 1e9
            return f"2/3 Downloading about {self.build.downloads} GB: {size:.2f} GB{self.file}"
        # Other programs write and delete as well: never backwards, so that it moves for those who wait.
        self.unpacked = max(self.unpacked, (self.free - shutil.disk_usage(VENV).free) / 1e9)
        return f"3/3 Unpacking about {self.build.unpacked} GB: {self.unpacked:.2f} GB"


def _size(folder: Path) -> int:
    """Bytes of the files below a folder from which some may vanish meanwhile."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_size
    return total
