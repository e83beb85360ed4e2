"""A learner's copy of the lessons: what is renewed, what is kept and what is told, when a new edition comes."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup

from course_lib import COURSE
from course_lib.authoring.notebooks import NotebookError, run
from course_lib.setup import copies, notebook_file
from course_lib.setup.copies import GIVEN, update
from tests.support.lab import copy_course
from tests.support.notebook_runs import NOTEBOOKS, changed, each, read

NAME = "01_words.ipynb"
FIRST = ["# Words", "print(1)", "x = 2"]  # the texts of the cells, in the first edition and in the second
SECOND = ["# Words", "print(1)", "x = 3"]
posix = pytest.mark.skipif(os.name == "nt", reason="links and rights of POSIX")


def notebook(texts):
    """A lesson as it is given out: a title and code cells with an output."""
    printed = [{"output_type": "stream", "name": "stdout", "text": "1"}]
    code = {"cell_type": "code", "execution_count": 1, "outputs": printed}
    cells = [{"cell_type": "markdown"}, *(dict(code) for _ in texts[1:])]
    for number, (cell, text) in enumerate(zip(cells, texts, strict=True)):
        cell.update(id=f"cell-{number}", metadata={}, source=text.splitlines(keepends=True))
    metadata = {"language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def write(path, texts):
    path.write_text(json.dumps(notebook(texts), indent=1) + "\n", encoding="utf-8")


def shown(path):
    """The texts of the cells of a notebook in a file."""
    return ["".join(cell["source"]) for cell in json.loads(path.read_bytes())["cells"]]


def edit(path, change):
    """Change a notebook in a file as an editor does, and write it as JupyterLab writes."""
    content = json.loads(path.read_bytes())
    change(content)
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def solve(content):
    content["cells"][1]["source"] = ["print('my answer')"]


@pytest.fixture
def lessons(tmp_path):
    folder = tmp_path / "lessons"
    folder.mkdir()
    for name in ("00_start.ipynb", NAME):
        write(folder / name, FIRST)
    (folder / "glossary.md").write_text("first edition of the glossary")
    (folder / "TEACHING.md").write_text("for teachers")
    (folder / ".~02_saving.ipynb").write_text("{")
    return folder


@pytest.fixture
def copy(lessons, tmp_path):
    """A copy that was just made."""
    assert update(lessons, tmp_path / "copy") == []
    return tmp_path / "copy"


def files(folder):
    return {path.name for path in folder.iterdir()} - {GIVEN}


# ---------------------------------------------------------------- renewed or kept


def test_a_copy_holds_what_learners_need(copy):
    assert files(copy) == {"00_start.ipynb", NAME, "glossary.md"}


def test_an_update_renews_what_was_left_alone_and_keeps_the_learners_work(lessons, copy):
    edit(copy / NAME, solve)
    (copy / "02_more.ipynb").write_text("my own notebook")
    (copy / "glossary.md").unlink()
    for name in ("00_start.ipynb", NAME, "03_new.ipynb"):
        write(lessons / name, SECOND)
    mine = (copy / NAME).read_bytes()
    for _ in range(2):
        (line,) = update(lessons, copy)
        assert line == (
            "copy/01_words.ipynb holds your work, and there is a newer edition. To get that too, rename yours, for "
            "example to 01_mine.ipynb, and start again."
        )
        assert shown(copy / "00_start.ipynb") == shown(copy / "03_new.ipynb") == SECOND
        assert (copy / NAME).read_bytes() == mine
        assert (copy / "02_more.ipynb").read_text() == "my own notebook"
        assert (copy / "glossary.md").read_text() == "first edition of the glossary"
    (copy / NAME).rename(copy / "01_mine.ipynb")
    assert update(lessons, copy) == []
    assert shown(copy / NAME) == SECOND and (copy / "01_mine.ipynb").read_bytes() == mine


def test_work_without_a_newer_edition_is_kept_in_silence(lessons, copy):
    edit(copy / NAME, solve)
    (copy / "glossary.md").write_text("my notes")
    for _ in range(2):
        assert update(lessons, copy) == []
    assert "my answer" in shown(copy / NAME)[1] and (copy / "glossary.md").read_text() == "my notes"


def test_the_name_that_is_proposed_is_free(lessons, copy):
    for name in (NAME, "glossary.md"):
        shutil.copy(copy / name, copy / name.replace("words", "mine").replace("glossary", "glossary_mine"))
        (copy / name).write_bytes((copy / name).read_bytes().replace(b"1", b"7").replace(b"first", b"my"))
        (lessons / name).write_bytes((lessons / name).read_bytes().replace(b"1", b"9").replace(b"first", b"second"))
    told = [re.search(r"for example to (\S+),", line)[1] for line in update(lessons, copy)]
    assert told == ["01_mine2.ipynb", "glossary_mine2.md"]


def ran(content):
    """What a run writes, with the metadata of a kernel."""
    content["metadata"]["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    content["metadata"]["language_info"]["version"] = "3.12.1"
    for cell in content["cells"][1:]:
        cell.update(execution_count=9, outputs=[], metadata={"execution": {"iopub.status.busy": "2031-01-01"}})


def without_ids(content):
    content["nbformat_minor"] = 4
    for cell in content["cells"]:
        del cell["id"]


def one_text(content):
    for cell in content["cells"]:
        cell["source"] = "".join(cell["source"])


def empty_cells(content):
    content["cells"] += [{"cell_type": "code", "id": f"new-{n}", "metadata": {}, "source": [], "outputs": [],
                          "execution_count": None} for n in range(2)]  # fmt: skip


def newline(content):
    content["cells"][2]["source"] = ["x = 2\n"]


BY_ITSELF = {"opened": lambda content: None, "run": ran, "without ids": without_ids, "sources as one text": one_text,
             "empty cells at the end": empty_cells, "a newline at the end": newline}  # fmt: skip
BY_THE_LEARNER = {
    "an answer": solve,
    "a text": lambda content: content["cells"][0]["source"].append("\n\nMy note."),
    "another order": lambda content: content["cells"].reverse(),
    "a cell less": lambda content: content["cells"].pop(1),
    "a cell more": lambda content: content["cells"].append({**content["cells"][1], "id": "new", "source": ["y"]}),
    "an empty cell in between": lambda content: content["cells"].insert(1, {**content["cells"][1], "source": []}),
    "code made to text": lambda content: content["cells"][1].update(cell_type="markdown"),
    "two cells made to one": lambda content: content["cells"].__setitem__(
        slice(1, 3), [{**content["cells"][1], "source": ["print(1)\n", "x = 2"]}]
    ),
    "indented": lambda content: content["cells"][1].update(source=["  print(1)"]),
}


def by(changes):
    return pytest.mark.parametrize("change", changes.values(), ids=changes)


@by(BY_ITSELF)
def test_what_jupyterlab_writes_by_itself_is_no_work(lessons, copy, change):
    edit(copy / NAME, change)
    (copy / NAME).write_text((copy / NAME).read_text().rstrip().replace('": ', '":'))
    before = (copy / NAME).read_bytes()
    assert update(lessons, copy) == [] and (copy / NAME).read_bytes() == before  # outputs of one's own stay
    write(lessons / NAME, SECOND)
    assert update(lessons, copy) == [] and shown(copy / NAME) == SECOND


@by(BY_THE_LEARNER)
def test_what_a_learner_writes_is_work(lessons, copy, change):
    edit(copy / NAME, change)
    before = (copy / NAME).read_bytes()
    write(lessons / NAME, SECOND)
    assert len(update(lessons, copy)) == 1 and (copy / NAME).read_bytes() == before


def test_an_edition_with_other_outputs_renews_in_silence(lessons, copy):
    edit(copy / NAME, solve)
    mine = (copy / NAME).read_bytes()
    for name in ("00_start.ipynb", NAME):
        edit(lessons / name, lambda content: content["cells"][1].update(outputs=[]))
    assert update(lessons, copy) == []
    assert (copy / NAME).read_bytes() == mine
    assert (copy / "00_start.ipynb").read_bytes() == (lessons / "00_start.ipynb").read_bytes()


def test_work_that_was_undone_is_renewed_again(lessons, copy):
    given = (copy / NAME).read_bytes()
    edit(copy / NAME, solve)
    update(lessons, copy)
    (copy / NAME).write_bytes(given)
    write(lessons / NAME, SECOND)
    assert update(lessons, copy) == [] and shown(copy / NAME) == SECOND


# ---------------------------------------------------------------- the record


def old_record(copy):
    """The record as it was at first: the hash of each file's bytes."""
    marks = {name: hashlib.sha256((copy / name).read_bytes()).hexdigest() for name in files(copy)}
    (copy / GIVEN).write_text(json.dumps(marks))


def test_a_file_with_the_bytes_of_an_old_record_is_renewed(lessons, copy):
    old_record(copy)
    write(lessons / NAME, SECOND)
    (lessons / "glossary.md").write_text("second edition")
    assert update(lessons, copy) == []
    assert shown(copy / NAME) == SECOND and (copy / "glossary.md").read_text() == "second edition"


def test_a_file_that_was_opened_under_an_old_record_is_renewed_from_the_next_edition_on(lessons, copy):
    old_record(copy)
    edit(copy / NAME, ran)
    assert update(lessons, copy) == []  # the texts are those of this edition: now they are known
    write(lessons / NAME, SECOND)
    assert update(lessons, copy) == [] and shown(copy / NAME) == SECOND


@by({"opened": ran, **BY_THE_LEARNER})
def test_of_an_old_record_and_an_unknown_edition_everything_is_kept(lessons, copy, change):
    old_record(copy)
    edit(copy / NAME, change)
    before = (copy / NAME).read_bytes()
    write(lessons / NAME, SECOND)
    for _ in range(2):
        (line,) = update(lessons, copy)
        assert "holds your work, and there is a newer edition" in line and (copy / NAME).read_bytes() == before


RECORDS = [b"[]", b"{torn", b"", b"7", b"null", b'"text"', b"\xff\xfe", b"[" * 100_000, b'{"01_words.ipynb": 7}',
           b'{"01_words.ipynb": []}', b'{"01_words.ipynb": {}}', b'{"01_words.ipynb": {"edition": 1, "work": null}}',
           b'{"01_words.ipynb": {"edition": "a"}}', b'{"01_words.ipynb": {"edition": "a", "work": "b", "taken": 1}}',
           b'{"01_words.ipynb": {"edition": "", "work": ""}}', None]  # fmt: skip


@pytest.mark.parametrize("record", RECORDS)
def test_a_record_that_makes_no_sense_is_no_record_and_no_work_is_lost(lessons, copy, record):
    edit(copy / NAME, solve)
    mine = (copy / NAME).read_bytes()
    (copy / GIVEN).unlink()
    if record is not None:
        (copy / GIVEN).write_bytes(record)
    lines = update(lessons, copy)
    assert all("01_words.ipynb" in line and "rename yours" in line for line in lines) and len(lines) < 2
    write(lessons / NAME, SECOND)
    write(lessons / "00_start.ipynb", SECOND)
    (line,) = update(lessons, copy)
    assert "there is a newer edition" in line
    assert (copy / NAME).read_bytes() == mine and shown(copy / "00_start.ipynb") == SECOND


def test_without_a_record_another_text_is_told_once(lessons, copy):
    edit(copy / NAME, solve)
    (copy / GIVEN).unlink()
    (line,) = update(lessons, copy)
    assert line.startswith("copy/01_words.ipynb is not the lesson of this edition. To get that too, rename yours")
    assert update(lessons, copy) == []


# ---------------------------------------------------------------- what stands in the way


def as_conflict(path):
    path.write_bytes(path.read_bytes().replace(b"{\n", b"{\n<<<<<<< ours\n", 1))


def as_folder(path):
    path.unlink()
    path.mkdir()
    (path / "mine").write_text("work")


def as_link(path):
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")
    edit(path.with_name("elsewhere"), solve)


def as_dead_link(path):
    path.unlink()
    path.symlink_to("gone")


def as_pipe(path):
    path.unlink()
    os.mkfifo(path)


STRANGE = {
    "conflict marks": (as_conflict, r"cannot be used: it holds marks of a merge conflict \(line 2\)"),
    "cut short": (lambda path: path.write_bytes(path.read_bytes()[:90]), "cannot be used: it is cut short or no JSON"),
    "empty": (lambda path: path.write_bytes(b""), "cannot be used: it is empty"),
    "list": (lambda path: path.write_bytes(b"[]"), "cannot be used: it is JSON, but no notebook"),
    "folder": (as_folder, "cannot be used: it is no file"),
    "dead link": (as_dead_link, r"cannot be used: it cannot be read \(No such file or directory\)"),
    "pipe": (as_pipe, "cannot be used: it is no file"),
    "link": (as_link, "holds your work, and there is a newer edition"),
}


def listed(folder):
    """All that lies in a folder: kinds, targets of links, bytes."""

    def content(path):
        if path.is_symlink() or not path.is_file():
            return os.readlink(path) if path.is_symlink() else path.stat().st_mode
        return path.read_bytes()

    return {str(path.relative_to(folder)): content(path) for path in folder.rglob("*") if path.name != GIVEN}


@posix
@pytest.mark.parametrize(("strange", "told"), STRANGE.values(), ids=STRANGE)
def test_whatever_lies_in_place_of_a_copy_stays_and_is_told(lessons, copy, strange, told):
    strange(copy / NAME)
    write(lessons / NAME, SECOND)
    before = listed(copy)
    for _ in range(2):
        (line,) = update(lessons, copy)
        assert re.match(f"copy/01_words.ipynb {told}", line) and "01_mine.ipynb, and start again" in line
        assert listed(copy) == before
    (copy / NAME).rename(copy / "01_mine.ipynb")
    assert update(lessons, copy) == [] and shown(copy / NAME) == SECOND


@posix
def test_a_link_is_never_written_through_nor_replaced(lessons, copy):
    (copy / NAME).rename(copy / "elsewhere.ipynb")
    (copy / NAME).symlink_to("elsewhere.ipynb")
    before = (copy / NAME).read_bytes()
    write(lessons / NAME, SECOND)
    update(lessons, copy)
    assert (copy / NAME).is_symlink() and (copy / "elsewhere.ipynb").read_bytes() == before


def test_a_full_disk_leaves_every_file_whole_and_is_told_in_one_line(lessons, copy, monkeypatch):
    real = Path.write_bytes

    def full(path, content):
        real(path, content[:20])
        raise OSError(errno.ENOSPC, "No space left on device")

    for name in ("00_start.ipynb", NAME, "02_new.ipynb", "03_new.ipynb"):
        write(lessons / name, SECOND)
    before = listed(copy)
    monkeypatch.setattr(Path, "write_bytes", full)
    assert update(lessons, copy) == [
        "copy/ is not up to date: 4 files could not be written (No space left on device). Free some space on the disk, "
        "or see to it that you may write there, and start again."
    ]
    assert listed(copy) == before
    monkeypatch.undo()
    assert update(lessons, copy) == [] and shown(copy / NAME) == SECOND


def test_a_record_that_cannot_be_written_harms_no_work(lessons, copy):
    (copy / GIVEN).unlink()
    (copy / GIVEN).mkdir()
    edit(copy / NAME, solve)
    mine = (copy / NAME).read_bytes()
    write(lessons / NAME, SECOND)
    told, failed = update(lessons, copy)
    assert "is not the lesson of this edition" in told and f": {GIVEN} could not be written (" in failed
    assert (copy / NAME).read_bytes() == mine


@posix
def test_a_folder_that_is_closed_to_the_learner_is_told(lessons, copy):
    """In a process without root's rights, which the files of the test belong to no less."""
    write(lessons / NAME, SECOND)
    code = "import os, sys; from pathlib import Path; from course_lib.setup.copies import update; "
    code += "os.geteuid() or os.setuid(65534); print(*update(*map(Path, sys.argv[1:])), sep='\\n')"
    for path in (copy, *copy.parents):
        if "pytest" in str(path):
            path.chmod(0o755)
    copy.chmod(0o555)
    try:
        command = [sys.executable, "-c", code, str(lessons), str(copy)]
        done = subprocess.run(command, cwd=COURSE, capture_output=True, text=True)
    finally:
        copy.chmod(0o755)
    assert done.stderr == "" and re.match(r"copy/ is not up to date: .*\(Permission denied\)", done.stdout), done
    assert shown(copy / NAME) == FIRST


def test_a_file_in_place_of_the_folder_is_told(lessons, tmp_path):
    (tmp_path / "copy").write_text("a file")
    (line,) = update(lessons, tmp_path / "copy")
    assert line == "copy is no folder, so that it cannot hold your lessons: rename it and start again."
    assert (tmp_path / "copy").read_text() == "a file"


def test_a_damaged_lesson_is_told_and_not_given_and_the_old_copy_stays(lessons, copy, monkeypatch):
    monkeypatch.setattr(notebook_file, "COURSE", lessons.parent)
    broken = lessons.rename(lessons.with_name("notebooks"))
    as_conflict(broken / NAME)
    shutil.copy(broken / NAME, broken / "02_new.ipynb")
    lines = update(broken, copy)
    assert [line.partition(" is damaged: it holds marks of a merge conflict (line 2). ")[0] for line in lines] == [
        "notebooks/01_words.ipynb", "notebooks/02_new.ipynb"
    ]  # fmt: skip
    assert shown(copy / NAME) == FIRST and not (copy / "02_new.ipynb").exists()
    write(broken / NAME, SECOND)
    (broken / "02_new.ipynb").unlink()
    assert update(broken, copy) == [] and shown(copy / NAME) == SECOND


def test_an_empty_or_unreadable_glossary_takes_no_copy_away(lessons, copy):
    (lessons / "glossary.md").write_bytes(b"")
    update(lessons, copy)
    (lessons / "glossary.md").unlink()
    (lessons / "glossary.md").mkdir()
    assert "it is no file" in "".join(update(lessons, copy))
    assert (copy / "glossary.md").read_text() == "first edition of the glossary"


def test_a_hub_runs_its_command_whatever_happens_to_the_copy(lessons, tmp_path):
    (tmp_path / "copy").write_text("a file where the folder should be")
    command = [sys.executable, "-m", "course_lib.setup.copies", lessons, tmp_path / "copy"]
    command += [sys.executable, "-c", "print('the server')"]
    done = subprocess.run(command, cwd=COURSE, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == "the server\n" and "copy is no folder" in done.stderr


# ---------------------------------------------------------------- work from the time before, and git


@pytest.fixture
def clone(lessons, tmp_path, monkeypatch):
    """A learner's clone of a course; `.publish(texts)` makes a new edition, `.git(...)` runs git in the clone."""
    for key, value in {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}.items():
        monkeypatch.setenv(key, value)
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "somebody")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "somebody@example.org")
    origin, mine = tmp_path / "origin", tmp_path / "clone"
    origin.mkdir()
    lessons.rename(origin / "notebooks")
    (origin / ".gitignore").write_text("my_lessons/\n.*.ipynb\n")

    def git(*arguments, folder=mine):
        return subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True)

    def publish(texts):
        write(origin / "notebooks" / NAME, texts)
        done = [git(*arguments, folder=origin) for arguments in (("add", "."), ("commit", "-qm", "edition"))]
        assert [one.returncode for one in done] == [0, 0]

    git("init", "-q", folder=origin)
    publish(FIRST)
    assert git("clone", "-q", str(origin), str(mine), folder=tmp_path).returncode == 0
    monkeypatch.setattr(notebook_file, "COURSE", mine)
    mine_ = type("Clone", (), {"lessons": mine / "notebooks", "copy": mine / "my_lessons"})
    mine_.git, mine_.publish, mine_.update = git, publish, lambda: update(mine / "notebooks", mine / "my_lessons")
    return mine_


def restore(clone, line):
    """Do what the line tells."""
    command = line.rpartition(": ")[2]
    assert command.startswith("git checkout HEAD -- notebooks") and clone.git(*command.split()[1:]).returncode == 0


def test_work_among_the_lessons_is_taken_over_and_kept_and_git_can_pull_again(clone):
    edit(clone.lessons / NAME, solve)
    edit(clone.lessons / "00_start.ipynb", ran)
    clone.publish(SECOND)
    assert clone.git("pull").returncode != 0  # as it was
    (line,) = clone.update()
    assert line == (
        "notebooks/ was changed, which can keep git pull from working; your work is in my_lessons/ too. To restore the "
        "lessons: git checkout HEAD -- notebooks"
    )
    assert "my answer" in shown(clone.copy / NAME)[1]
    assert clone.update() == [line]  # as long as it is so
    restore(clone, line)
    assert clone.update() == []
    assert clone.git("pull").returncode == 0 and shown(clone.lessons / NAME) == SECOND
    (line,) = clone.update()
    assert "holds your work, and there is a newer edition" in line and "my answer" in shown(clone.copy / NAME)[1]
    (clone.copy / NAME).rename(clone.copy / "01_mine.ipynb")
    assert clone.update() == [] and shown(clone.copy / NAME) == SECOND
    assert clone.git("status", "--porcelain").stdout == ""


def test_a_lesson_that_was_only_saved_is_given_as_it_was_and_renewed(clone):
    edit(clone.lessons / NAME, ran)
    (line,) = clone.update()
    restore(clone, line)
    clone.publish(SECOND)
    assert clone.git("pull").returncode == 0 and clone.update() == [] and shown(clone.copy / NAME) == SECOND


def test_a_fresh_copy_is_the_edition_even_if_the_lesson_holds_work(clone):
    edit(clone.lessons / NAME, solve)
    clone.update()
    (clone.copy / NAME).rename(clone.copy / "01_mine.ipynb")
    clone.update()
    assert shown(clone.copy / NAME) == FIRST and "my answer" in shown(clone.copy / "01_mine.ipynb")[1]


def test_later_work_among_the_lessons_is_told_and_nobody_is_led_to_lose_it(clone):
    edit(clone.lessons / NAME, solve)
    clone.update()
    edit(clone.copy / NAME, lambda content: content["cells"][2].update(source="going on in the copy"))
    assert "your work is in my_lessons/ too" in clone.update()[0]
    edit(clone.lessons / NAME, lambda content: content["cells"][2].update(source="and in the lesson"))
    (clone.lessons / "glossary.md").write_text("my notes")
    note, told = clone.update()
    assert note.startswith("notebooks/01_words.ipynb holds work that my_lessons/ has not. Copy it there, for example")
    assert note.endswith("01_mine.ipynb, then restore the lesson: git checkout HEAD -- notebooks/01_words.ipynb")
    assert told.startswith("notebooks/glossary.md holds work")
    shutil.copy(clone.lessons / NAME, clone.copy / "01_mine.ipynb")
    restore(clone, note)
    assert shown(clone.lessons / NAME) == FIRST and (clone.lessons / "glossary.md").read_text() == "my notes"


def test_what_is_no_lesson_is_never_restored_by_the_way(clone):
    edit(clone.lessons / NAME, solve)
    (clone.lessons / "TEACHING.md").write_text("a teacher's notes")
    (line,) = clone.update()
    restore(clone, line)
    assert line.endswith(f"-- notebooks/{NAME}") and (clone.lessons / "TEACHING.md").read_text() == "a teacher's notes"


def test_conflict_marks_of_a_pull_are_told_and_the_lesson_is_given_from_git(clone):
    edit(clone.lessons / NAME, lambda content: content["cells"][2].update(source=["my answer"]))
    clone.publish(SECOND)
    clone.git("stash")
    assert clone.git("pull").returncode == 0 and clone.git("stash", "pop").returncode != 0
    (line,) = clone.update()
    assert re.match("notebooks/01_words.ipynb is damaged: it holds marks of a merge conflict .* rename it if", line)
    assert shown(clone.copy / NAME) == SECOND
    assert "<<<<<<<" in (clone.lessons / NAME).read_text()
    (clone.lessons / NAME).rename(clone.lessons / "mine.txt")
    assert clone.git(*line.split("`")[1].split()[1:]).returncode == 0
    assert clone.update() == [] and shown(clone.lessons / NAME) == SECOND


def test_an_answer_that_was_committed_is_a_copy_like_any_other(clone):
    edit(clone.lessons / NAME, solve)
    clone.git("commit", "-qam", "my work")
    assert clone.update() == [] and "my answer" in shown(clone.copy / NAME)[1]


@pytest.mark.parametrize("lacking", ["git", "repository"])
def test_without_git_a_lesson_that_an_editor_saved_is_kept_for_good(clone, lacking, monkeypatch):
    if lacking == "git":
        monkeypatch.setenv("PATH", "")
    else:
        shutil.rmtree(clone.lessons.parent / ".git")
    edit(clone.lessons / NAME, ran)
    edit(clone.lessons / NAME, solve)
    assert [clone.update() for _ in range(3)] == [[]] * 3
    write(clone.lessons / NAME, SECOND)  # a new edition is unpacked over the old one
    write(clone.lessons / "00_start.ipynb", SECOND)
    (line,) = clone.update()
    assert "holds your work, and there is a newer edition" in line
    assert "my answer" in shown(clone.copy / NAME)[1] and shown(clone.copy / "00_start.ipynb") == SECOND


def test_no_lesson_is_stored_as_an_editor_leaves_it():
    assert [path.name for path in NOTEBOOKS if copies._was_edited(path, path.read_bytes())] == []


# ---------------------------------------------------------------- the real lessons, in my_lessons/


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """The course in a folder of its own, with a learner's copy of the lessons."""
    folder = tmp_path_factory.mktemp("course")
    copy_course(folder)
    assert update(folder / "notebooks", folder / "my_lessons") == []
    return folder


def links(text):
    found = re.findall(r'(?:\]\(|src="|href=")([^)"\s]+)', text)
    return {target.partition("#")[0] for target in found if not re.match("[a-z]+:|#", target)}


def test_every_link_and_image_of_a_lesson_is_there_in_the_copy(course):
    cells = {path.name: read(path).cells for path in sorted((course / "my_lessons").glob("*.ipynb"))}
    texts = {name: "\n".join(one.source for one in cells[name] if one.cell_type == "markdown") for name in cells}
    texts["glossary.md"] = (course / "my_lessons" / "glossary.md").read_text(encoding="utf-8")
    found = {name: links(text) for name, text in texts.items()}
    assert len(texts) == 12 and all("glossary.md" in found[name] for name in found if name != "glossary.md")
    assert [(name, one) for name in found for one in found[name] if not (course / "my_lessons" / one).exists()] == []
    assert (course / "my_lessons" / "../data/README.md").exists()


@each([path for path in NOTEBOOKS if path.name[:2] in ("00", "04")])
def test_a_lesson_works_there_as_among_the_lessons(course, path):
    places = [course / folder / path.name for folder in ("notebooks", "my_lessons")]
    there, here = (run(read(place), place, PYTHONPATH=str(course)) for place in places)
    assert changed(there, here) == {} and changed(read(path), here) == {}
    outputs = [output for cell in here.cells for output in cell.get("outputs", [])]
    pages = [output.data["text/html"] for output in outputs if "text/html" in output.get("data", {})]
    linked = {link["href"] for page in pages for link in BeautifulSoup(page, "html.parser").find_all("a", href=True)}
    if path.name.startswith("00"):
        assert len(linked & {one.name for one in NOTEBOOKS}) == 11
        assert "two copies" not in str(outputs) and "in sum" in str(outputs)
    assert [link for link in linked if not (course / "my_lessons" / link).exists()] == []


def test_a_missing_name_is_told_there_too(course):
    path = course / "my_lessons" / "05_one_matrix_for_every_patch.ipynb"
    cells = {cell.id: cell for cell in read(path).cells}
    alone = nbformat.v4.new_notebook(cells=[cells["setup"], cells["none-run"]])
    with pytest.raises(NotebookError, match="name 'projection' is not defined. The cell that begins `.*` makes it"):
        run(alone, path, PYTHONPATH=str(course))
