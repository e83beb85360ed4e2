"""The doctor and the learner's own Jupyter: settings that end it or change it, folders in which it cannot write."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.setup import server
from course_lib.setup.checks import settings

GONE = "a_package_that_is_not_there"
CLASS = f'{{"ServerApp": {{"contents_manager_class": "{GONE}.Manager"}}}}'


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home folder and a folder of the system, both with configuration of Jupyter; nothing else of it is read."""
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "JUPYTER_NO_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "USERPROFILE", "APPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "home" / ".jupyter"))
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(tmp_path / "system"))
    (tmp_path / "home" / ".jupyter").mkdir(parents=True)
    (tmp_path / "system").mkdir()
    return tmp_path


def test_a_home_without_settings_has_nothing_to_tell(home):
    assert settings.own_settings() == []


@pytest.mark.parametrize(
    ("name", "content"),
    [("jupyter_server_config.json", CLASS), ("jupyter_config.json", CLASS),
     ("jupyter_server_config.py", f"print('hello')\nc.ServerApp.contents_manager_class = '{GONE}.Manager'")],
)  # fmt: skip
def test_a_package_that_jupyterlab_would_miss_is_told_with_file_key_and_cure(home, name, content):
    file = home / "system" / name
    file.write_text(content)
    ((state, _, text),) = settings.own_settings()
    assert state == "problem" and text.startswith(f"{file} sets ServerApp.contents_manager_class to something in the")
    assert text.endswith(f"take that line out, or install {GONE}")
    file.rename(home / "home" / ".jupyter" / name)
    ((state, _, text),) = settings.own_settings()
    assert state == "note" and "`lab` does not read this file" in text


def test_what_is_told_of_a_missing_package_is_what_jupyterlab_does(home):
    (home / "system" / "jupyter_server_config.json").write_text(CLASS)
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--port=0"]
    done = subprocess.run(command, cwd=home, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and f"'{GONE}.Manager' could not be imported" in done.stderr


def test_a_package_that_is_there_or_comes_too_late_is_no_fault(home):
    good = '{"ServerApp": {"contents_manager_class": "jupyter_server.services.contents.filemanager.FileManager"}}'
    (home / "system" / "jupyter_server_config.json").write_text(good)
    (home / "system" / "jupyter_lab_config.json").write_text(CLASS)
    assert settings.own_settings() == []


def test_a_password_is_noted_and_not_shown(home):
    (home / "system" / "jupyter_lab_config.py").write_text(
        "c.PasswordIdentityProvider.hashed_password = 'argon2:secret'\nc.ServerApp.port = 9999\nc.X.tags.append('y')\n"
    )
    ((state, _, text),) = settings.own_settings()
    assert state == "note" and "sets PasswordIdentityProvider.hashed_password, ServerApp.port" in text
    assert "secret" not in text and "X.tags" not in text


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [("jupyter_server_config.json", '{"ServerApp":', "JSONDecodeError"),
     ("jupyter_server_config.py", f"import {GONE}", "ModuleNotFoundError"),
     ("jupyter_server_config.py", "import sys; sys.exit(3)", "SystemExit"),
     ("jupyter_server_config.json", '{"ServerApp": 3}', None)],
)  # fmt: skip
def test_a_configuration_that_cannot_be_used_is_noted(home, name, content, error):
    (home / "system" / name).write_text(content)
    found = settings.own_settings()
    assert not found if error is None else found[0][0] == "note" and f"cannot be used ({error}" in found[0][2]


def test_a_configuration_that_never_ends_is_left(home):
    (home / "system" / "jupyter_config.py").write_text("import time\ntime.sleep(60)")
    ((state, _, text),) = settings.own_settings(seconds=3)
    assert state == "note" and "takes longer than 3 seconds" in text


@pytest.mark.parametrize("variable", ["JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR"])
def test_a_place_in_which_jupyter_cannot_write_is_named_with_its_variable(home, monkeypatch, variable):
    (home / "in_the_way").write_text("")
    place = home / "in_the_way" / "x"
    monkeypatch.setenv(variable, str(place))
    if variable == "JUPYTER_DATA_DIR":  # the runtime folder would lie in it
        monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(home / "runtime"))
    ((state, name, text),) = settings.own_settings()
    assert (state, name) == ("note", "places")
    assert f"{variable}, {place} (" in text and text.endswith(f"set {variable} to folders of your own")


@pytest.mark.skipif(not Path("/proc/sys").exists(), reason="a home folder in which not even root can write")
def test_a_home_in_which_nothing_can_be_written_is_told(home, monkeypatch):
    monkeypatch.delenv("JUPYTER_CONFIG_DIR")
    monkeypatch.setenv("HOME", "/proc/sys")
    ((_, _, text),) = settings.own_settings()
    for name in ("JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR", "IPYTHONDIR"):
        assert f"{name}, /proc/sys/" in text


def test_lab_needs_none_of_these_places():
    named = {"JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR", "IPYTHONDIR"}
    assert named <= set(server.PLACES)


def test_without_jupyter_there_is_nothing_to_tell(monkeypatch):
    monkeypatch.setitem(sys.modules, "jupyter_core", None)
    monkeypatch.setitem(sys.modules, "jupyter_core.paths", None)
    assert settings.own_settings() == []
