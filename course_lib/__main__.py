"""The course's commands, started in the course folder, the one that holds README.md:

    python3 -m course_lib lab       installs what is missing, then opens JupyterLab at your copy of the first lesson
    python3 -m course_lib test      adds the test tools, then runs every check and test
    python3 -m course_lib doctor    says what works on this computer, what does not, and what to do
    python3 -m course_lib progress  shows what the record of your checks holds; with --delete, deletes it
    python3 -m course_lib refresh   runs the notebooks again and stores their outputs (for authors)
    python3 -m course_lib class     makes editions, slides and assignments, or an overview of a class (for teachers)

Your copies of the lessons are in my_lessons/. A new edition renews those that you did not change.
--author, after `lab`: opens the lessons themselves, in notebooks/, to change the course.
On Linux, where no graphics card of NVIDIA is found, the small build of PyTorch is installed. --gpu takes the
usual one all the same, --cpu the small one in any case.
What else follows is passed on: after `lab` to JupyterLab (--no-browser, --port 8890), after `test` to
pytest, after `refresh` it names notebooks, after `class` what is wanted (class --help tells).
--version, in place of a command, tells which version of the course this is.
"""

# An old Python has to be able to read this file, to say which one is needed: syntax of 3.7, and
# no import of our own modules before the version is checked.
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

from course_lib import COURSE, __version__, is_here

OLDEST = (3, 10)
FIRST_LESSON = "00_start_here.ipynb"


def problem_before_start(command: str, version=sys.version_info) -> str:
    """What keeps a command from starting, in one line: an old Python, or a part of a course; else nothing."""
    if tuple(version[:2]) < OLDEST:
        return (
            "Python 3.10 or newer is needed, this is Python {}.{}. Install a newer one from python.org, then "
            "start again with it, for example: python3.12 -m course_lib lab".format(*version[:2])
        )
    if not is_here() and command != "doctor":
        return "the course folder is not here. Clone the course, change into its folder and start again"
    return ""


def lab(arguments: list, build: str) -> int:
    """Opens JupyterLab at the learner's copy of the first lesson, or at the lesson; the course folder is its root."""
    from course_lib.setup import machine, server
    from course_lib.setup.checks.files import names
    from course_lib.setup.installation import environment

    server.check_options(arguments)
    python = environment("lab", build)
    machine.check_writable(COURSE)
    folder = "notebooks" if "--author" in arguments else own_lessons()
    for _, _, text in names():
        print(text, flush=True)
    return server.start(python, folder + "/" + FIRST_LESSON, [a for a in arguments if a != "--author"])


def own_lessons() -> str:
    """The folder of the learner's copies, brought up to date; that of the lessons where no copy can be made."""
    from course_lib.setup.copies import update

    for line in update(COURSE / "notebooks", COURSE / "my_lessons"):
        print(line, flush=True)
    return "my_lessons" if (COURSE / "my_lessons" / FIRST_LESSON).exists() else "notebooks"


def test(arguments: list, build: str) -> int:
    """Runs each step, up to the first that fails. Paths among the arguments replace pytest's usual ones."""
    from course_lib.setup.installation import environment
    from course_lib.setup.server import environ, run

    python = environment("test", build)
    named = any((COURSE / a.split("::")[0]).exists() for a in arguments if not a.startswith("-"))
    folders = ["tests", "notebooks"]
    steps = {
        "ruff check": ["course_lib"] + folders,
        "ruff format": ["--check", "course_lib"] + folders,
        "mypy": [],
        "pytest": ["-n", "2", "--dist", "loadfile"] + ([] if named else folders) + arguments,
    }
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        variables = environ(python, COURSE_PROGRESS=str(Path(folder) / "events.jsonl"), OMP_NUM_THREADS="1")
        variables.pop("MPLBACKEND", None)
        for name, options in steps.items():
            print("== " + name, flush=True)
            code = run([python, "-m"] + name.split() + options, variables)
            if code:
                reason = "no test ran" if name == "pytest" and code == 5 else f"exit code {code}"
                print(f"Failed: {name} ({reason}).", flush=True)
                return code
    print("Passed: {}, in {:.0f} s.".format(", ".join(steps), time.monotonic() - start), flush=True)
    return 0


def refresh(arguments: list, build: str) -> int:
    """Runs notebooks (all of them, or those named) in fresh kernels and stores their outputs."""
    return _with_packages("course_lib.authoring.notebooks", [os.path.abspath(a) for a in arguments], build)


def classroom(arguments: list, build: str) -> int:
    """What teachers need: course_lib/classroom/, in the folder where the command was given."""
    return _with_packages("course_lib.classroom.commands", arguments, build, COURSE_STARTED_IN=os.getcwd())


def _with_packages(module: str, arguments: list, build: str, **more: str) -> int:
    """Runs `main` of a module that needs the packages of the lessons; no learner's progress is touched."""
    from course_lib.setup.installation import environment
    from course_lib.setup.server import environ, run

    python = environment("lab", build)
    code = f"import sys; from {module} import main; sys.exit(main(sys.argv[1:]))"
    with tempfile.TemporaryDirectory() as folder:
        progress = str(Path(folder) / "events.jsonl")
        return run([python, "-c", code] + arguments, environ(python, COURSE_PROGRESS=progress, **more))


def doctor(arguments: list, build: str) -> int:
    """Reports on the environment that `lab` would use; installs nothing."""
    from course_lib.setup import installation
    from course_lib.setup.server import environ, run

    python = sys.executable
    if is_here() and installation.lacking("lab") and installation.is_complete("lab"):
        installation.check_venv()
        python = str(installation.VENV_PYTHON)
    return run([python, "-m", "course_lib.doctor"], environ(python))


def progress(arguments: list, build: str) -> int:
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
    if arguments[0] == "--version":
        print(__version__)
        return 0
    name, builds = arguments[0], [a[2:] for a in arguments[1:] if a in ("--cpu", "--gpu")]
    rest = [a for a in arguments[1:] if a not in ("--cpu", "--gpu")]
    if name not in COMMANDS:
        print("There is no command {!r}: use one of {}.".format(name, ", ".join(COMMANDS)), file=sys.stderr)
        return 2
    problem = problem_before_start(name)
    if problem:
        return _tell(problem)
    from course_lib.setup.faults import SetupError, explain

    try:
        return COMMANDS[name](rest, builds[-1] if builds else "")
    except SetupError as error:
        return _tell(str(error), error.said)
    except OSError as error:
        return _tell(explain(str(error), "the set-up"))
    except KeyboardInterrupt:
        print(f"\nStopped. To go on, start again: python3 -m course_lib {name}", file=sys.stderr)
        return 130


def _tell(problem: str, said: str = "") -> int:
    from course_lib.setup.printable import printable

    print(f"{said}\nThis did not work: {printable(problem)}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a path may hold letters that this terminal has not
    for name in ("SIGTERM", "SIGHUP"):  # so that JupyterLab ends with us, also when the terminal is closed
        number = getattr(signal, name, None)
        if number and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, lambda number, _: sys.exit(128 + number))
    sys.exit(main(sys.argv[1:]))
