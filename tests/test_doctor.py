"""The doctor: one line a fact, a cure where there is a problem, an exit without a traceback explained."""

import os
import shutil
import subprocess
import sys
import types

import pytest

from course_lib import COURSE, doctor
from course_lib.setup.checks import imports
from course_lib.setup.faults import SetupError

posix = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")


@pytest.fixture
def facts(monkeypatch):
    """Replaces what the report asks the machine; returns the places to change."""
    for name in ("_pair", "_widgets", "_other_copy", "_imports", "_network", "_memory", "_disk"):
        monkeypatch.setattr(doctor, name, lambda name=name: ("ok", name.strip("_"), "fine"))
    for name in ("names", "_python", "_packages", "files", "_data", "own_settings"):
        monkeypatch.setattr(doctor, name, lambda *_, name=name: [("ok", name.strip("_"), "fine")])
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


@pytest.mark.parametrize(
    ("version", "jupyterlab", "colab", "state"),
    [("7.7.1", "4.6.6", True, "note"), ("7.7.1", None, False, "note"), ("7.7.1", "4.6.6", False, "problem"),
     ("7.5.1", None, True, "problem"), ("8.1.9", "4.6.6", False, "ok")],
)  # fmt: skip
def test_old_widgets_may_stay_where_jupyterlab_does_not_show_them(monkeypatch, version, jupyterlab, colab, state):
    versions = {"jupyterlab": jupyterlab, "ipywidgets": version}
    monkeypatch.setattr(doctor, "installed_version", versions.get)
    if colab:
        monkeypatch.setitem(sys.modules, "google.colab", types.ModuleType("google.colab"))
    assert doctor.package_fact("ipywidgets", ">=8.1,<9", version)[0] == state
    widgets = doctor._widgets()
    assert widgets is None if colab or jupyterlab is None else widgets[0] == "problem"


def make_module(folder, monkeypatch, text):
    (folder / "deadly.py").write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(folder))


def test_imports_that_work_are_named():
    assert imports.imports_fact(["json", "csv"]) == ("ok", "imports", "json, csv can be imported")


@posix
@pytest.mark.parametrize(
    ("number", "explanation"),
    [("SIGSEGV", "libraries from two sources"), ("SIGABRT", "libraries from two sources"),
     ("SIGKILL", "lack of memory"), ("SIGILL", "processor is too old")],
)  # fmt: skip
def test_an_import_that_kills_the_process_is_named_and_explained(tmp_path, monkeypatch, number, explanation):
    make_module(tmp_path, monkeypatch, f"import os, signal\nos.kill(os.getpid(), signal.{number})\n")
    state, _, line = imports.imports_fact(["json", "deadly", "csv"])
    assert state == "problem" and line.startswith(f"deadly ({tmp_path / 'deadly.py'}) ends the process without")
    assert explanation in line


def test_an_import_that_fails_shows_its_error(tmp_path, monkeypatch):
    make_module(tmp_path, monkeypatch, "raise OSError('undefined symbol: _ZN2at')\n")
    state, _, line = imports.imports_fact(["deadly"])
    assert state == "problem" and f"deadly ({tmp_path / 'deadly.py'}): OSError: undefined symbol: _ZN2at" in line


def test_a_module_that_python_is_told_to_find_elsewhere_is_named_with_its_cure(tmp_path, monkeypatch):
    make_module(tmp_path, monkeypatch, "import packaging.version, packaging.gone\n")
    (tmp_path / "packaging.py").write_text("print('hello')\n")
    state, _, line = imports.imports_fact(["deadly", "csv"])
    hidden = tmp_path / "packaging.py"
    assert state == "problem" and line.startswith(f"deadly ({tmp_path / 'deadly.py'}): ModuleNotFoundError: ")
    assert f"{hidden} comes from a folder that the variable PYTHONPATH names" in line
    assert "unset PYTHONPATH" in line or os.name == "nt"
    assert ".venv" not in line and "fresh" not in line


def test_a_part_of_a_package_that_is_missing_is_no_fault_of_a_stranger(tmp_path, monkeypatch):
    monkeypatch.setattr(imports, "fresh", lambda: "all anew")
    _, _, line = imports.imports_fact(["packaging.gone"])
    assert line.endswith("ModuleNotFoundError: No module named 'packaging.gone': all anew")


@pytest.mark.parametrize("place", ["course", "notebooks", "own", "elsewhere"])
def test_the_cure_fits_the_place_of_the_stranger(tmp_path, monkeypatch, place):
    monkeypatch.setattr(imports, "COURSE", tmp_path / "course")
    monkeypatch.setattr(imports.site, "getusersitepackages", lambda: str(tmp_path / "own"))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    (tmp_path / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path / "notebooks")
    cure = imports._cure_for(tmp_path / place / "torch.py")
    ends = {"own": "set PYTHONNOUSERSITE=1, or uninstall it", "elsewhere": "move it away or uninstall it"}
    assert cure.startswith(str(tmp_path / place / "torch.py")) and cure.endswith(ends.get(place, "rename it"))


def test_to_delete_venv_is_the_cure_only_for_a_fault_in_it(tmp_path, monkeypatch):
    monkeypatch.setattr(imports, "COURSE", tmp_path)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / ".venv"))
    assert "delete the folder .venv" in imports.fresh()
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "other"))
    assert "--force-reinstall" in imports.fresh() and sys.executable in imports.fresh()
    (tmp_path / "other" / "conda-meta").mkdir(parents=True)
    assert "conda env create" in imports.fresh() and "pip" not in imports.fresh()


def test_an_import_that_never_ends_is_stopped(tmp_path, monkeypatch):
    make_module(tmp_path, monkeypatch, "import time\ntime.sleep(60)\n")
    state, _, line = imports.imports_fact(["deadly"], seconds=1)
    assert state == "problem" and "took longer than 1 seconds" in line


def test_a_windows_exit_code_is_shown_as_windows_names_it():
    assert "0xc0000005" in imports.exit_reason(0xC0000005)
    assert "too old" in imports.exit_reason(0xC000001D)


def test_a_computer_without_a_pytorch_is_told_unless_it_has_one(monkeypatch):
    def refuse():
        raise SetupError("there is no PyTorch for this computer")

    monkeypatch.setattr(doctor, "check_platform", refuse)
    assert doctor._python()[0][0] == "ok"
    monkeypatch.setattr(doctor, "installed_version", lambda name: None)
    state, _, line = doctor._python()[0]
    assert state == "problem" and line.endswith(": there is no PyTorch for this computer")


@pytest.mark.skipif(shutil.which("unshare") is None, reason="a computer without a network, as Linux can make one")
def test_programs_that_cannot_reach_each_other_are_told():
    assert doctor._network() is None
    code = "from course_lib import doctor; print(doctor._network())"
    command = ["unshare", "--net", "--map-root-user", sys.executable, "-c", code]
    done = subprocess.run(command, cwd=COURSE, capture_output=True, text=True)
    if done.stderr.startswith("unshare"):
        pytest.skip("this system does not let us make a computer without a network")
    assert done.stdout.startswith("('problem', 'network', 'programs here cannot reach each other at 127.0.0.1 (")


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
    assert "ok       saving       your work can be saved" in done.stdout
    assert all(line.split()[0] in ("ok", "note", "problem") for line in done.stdout.splitlines())
