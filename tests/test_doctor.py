"""The doctor: one line a fact, a cure where there is a problem, an exit without a traceback explained."""

import os
import subprocess
import sys
import types

import pytest

from course_lib import COURSE, doctor

posix = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")


@pytest.fixture
def facts(monkeypatch):
    """Replaces what the report asks the machine; returns the places to change."""
    for name in ("_python", "_pair", "_widgets", "_other_copy", "_imports", "_memory", "_disk"):
        monkeypatch.setattr(doctor, name, lambda name=name: ("ok", name.strip("_"), "fine"))
    monkeypatch.setattr(doctor, "_packages", lambda: [("ok", "torch", "2.14.1")])
    monkeypatch.setattr(doctor, "_data", lambda: [("ok", "data", "fine")])
    return monkeypatch


def test_every_line_starts_with_its_state_and_the_last_sums_up(facts):
    lines = doctor.report().splitlines()
    assert {line[:9] for line in lines} == {"ok       "}
    assert lines[-1] == "ok       in sum       the course can run here"


def test_a_note_is_no_problem_and_a_problem_gives_exit_code_1(facts, capsys):
    facts.setattr(doctor, "_disk", lambda: ("note", "disk", "odd"))
    assert doctor.main() == 0
    facts.setattr(doctor, "_disk", lambda: ("problem", "disk", "full: free some space"))
    assert doctor.main() == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith("problem  in sum       one problem")


@pytest.mark.parametrize(
    ("name", "version", "state", "text"),
    [
        ("torch", "2.14.1+cpu", "ok", "2.14.1+cpu"),
        ("torch", "2.1.0", "problem", "2.1.0 does not fit, the course needs >=2.5: run"),
        ("torch", None, "problem", "not installed: run"),
        ("jupyterlab", None, "note", "needed only to serve the notebooks from here"),
    ],
)
def test_a_package_has_its_version_or_its_cure(name, version, state, text):
    found, _, line = doctor.package_fact(name, ">=2.5", version)
    assert found == state and line.startswith(text) or text in line
    assert found == "ok" or "pip install -r requirements.txt" in line


def test_torch_and_torchvision_of_different_releases_are_told_before_importing():
    requires = ["numpy", "torch (>=2.14.0)", "pillow (!=8.3.*,>=5.3.0)", "gdown (>=4.7.3) ; extra == 'gdown'"]
    assert doctor.pair_fact("2.14.1+cpu", "0.29.1", requires)[0] == "ok"
    state, _, line = doctor.pair_fact("2.10.0", "0.29.1", requires)
    assert state == "problem" and "torchvision 0.29.1 needs torch>=2.14.0, but torch 2.10.0" in line
    assert "reinstall both together" in line
    assert doctor.pair_fact("2.14.1", "0.16.2", ["torch==2.1.2"])[0] == "problem"


@pytest.mark.parametrize(
    ("ipywidgets", "jupyterlab_widgets", "state"),
    [("8.1.9", "3.0.17", "ok"), ("8.1.9", "1.1.7", "problem"), ("8.1.9", None, "problem"),
     ("7.8.5", "1.1.7", "problem")],
)  # fmt: skip
def test_the_two_halves_of_a_slider_have_to_fit(ipywidgets, jupyterlab_widgets, state):
    found, _, line = doctor.widgets_fact(ipywidgets, jupyterlab_widgets)
    assert found == state and f"ipywidgets {ipywidgets}" in line
    assert ("pip install" in line) == (state == "problem")


def make_module(folder, monkeypatch, text):
    (folder / "deadly.py").write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(folder))


def test_imports_that_work_are_named():
    assert doctor.imports_fact(["json", "csv"]) == ("ok", "imports", "json, csv can be imported")


@posix
@pytest.mark.parametrize(
    ("number", "explanation"),
    [("SIGSEGV", "libraries from two sources"), ("SIGABRT", "libraries from two sources"),
     ("SIGKILL", "lack of memory"), ("SIGILL", "processor is too old")],
)  # fmt: skip
def test_an_import_that_kills_the_process_is_named_and_explained(tmp_path, monkeypatch, number, explanation):
    make_module(tmp_path, monkeypatch, f"import os, signal\nos.kill(os.getpid(), signal.{number})\n")
    state, _, line = doctor.imports_fact(["json", "deadly", "csv"])
    assert state == "problem" and line.startswith("deadly ends the process without an error message")
    assert explanation in line


def test_an_import_that_fails_shows_its_error(tmp_path, monkeypatch):
    make_module(tmp_path, monkeypatch, "raise OSError('undefined symbol: _ZN2at')\n")
    state, _, line = doctor.imports_fact(["deadly"])
    assert state == "problem" and "deadly: OSError: undefined symbol: _ZN2at" in line


def test_an_import_that_never_ends_is_stopped(tmp_path, monkeypatch):
    make_module(tmp_path, monkeypatch, "import time\ntime.sleep(60)\n")
    state, _, line = doctor.imports_fact(["deadly"], seconds=1)
    assert state == "problem" and "took longer than 1 seconds" in line


def test_a_windows_exit_code_is_shown_as_windows_names_it():
    assert "0xc0000005" in doctor.exit_reason(0xC0000005)
    assert "too old" in doctor.exit_reason(0xC000001D)


def test_damaged_data_are_named_with_their_cure(monkeypatch):
    fault = "data/digits.csv.gz is missing. Restore it with `git checkout -- data/digits.csv.gz`"
    fake = types.SimpleNamespace(verify=lambda: [("photo.png", None), ("digits.csv.gz", fault)])
    monkeypatch.setitem(sys.modules, "course_lib.data", fake)
    assert doctor._data() == [("problem", "data", fault)]
    fake.verify = lambda: [("photo.png", None)]
    assert doctor._data() == [("ok", "data", "1 files are there and unchanged")]


def test_little_memory_is_a_problem():
    assert doctor.memory_fact(0.4)[0] == "problem" and doctor.memory_fact(3.0)[0] == "ok"


def test_a_notebook_of_another_copy_is_told(tmp_path, monkeypatch):
    (tmp_path / "course_lib").mkdir()
    (tmp_path / "course_lib" / "doctor.py").write_text("")
    (tmp_path / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path / "notebooks")
    assert doctor._other_copy()[0] == "note"
    monkeypatch.chdir(COURSE / "tests")
    assert doctor._other_copy() is None


def test_the_real_report_runs_in_a_python_that_lacks_everything(tmp_path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "v")], check=True)
    python = tmp_path / "v" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    command = [python, "-m", "course_lib.doctor"]
    done = subprocess.run(command, cwd=COURSE, capture_output=True, encoding="utf-8")
    assert done.returncode == 1 and done.stderr == ""
    assert "problem  torch        not installed: run" in done.stdout
    assert all(line.split()[0] in ("ok", "note", "problem") for line in done.stdout.splitlines())
