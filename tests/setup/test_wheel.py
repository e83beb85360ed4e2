"""The package alone, as a wheel installs it: data, checks and live pictures work, and what lacks is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from nbformat import from_dict
from nbformat.v4 import new_code_cell

from course_lib import COURSE, __version__
from course_lib.authoring.notebooks import run
from tests.support.notebook_runs import LESSONS, changed, read

pytest.importorskip("hatchling", reason="hatchling, which builds the wheel, is not installed")
pytest.importorskip("pip", reason="pip, which builds and installs the wheel, is not in this environment")

USE = """
import json
from importlib import metadata
import course_lib
from course_lib import data, lessons, progress
from course_lib.judging import missing

print(json.dumps({
    "from": course_lib.__file__,
    "version": metadata.version("words-and-pictures-as-vectors"),
    "faults": [problem for _, problem in data.verify() if problem],
    "photo": list(data.photo(64).shape),
    "digits": list(data.digits().test_images.shape),
    "sentences": len(data.tiny_world()),
    "overview": len(repr(lessons.overview()).splitlines()),
    "missing": missing.where("portrait", "", ""),
    "progress": str(progress.file()),
}))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder that holds what pip installs from the wheel, an empty one, and a way to run Python there."""
    wheels, place, empty = (tmp_path_factory.mktemp(name) for name in ("wheels", "site", "empty"))
    pip = [sys.executable, "-m", "pip", "--quiet"]
    subprocess.run([*pip, "wheel", str(COURSE), "--no-deps", "--no-build-isolation", "-w", str(wheels)], check=True)
    (wheel,) = wheels.glob("*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--no-index", "--target", str(place), str(wheel)], check=True)
    environ = {**os.environ, "PYTHONPATH": str(place)}
    environ.pop("COURSE_PROGRESS", None)

    def python(*arguments: str) -> subprocess.CompletedProcess:
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=empty, env=environ, capture_output=True, encoding="utf-8")

    return SimpleNamespace(place=place, empty=empty, python=python)


def test_the_package_alone_has_its_data_and_keeps_progress_where_the_learner_works(installed):
    done = installed.python("-c", USE)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "from": str(installed.place / "course_lib" / "__init__.py"),
        "version": __version__,
        "faults": [],
        "photo": [1, 3, 64, 64],
        "digits": [360, 1, 8, 8],
        "sentences": 4000,
        "overview": 11,
        "missing": "",
        "progress": str(installed.empty / ".progress" / "events.jsonl"),
    }


def test_a_lesson_somewhere_else_shows_with_the_package_what_is_stored(installed):
    (path,) = [one for one in LESSONS if one.name.startswith("04")]
    stored = read(path)
    ask = new_code_cell("import course_lib; print(course_lib.__file__)", id="asks")
    longer = from_dict({**stored, "cells": [*stored.cells, ask]})
    done = run(longer, installed.empty / path.name, PYTHONPATH=str(installed.place))
    assert done.cells.pop().outputs[0].text.startswith(str(installed.place))
    assert changed(stored, done) == {}


def test_every_file_of_the_package_is_in_the_wheel(installed):
    files = {COURSE / "course_lib": "course_lib", COURSE / "data": "course_lib/data_files"}
    names = [
        f"{there}/{path.relative_to(here).as_posix()}"
        for here, there in files.items()
        for path in here.rglob("*")
        if path.is_file() and not {"__pycache__", ".DS_Store"} & set(path.parts)
    ]
    assert len(names) > 80
    assert [name for name in names if not (installed.place / name).exists()] == []


def test_the_doctor_says_that_the_lessons_are_not_here(installed):
    done = installed.python("-m", "course_lib", "doctor")
    assert done.stderr == "" and "ok       torch " in done.stdout and "3 files are there and unchanged" in done.stdout
    assert "note     no lessons   course_lib was installed as a package, without the lessons: clone" in done.stdout


@pytest.mark.parametrize("command", ["lab", "test", "refresh", "class"])
def test_the_commands_that_need_the_course_folder_say_so(installed, command):
    done = installed.python("-m", "course_lib", command)
    assert done.returncode == 1 and done.stdout == ""
    assert "the course folder is not here. Clone the course" in done.stderr and "Traceback" not in done.stderr
