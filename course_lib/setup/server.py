"""Starts JupyterLab for the lessons, and tells in three lines where it is, how to stop it and how to come back."""

from __future__ import annotations

import difflib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from course_lib import COURSE
from course_lib.setup import machine
from course_lib.setup.faults import SetupError, ending, reason

COMMAND = ("py" if os.name == "nt" else "python3") + " -m course_lib"
# Everything lies in the course folder. So it works where the home folder cannot be written, and a configuration
# of the learner's own, with a password or a package that .venv lacks, does not reach it.
PLACES = {
    "JUPYTER_CONFIG_DIR": "config",
    "JUPYTER_DATA_DIR": "data",
    "JUPYTER_RUNTIME_DIR": "runtime",
    "IPYTHONDIR": "ipython",
    "MPLCONFIGDIR": "matplotlib",
}
OPTIONS = ("--no-browser", "--browser", "--port", "--ip", "--allow-root", "--debug", "--config", "--certfile",
           "--keyfile", "--log-level", "--help", "--help-all", "--version", "--cpu", "--gpu", "--author",
           "--dev-mode", "--expose-app-in-browser", "--generate-config", "--notebook-dir", "--preferred-dir",
           "--autoreload", "--show-config", "--gateway-url")  # fmt: skip


def check_options(arguments: list[str]) -> None:
    """SetupError for an option that looks like a slip of the pen; JupyterLab knows more than those listed."""
    for argument in arguments:
        name = argument.split("=")[0]
        near = difflib.get_close_matches(name, OPTIONS, 1, cutoff=0.8)
        if name.startswith("--") and "." not in name and name not in OPTIONS and near:
            raise SetupError(f"there is no option {name}: use {near[0]}")


def environ(python: str, **more: str) -> dict[str, str]:
    """The environment variables for a child: its Python finds course_lib, its JupyterLab what labconfig/ holds.

    What PYTHONPATH names is for the learner's own Python; modules there could hide those of .venv.
    """
    result = {**os.environ, "JUPYTER_PREFER_ENV_PATH": "1", **more}
    if python != sys.executable:
        result.pop("PYTHONHOME", None)
        result.pop("PYTHONPATH", None)
    places = {"PYTHONPATH": COURSE, "JUPYTER_CONFIG_PATH": COURSE, "JUPYTER_PATH": COURSE / "labconfig"}
    for name, place in places.items():
        result[name] = os.pathsep.join(filter(None, [str(place), result.get(name)]))
    encoding, _, errors = result.get("PYTHONIOENCODING", "").partition(":")
    result["PYTHONIOENCODING"] = f"{encoding}:{errors or 'replace'}"  # a letter that a terminal lacks ends nothing
    return result


def start(python: str, page: str, arguments: list[str]) -> int:
    """Opens JupyterLab at a page, such as "my_lessons/00_start_here.ipynb"; returns its exit code when it ends."""
    places = {name: str(machine.state(folder)) for name, folder in PLACES.items()}
    for folder in places.values():
        Path(folder).mkdir(exist_ok=True)
    command = [python, "-m", "jupyterlab", f"--ServerApp.root_dir={COURSE}", f"--LabApp.default_url=/lab/tree/{page}"]
    if not any(argument.startswith(("--ip", "--ServerApp.ip")) for argument in arguments):
        command.append("--ServerApp.ip=127.0.0.1")  # also where the name localhost is not known
    if os.name != "nt" and os.geteuid() == 0:
        command.append("--allow-root")
        print("You are root. JupyterLab starts all the same; it opens to the token in its address only.")
    print("Starting JupyterLab.", flush=True)
    log = machine.state("jupyterlab.log")
    with log.open("wb") as file:
        # In a session of its own it is not reached by Ctrl-C, at which it would leave its kernels behind.
        process = subprocess.Popen(
            [*command, *arguments], cwd=COURSE, env=environ(python, **places), stdin=subprocess.DEVNULL, stdout=file,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    address = ""
    try:
        address = _address(process, machine.state("runtime"), page)
        if address:
            print(f"It runs, and writes what it does to {log.relative_to(COURSE)}.\n")
            print(f"  Lessons       {address}")
            print("  To stop       save your notebooks, then press Ctrl-C here")
            print(f"  To come back  {COMMAND} lab\n", flush=True)
        code = process.wait()
    except BaseException as error:
        code = _stop(process)
        if not isinstance(error, KeyboardInterrupt):
            raise
        print("\nJupyterLab has stopped.")
        return code
    if not address:
        _tell_why(log.read_text(encoding="utf-8", errors="replace"), code, log)
    return code


def _stop(process: subprocess.Popen) -> int:
    """Ends JupyterLab and with it its kernels; returns its exit code."""
    if os.name != "nt":
        process.terminate()  # it takes this for a wish; on Windows it would die at once, and Ctrl-C reached it
    try:
        return process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def run(command: list[str], variables: dict[str, str]) -> int:
    """Runs a program to its end and returns its exit code."""
    process = subprocess.Popen(command, cwd=COURSE, env=variables)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # it reaches the program too, which ends as it wants to
    try:
        return process.wait()
    except BaseException:
        process.terminate()
        process.wait()
        raise
    finally:
        signal.signal(signal.SIGINT, before)


def _address(process: subprocess.Popen, runtime: Path, page: str) -> str:
    """Where the page is, once the server says so; an empty text where it ended first."""
    begin = time.time() - 2
    while process.poll() is None:
        for file in runtime.glob("jpserver-*.json"):
            # On Windows the process that we started is one that starts Python.
            if file.name == f"jpserver-{process.pid}.json" or os.name == "nt" and file.stat().st_mtime > begin:
                try:
                    server = json.loads(file.read_text(encoding="utf-8"))
                    return f"{server['url']}lab/tree/{page}" + (f"?token={server['token']}" if server["token"] else "")
                except (ValueError, KeyError, OSError):
                    pass  # it is being written
        time.sleep(0.1)
    return ""


def _tell_why(log: str, code: int, path: Path) -> None:
    """What a JupyterLab that did not start has written; SetupError if that was not what was asked for."""
    if code == 0:
        print(log)
        return
    missing, said = re.search(r"No module named '?([\w.]+)", log), ending(log, path)
    if missing:
        raise SetupError(
            f"JupyterLab did not start: something asks for the package {missing[1]}, which is not there. If the file "
            "named above is yours, take that out of it; `python3 -m course_lib doctor` tells more",
            said,
        )
    raise SetupError(f"JupyterLab did not start: {reason(log)}", said)
