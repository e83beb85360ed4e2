"""The set-up: which packages are needed, how .venv comes about, faults told in one line, packaging."""

import ast
import importlib.util
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import namedtuple
from importlib import metadata
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from course_lib import COURSE, requirements
from course_lib import __main__ as setup


def text_of(name: str) -> str:
    return (COURSE / name).read_text(encoding="utf-8")


PYPROJECT = text_of("pyproject.toml")
RANGES = requirements.project_dependencies(PYPROJECT)
posix = pytest.mark.skipif(os.name == "nt", reason="signals and links of POSIX")

# Stands in for pip, JupyterLab, ruff and pytest: it writes down how it was called, then does as it is told.
FAKE = """
import json, os, signal, sys, time
name = __package__
with open(os.environ["CALLS"], "a") as file:
    keys = ("PYTHONPATH", "JUPYTER_CONFIG_PATH", "COURSE_PROGRESS", "OMP_NUM_THREADS", "MPLBACKEND")
    call = {"name": name, "arguments": sys.argv[1:], "folder": os.getcwd()}
    call["marks"] = [f for f in os.listdir(sys.prefix) if f.startswith("complete-")]
    file.write(json.dumps({**call, **{key: os.environ.get(key) for key in keys}}) + "\\n")
todo = os.environ.get("FAKE_" + name, "")
if todo == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
if todo == "waits":
    signal.signal(signal.SIGINT, lambda *_: sys.exit(3 if name == "jupyterlab" else 1))
    time.sleep(60)
if todo:
    print(todo, file=sys.stderr)
    sys.exit(int(todo) if todo.isdigit() else 1)
"""


class Course:
    """A copy of the course's set-up that no Python satisfies, with a .venv of stand-ins."""

    def __init__(self, folder: Path):
        self.folder, self.calls_file = folder, folder.parent / "calls.jsonl"
        (folder / "course_lib").mkdir(parents=True)
        (folder / "tests").mkdir()
        for name in ("__init__.py", "__main__.py", "requirements.py", "doctor.py"):
            shutil.copy(COURSE / "course_lib" / name, folder / "course_lib" / name)
        for name in ("requirements.txt", "tests/requirements.txt"):
            shutil.copy(COURSE / name, folder / name)
        text = re.sub(r'"torch>=[^"]*"', '"torch>=999"', PYPROJECT)
        (folder / "pyproject.toml").write_text(text, encoding="utf-8")
        self.venv = folder / ".venv"

    def make_fake_venv(self) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(self.venv)], check=True)
        for name in ("pip", "jupyterlab", "ruff", "pytest"):
            package = self.site_packages / name
            package.mkdir()
            (package / "__init__.py").write_text("")
            (package / "__main__.py").write_text(FAKE)

    @property
    def site_packages(self) -> Path:
        return next(self.venv.glob(setup.SITE_PACKAGES))

    def environ(self, **more: str) -> dict:
        ours = ("PIP_", "PYTHONPATH", "JUPYTER_CONFIG_PATH")
        clean = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
        return {**clean, "CALLS": str(self.calls_file), "PIP_CONFIG_FILE": os.devnull, **more}

    def run(self, *arguments: str, **more: str) -> subprocess.CompletedProcess:
        command = [sys.executable, "-m", "course_lib", *arguments]
        environ = self.environ(**more)
        done = subprocess.run(command, cwd=self.folder, env=environ, capture_output=True, encoding="utf-8")
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def calls(self, name: str) -> list[dict]:
        lines = self.calls_file.read_text().splitlines() if self.calls_file.exists() else []
        return [call for call in map(json.loads, lines) if call["name"] == name]


@pytest.fixture
def bare_course(tmp_path):
    return Course(tmp_path / "mein Kürs")  # a space and a letter beyond ASCII


@pytest.fixture
def course(bare_course):
    bare_course.make_fake_venv()
    return bare_course


# --- versions and requirement files


VERSIONS = """
0.9 1.0.dev1 1.0a1 1.0a1.dev2 1.0b2 1.0rc1 1.0 1.0.0 1.0.post1 1.0.1 1.1 1.10 2 2.14.1 2.14.1+cpu 3.0rc1 3
"""
SPECIFIERS = (
    "", ">=1.0", ">1.0", "<1.0", "<=1.0", "==1.0", "!=1.0", "~=1.0", "~=1.0.0", "==1.*", "!=1.*", "==2.14.1",
    "==1.0.*", ">=2.5,<3", ">=1,!=1.1,<2", "==2", ">= 1.0 , < 3",
)  # fmt: skip


@pytest.mark.parametrize("specifier", SPECIFIERS)
def test_specifiers_agree_with_packaging(specifier):
    expected = SpecifierSet(specifier)
    for version in VERSIONS.split():
        inside = expected.contains(version, prereleases=True)
        assert requirements.satisfies(version, specifier) == inside, version


@pytest.mark.parametrize("specifier", ["torch", ">2.*", "=>1", ">=1;", "==one"])
def test_an_unreadable_specifier_is_refused(specifier):
    with pytest.raises(ValueError, match="cannot read"):
        requirements.satisfies("1.0", specifier)


@pytest.mark.parametrize("name", ["requirements.txt", "tests/requirements.txt", "notebooks/teaching/requirements.txt"])
def test_every_pinned_version_can_be_had_for_the_oldest_python(name):
    oldest = re.search('requires-python = ">=(.*)"', PYPROJECT)[1]
    pinned = requirements.requirement_lines(text_of(name))
    for_all = [requirements.split_requirement(line)[0] for line in pinned if ";" not in line]
    needs = {package: metadata.metadata(package)["Requires-Python"] or "" for package in for_all}
    assert for_all and [one for one, need in needs.items() if not SpecifierSet(need).contains(oldest)] == []


def test_markers_on_the_python_version_are_followed():
    major, minor = sys.version_info[:2]
    assert requirements.split_requirement(f'a==1 ; python_version >= "{major}.{minor}"') == ("a", "==1", True)
    assert requirements.split_requirement(f'a==1;python_version < "{major}.{minor}"') == ("a", "==1", False)
    with pytest.raises(ValueError, match="python_version"):
        requirements.split_requirement('a==1 ; sys_platform == "linux"')


def test_unmet_names_what_is_missing_and_what_does_not_fit():
    versions = {"torch": "2.1.0+cu118", "pillow": "13.0"}
    found = requirements.unmet(["torch>=2.5", "nbval", "pillow (!=8.3.*,>=5.3.0)"], versions.get)
    assert found == ["torch 2.1.0+cu118 (needs >=2.5)", "nbval"]


def test_the_dependencies_are_read_as_a_toml_parser_reads_them():
    tomllib = pytest.importorskip("tomllib")
    assert RANGES == tomllib.loads(PYPROJECT)["project"]["dependencies"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        '[project]\nname = "x"\n',
        '[project]\ndependencies = ["a", "b"]\n',
        "[project]\ndependencies = [\n  'a',\n]\n",
        '[other]\ndependencies = [\n  "a",\n]\n',
    ],
)
def test_another_way_to_write_the_dependencies_is_refused(text):
    with pytest.raises(ValueError, match=r"pyproject\.toml"):
        requirements.project_dependencies(text)


def test_the_pins_lie_in_the_ranges_and_cover_them_on_old_and_new_pythons(monkeypatch):
    lines = requirements.requirement_lines(text_of("requirements.txt"))
    ranges = {name: specifier for name, specifier, _ in map(requirements.split_requirement, RANGES)}
    Info = namedtuple("Info", "major minor")
    for version in [(3, 10), (3, 11), (3, 12), (3, 13)]:
        monkeypatch.setattr(sys, "version_info", Info(*version))
        pins = [(name, pin) for name, pin, applies in map(requirements.split_requirement, lines) if applies]
        assert sorted(name for name, _ in pins) == sorted(ranges), version
        for name, pin in pins:
            assert pin.startswith("==") and requirements.satisfies(pin[2:], ranges[name]), (name, pin)


def test_the_test_tools_are_pinned():
    lines = requirements.requirement_lines(text_of("tests/requirements.txt"))
    names = {name for name, pin, _ in map(requirements.split_requirement, lines) if pin.startswith("==")}
    assert names >= {"pytest", "pytest-xdist", "hypothesis", "ruff", "einops"}
    assert len(names) == len({requirements.split_requirement(line)[0] for line in lines})


def test_environment_yml_names_the_same_packages_and_ranges():
    text = text_of("environment.yml")
    conda_names = {"pytorch-cpu": "torch", "matplotlib-base": "matplotlib"}
    found = re.findall(r"^  - ([\w-]+)([<>=].*)?$", text, re.MULTILINE)
    packages = {conda_names.get(name, name) + ranges for name, ranges in found}
    python = {package for package in packages if package.startswith("python=")}
    assert python == {"python=3.12"}
    assert packages - python - {"pip", "conda-forge", "nodefaults"} == set(RANGES)
    assert re.search(r"^  - pip:\n      - -e \.$", text, re.MULTILINE)


# --- the command line before anything is installed


@pytest.mark.parametrize("name", ["__init__.py", "__main__.py"])
def test_an_old_python_can_read_the_command_line(name):
    tree = ast.parse(text_of(f"course_lib/{name}"), feature_version=(3, 7))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    hints = [argument.annotation for f in functions for argument in f.args.args if argument.annotation]
    hints += [f.returns for f in functions]
    # An old Python evaluates hints as it reads a function: list[str] and int | None are errors there.
    assert not [ast.unparse(hint) for hint in hints if isinstance(hint, (ast.Subscript, ast.BinOp))]
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.NamedExpr)]


def test_an_old_python_is_told_which_one_is_needed(monkeypatch, capsys):
    monkeypatch.setattr(setup.check_python, "__defaults__", ((3, 7, 16),))
    assert setup.main(["lab"]) == 1
    message = capsys.readouterr().err.strip()
    assert "Python 3.10 or newer is needed, this is Python 3.7" in message and "\n" not in message


def test_importing_the_package_and_its_command_line_loads_nothing_heavy():
    def roots(imports):
        code = f"import sys{imports}; print(*sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], cwd=COURSE, capture_output=True, check=True)
        return {name.split(".")[0] for name in done.stdout.decode().split()}

    ours = roots(", course_lib, course_lib.__main__, course_lib.doctor") - roots("")
    ours = {name for name in ours if not name.startswith("_")}
    assert ours - set(sys.stdlib_module_names) == {"course_lib"}


def test_help_and_an_unknown_command(capsys):
    assert setup.main(["--help"]) == 0 and "lab" in capsys.readouterr().out
    assert setup.main([]) == 2 and "doctor" in capsys.readouterr().out
    assert setup.main(["labs"]) == 2 and "use one of lab, test, doctor, progress, refresh" in capsys.readouterr().err


def test_a_python_that_has_everything_is_used(monkeypatch):
    monkeypatch.setattr(setup, "needed", lambda command: ["packaging>=1"])
    monkeypatch.setattr(setup, "install", lambda *_: pytest.fail("nothing is to be installed"))
    assert setup.environment("lab") == sys.executable


def test_test_needs_the_test_tools_as_well():
    assert set(setup.needed("test")) - set(setup.needed("lab")) >= {"pytest-xdist==3.8.0", "einops==0.8.2"}


# --- making .venv


def test_missing_ensurepip_is_told_before_anything_is_made(monkeypatch, tmp_path, capsys):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "ensurepip" else find(name))
    monkeypatch.setattr(setup, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(setup, "VENV_PYTHON", tmp_path / ".venv" / "bin" / "python")
    monkeypatch.setattr(setup, "needed", lambda command: ["torch>=999"])
    assert setup.main(["lab"]) == 1
    assert "sudo apt install python3-venv" in capsys.readouterr().err
    assert not (tmp_path / ".venv").exists()


@pytest.mark.parametrize(
    ("platform", "cpu", "free", "advice"),
    [("linux", False, 5.9e9, "add --cpu"), ("linux", True, 1.9e9, None), ("darwin", False, 1.9e9, None),
     ("linux", False, 6.1e9, "enough"), ("linux", True, 2.1e9, "enough")],
)  # fmt: skip
def test_too_little_space_is_told_beforehand(monkeypatch, platform, cpu, free, advice):
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: namedtuple("Usage", "free")(free))
    if advice == "enough":
        assert setup.check_space(cpu) is None
        return
    with pytest.raises(setup.SetupError, match=f"the disk has {free / 1e9:.1f} GB free") as caught:
        setup.check_space(cpu)
    assert (advice is not None) == ("--cpu" in str(caught.value))


def test_without_network_the_real_pip_leads_to_one_clear_line_and_no_mark(course):
    pytest.importorskip("pip")
    shutil.rmtree(course.site_packages / "pip")
    real = Path(importlib.util.find_spec("pip").origin).parents[1]
    (course.site_packages / "real_pip.pth").write_text(str(real))
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    done = course.run("lab", PIP_INDEX_URL=f"http://127.0.0.1:{port}/simple", PIP_RETRIES="1")
    last = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 1
    assert last.startswith("This did not work: installing the packages failed: no connection to the package")
    assert not list(course.venv.glob("complete-*")) and course.calls("jupyterlab") == []


@posix
def test_an_environment_without_pip_gets_one(monkeypatch, tmp_path):
    venv = tmp_path / "a b" / ".venv"
    monkeypatch.setattr(setup, "VENV", venv)
    monkeypatch.setattr(setup, "VENV_PYTHON", venv / "bin" / "python")
    monkeypatch.setattr(setup, "check_space", lambda cpu: None)
    steps = []

    def run_step(command, doing):
        steps.append(command[1:3])
        if "venv" in command:  # as when it is interrupted before pip is there
            subprocess.run([*command, "--without-pip"], check=True)

    monkeypatch.setattr(setup, "run_step", run_step)
    setup.make_venv(cpu=False)
    setup.make_venv(cpu=False)
    assert steps == [["-m", "venv"], ["-m", "ensurepip"], ["-m", "ensurepip"]]


@posix
def test_an_interrupted_install_is_completed_the_next_time(course):
    half, whole = course.site_packages / "half-1.dist-info", course.site_packages / "whole-1.dist-info"
    for package in (half, whole):
        package.mkdir()
        (package / "METADATA").write_text("Name: x\nVersion: 1\n")
    (whole / "INSTALLER").write_text("pip\n")

    assert course.run("lab", FAKE_pip="killed").returncode == 1
    assert not list(course.venv.glob("complete-*")) and course.calls("jupyterlab") == []
    assert not half.exists() and whole.exists()

    assert course.run("lab").returncode == 0
    assert len(course.calls("pip")) == 2 and len(course.calls("jupyterlab")) == 1

    assert course.run("lab").returncode == 0
    assert len(course.calls("pip")) == 2 and len(course.calls("jupyterlab")) == 2


def test_changed_requirements_are_installed_and_the_mark_is_away_meanwhile(course):
    course.run("lab")
    for name in ("requirements.txt", "pyproject.toml"):
        before = len(course.calls("pip"))
        file = course.folder / name
        changed = file.read_text(encoding="utf-8").replace("ipywidgets", "ipywidgetz")
        file.write_text(changed, encoding="utf-8")
        course.run("lab")
        assert len(course.calls("pip")) == before + 1 and course.calls("pip")[-1]["marks"] == []
    file = course.folder / "tests" / "requirements.txt"
    file.write_text("pytest==9.2.0\n")
    course.run("lab")
    assert len(course.calls("pip")) == 3  # the test tools are not lab's


def test_an_install_for_the_tests_serves_the_lessons_too_but_not_the_other_way_round(course):
    course.run("lab")
    course.run("test")
    assert len(course.calls("pip")) == 2
    expected = [course.folder / "requirements.txt", course.folder / "tests" / "requirements.txt"]
    assert [Path(a) for a in course.calls("pip")[1]["arguments"] if a.endswith(".txt")] == expected
    course.run("lab")
    assert len(course.calls("pip")) == 2


@pytest.mark.parametrize(
    ("output", "advice"),
    [
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left", "the disk is full"),
        ("WARNING: after connection broken by 'X'\nERROR: No matching distribution", "no connection"),
        ("ERROR: Could not install packages due to an OSError: [Errno 13] Permission", "folder of your own"),
        ("ERROR: No matching distribution found for torch==2", "no package was found that fits Python 3."),
        ("WARNING: odd\nERROR: something new\nmore", "failed: ERROR: something new"),
    ],
)
def test_what_pip_says_becomes_one_line_of_advice(course, output, advice):
    done = course.run("lab", FAKE_pip=output)
    last = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 1 and last.startswith("This did not work: ") and advice in last
    assert course.calls("jupyterlab") == []


@posix
def test_a_broken_venv_is_named(course):
    course.run("lab")
    python = course.venv / "bin" / "python"
    python.unlink()
    python.symlink_to(course.folder / "gone")
    for command in ("lab", "test", "refresh", "doctor"):
        done = course.run(command)
        assert done.returncode == 1 and "Delete the folder .venv and start again" in done.stderr, command


def test_a_moved_course_is_installed_again(course):
    course.run("lab")
    moved = Course.__new__(Course)
    moved.folder, moved.calls_file = course.folder.parent / "moved", course.calls_file
    course.folder.rename(moved.folder)
    moved.venv = moved.folder / ".venv"
    assert moved.run("lab").returncode == 0
    assert len(moved.calls("pip")) == 2


@pytest.mark.parametrize(("platform", "passed"), [("linux", True), ("darwin", False), ("win32", False)])
def test_cpu_adds_the_index_on_linux_only(monkeypatch, tmp_path, capsys, platform, passed):
    steps = []
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(setup, "VENV", tmp_path)
    monkeypatch.setattr(setup, "run_step", lambda command, doing: steps.append(command))
    setup.install("lab", cpu=True)
    assert (setup.CPU_INDEX in steps[0]) == passed
    assert ("--cpu changes nothing here" in capsys.readouterr().out) != passed
    assert (tmp_path / "complete-lab").read_text() == setup.fingerprint("lab")


# --- what the commands start


def test_lab_passes_arguments_on_and_finds_the_course(course):
    passed_on = ["--no-browser", "--port", "8890"]
    done = course.run("lab", "--cpu", *passed_on, PYTHONPATH="one", JUPYTER_CONFIG_PATH="two")
    assert done.returncode == 0
    call = course.calls("jupyterlab")[0]
    page = "--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb"
    assert call["arguments"] == [f"--ServerApp.root_dir={course.folder}", page, *passed_on]
    assert Path(call["folder"]) == course.folder
    assert call["PYTHONPATH"] == os.pathsep.join([str(course.folder), "one"])
    assert call["JUPYTER_CONFIG_PATH"] == os.pathsep.join([str(course.folder), "two"])


def test_lab_returns_the_exit_code_of_jupyterlab(course):
    assert course.run("lab", FAKE_jupyterlab="7").returncode == 7


@posix
@pytest.mark.parametrize(("waiting", "code"), [("jupyterlab", 3), ("pip", 130)])
def test_ctrl_c_ends_without_a_traceback(course, waiting, code):
    command = [sys.executable, "-m", "course_lib", "lab"]
    environ = course.environ(**{f"FAKE_{waiting}": "waits"})
    with subprocess.Popen(
        command, cwd=course.folder, env=environ, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        deadline = time.monotonic() + 20
        while not course.calls(waiting) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.3)
        os.killpg(process.pid, signal.SIGINT)
        errors = process.communicate(timeout=20)[1]
    assert process.returncode == code and "Traceback" not in errors
    assert (waiting == "pip") == ("Stopped. Start again to go on" in errors)


def test_test_runs_ruff_then_pytest_with_a_fresh_progress_file(course):
    done = course.run("test", "-k", "patches", MPLBACKEND="agg")
    assert done.returncode == 0 and "Passed: ruff and pytest" in done.stdout.splitlines()[-1]
    ruff, run = course.calls("ruff")[0], course.calls("pytest")[0]
    assert ruff["arguments"] == ["check", "course_lib", "tests", "notebooks"]
    assert run["arguments"] == ["-n", "2", "--dist", "loadfile", "tests", "notebooks", "-k", "patches"]
    assert run["OMP_NUM_THREADS"] == "1" and run["MPLBACKEND"] is None
    progress = Path(run["COURSE_PROGRESS"])
    assert course.folder not in progress.parents and not progress.exists()


def test_test_names_the_step_that_failed_and_returns_its_exit_code(course):
    done = course.run("test", FAKE_ruff="4")
    assert done.returncode == 4 and "Failed: ruff (exit code 4)." in done.stdout
    assert course.calls("pytest") == []
    done = course.run("test", FAKE_pytest="5")
    assert done.returncode == 5 and "Failed: pytest (no test ran)." in done.stdout


def test_a_path_given_to_test_replaces_the_usual_ones(course):
    (course.folder / "tests" / "test_a.py").write_text("")
    course.run("test", "tests/test_a.py::test_b", "-x")
    assert course.calls("pytest")[0]["arguments"][4:] == ["tests/test_a.py::test_b", "-x"]


def test_refresh_hands_its_paths_to_the_notebook_runner(course):
    (course.folder / "course_lib" / "notebooks.py").write_text(
        "import os, sys\n"
        "def main(paths):\n"
        "    print(sys.prefix, os.environ['COURSE_PROGRESS'], *paths, sep='\\n')\n"
        "    return 6\n"
    )
    done = course.run("refresh", "notebooks/a b.ipynb")
    assert done.returncode == 6
    prefix, progress, path = done.stdout.splitlines()[-3:]
    assert Path(prefix) == course.venv and Path(path) == course.folder / "notebooks" / "a b.ipynb"
    assert course.folder not in Path(progress).parents


def test_ci_fails_when_a_test_fails_and_when_none_ran(course, tmp_path):
    (course.folder / ".ci").mkdir()
    shutil.copy(COURSE / ".ci" / "run", course.folder / ".ci" / "run")
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, text in {"chromium": "exit 0", "python3": f'exec "{sys.executable}" "$@"'}.items():
        (tools / name).write_text(f"#!/bin/sh\n{text}\n")
        (tools / name).chmod(0o755)
    path = os.pathsep.join([str(tools), os.environ["PATH"]])
    codes = {}
    for fake in ("", "1", "5"):
        environ = course.environ(PATH=path, FAKE_pytest=fake)
        command = ["bash", ".ci/run"]
        codes[fake] = subprocess.run(command, cwd=course.folder, env=environ, capture_output=True).returncode
    assert codes == {"": 0, "1": 1, "5": 5}


# --- JupyterLab's setting, README


def test_jupyterlab_does_not_lay_its_question_about_news_over_the_first_lesson(monkeypatch):
    settings_utils = pytest.importorskip("jupyterlab_server.settings_utils")
    from jupyter_core.paths import jupyter_config_path

    environ = setup.course_environ()
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", environ["JUPYTER_CONFIG_PATH"])
    assert jupyter_config_path()[0] == str(COURSE)
    overrides, error = settings_utils._get_overrides(str(COURSE / "no-such-folder"))
    assert error == ""
    assert overrides["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"


def test_the_setting_is_one_that_the_installed_jupyterlab_knows():
    schema = Path(sys.prefix) / "share/jupyter/lab/schemas/@jupyterlab/apputils-extension/notification.json"
    if not schema.exists():
        pytest.skip("JupyterLab is not installed in this environment")
    known = json.loads(schema.read_text(encoding="utf-8"))["properties"]["fetchNews"]
    assert "false" in [choice["const"] for choice in known["oneOf"]]


def test_the_table_of_lessons_in_the_readme_says_what_the_course_says():
    from course_lib.lessons import LESSONS

    rows = re.findall(r"^\| (\d\d) \| (.+?) \| (.+?) \| (\d+) \|$", text_of("README.md"), re.MULTILINE)
    told = [(number, re.sub(r"\[(.+)\]\(.+\)", r"\1", title), question, int(minutes))
            for number, title, question, minutes in rows]
    assert told == [(lesson.number, lesson.title, lesson.question, lesson.minutes) for lesson in LESSONS]
    linked = [re.fullmatch(r"\[.+\]\(notebooks/(.+)\)", title) for _, title, *_ in rows]
    assert [link[1] if link else "" for link in linked] == [lesson.file for lesson in LESSONS]


def test_the_links_of_the_readme_lead_somewhere():
    text = text_of("README.md")
    targets = [target.split("#")[0] for target in re.findall(r'(?:\]\(|src=")([^)"\s]+)', text)]
    local = [target for target in targets if target and not re.match(r"[a-z]+:", target)]
    assert {"data/README.md", "LICENSE", "notebooks/images/map.png"} <= set(local)
    assert [target for target in local if not (COURSE / target).exists()] == []
