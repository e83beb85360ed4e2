"""What works on this computer and what does not: one line a fact, with the cure where there is a problem.

`python3 -m course_lib doctor` prints it, lesson 00 shows it in a cell. Standard library only at import, and
what could kill the process is tried in another one.
"""

import platform
import shutil
import socket
import sys
from importlib import metadata
from pathlib import Path

from course_lib import COURSE, __version__, is_here, progress
from course_lib.setup.checks import Fact
from course_lib.setup.checks.files import files, names
from course_lib.setup.checks.imports import START, imports_fact
from course_lib.setup.checks.settings import own_settings
from course_lib.setup.faults import SetupError
from course_lib.setup.machine import check_platform
from course_lib.setup.printable import printable
from course_lib.setup.requirements import installed_version, project_dependencies, satisfies, split_requirement

_INSTALL = f'run "{START}" in the course folder, or "pip install -r requirements.txt"'
_DISTRIBUTION = "words-and-pictures-as-vectors"
_ONLY_FOR = {"jupyterlab": "to serve the notebooks from here"}


def report() -> str:
    """The report as text, one line a fact; the last line sums it up. Takes some seconds: it tries imports."""
    facts = [*names(), *_python(), *_packages(), *filter(None, [_pair(), _widgets(), _imports(), _course()])]
    facts += [*filter(None, [_other_copy()]), *files(progress.file()), *_data(), *own_settings()]
    facts += [*filter(None, [_network()]), _memory(), _disk()]
    problems = sum(state == "problem" for state, _, _ in facts)
    if problems:
        count = "one problem" if problems == 1 else f"{problems} problems"
        facts.append(("problem", "in sum", f"{count}: mend the uppermost first, then look again"))
    else:
        facts.append(("ok", "in sum", "the course can run here"))
    return "\n".join(f"{state:<8} {name:<12} {printable(text)}" for state, name, text in facts)


def main() -> int:
    """Prints the report; exit code 1 if there is a problem."""
    text = report()
    print(text)
    return int(text.splitlines()[-1].startswith("problem"))


def _python() -> list[Fact]:
    version = platform.python_version()
    text = f"{version}, {platform.system()} {platform.machine()}, environment {Path(sys.prefix).name}"
    if not satisfies(version, ">=3.10"):
        return [("problem", "Python", f"{text}: install Python 3.10 or newer and start again with it")]
    try:
        if not installed_version("torch"):
            check_platform()
    except SetupError as error:
        return [("problem", "Python", f"{text}: {error}")]
    return [("ok", "Python", text)]


def _packages() -> list[Fact]:
    if is_here():
        needed = project_dependencies((COURSE / "pyproject.toml").read_text(encoding="utf-8"))
    else:
        needed = [line for line in metadata.requires(_DISTRIBUTION) or [] if "extra ==" not in line]
    split = map(split_requirement, needed)
    return [package_fact(name, specifier, installed_version(name)) for name, specifier, _ in split]


def package_fact(name: str, specifier: str, version: "str | None") -> Fact:
    """The line of one package; a missing one is only a note where lessons run without it."""
    if version is None and name in _ONLY_FOR:
        return "note", name, f"not installed, needed only {_ONLY_FOR[name]}: {_INSTALL}"
    if version is None:
        return "problem", name, f"not installed: {_INSTALL}"
    if satisfies(version, specifier):
        return "ok", name, version
    if name == "ipywidgets" and not _in_jupyterlab() and satisfies(version, ">=7.6"):
        return "note", name, f"{version} in place of {specifier}: it may stay, without JupyterLab it fits what shows it"
    return "problem", name, f"{version} does not fit, the course needs {specifier}: {_INSTALL}"


def _in_jupyterlab() -> bool:
    """Whether JupyterLab shows the notebooks: Colab brings its own half of a slider, and anywidget the explorers."""
    return "google.colab" not in sys.modules and installed_version("jupyterlab") is not None


def _pair() -> "Fact | None":
    torch, torchvision = installed_version("torch"), installed_version("torchvision")
    if torch and torchvision:
        return pair_fact(torch, torchvision, metadata.requires("torchvision") or [])
    return None


def pair_fact(torch: str, torchvision: str, requires: list[str]) -> Fact:
    """Whether torch and torchvision come from the same release, by what torchvision says it needs."""
    for requirement in requires:
        name, needs, _ = split_requirement(requirement.partition(";")[0])
        if name == "torch" and not satisfies(torch, needs):
            text = f"torchvision {torchvision} needs torch{needs}, but torch {torch} is installed"
            cure = "reinstall both together, pip install --upgrade torch torchvision"
            return "problem", "torch pair", f"{text}: {cure}"
    return "ok", "torch pair", "torch and torchvision fit each other"


def _widgets() -> "Fact | None":
    ipywidgets = installed_version("ipywidgets")
    if ipywidgets is None or not _in_jupyterlab():
        return None
    return widgets_fact(ipywidgets, installed_version("jupyterlab_widgets"))


def widgets_fact(ipywidgets: str, jupyterlab_widgets: "str | None") -> Fact:
    """Whether both halves of a slider fit: ipywidgets 8 in the kernel, jupyterlab_widgets 3 in JupyterLab."""
    text = f"ipywidgets {ipywidgets} with jupyterlab_widgets {jupyterlab_widgets or '(not installed)'}"
    if jupyterlab_widgets and satisfies(ipywidgets, "==8.*") and satisfies(jupyterlab_widgets, "==3.*"):
        return "ok", "widgets", text
    cure = 'pip install "ipywidgets>=8.1,<9" "jupyterlab_widgets>=3,<4", restart JupyterLab, reload the page'
    return "problem", "widgets", f"{text}: sliders stay away, both halves have to fit: {cure}"


def _course() -> Fact:
    if is_here():
        return "ok", "course", __version__
    text = "course_lib was installed as a package, without the lessons: clone the course, or download it, to have them"
    return "note", "no lessons", f"{text} (version {__version__})"


def _other_copy() -> "Fact | None":
    here = Path.cwd()
    for folder in (here, here.parent):
        if (folder / "course_lib" / "doctor.py").exists() and folder.resolve() != COURSE:
            text = "this notebook belongs to another copy of the course than the course_lib that it uses: "
            return "note", "two copies", text + "start JupyterLab from the folder of this notebook"
    return None


def _imports() -> "Fact | None":
    names = ("torch", "torchvision", "matplotlib", "anywidget")
    modules = [name.replace("matplotlib", "matplotlib.pyplot") for name in names if installed_version(name)]
    return imports_fact(modules) if modules else None


def _data() -> list[Fact]:
    try:
        from course_lib.data import verify
    except ImportError as error:
        return [("note", "data", f"not checked ({error})")]
    results = verify()
    faults = [("problem", "data", problem) for _, problem in results if problem]
    return faults or [("ok", "data", f"{len(results)} files are there and unchanged")]


def _network() -> "Fact | None":
    """Whether programs on this computer reach each other, as a page its notebook and that its Python."""
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            socket.create_connection(server.getsockname(), timeout=5).close()
    except OSError as error:
        text = f"programs here cannot reach each other at 127.0.0.1 ({error.strerror or error})"
        return "problem", "network", f"{text}: let your firewall or VPN allow that, then start again"
    return None


def _memory() -> Fact:
    try:
        import psutil  # comes with JupyterLab's kernel
    except ImportError:
        return "note", "memory", "free memory is not known here; a lesson needs about 1 GB"
    return memory_fact(psutil.virtual_memory().available / 1e9)


def memory_fact(gigabytes: float) -> Fact:
    """The line about free memory: a kernel with all that the course imports takes about 0.75 GB."""
    if gigabytes < 1:
        return "problem", "memory", f"{gigabytes:.1f} GB free, a lesson needs 1 GB: close other programs"
    return "ok", "memory", f"{gigabytes:.1f} GB free"


def _disk() -> Fact:
    gigabytes = shutil.disk_usage(COURSE).free / 1e9
    if gigabytes < 0.2:
        return "problem", "disk", f"{gigabytes:.1f} GB free, notebooks may not be saved: free some space"
    return "ok", "disk", f"{gigabytes:.1f} GB free"


if __name__ == "__main__":
    sys.exit(main())
