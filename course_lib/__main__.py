"""The course's commands, started in the course folder:

    python3 -m course_lib lab       installs what is missing, then opens JupyterLab at the first lesson
    python3 -m course_lib test      adds the test tools, then runs every check and test
    python3 -m course_lib doctor    says what works on this computer, what does not, and what to do
    python3 -m course_lib progress  shows what the record of your checks holds; with --delete, deletes it
    python3 -m course_lib refresh   runs the notebooks again and stores their outputs (for authors)
    python3 -m course_lib class     makes editions, slides and assignments, or an overview of a class (for teachers)

--cpu, on Linux: installs the CPU build of PyTorch, about 1.3 GB in all; the usual build takes 5.5 GB.
What else follows is passed on: after `lab` to JupyterLab (--no-browser, --port 8890), after `test` to
pytest, after `refresh` it names notebooks, after `class` what is wanted (class --help tells).
"""
# An old Python has to be able to read this file, to say which one is needed: syntax of 3.7, and
# no import of our own modules before the version is checked.
import hashlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from pathlib import Path

from course_lib import COURSE

OLDEST = (3, 10)
VENV = COURSE / ".venv"
VENV_PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
SITE_PACKAGES = "Lib/site-packages" if os.name == "nt" else "lib/*/site-packages"
COMMAND = ("py" if os.name == "nt" else "python3") + " -m course_lib"
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
FIRST_LESSON = "notebooks/00_start_here.ipynb"

# What pip and the system write, in lower case, and the line that it becomes.
FAULTS = (
    (
        ("no space left on device", "[errno 28]", "disk quota exceeded", "[winerror 112]"),
        "the disk is full. Free some space and start again; it goes on where it stopped",
    ),
    (
        ("connection broken", "newconnectionerror", "failed to establish a new connection", "max retries",
         "name resolution", "getaddrinfo failed", "network is unreachable", "connecttimeout",
         "read timed out", "proxyerror", "connection refused", "connection reset"),
        "no connection to the package index. Connect to the internet (or set a proxy) and start again",
    ),
    (
        ("permission denied", "[errno 13]", "read-only file system", "[errno 30]", "[winerror 5]"),
        "this folder may not be written to. Copy the course to a folder of your own and start again there",
    ),
    (
        ("no matching distribution", "requires-python", "requires a different python"),
        "no package was found that fits Python {python} on this system. Check the internet connection; if it "
        "works, install Python 3.11 or 3.12, delete the folder .venv and start again with that Python",
    ),
)  # fmt: skip


class SetupError(Exception):
    """What is wrong and what to do about it, in one line for the learner."""


def check_python(version=sys.version_info) -> None:
    """SetupError where this Python is too old for the course, or the course folder is not complete."""
    if tuple(version[:2]) < OLDEST:
        raise SetupError(
            "Python 3.10 or newer is needed, this is Python {}.{}. Install a newer one from python.org, then "
            "start again with it, for example: python3.12 -m course_lib lab".format(*version[:2])
        )
    if not (COURSE / "pyproject.toml").exists():
        raise SetupError(
            "the course folder is not here. Clone the course, change into its folder and start again"
        )


def requirement_files(command: str) -> list:
    """The requirement files that `command` ("lab" or "test") needs."""
    files = [COURSE / "requirements.txt"]
    return files + [COURSE / "tests" / "requirements.txt"] if command == "test" else files


def needed(command: str) -> list:
    """The requirements that a Python has to satisfy to run `command`."""
    from course_lib.requirements import project_dependencies, requirement_lines

    found = project_dependencies((COURSE / "pyproject.toml").read_text(encoding="utf-8"))
    for file in requirement_files(command)[1:]:
        found += requirement_lines(file.read_text(encoding="utf-8"))
    return found


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


def explain(text: str, doing: str) -> str:
    """One line that says what went wrong, out of what pip or the system wrote."""
    for signs, advice in FAULTS:
        if any(sign in text.lower() for sign in signs):
            return doing + " failed: " + advice.format(python="{}.{}".format(*sys.version_info[:2])) + "."
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.upper().startswith("ERROR")] or lines or ["no reason was given"]
    return f"{doing} failed: {errors[-1]} (if this stays, delete the folder .venv and start again)"


def run_step(command: list, doing: str) -> None:
    """Runs a step of the set-up and shows its output as it comes; SetupError if it fails."""
    last = deque(maxlen=60)
    environment = dict(os.environ, PIP_DISABLE_PIP_VERSION_CHECK="1")
    # Only the error stream is read: pip draws its progress bar on the other one, if that is a terminal.
    with subprocess.Popen(
        command, cwd=str(COURSE), env=environment, stderr=subprocess.PIPE, encoding="utf-8", errors="replace"
    ) as process:
        try:
            for line in process.stderr:
                sys.stderr.write(line)
                last.append(line)
        except BaseException:
            process.terminate()
            raise
    if process.returncode:
        raise SetupError(explain("".join(last), doing))


def starts(python, code: str) -> bool:
    """Whether a Python exists, starts and runs `code` without an error."""
    try:
        return subprocess.run([str(python), "-c", code], stderr=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False


def check_space(cpu: bool) -> None:
    """SetupError where the disk has too little room for a new environment."""
    gigabytes = 6 if sys.platform == "linux" and not cpu else 2
    free = shutil.disk_usage(str(COURSE)).free / 1e9
    if free < gigabytes:
        smaller = ", or add --cpu, which needs 2 GB" if gigabytes == 6 else ""
        raise SetupError(
            f"the disk has {free:.1f} GB free and the course needs about {gigabytes} GB. "
            f"Free some space{smaller}, then start again"
        )


def make_venv(cpu: bool) -> None:
    """Makes .venv with a Python and pip; goes on with one whose making was interrupted."""
    if not os.path.lexists(str(VENV_PYTHON)):
        if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
            raise SetupError(
                "this Python cannot make environments (no venv or ensurepip module). On Debian and Ubuntu: "
                "sudo apt install python3-venv; elsewhere install Python from python.org. Then start again"
            )
        check_space(cpu)
        run_step([sys.executable, "-m", "venv", str(VENV)], "making the environment .venv")
    check_venv()
    if not starts(VENV_PYTHON, "import pip"):
        run_step([str(VENV_PYTHON), "-m", "ensurepip", "--upgrade", "--default-pip"], "adding pip to .venv")


def check_venv() -> None:
    """SetupError where the Python in .venv does not start (the folder was moved, or its Python removed)."""
    if not starts(VENV_PYTHON, "import sys; sys.exit(sys.version_info < (3, 10))"):
        raise SetupError("the environment .venv is broken (its Python does not start). "
                         "Delete the folder .venv and start again")  # fmt: skip


def install(command: str, cpu: bool) -> None:
    """Installs what `command` needs into .venv; the marks are taken away first and written last."""
    for old in VENV.glob("complete-*"):
        old.unlink()
    # pip writes INSTALLER last, and takes a package that was cut short while unpacking for installed.
    for package in VENV.glob(SITE_PACKAGES + "/*.dist-info"):
        if not (package / "INSTALLER").exists():
            shutil.rmtree(str(package))
    arguments = [str(VENV_PYTHON), "-m", "pip", "install"]
    for file in requirement_files(command):
        arguments += ["-r", str(file)]
    if cpu and sys.platform == "linux":
        arguments += ["--extra-index-url", CPU_INDEX]
    elif cpu:
        print("--cpu changes nothing here: the usual build of PyTorch is the small one on this system.")
    run_step(arguments, "installing the packages")
    for name in {"lab", command}:
        mark(name).write_text(fingerprint(name), encoding="utf-8")


def environment(command: str, cpu: bool = False) -> str:
    """The Python to run `command` with: this one if it has everything, else the one in .venv, made ready."""
    from course_lib.requirements import unmet

    lacking = unmet(needed(command))
    if not lacking:
        return sys.executable
    if is_complete(command):
        check_venv()
    else:
        print("Installing into .venv, since this Python lacks: " + ", ".join(lacking), flush=True)
        print("This is needed once and takes some minutes. If it is interrupted, start again.", flush=True)
        make_venv(cpu)
        install(command, cpu)
    return str(VENV_PYTHON)


def course_environ(**more) -> dict:
    """The environment variables for a child: its Python finds course_lib, its JupyterLab labconfig/."""
    result = dict(os.environ, **more)
    for name in ("PYTHONPATH", "JUPYTER_CONFIG_PATH"):
        result[name] = os.pathsep.join([str(COURSE)] + ([result[name]] if result.get(name) else []))
    return result


def run(command: list, environ: dict) -> int:
    """Runs a program to its end and returns its exit code. Ctrl-C reaches it too: it ends as it wants to."""
    with subprocess.Popen(command, cwd=str(COURSE), env=environ) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue
            except BaseException:
                process.terminate()
                raise


def lab(arguments: list, cpu: bool) -> int:
    """Opens JupyterLab at the first lesson; the course folder is its root."""
    python = environment("lab", cpu)
    first = ["--ServerApp.root_dir=" + str(COURSE), "--LabApp.default_url=/lab/tree/" + FIRST_LESSON]
    return run([python, "-m", "jupyterlab"] + first + arguments, course_environ())


def test(arguments: list, cpu: bool) -> int:
    """Runs ruff and pytest, up to the first that fails. Paths among the arguments replace the usual ones."""
    python = environment("test", cpu)
    named = any((COURSE / a.split("::")[0]).exists() for a in arguments if not a.startswith("-"))
    folders = ["tests", "notebooks"]
    steps = {
        "ruff": ["check", "course_lib"] + folders,
        "pytest": ["-n", "2", "--dist", "loadfile"] + ([] if named else folders) + arguments,
    }
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        environ = course_environ(COURSE_PROGRESS=str(Path(folder) / "events.jsonl"), OMP_NUM_THREADS="1")
        environ.pop("MPLBACKEND", None)
        for name, options in steps.items():
            print("== " + name, flush=True)
            code = run([python, "-m", name] + options, environ)
            if code:
                reason = "no test ran" if name == "pytest" and code == 5 else f"exit code {code}"
                print(f"Failed: {name} ({reason}).", flush=True)
                return code
    print("Passed: {}, in {:.0f} s.".format(" and ".join(steps), time.monotonic() - start), flush=True)
    return 0


def refresh(arguments: list, cpu: bool) -> int:
    """Runs notebooks (all of them, or those named) in fresh kernels and stores their outputs."""
    python = environment("lab", cpu)
    code = "import sys; from course_lib.notebooks import main; sys.exit(main(sys.argv[1:]))"
    with tempfile.TemporaryDirectory() as folder:
        environ = course_environ(COURSE_PROGRESS=str(Path(folder) / "events.jsonl"))
        return run([python, "-c", code] + [os.path.abspath(a) for a in arguments], environ)


def classroom(arguments: list, cpu: bool) -> int:
    """What teachers need: course_lib/classroom/, in the folder where the command was given."""
    python = environment("lab", cpu)
    code = "import sys; from course_lib.classroom.commands import main; sys.exit(main(sys.argv[1:]))"
    with tempfile.TemporaryDirectory() as folder:
        environ = course_environ(COURSE_PROGRESS=str(Path(folder) / "events.jsonl"), COURSE_STARTED_IN=os.getcwd())
        return run([python, "-c", code] + arguments, environ)


def doctor(arguments: list, cpu: bool) -> int:
    """Reports on the environment that `lab` would use; installs nothing."""
    from course_lib.requirements import unmet

    ours = bool(unmet(needed("lab"))) and is_complete("lab")
    if ours:
        check_venv()
    return run([str(VENV_PYTHON) if ours else sys.executable, "-m", "course_lib.doctor"], course_environ())


def progress(arguments: list, cpu: bool) -> int:
    """Shows the learner's own record, or deletes it; needs no package."""
    from course_lib.progress import main as show_or_delete

    return show_or_delete(arguments)


COMMANDS = {
    "lab": lab,
    "test": test,
    "doctor": doctor,
    "progress": progress,
    "refresh": refresh,
    "class": classroom,
}


def main(arguments: list) -> int:
    """Runs one command; returns its exit code. A fault of the set-up is told in one line, exit code 1."""
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(__doc__)
        return 0 if arguments else 2
    name, rest = arguments[0], [a for a in arguments[1:] if a != "--cpu"]
    if name not in COMMANDS:
        print("There is no command {!r}: use one of {}.".format(name, ", ".join(COMMANDS)), file=sys.stderr)
        return 2
    try:
        check_python()
        return COMMANDS[name](rest, "--cpu" in arguments)
    except SetupError as error:
        print(f"\nThis did not work: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print("\nThis did not work: {}".format(explain(str(error), "the set-up")), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\nStopped. Start again to go on: {COMMAND} {name}", file=sys.stderr)
        return 130


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a path may hold letters that this terminal has not
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that JupyterLab ends with us
    sys.exit(main(sys.argv[1:]))
