"""What this computer is and has room for, looked at before anything is downloaded."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path

from course_lib import COURSE
from course_lib.setup.faults import START, SetupError

STATE = COURSE / ".lab"  # what the set-up and JupyterLab keep: logs, settings, the places of kernels
NEWEST = (3, 14)  # the newest Python for which there is a PyTorch
CONDA = "Use conda there: README.md says how, under “Other ways to run it”"


def check_platform() -> None:
    """SetupError where no build of PyTorch exists that could be installed here."""
    system, processor, version = platform.system(), platform.machine().lower(), sys.version_info[:2]
    if sys.maxsize < 2**32:
        problem = "this Python is a 32-bit one, and PyTorch needs 64 bits. Install a 64-bit Python from python.org"
    elif version > NEWEST:
        problem = (
            "there is no PyTorch for Python {}.{} yet. Install Python {}.{} or older".format(*version, *NEWEST)
            + f" (3.10 at least) and {START} with it"
        )
    elif system == "Darwin" and processor == "x86_64" and not _translated():
        problem = f"there is no PyTorch of today for Macs with an Intel processor. {CONDA}"
    elif system == "Darwin" and processor == "x86_64":
        problem = (
            "this Python is built for Intel, and your Mac is not. Install Python from python.org, "
            f"which fits it, and {START} with that"
        )
    elif system == "Darwin" and _macos() < 14:
        problem = f"the PyTorch of this course needs macOS 14, this is {platform.mac_ver()[0]}. {CONDA}"
    elif system == "Windows" and processor == "arm64":
        problem = (
            "there is no PyTorch for Windows on ARM. Install the Python for “Windows installer (64-bit)” from "
            f"python.org, which runs there as well, and {START} with it"
        )
    elif system == "Linux" and "musl" in (sysconfig.get_config_var("SOABI") or "") + str(
        sysconfig.get_config_var("HOST_GNU_TYPE")
    ):
        problem = (
            "there is no PyTorch for Alpine and other systems built on musl. Use a container of Debian or Ubuntu, "
            "such as the one that the file Containerfile describes"
        )
    else:
        return
    raise SetupError(problem)


def _macos() -> int:
    """The number of macOS's release; a large one where it is not told."""
    release = platform.mac_ver()[0].split(".")[0]
    return int(release) if release.isdigit() else 99


def _translated() -> bool:
    """Whether an Intel program runs on a Mac of another kind."""
    return "arm64" in platform.version().lower()


def has_nvidia_card() -> bool:
    """Whether there is a graphics card that the usual build of PyTorch for Linux can use."""
    return os.path.exists("/proc/driver/nvidia") or shutil.which("nvidia-smi") is not None


def state(name: str) -> Path:
    """The path of a file or folder in STATE, which is made; the address of a running JupyterLab stands there."""
    STATE.mkdir(mode=0o700, exist_ok=True)
    return STATE / name


def check_writable(folder: Path) -> None:
    """SetupError where nothing can be saved in the folder; trying tells more than permissions do."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise SetupError(
            f"nothing can be saved in {folder} ({error.strerror}), so your work would be lost. Copy the course to a "
            f"folder of your own and {START} there"
        ) from error


def check_room(folder: Path, gigabytes: float, smaller: str = "") -> None:
    """SetupError where the disk of the folder has less free."""
    free = shutil.disk_usage(folder).free / 1e9
    if free < gigabytes:
        raise SetupError(
            f"the disk has {free:.1f} GB free, and the installation needs {gigabytes:g} GB, part of it only while it "
            f"lasts. Free some space{smaller}, then {START}"
        )


def room_to_keep_downloads(folder: Path, gigabytes: float, downloads: float) -> bool:
    """Whether pip may also keep its downloads for another time, which it does in the home folder."""
    home = Path(os.environ.get("PIP_CACHE_DIR") or Path.home())
    try:
        same = home.stat().st_dev == folder.stat().st_dev
        return shutil.disk_usage(home).free / 1e9 > downloads + (gigabytes if same else 0)
    except OSError:
        return False  # there is no such home
