"""The set-up: which packages are needed, how .venv comes about, faults told in one line, packaging."""

import ast
import errno
import functools
import http.server
import importlib.util
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import zipfile
from collections import namedtuple
from importlib import metadata
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from course_lib import COURSE
from course_lib import __main__ as commands
from course_lib.setup import faults, installation, machine, requirements, server
from course_lib.setup.faults import SetupError


def text_of(name: str) -> str:
    return (COURSE / name).read_text(encoding="utf-8")


PYPROJECT = text_of("pyproject.toml")
RANGES = requirements.project_dependencies(PYPROJECT)
FIRST = commands.FIRST_LESSON
posix = pytest.mark.skipif(os.name == "nt", reason="signals and links of POSIX")

# Stands in for pip, JupyterLab, ruff and pytest: it writes down how it was called, then does as it is told.
FAKE = """
import json, os, signal, sys, time
name = __package__
if name == "pip" and sys.argv[1] in ("config", "download"):
    sys.exit()
with open(os.environ["CALLS"], "a") as file:
    keys = ("PYTHONPATH", "COURSE_PROGRESS", "OMP_NUM_THREADS", "MPLBACKEND", "PIP_USER", "PIP_TARGET", "TMPDIR")
    keys += ("JUPYTER_CONFIG_PATH", "JUPYTER_PATH", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR")
    keys += ("JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    call = {"name": name, "arguments": sys.argv[1:], "folder": os.getcwd()}
    call["marks"] = [f for f in os.listdir(sys.prefix) if f.startswith("complete-")]
    file.write(json.dumps({**call, **{key: os.environ.get(key) for key in keys}}) + "\\n")
todo = os.environ.get("FAKE_" + name, "")
if todo == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
if todo.startswith("runs") and name == "jupyterlab":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))
    info = os.path.join(os.environ["JUPYTER_RUNTIME_DIR"], f"jpserver-{os.getpid()}.json")
    with open(info, "w") as file:
        json.dump({"url": "http://127.0.0.1:8888/", "token": "abc"}, file)
    time.sleep(60 if todo == "runs" else 1)
    sys.exit(7)
if todo == "waits":
    signal.signal(signal.SIGINT, lambda *_: sys.exit(1))
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
        for name in ("tests", "notebooks"):
            (folder / name).mkdir()
        for name in ("__init__.py", "__main__.py", "doctor.py", "progress.py"):
            shutil.copy(COURSE / "course_lib" / name, folder / "course_lib" / name)
        shutil.copytree(COURSE / "course_lib" / "setup", folder / "course_lib" / "setup")
        shutil.copy(COURSE / "notebooks" / FIRST, folder / "notebooks" / FIRST)
        for name in ("requirements.txt", "tests/requirements.txt"):
            shutil.copy(COURSE / name, folder / name)
        text = re.sub(r'"torch>=[^"]*"', '"torch>=999"', PYPROJECT)
        (folder / "pyproject.toml").write_text(text, encoding="utf-8")
        self.venv = folder / ".venv"

    def make_fake_venv(self) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(self.venv)], check=True)
        for name in ("pip", "jupyterlab", "ruff", "mypy", "pytest"):
            package = self.site_packages / name
            package.mkdir()
            (package / "__init__.py").write_text("")
            (package / "__main__.py").write_text(FAKE)
        torch = self.site_packages / f"torch-{installation._pins()['torch']}.dist-info"
        torch.mkdir()
        (torch / "INSTALLER").write_text("pip\n")
        (torch / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch\nVersion: {torch.name[6:-10]}\n")

    @property
    def site_packages(self) -> Path:
        return next(self.venv.glob(installation.SITE_PACKAGES))

    def environ(self, **more: str) -> dict:
        ours = ("PIP_", "PYTHONPATH", "JUPYTER_")
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


def use_real_pip(course: Course) -> None:
    """Let the stand-in for pip be the pip of this Python."""
    real = Path(pytest.importorskip("pip").__file__).parents[1]
    shutil.rmtree(course.site_packages / "pip")
    (course.site_packages / "real_pip.pth").write_text(str(real))


def small_wheel(folder: Path, name: str, version: str) -> Path:
    """A wheel of an empty package."""
    path, info = folder / f"{name}-{version}-py3-none-any.whl", f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{name}/__init__.py", "")
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return path


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
    found = requirements.unmet(["torch>=2.5", "anywidget", "pillow (!=8.3.*,>=5.3.0)"], versions.get)
    assert found == ["torch 2.1.0+cu118 (needs >=2.5)", "anywidget"]


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


@pytest.mark.parametrize(
    "name", ["__init__.py", "__main__.py", "setup/__init__.py", "setup/printable.py", "setup/shadows.py"]
)
def test_an_old_python_can_read_the_command_line(name):
    tree = ast.parse(text_of(f"course_lib/{name}"), feature_version=(3, 7))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    hints = [argument.annotation for f in functions for argument in f.args.args if argument.annotation]
    hints += [f.returns for f in functions]
    # An old Python evaluates hints as it reads a function: list[str] and int | None are errors there.
    assert not [ast.unparse(hint) for hint in hints if isinstance(hint, (ast.Subscript, ast.BinOp))]
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.NamedExpr)]


def test_an_old_python_is_told_which_one_is_needed(monkeypatch, capsys):
    monkeypatch.setattr(commands.problem_before_start, "__defaults__", ((3, 7, 16),))
    assert commands.main(["lab"]) == 1
    message = capsys.readouterr().err.strip()
    assert "Python 3.10 or newer is needed, this is Python 3.7" in message and "\n" not in message


def test_importing_the_package_and_its_command_line_loads_nothing_heavy():
    def roots(imports):
        code = f"import sys{imports}; print(*sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], cwd=COURSE, capture_output=True, check=True)
        return {name.split(".")[0] for name in done.stdout.decode().split()}

    ours = roots(", course_lib, course_lib.__main__, course_lib.doctor, course_lib.setup.copies") - roots("")
    ours = {name for name in ours if not name.startswith("_")}
    assert ours - set(sys.stdlib_module_names) == {"course_lib"}


def test_help_and_an_unknown_command(capsys):
    assert commands.main(["--help"]) == 0 and "lab" in capsys.readouterr().out
    assert commands.main([]) == 2 and "doctor" in capsys.readouterr().out
    assert commands.main(["labs"]) == 2 and "use one of lab, test, doctor, progress, refresh" in capsys.readouterr().err


def test_a_python_that_has_everything_is_used(monkeypatch):
    monkeypatch.setattr(installation, "needed", lambda command: ["packaging>=1"])
    monkeypatch.setattr(installation, "install", lambda *_: pytest.fail("nothing is to be installed"))
    assert installation.environment("lab") == sys.executable


def test_test_needs_the_test_tools_as_well():
    more = set(installation.needed("test")) - set(installation.needed("lab"))
    assert more >= {"pytest-xdist==3.8.0", "einops==0.8.2"}


# --- making .venv


def test_missing_ensurepip_is_told_before_anything_is_made(monkeypatch, tmp_path, capsys):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "ensurepip" else find(name))
    monkeypatch.setattr(installation, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(installation, "VENV_PYTHON", tmp_path / ".venv" / "bin" / "python")
    monkeypatch.setattr(installation, "needed", lambda command: ["torch>=999"])
    assert commands.main(["lab"]) == 1
    assert "sudo apt install python3-venv" in capsys.readouterr().err
    assert not (tmp_path / ".venv").exists()


def test_without_network_the_real_pip_leads_to_one_clear_line_and_no_mark(course):
    use_real_pip(course)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    done = course.run("lab", PIP_INDEX_URL=f"http://127.0.0.1:{port}/simple", PIP_RETRIES="1")
    last = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 1
    assert last.startswith("This did not work: asking the package index failed: no connection to the package")
    assert not list(course.venv.glob("complete-*")) and course.calls("jupyterlab") == []


@posix
def test_an_environment_without_pip_gets_one(monkeypatch, tmp_path):
    venv = tmp_path / "a b" / ".venv"
    monkeypatch.setattr(installation, "VENV", venv)
    monkeypatch.setattr(installation, "VENV_PYTHON", venv / "bin" / "python")
    steps = []

    def step(command, doing, told):
        steps.append(command[1:3])
        if "venv" in command:  # as when it is interrupted before pip is there
            subprocess.run([*command, "--without-pip"], check=True)

    monkeypatch.setattr(installation, "_step", step)
    installation.make_venv()
    installation.make_venv()
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


SAID = {
    "ERROR: Could not install packages due to an OSError: [Errno 28] No space left": "the disk is full",
    "WARNING: after connection broken by 'X'\nERROR: No matching distribution": "no connection",
    "WARNING: Retrying after connection broken by 'SSLError(SSLCertVerificationError(1, '[SSL: "
    "CERTIFICATE_VERIFY_FAILED] certificate verify failed'))'\nERROR: No matching distribution": "set PIP_CERT",
    "ERROR: Could not install packages due to an OSError: [Errno 13] Permission": "folder of your own",
    "ERROR: No matching distribution found for torch==2": "nothing that fits Python 3.",
    "ERROR: HTTP error 403 while getting x": "name and password",
    "ERROR: Tunnel connection failed: 407 Proxy Authentication Required": "HTTPS_PROXY",
    "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE": "pip cache purge",
    "ERROR: Failed building wheel for numpy": "no ready-made build",
    "ERROR: Cannot install torch because these package versions have conflicting dependencies.": "setting of pip",
    "OSError: [Errno 95] Operation not supported: 'lib' -> 'lib64'": "own disk",
    "ERROR: [WinError 32] The process cannot access the file because it is being used": "Close JupyterLab",
    "No module named pip": "Delete the folder .venv",
    "WARNING: odd\nERROR: something new\nmore": "failed: ERROR: something new.",
}


@pytest.mark.parametrize("output", SAID)
def test_what_pip_says_is_shown_and_becomes_one_line_of_advice(course, output):
    done = course.run("lab", FAKE_pip=output)
    lines = done.stderr.strip().splitlines()
    assert done.returncode == 1 and lines[-1].startswith("This did not work: ") and SAID[output] in lines[-1]
    assert all("    " + line in lines for line in output.splitlines())
    assert output in (course.folder / ".lab" / "installation.log").read_text(encoding="utf-8")
    assert course.calls("jupyterlab") == []


def test_to_delete_venv_is_advised_only_where_it_helps():
    advised = [signs for signs, cure in faults.CURES if "elete the folder .venv" in cure]
    assert advised == [("no module named pip", "no module named 'pip")]
    assert ".venv" not in faults.explain("ERROR: something new", "the step")


@posix
def test_a_pip_that_is_set_up_to_install_elsewhere_still_installs_into_the_environment(course, monkeypatch, tmp_path):
    use_real_pip(course)
    elsewhere = tmp_path / "elsewhere"
    (tmp_path / "pip.conf").write_text("[install]\nuser = true\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    monkeypatch.setenv("PIP_USER", "1")
    monkeypatch.setenv("PIP_TARGET", str(elsewhere))
    monkeypatch.setattr(installation, "VENV", course.venv)
    wheel = small_wheel(tmp_path, "tiny", "1.0")
    command = [str(course.venv / "bin" / "python"), "-m", "pip", "install", "--no-index", str(wheel)]
    (course.venv / "downloads").mkdir()
    done = subprocess.run(command, env=installation.pip_environ(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (course.site_packages / "tiny" / "__init__.py").exists() and not elsewhere.exists()


@posix
def test_a_target_in_the_configuration_of_pip_is_named_with_its_cure(course, tmp_path):
    use_real_pip(course)
    (tmp_path / "pip.conf").write_text(f"[global]\ntarget = {tmp_path / 'elsewhere'}\n")
    done = course.run("lab", PIP_CONFIG_FILE=str(tmp_path / "pip.conf"))
    assert done.returncode == 1 and "-m pip config unset global.target" in done.stderr


@posix
def test_a_venv_of_an_old_python_is_told_as_that(course):
    python = course.venv / "bin" / "python"
    python.unlink()
    python.write_text("#!/bin/sh\necho 3.9\n")
    python.chmod(0o755)
    done = course.run("lab")
    assert done.returncode == 1 and "the environment .venv holds Python 3.9, and 3.10 or newer is needed" in done.stderr


@posix
def test_a_disk_from_which_nothing_may_be_started_is_told_as_that(course):
    python = course.venv / "bin" / "python"
    python.unlink()
    python.write_text("")
    python.chmod(0o644)
    done = course.run("lab")
    assert done.returncode == 1 and "noexec" in done.stderr and "Delete" not in done.stderr


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


def test_a_module_that_hides_an_installed_package_counts_as_missing(tmp_path, monkeypatch):
    (tmp_path / "packaging.py").write_text("raise ImportError('broken')")
    code = "from course_lib.setup.requirements import misplaced; print(misplaced(['packaging>=1', 'pytest>=8']))"
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(COURSE)])}
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True)
    assert done.stdout.strip() == str([f"packaging (hidden by {tmp_path / 'packaging.py'})"]), done.stderr
    assert requirements.misplaced(["packaging>=1", "pytest>=8"]) == []


# --- what computer this is


@pytest.mark.parametrize(
    ("system", "processor", "python", "release", "told"),
    [
        ("Darwin", "x86_64", (3, 12), "14.1", "Intel processor"),
        ("Darwin", "arm64", (3, 12), "13.6", "needs macOS 14, this is 13.6"),
        ("Darwin", "arm64", (3, 12), "15.0", None),
        ("Windows", "ARM64", (3, 12), "", "Windows on ARM"),
        ("Windows", "AMD64", (3, 12), "", None),
        ("Linux", "x86_64", (3, 15), "", "no PyTorch for Python 3.15 yet"),
        ("Linux", "aarch64", (3, 14), "", None),
    ],
)
def test_a_computer_without_a_pytorch_is_told_before_anything_is_made(
    monkeypatch, bare_course, system, processor, python, release, told
):
    monkeypatch.setattr(machine.platform, "system", lambda: system)
    monkeypatch.setattr(machine.platform, "machine", lambda: processor)
    monkeypatch.setattr(machine.platform, "version", lambda: "Darwin Kernel: RELEASE_X86_64")
    monkeypatch.setattr(machine.platform, "mac_ver", lambda: (release, ("", "", ""), processor))
    monkeypatch.setattr(machine.sys, "version_info", python)
    monkeypatch.setattr(machine.sysconfig, "get_config_var", lambda name: "cpython-312-gnu")
    if told is None:
        assert machine.check_platform() is None
        return
    with pytest.raises(SetupError, match=told):
        machine.check_platform()


def test_alpine_is_told_as_that(monkeypatch):
    monkeypatch.setattr(machine.platform, "system", lambda: "Linux")
    monkeypatch.setattr(machine.sysconfig, "get_config_var", lambda name: "cpython-312-x86_64-linux-musl")
    with pytest.raises(SetupError, match="built on musl"):
        machine.check_platform()


@posix
def test_a_folder_where_nothing_can_be_saved_is_told_before_anything_is_installed(monkeypatch, tmp_path):
    def refused(**place):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(machine.tempfile, "TemporaryFile", refused)
    monkeypatch.setattr(installation, "needed", lambda command: ["torch>=999"])
    monkeypatch.setattr(installation, "is_complete", lambda command: False)
    monkeypatch.setattr(installation, "make_venv", lambda: pytest.fail("too early"))
    with pytest.raises(SetupError, match="nothing can be saved in .*Read-only file system"):
        installation.environment("lab")


# --- which build of PyTorch


class Plan:
    """Runs `installation.install` with nothing installed, and keeps the steps that it would have taken."""

    def __init__(self, monkeypatch, folder: Path, platform: str, card: bool, index: bool, free: float):
        self.steps = []
        self.index = index
        self.free = iter([free] * 99)
        monkeypatch.setattr(sys, "platform", platform)
        monkeypatch.setattr(machine, "has_nvidia_card", lambda: card)
        monkeypatch.setattr(shutil, "disk_usage", lambda path: namedtuple("Usage", "free")(next(self.free) * 1e9))
        monkeypatch.setattr(installation, "VENV", folder)
        monkeypatch.setattr(installation, "_step", self.step)

    def step(self, command, doing, told):
        self.steps.append(command[3:])
        if command[3] == "download":
            if not self.index:
                raise SetupError("no connection")
            (folder,) = [Path(a.partition("=")[2]) for a in command if a.startswith("--dest=")]
            folder.mkdir()
            for wanted in command[-2:]:
                (folder / (wanted.replace("==", "-") + "-py3-none-any.whl")).touch()

    def wheels(self) -> list[str]:
        return [Path(a).name for a in self.steps[-1] if a.endswith(".whl")]


def small_builds() -> list[str]:
    return [f"{name}-{installation._pins()[name]}+cpu-py3-none-any.whl" for name in ("torch", "torchvision")]


LINUX = [
    # card, asked, index of the small build, gigabytes free -> wheels of the small build, or what is said
    (False, "", True, 2.2, True),
    (False, "", False, 99.0, False),
    (False, "", False, 2.5, "needs 9.5 GB"),
    (False, "cpu", False, 99.0, "Without --cpu the usual build"),
    (False, "gpu", True, 99.0, False),
    (True, "", True, 99.0, False),
    (True, "", True, 2.5, "add --cpu for the small build"),
    (True, "cpu", True, 2.2, True),
    (False, "", True, 1.0, "the disk has 1.0 GB free"),
]


@pytest.mark.parametrize(("card", "asked", "index", "free", "outcome"), LINUX)
def test_linux_takes_the_small_build_where_no_card_is_found(
    monkeypatch, tmp_path, capsys, card, asked, index, free, outcome
):
    plan = Plan(monkeypatch, tmp_path, "linux", card, index, free)
    if isinstance(outcome, str):
        with pytest.raises(SetupError, match=outcome):
            installation.install("lab", asked)
        assert not (tmp_path / "complete-lab").exists() and not any(step[0] == "install" for step in plan.steps)
        return
    installation.install("lab", asked)
    assert plan.wheels() == (small_builds() if outcome else [])
    assert ("--no-cache-dir" in plan.steps[-1]) == (free < 10)
    said = capsys.readouterr().out
    assert ("the small build, " in said) == (not card and asked != "gpu" or asked == "cpu")
    assert ("Taking the usual build" in said) == (not index)
    assert (tmp_path / "complete-lab").read_text() == installation.fingerprint("lab")


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_elsewhere_there_is_one_build(monkeypatch, tmp_path, capsys, platform):
    plan = Plan(monkeypatch, tmp_path, platform, False, True, 99.0)
    installation.install("lab", "cpu")
    assert [step[0] for step in plan.steps] == ["install"] and plan.wheels() == []
    assert "--cpu changes nothing here" in capsys.readouterr().out


@pytest.fixture
def index(tmp_path):
    """An index of packages on this computer's own address that has small builds of torch and torchvision."""
    for name in ("torch", "torchvision"):
        folder = tmp_path / "index" / name
        folder.mkdir(parents=True)
        small_wheel(folder, name, f"{installation._pins()[name]}+cpu")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path / "index"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("up", [True, False])
def test_the_real_pip_asks_the_index_of_small_builds_first(monkeypatch, tmp_path, capsys, index, up):
    """`up`: the index answers. What the second step, the usual index, would install is written down."""
    if not up:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            index = f"http://127.0.0.1:{listener.getsockname()[1]}"
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setattr(machine, "has_nvidia_card", lambda: False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: namedtuple("Usage", "free")(99e9))
    monkeypatch.setattr(installation, "CPU_INDEX", index)
    monkeypatch.setattr(installation, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(installation, "VENV_PYTHON", Path(sys.executable))
    monkeypatch.setattr(installation, "COURSE", tmp_path)
    monkeypatch.setattr(machine, "STATE", tmp_path / ".lab")
    shutil.copy(COURSE / "requirements.txt", tmp_path)
    shutil.copy(COURSE / "pyproject.toml", tmp_path)
    (tmp_path / ".venv").mkdir()
    real, installed = installation._step, []
    monkeypatch.setattr(
        installation, "_step",
        lambda command, *rest: installed.append(command) if command[3] == "install" else real(command, *rest),
    )  # fmt: skip
    installation.install("lab", "")
    wheels = [Path(a).name for a in installed[0] if a.endswith(".whl")]
    assert wheels == (small_builds() if up else [])
    captured = capsys.readouterr()
    assert ("Taking the usual build" in captured.out) == (not up)
    if not up:
        with pytest.raises(SetupError, match=re.escape(f"cannot be had from {index}") + ".*no connection"):
            installation.install("lab", "cpu")


def test_the_line_that_moves_tells_downloads_and_then_what_is_unpacked(monkeypatch, tmp_path):
    monkeypatch.setattr(installation, "VENV", tmp_path)
    free = iter([9e9, 9e9, 7.5e9, 8e9])
    monkeypatch.setattr(shutil, "disk_usage", lambda path: namedtuple("Usage", "free")(next(free)))
    (tmp_path / "downloads" / "pip-unpack").mkdir(parents=True)
    with (tmp_path / "downloads" / "pip-unpack" / "a.whl").open("wb") as file:
        file.truncate(250_000_000)
    told = installation.Installing(installation.LARGE)
    assert told("Collecting torch==2.14.1") == "2/3 Downloading about 3.1 GB: 0.25 GB"
    line = "  Downloading https://host/a/torch-2.14.1-cp311-cp311-manylinux_2_28_x86_64.whl (532.8 MB)"
    assert told(line).endswith("0.25 GB, torch-2.14.1 532.8 MB")
    assert told("Installing collected packages: a, b") == "3/3 Unpacking about 6.2 GB: 0.00 GB"
    assert told("") == "3/3 Unpacking about 6.2 GB: 1.50 GB"
    assert told("") == "3/3 Unpacking about 6.2 GB: 1.50 GB"  # another program deleted something


# --- what the commands start


def test_lab_passes_arguments_on_and_finds_the_course(course):
    passed_on = ["--no-browser", "--port", "8890"]
    done = course.run("lab", "--cpu", *passed_on, PYTHONPATH="one", JUPYTER_CONFIG_PATH="two", JUPYTER_PATH="three")
    assert done.returncode == 0
    call = course.calls("jupyterlab")[0]
    page = "--LabApp.default_url=/lab/tree/my_lessons/00_start_here.ipynb"
    ours = [f"--ServerApp.root_dir={course.folder}", page, "--ServerApp.ip=127.0.0.1"]
    root = ["--allow-root"] if os.name != "nt" and os.geteuid() == 0 else []
    assert call["arguments"] == [*ours, *root, *passed_on]
    assert Path(call["folder"]) == course.folder
    assert call["PYTHONPATH"] == str(course.folder)  # what "one" holds is not for .venv
    assert call["JUPYTER_CONFIG_PATH"] == os.pathsep.join([str(course.folder), "two"])
    assert call["JUPYTER_PATH"] == os.pathsep.join([str(course.folder / "labconfig"), "three"])


def test_an_address_that_is_asked_for_replaces_the_loopback_address(course):
    course.run("lab", "--ip=0.0.0.0")
    assert [a for a in course.calls("jupyterlab")[0]["arguments"] if "ip=" in a] == ["--ip=0.0.0.0"]


def test_lab_makes_copies_and_keeps_what_the_learner_changed(course):
    course.run("lab")
    lesson, mine = (course.folder / name / FIRST for name in ("notebooks", "my_lessons"))
    assert mine.read_bytes() == lesson.read_bytes()
    mine.write_text(mine.read_text(encoding="utf-8").replace("10 minutes", "20 minutes"), encoding="utf-8")
    lesson.write_text(lesson.read_text(encoding="utf-8").replace("10 minutes", "11 minutes"), encoding="utf-8")
    done = course.run("lab")
    assert f"my_lessons/{FIRST} holds your work, and there is a newer edition" in done.stdout
    assert "20 minutes" in mine.read_text(encoding="utf-8") and len(course.calls("jupyterlab")) == 2


def test_an_author_opens_the_lessons_themselves_and_gets_no_copy(course):
    assert course.run("lab", "--author", "--no-browser").returncode == 0
    arguments = course.calls("jupyterlab")[0]["arguments"]
    assert arguments[1] == f"--LabApp.default_url=/lab/tree/notebooks/{FIRST}" and arguments[-1] == "--no-browser"
    assert "--author" not in arguments
    assert not (course.folder / "my_lessons").exists()


def test_lab_names_a_file_that_hides_a_library_from_the_lessons(course):
    course.run("lab")
    (course.folder / "my_lessons" / "random.py").write_text("")
    done = course.run("lab")
    assert "my_lessons/random.py is named like a module" in done.stdout.replace(os.sep, "/")
    assert len(course.calls("jupyterlab")) == 2


def test_lab_starts_at_the_lesson_where_no_copy_can_be_made(course):
    (course.folder / "my_lessons").write_text("a file")
    done = course.run("lab")
    assert done.returncode == 0 and "my_lessons is no folder" in done.stdout
    assert course.calls("jupyterlab")[0]["arguments"][1].endswith(f"/lab/tree/notebooks/{FIRST}")


def test_lab_starts_with_a_damaged_lesson_and_names_it(course):
    (course.folder / "notebooks" / "04_x.ipynb").write_text("<<<<<<< ours\n")
    done = course.run("lab")
    assert "notebooks/04_x.ipynb is damaged: it holds marks of a merge conflict (line 1)." in done.stdout
    assert course.calls("jupyterlab")[0]["arguments"][1].endswith(f"/lab/tree/my_lessons/{FIRST}")


@posix
def test_root_is_told_that_it_is_root(course):
    done = course.run("lab")
    assert ("You are root." in done.stdout) == (os.geteuid() == 0)


def test_what_jupyter_keeps_lies_in_the_course_and_no_configuration_of_the_learner_is_read(course, tmp_path):
    course.run("lab", JUPYTER_CONFIG_DIR=str(tmp_path), HOME=str(tmp_path / "gone"))
    call = course.calls("jupyterlab")[0]
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        assert Path(call[name]).parent == course.folder / ".lab" and Path(call[name]).is_dir()
    if os.name != "nt":
        assert (course.folder / ".lab").stat().st_mode & 0o077 == 0  # the token stands there


@pytest.mark.parametrize(
    ("slip", "meant"), [("--nobrowser", "--no-browser"), ("--no-browswer", "--no-browser"), ("--prot=1", "--port"),
                        ("--gpus", "--gpu")]
)  # fmt: skip
def test_a_slip_in_an_option_is_told_before_anything_is_installed(bare_course, slip, meant):
    done = bare_course.run("lab", slip)
    assert done.returncode == 1 and f"there is no option {slip.split('=')[0]}: use {meant}" in done.stderr
    assert not bare_course.venv.exists()


def test_options_that_jupyterlab_knows_pass():
    server.check_options(["--no-browser", "--ServerApp.tokenn=1", "--port=1", "-y", "--expose-app-in-browser", "x"])


@posix
def test_a_running_jupyterlab_is_told_in_three_lines_and_stops_at_ctrl_c(course):
    command = [sys.executable, "-m", "course_lib", "lab"]
    environ = course.environ(FAKE_jupyterlab="runs")
    with subprocess.Popen(
        command, cwd=course.folder, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        told = []
        for line in process.stdout:
            told.append(line.strip())
            if line.strip().startswith("To come back"):
                break
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=20)
    page = "http://127.0.0.1:8888/lab/tree/my_lessons/00_start_here.ipynb?token=abc"
    assert [line.split("  ")[0] for line in told[-3:]] == ["Lessons", "To stop", "To come back"]
    assert told[-3].endswith(page) and told[-1].endswith("python3 -m course_lib lab")
    assert "JupyterLab has stopped." in rest and errors == "" and process.returncode == 3


@posix
def test_the_exit_code_of_a_jupyterlab_that_ran_is_passed_on(course):
    assert course.run("lab", FAKE_jupyterlab="runs a while").returncode == 7


def test_a_jupyterlab_that_does_not_start_is_told_with_what_it_said(course):
    done = course.run("lab", FAKE_jupyterlab="[C 2026-01-01 10:00:00.000 ServerApp] Bad config: no")
    assert done.returncode == 1 and done.stderr.splitlines()[-1].endswith("JupyterLab did not start: Bad config: no")
    done = course.run("lab", FAKE_jupyterlab="ModuleNotFoundError: No module named 'jupytext'")
    assert "something asks for the package jupytext" in done.stderr and "doctor" in done.stderr


@posix
@pytest.mark.parametrize(("command", "waiting", "code"), [("lab", "pip", 130), ("test", "pytest", 1)])
def test_ctrl_c_ends_without_a_traceback(course, command, waiting, code):
    command = [sys.executable, "-m", "course_lib", command]
    environ = course.environ(**{f"FAKE_{waiting}": "waits"})
    with subprocess.Popen(
        command,
        cwd=course.folder,
        env=environ,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # nohup and & hand it down as ignored
    ) as process:
        deadline = time.monotonic() + 20
        while not course.calls(waiting) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.3)
        os.killpg(process.pid, signal.SIGINT)
        errors = process.communicate(timeout=20)[1]
    assert process.returncode == code and "Traceback" not in errors
    assert (waiting == "pip") == ("Stopped. To go on, start again" in errors)


def test_test_runs_each_step_and_pytest_with_a_fresh_progress_file(course):
    done = course.run("test", "-k", "patches", MPLBACKEND="agg")
    assert done.returncode == 0 and "Passed: ruff check, ruff format, mypy, pytest" in done.stdout.splitlines()[-1]
    folders, run = ["course_lib", "tests", "notebooks"], course.calls("pytest")[0]
    assert [call["arguments"] for call in course.calls("ruff")] == [
        ["check", *folders],
        ["format", "--check", *folders],
    ]
    assert run["arguments"] == ["-n", "2", "--dist", "loadfile", "tests", "notebooks", "-k", "patches"]
    assert run["OMP_NUM_THREADS"] == "1" and run["MPLBACKEND"] is None
    progress = Path(run["COURSE_PROGRESS"])
    assert course.folder not in progress.parents and not progress.exists()


def test_test_names_the_step_that_failed_and_returns_its_exit_code(course):
    done = course.run("test", FAKE_ruff="4")
    assert done.returncode == 4 and "Failed: ruff check (exit code 4)." in done.stdout
    assert course.calls("pytest") == []
    done = course.run("test", FAKE_pytest="5")
    assert done.returncode == 5 and "Failed: pytest (no test ran)." in done.stdout


def test_a_path_given_to_test_replaces_the_usual_ones(course):
    (course.folder / "tests" / "test_a.py").write_text("")
    course.run("test", "tests/test_a.py::test_b", "-x")
    assert course.calls("pytest")[0]["arguments"][4:] == ["tests/test_a.py::test_b", "-x"]


def test_refresh_hands_its_paths_to_the_notebook_runner(course):
    authoring = course.folder / "course_lib" / "authoring"
    authoring.mkdir()
    (authoring / "notebooks.py").write_text(
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


@posix
def test_ci_fails_when_a_test_fails_and_when_none_ran(course, tmp_path):
    (course.folder / ".ci").mkdir()
    shutil.copy(COURSE / ".ci" / "run", course.folder / ".ci" / "run")
    tools = tmp_path / "tools"
    tools.mkdir()
    there = dict.fromkeys(("chromium", "configurable-http-proxy", "debootstrap"), "exit 0")
    uncalled = dict.fromkeys(("apt-get", "npm"), "exit 9")  # what reaches beyond this machine
    for name, text in {**there, **uncalled, "python3": f'exec "{sys.executable}" "$@"'}.items():
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

    environ = server.environ(sys.executable)
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


def test_the_browser_tests_start_the_command_of_the_readme_and_set_nothing_that_a_user_has_not(monkeypatch, tmp_path):
    from tests.support import lab

    readme = "python3 -m course_lib lab"
    assert f"```\n{readme}\n```" in text_of("README.md")
    assert ["python3", *lab.COMMAND[1:]] == [*readme.split(), "--no-browser"]
    started = {}

    def start(command, **settings):
        started.update(settings, command=command)
        return subprocess.CompletedProcess(command, 0, stdout=iter(["Lessons  http://127.0.0.1:1/lab?token=a\n"]))

    monkeypatch.setattr(lab.subprocess, "Popen", start)
    monkeypatch.setattr(lab, "copy_course", lambda folder: None)
    one = lab.Lab(tmp_path)
    one.start()
    assert started["command"] == lab.COMMAND and started["cwd"] == tmp_path and one.query == "token=a"
    assert started["env"].items() <= os.environ.items() and not set(started["env"]) & set(lab.SET_FOR_TESTS)


def test_the_table_of_lessons_in_the_readme_says_what_the_course_says():
    from course_lib.exercises.lessons import LESSONS

    rows = re.findall(r"^\| (\d\d) \| (.+?) \| (.+?) \| (\d+) \|$", text_of("README.md"), re.MULTILINE)
    told = [
        (number, re.sub(r"\[(.+)\]\(.+\)", r"\1", title), question, int(minutes))
        for number, title, question, minutes in rows
    ]
    assert told == [(lesson.number, lesson.title, lesson.question, lesson.minutes) for lesson in LESSONS]
    linked = [re.fullmatch(r"\[.+\]\(notebooks/(.+)\)", title) for _, title, *_ in rows]
    assert [link[1] if link else "" for link in linked] == [lesson.file for lesson in LESSONS]


def test_the_links_of_the_readme_lead_somewhere():
    text = text_of("README.md")
    targets = [target.split("#")[0] for target in re.findall(r'(?:\]\(|src=")([^)"\s]+)', text)]
    local = [target for target in targets if target and not re.match(r"[a-z]+:", target)]
    assert {"data/README.md", "LICENSE", "notebooks/images/map.png"} <= set(local)
    assert [target for target in local if not (COURSE / target).exists()] == []
