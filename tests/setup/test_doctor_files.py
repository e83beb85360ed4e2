"""The doctor and files: what hides a library, what is damaged, what cannot be saved; each with its cure."""

from __future__ import annotations

import errno
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from course_lib import COURSE, progress
from course_lib.setup import notebook_file, shadows
from course_lib.setup.checks import files
from course_lib.setup.requirements import project_dependencies, split_requirement

posix = pytest.mark.skipif(os.name == "nt", reason="owners and rights of POSIX")
LESSON = "04_image_to_patches.ipynb"
NOTEBOOK = '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}'
CONFLICT = '{\n<<<<<<< HEAD\n "cells": [],\n=======\n "cells": [1],\n>>>>>>> other\n}'


@pytest.fixture
def course(monkeypatch):
    """A course folder of its own, which everybody may enter, with a lesson and the learner's copy of it."""
    folder = Path(tempfile.mkdtemp()).resolve()
    folder.chmod(0o755)
    for name in ("notebooks", "my_lessons", "course_lib"):
        (folder / name).mkdir()
    for name in ("notebooks", "my_lessons"):
        (folder / name / LESSON).write_text(NOTEBOOK)
    for module in (files, notebook_file):
        monkeypatch.setattr(module, "COURSE", folder)
    places = {"LESSONS": "notebooks", "COPIES": "my_lessons", "LIBRARY": "course_lib", "STATE": ".lab"}
    for constant, name in places.items():
        monkeypatch.setattr(files, constant, folder / name)
    monkeypatch.setenv("COURSE_PROGRESS", str(folder / ".progress" / "events.jsonl"))
    monkeypatch.chdir(folder)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def no_root():
    """What permissions forbid is forbidden, also where the tests are run by root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    yield
    os.seteuid(0)


def texts(facts):
    assert {state for state, _, _ in facts} <= {"problem"}
    return [text for _, _, text in facts]


def test_a_whole_course_is_told_as_that(course):
    assert files.names() == []
    assert files.files(progress.file()) == [
        ("ok", "files", "the lessons and course_lib can be read"), ("ok", "saving", "your work can be saved")
    ]  # fmt: skip
    assert sorted(path.name for path in course.iterdir()) == ["course_lib", "my_lessons", "notebooks"]


# --- names


def test_files_and_packages_that_hide_a_module_are_found_and_others_are_not(tmp_path):
    hiding = ["random.py", "torch.pyc", "zmq.cpython-311-x86_64-linux-gnu.so", "tokenize.py"]
    others = ["my_random.py", "random.txt", "random.min.py", "random", "sys.py", "time.py", "Random.py", "random.ipynb"]
    for name in hiding + others:
        (tmp_path / name).write_text("")
    (tmp_path / "torch").mkdir()  # holds no code: the installed torch is found first
    (tmp_path / "numpy").mkdir()
    (tmp_path / "numpy" / "__init__.py").write_text("")
    assert sorted(map(os.path.basename, shadows.find(str(tmp_path)))) == sorted([*hiding, "numpy"])
    assert shadows.find(str(tmp_path / "gone")) == []


def test_nothing_of_the_course_is_taken_for_a_file_that_hides_a_module():
    for folder in (COURSE, COURSE / "notebooks", COURSE / "tests"):
        assert shadows.find(str(folder)) == []


def test_the_packages_that_must_not_be_hidden_are_those_that_the_course_has():
    assert [name for name in shadows.PACKAGES if not importlib.util.find_spec(name)] == []
    direct = map(split_requirement, project_dependencies((COURSE / "pyproject.toml").read_text(encoding="utf-8")))
    assert {name for name, _, _ in direct} <= set(shadows.PACKAGES)


@pytest.mark.parametrize("place", ["", "notebooks", "my_lessons"])
def test_a_file_that_hides_a_module_is_told_from_the_course_folder(course, place):
    (course / place / "random.py").write_text("")
    name = os.path.join(place, "random.py")
    cure = "is named like a module that the course needs, and is taken in its place: rename it"
    assert files.names() == [("problem", "names", f"{name} {cure}")]
    (course / "torch.py").write_text("")
    assert "rename them" in files.names()[0][2]


@pytest.fixture
def copy_of_the_course(tmp_path):
    """A course that a command can be started in; the command lacks all packages."""
    folder = tmp_path / "course"
    shutil.copytree(COURSE / "course_lib", folder / "course_lib", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "requirements.txt"):
        shutil.copy(COURSE / name, folder / name)
    return folder


def start(module, *arguments, cwd, **variables):
    environ = {**{key: value for key, value in os.environ.items() if key != "PYTHONPATH"}, **variables}
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, cwd=cwd, env=environ, capture_output=True, encoding="utf-8")


@pytest.mark.parametrize("name", ["random", "tokenize", "token", "re", "tempfile", "torch", "numpy", "ast"])
def test_commands_name_a_file_that_hides_a_module_in_one_line(copy_of_the_course, name):
    own = copy_of_the_course / f"{name}.py"
    own.write_text("print('mine')\n")
    for command in ("lab", "doctor"):
        done = start("course_lib", command, cwd=copy_of_the_course)
        told = done.stderr.strip()
        assert done.returncode == 1 and done.stdout == "" and "\n" not in told
        assert told.startswith(f"This did not work: {own.resolve()} is named like") and told.endswith("rename it")


def test_a_package_that_hides_another_is_named_too(copy_of_the_course):
    (copy_of_the_course / "torch").mkdir()
    (copy_of_the_course / "torch" / "__init__.py").write_text("")
    done = start("course_lib", "lab", cwd=copy_of_the_course)
    assert done.returncode == 1 and "torch is named like" in done.stderr


def test_a_command_that_starts_elsewhere_names_the_files_of_that_folder(tmp_path):
    (tmp_path / "csv.py").write_text("")
    done = start("course_lib", "--help", cwd=tmp_path, PYTHONPATH=str(COURSE))
    assert done.returncode == 1 and f"{tmp_path.resolve() / 'csv.py'} is named like" in done.stderr
    if sys.version_info >= (3, 11):  # there Python can be told to leave the folder out
        done = start("course_lib", "--help", cwd=tmp_path, PYTHONPATH=str(COURSE), PYTHONSAFEPATH="1")
        assert done.returncode == 0 and done.stderr == ""


def test_other_programs_than_the_commands_are_not_stopped(tmp_path):
    (tmp_path / "turtle.py").write_text("")
    done = start("course_lib.setup.requirements", cwd=tmp_path, PYTHONPATH=str(COURSE))
    assert done.returncode == 0 and done.stderr == ""


# --- damage


def test_marks_of_a_merge_in_a_lesson_are_told_with_their_cure(course):
    (course / "notebooks" / LESSON).write_text(CONFLICT)
    first, saving = files.files(progress.file())
    assert saving[0] == "ok" and first[:2] == ("problem", "files")
    assert f"notebooks/{LESSON} is damaged: it holds marks of a merge conflict (line 2)" in first[2]
    assert f"git checkout HEAD -- notebooks/{LESSON}" in first[2]


@pytest.mark.parametrize("content", [CONFLICT, "", NOTEBOOK[:40], "[]"])
def test_a_damaged_copy_is_told_with_a_cure_that_loses_nothing(course, content):
    copy = course / "my_lessons" / LESSON
    copy.write_text(content)
    name = os.path.join("my_lessons", LESSON)
    (line,) = texts(files.damaged_notebooks([files.LESSONS, files.COPIES]))
    assert line.startswith(f"{name} is damaged: ")
    assert line.endswith("Rename it and start again, to get a fresh copy")
    state = copy.parent / ".ipynb_checkpoints" / LESSON.replace(".ipynb", "-checkpoint.ipynb")
    state.parent.mkdir()
    state.write_text(NOTEBOOK)
    assert texts(files.damaged_notebooks([files.COPIES]))[0].endswith(f"an older state of it is {files._short(state)}")


def test_a_damaged_notebook_of_the_learners_own_has_no_fresh_copy(course):
    (course / "my_lessons" / "mine.ipynb").write_text("")
    assert texts(files.damaged_notebooks([files.COPIES]))[0].endswith("it is empty. Rename it")


@posix
def test_a_lesson_that_cannot_be_read_is_told(course, request):
    (course / "my_lessons" / LESSON).chmod(0)
    request.getfixturevalue("no_root")
    (line,) = texts(files.damaged_notebooks([files.COPIES]))
    assert f"reading {os.path.join('my_lessons', LESSON)} fail" in line and ("sudo chown" in line or "chmod" in line)


def test_a_damaged_part_of_the_library_is_told_with_its_cure(course):
    (course / "course_lib" / "vit.py").write_text("import torch\n<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> b\n")
    (line,) = texts(files.damaged_modules(files.LIBRARY))
    name = os.path.join("course_lib", "vit.py")
    assert line.startswith(f"{name} is damaged: invalid syntax") and "line 2" in line
    assert f"git checkout HEAD -- {name}" in line
    assert files.damaged_modules(COURSE / "course_lib") == []


# --- saving


@posix
@pytest.mark.parametrize("place", ["", "my_lessons", "my_lessons/.ipynb_checkpoints", ".lab", ".lab/runtime"])
def test_a_folder_of_somebody_else_is_told(course, place, request):
    (course / place).mkdir(parents=True, exist_ok=True)
    (course / ".progress").mkdir()
    (course / ".progress" / "events.jsonl").touch(0o666)
    (course / ".progress" / "events.jsonl").chmod(0o666)
    for folder in (course, *(path for path in course.rglob("*") if path.name != "events.jsonl")):
        folder.chmod(0o777)
    (course / place).chmod(0o555)
    request.getfixturevalue("no_root")
    (line,) = texts(files.saving(progress.file()))
    shown = files._short(course / place)
    assert line.startswith(f"saving {shown} fail") and ("sudo chown" in line or "chmod" in line)


@posix
@pytest.mark.parametrize("place", [f"my_lessons/{LESSON}", ".lab/runtime/jupyter_cookie_secret"])
def test_a_single_file_that_may_only_be_read_is_told(course, place, request):
    (course / place).parent.mkdir(parents=True, exist_ok=True)
    (course / place).touch()
    for path in (course, *course.rglob("*")):
        path.chmod(0o777)
    (course / place).chmod(0o444)
    request.getfixturevalue("no_root")
    (line,) = texts(files.saving(progress.file()))
    assert line.startswith(f"saving {place} fail") and ("sudo chown" in line or "chmod" in line)


@posix
def test_what_the_learner_owns_needs_no_sudo(course, monkeypatch):
    def refuse(*arguments, **more):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(files.tempfile, "NamedTemporaryFile", refuse)
    lines = texts(files.saving(progress.file()))
    assert f"saving my_lessons fails, it may only be read: run `chmod -R u+rwX {course / 'my_lessons'}`" in lines


def test_a_full_disk_is_told_as_that_and_not_as_a_lack_of_rights(course, monkeypatch):
    class Full:
        def __init__(self, *arguments, **more): ...
        def __enter__(self):
            return self

        def __exit__(self, *error): ...
        def write(self, content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.tempfile, "NamedTemporaryFile", Full)
    lines = texts(files.saving(progress.file()))
    assert all("the disk is full. Free some space" in line and "chown" not in line for line in lines)
    assert [line.split()[1] for line in lines] == [str(course), "my_lessons", "your"]


def test_many_places_that_cannot_be_saved_are_counted(course, monkeypatch):
    for number in range(9):
        (course / "my_lessons" / f"{number}.ipynb").write_text(NOTEBOOK)
    denied = PermissionError(errno.EACCES, "Permission denied")
    monkeypatch.setattr(files, "cannot_write", lambda path: [(path, denied)] if path.suffix == ".ipynb" else [])
    assert texts(files.saving(progress.file()))[3:] == ["saving in 7 more places fails"]


def test_a_record_of_progress_that_cannot_be_kept_is_told_unless_it_is_off(course, monkeypatch):
    (course / "in_the_way").write_text("")
    monkeypatch.setenv("COURSE_PROGRESS", str(course / "in_the_way" / "events.jsonl"))
    (line,) = texts(files.saving(progress.file()))
    assert line.startswith(f"keeping your progress in {os.path.join('in_the_way', 'events.jsonl')} failed: ")
    assert line.endswith(", or set COURSE_PROGRESS to a file elsewhere")
    monkeypatch.setenv("COURSE_PROGRESS", "off")
    assert files.saving(progress.file()) == [] and progress.file() is None


def test_in_a_notebook_only_its_own_folder_counts(course, monkeypatch):
    denied = PermissionError(errno.EACCES, "Permission denied")
    monkeypatch.setattr(files, "cannot_write", lambda path: [(path, denied)] if path == course else [])
    assert len(files.saving(progress.file())) == 1
    monkeypatch.setattr(files, "in_notebook", lambda: True)
    monkeypatch.chdir(course / "my_lessons")
    assert files.saving(progress.file()) == []  # on a server the course belongs to somebody else


def test_without_the_course_folder_the_packages_around_the_library_are_no_concern(course, monkeypatch):
    (course / "torch.py").write_text("")
    denied = PermissionError(errno.EACCES, "Permission denied")
    monkeypatch.setattr(files, "cannot_write", lambda path: [(path, denied)] if path == course else [])
    monkeypatch.setattr(files, "is_here", lambda: False)
    monkeypatch.chdir(course / "my_lessons")
    assert files.names() == files.saving(progress.file()) == []


def test_a_notebook_is_told_from_a_command():
    code = "from course_lib.setup.checks import files; print(files.in_notebook())"
    done = start("IPython", "-c", code, cwd=COURSE)
    assert done.stdout.split()[-1] == "True", done.stderr
    assert not files.in_notebook()


def test_to_try_leaves_nothing_behind_and_changes_nothing(course):
    lesson = course / "my_lessons" / LESSON
    before = lesson.stat().st_mtime_ns
    assert files.cannot_write(lesson) == files.cannot_write(course) == files.cannot_write(course / "a" / "b") == []
    assert lesson.stat().st_mtime_ns == before and not (course / "a").exists()
    assert lesson.read_text() == NOTEBOOK
