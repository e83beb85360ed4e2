"""A damaged notebook: whatever reads it tells its name, what is wrong and what to do, in one line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest

from course_lib import COURSE
from course_lib.authoring import notebooks
from course_lib.classroom import commands
from course_lib.exercises import lessons
from course_lib.judging import missing
from course_lib.setup import notebook_file
from course_lib.setup.notebook_file import NotebookError, load

NAME = "04_image_to_patches.ipynb"
WHOLE = (COURSE / "notebooks" / NAME).read_bytes()
LINES = WHOLE.splitlines(keepends=True)
CONFLICT = b"".join([*LINES[:40], b"<<<<<<< Updated upstream\n", *LINES[40:42], b"=======\n", *LINES[42:44],
                     b">>>>>>> Stashed changes\n", *LINES[44:]])  # fmt: skip
DAMAGED = {
    "conflict": (CONFLICT, r"it holds marks of a merge conflict \(line 41\)"),
    "second half of a conflict": (WHOLE + b">>>>>>> theirs\n", rf"a merge conflict \(line {len(LINES) + 1}\)"),
    "cut short": (WHOLE[: len(WHOLE) // 2], r"it is cut short or no JSON \(line \d+\)"),
    "empty": (b"\n", "it is empty"),
    "zeros": (bytes(4096), "it is cut short or no JSON"),
    "other text": ("Gr\u00fc\u00dfe".encode("utf-16"), "it is no text in UTF-8"),
    "deep": (b"[" * 200_000, "nested too deeply"),
    "long number": (b"9" * 10_000, "no JSON"),
    "list": (b"[]", "it is JSON, but no notebook of format 4"),
    "text": (b'"cells"', "no notebook of format 4"),
    "no cells": (b'{"nbformat": 4}', "no notebook of format 4"),
    "old format": (b'{"nbformat": 3, "worksheets": []}', "no notebook of format 4"),
    "cells of another kind": (b'{"nbformat": 4, "cells": ["x"]}', "no notebook of format 4"),
    "cell without source": (b'{"nbformat": 4, "cells": [{"cell_type": "code"}]}', "no notebook of format 4"),
}
LAME = json.dumps({"cells": [{"cell_type": "code", "source": "1", "metadata": {}, "id": "a"}], "metadata": {},
                   "nbformat": 4, "nbformat_minor": 5}).encode()  # fmt: skip
each = pytest.mark.parametrize(("content", "told"), DAMAGED.values(), ids=DAMAGED)


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course folder with the lessons; what teachers' commands and a missing name look at."""
    (tmp_path / "notebooks").mkdir()
    for path in lessons.notebooks():
        shutil.copy(path, tmp_path / "notebooks")
    for module in (notebook_file, lessons):
        monkeypatch.setattr(module, "COURSE", tmp_path)
    return tmp_path


def damage(course, content):
    (course / "notebooks" / NAME).write_bytes(content)
    return course / "notebooks" / NAME


@each
def test_a_damaged_lesson_is_named_with_fault_and_cure(course, content, told):
    with pytest.raises(NotebookError, match=rf"^notebooks/{NAME} is damaged: .*{told}.*git checkout HEAD -- notebooks"):
        load(damage(course, content))


def test_the_cure_for_a_lesson_works_in_the_middle_of_a_merge(course):
    def git(*arguments, code=0):
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
        assert subprocess.run(command, cwd=course, capture_output=True).returncode == code, arguments

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first edition")
    damage(course, WHOLE.replace(b"patch", b"piece"))
    git("stash")
    path = damage(course, WHOLE.replace(b"patch", b"tile"))
    git("commit", "-qam", "second edition")
    git("stash", "pop", code=1)
    with pytest.raises(NotebookError, match="merge conflict") as caught:
        load(path)
    cure = str(caught.value).split("`")[1]
    assert subprocess.run(cure.split(), cwd=course, capture_output=True).returncode == 0
    assert path.read_bytes() == WHOLE.replace(b"patch", b"tile")


def test_another_notebook_is_not_restored_from_the_course(course):
    path = course / "mine.ipynb"
    path.write_bytes(CONFLICT)
    with pytest.raises(NotebookError, match="mine.ipynb is damaged: .*Put a good copy in its place$"):
        load(path)


@each
def test_a_refresh_names_it_and_goes_on(course, content, told, monkeypatch, capsys):
    damage(course, content)
    monkeypatch.setattr(notebooks, "run", lambda notebook, path: notebook)
    assert notebooks.main([]) == 1
    shown = capsys.readouterr()
    assert shown.err.count("\n") == 1 and shown.err.startswith(NAME) and "is damaged" in shown.err
    assert shown.out.count("changed") == 10
    assert (course / "notebooks" / NAME).read_bytes() == content


def test_a_refresh_tells_what_cannot_be_read_or_written(course, monkeypatch, capsys):
    def full(path, text):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(notebooks, "run", lambda notebook, path: notebook)
    monkeypatch.setattr(notebooks, "dumps", lambda notebook: "changed")
    monkeypatch.setattr(notebooks, "_replace", full)
    folder = course / "a folder.ipynb"
    folder.mkdir()
    assert notebooks.main([str(course / "notebooks" / NAME), str(folder)]) == 1
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith(NAME) and "No space left" in first and "a folder.ipynb cannot be read" in second


@pytest.mark.parametrize("command", ["solved", "handout", "slides", "assignment"])
@pytest.mark.parametrize("content", [CONFLICT, b"[]", LAME], ids=["conflict", "list", "invalid"])
def test_every_command_of_a_teacher_names_it_and_writes_nothing(course, command, content, tmp_path, capsys):
    damage(course, content)
    assert commands.main([command, str(tmp_path / "made")]) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and told.startswith(f"This did not work: notebooks/{NAME} is damaged: ")
    assert not (tmp_path / "made").exists()
    if command == "slides":  # lessons that are whole can be had meanwhile
        assert commands.main([command, str(tmp_path / "made"), "--only", "03", "05"]) == 0
        assert len(os.listdir(tmp_path / "made")) == 2


@pytest.mark.parametrize(
    ("command", "answer", "told"),
    [
        ("solved", "def patchify(images, patch_size):\n    return images", "cell patchify: patchify has no gap"),
        ("solved", "def patchify(:", "cell patchify is tagged exercise, but is no Python: invalid syntax"),
        ("slides", "def patchify(:", "cell patchify is tagged exercise, but is no Python"),
        ("assignment", "def patchify(:", "cell patchify is tagged exercise, but is no Python"),
        ("assignment", "def patchy(x):\n    ...", "no exercise"),
    ],
)
def test_a_lesson_with_an_answer_in_it_is_named(course, command, answer, told, tmp_path, capsys):
    notebook = json.loads(WHOLE)
    (cell,) = (cell for cell in notebook["cells"] if cell["id"] == "patchify")
    cell["source"] = answer
    damage(course, json.dumps(notebook).encode())
    assert commands.main([command, str(tmp_path / "made"), "--only", "04"]) == 1
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1 and shown.startswith(f"This did not work: {NAME}: ") and told in shown


def test_what_is_not_valid_as_a_notebook_is_told(course):
    path = damage(course, LAME)
    with pytest.raises(NotebookError, match=f"{NAME} is damaged: it is no valid notebook, .* required property"):
        notebooks.read(path)


@each
def test_a_missing_name_is_told_without_the_damaged_lesson(course, content, told):
    damage(course, content)
    assert [bool(cells) for cells in missing.lessons.__wrapped__()] == [
        path.name != NAME for path in lessons.notebooks()
    ]
