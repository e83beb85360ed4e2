"""Whether the packages can be imported; if not, which module fails, where it lies, and what helps there."""

from __future__ import annotations

import json
import os
import signal
import site
import subprocess
import sys
import sysconfig
from pathlib import Path

from course_lib import COURSE
from course_lib.setup.checks import Fact

START = ("py" if os.name == "nt" else "python3") + " -m course_lib lab"

# Told as JSON, a line for each module: its name, the file that it is, and after an error what it is and which files
# had a part in it, the last first. What the modules print themselves goes to stderr.
CHILD = """
import importlib.util, json, os, sys, traceback
told = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
def file(module):
    try:
        return importlib.util.find_spec(module.partition(".")[0]).origin
    except (AttributeError, ValueError):
        return None
for name in sys.argv[1:]:
    print(json.dumps({"name": name, "file": file(name)}), file=told, flush=True)
    try:
        __import__(name)
    except Exception as error:
        files = [frame.filename for frame in reversed(traceback.extract_tb(error.__traceback__))]
        files = [file(getattr(error, "name", None) or ""), *files, file(name)]
        what = (type(error).__name__ + ": " + str(error).strip()).splitlines()[0]
        print(json.dumps({"name": name, "file": file(name), "error": what, "files": files}), file=told, flush=True)
        sys.exit(1)
"""


def imports_fact(modules: list[str], seconds: float = 180) -> Fact:
    """Imports modules in a process of their own and says which one ended it, why that may be, and what helps."""
    environ = dict(os.environ, MPLBACKEND="Agg", PYTHONFAULTHANDLER="")
    command = [sys.executable, "-c", CHILD, *modules]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=environ, timeout=seconds)
    except subprocess.TimeoutExpired:
        return "problem", "imports", f"took longer than {seconds:.0f} seconds: close other programs and try again"
    if done.returncode == 0:
        return "ok", "imports", f"{', '.join(modules)} can be imported"
    last = json.loads((done.stdout.splitlines() or ['{"name": "Python", "file": null}'])[-1])
    if "error" in last:
        files = [Path(file) for file in last["files"] if file and os.path.isabs(file)]
        stranger = next((file for file in files if not _of_this_python(file)), None)
        culprit = f"{last['name']} ({last['file']}): {last['error']}"
        return "problem", "imports", f"{culprit}: {_cure_for(stranger) if stranger else fresh()}"
    culprit = f"{last['name']} ({last['file']})" if last["file"] else last["name"]
    return "problem", "imports", f"{culprit} ends the process without an error message, {exit_reason(done.returncode)}"


def _of_this_python(file: Path) -> bool:
    """Whether a module belongs to this Python or to its packages."""
    paths = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    homes = {Path(path).resolve() for path in [*paths, *site.getsitepackages()]}
    return not homes.isdisjoint(file.resolve().parents)


def _cure_for(file: Path) -> str:
    """What helps where a module that comes from elsewhere fails, or hides the right one."""
    here, above = file.resolve(), file.resolve().parents
    if Path(site.getusersitepackages()).resolve() in above:
        return f"{here} is one of your own packages (pip install --user): set PYTHONNOUSERSITE=1, or uninstall it"
    if COURSE in above or Path.cwd() in above:
        return f"{here} is taken in the place of a package: rename it"
    named = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    if any(Path(entry).resolve() in above for entry in named):
        unset = "set PYTHONPATH=" if os.name == "nt" else "unset PYTHONPATH"
        return f"{here} comes from a folder that the variable PYTHONPATH names: run `{unset}`, or rename that file"
    return f"{here} does not belong to this Python: move it away or uninstall it"


def fresh() -> str:
    """How to get packages that fit each other, in the environment that this is."""
    prefix = Path(sys.prefix)
    if prefix.resolve() == (COURSE / ".venv").resolve():
        return f'make a fresh environment from one source: delete the folder .venv, then run "{START}"'
    if (prefix / "conda-meta").exists():
        return (
            f'make a fresh environment from one source: "conda env remove --prefix {prefix}", then '
            '"conda env create -f environment.yml" in the course folder'
        )
    install = f'"{sys.executable}" -m pip install --force-reinstall -r requirements.txt'
    return f"install the packages of this Python anew, from one source: {install}, in the course folder"


def exit_reason(code: int) -> str:
    """What an exit without a traceback means, and what to do about it."""
    names = {-number: number.name for number in signal.Signals}
    named = names.get(code, f"exit code {code & 0xFFFFFFFF:#x}")
    if named == "SIGKILL":
        return "the system stopped it, most likely for lack of memory: close other programs and try again"
    if named == "SIGILL" or code & 0xFFFFFFFF == 0xC000001D:
        return f"{named}, this processor is too old for this build: install an older torch that fits it"
    return f"{named}, as when libraries from two sources (conda and pip, two OpenMP) meet: {fresh()}"
