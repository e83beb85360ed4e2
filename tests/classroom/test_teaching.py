"""The notes for teachers agree with the lessons: sessions, exercises and wrong answers that exist."""

from __future__ import annotations

import re

import pytest

from course_lib import COURSE
from course_lib.classroom import commands, teaching
from course_lib.classroom.places import ClassError
from course_lib.classroom.teaching import asked, table
from course_lib.exercises import all_exercises
from course_lib.exercises.lessons import LESSONS
from tests.support.notebook_runs import read

TEXT = (COURSE / "notebooks" / "TEACHING.md").read_text(encoding="utf-8")
PLAN, WRONG = table("Four sessions of 90 minutes"), table("Wrong answers to expect")


@pytest.mark.parametrize("session", ["1", "2", "3", "4"])
def test_a_session_has_ninety_minutes(session):
    assert sum(int(row[2]) for row in PLAN if row[0] == session) == 90


def test_the_steps_of_a_lesson_fill_its_minutes():
    planned = {re.search(r"\[(\d\d)\]", row[1])[1]: int(row[2]) for row in PLAN}
    assert {row[0]: sum(map(int, row[1:])) for row in table("Minutes per step")} == planned


def test_every_lesson_has_its_place_and_every_link_its_file():
    links = dict(re.findall(r"\[(\d\d)\]\(([^)]+)\)", TEXT))
    assert links == {lesson.number: lesson.file for lesson in LESSONS}


def test_every_exercise_stands_once_in_the_plan_under_its_lesson():
    found = {}
    for row in PLAN:
        number = re.search(r"\[(\d\d)\]", row[1])[1]
        for name in re.findall(r"`(\w+)`", " ".join(row[3:])):
            assert name not in found
            found[name] = number
    wanted = {name: one.lesson for name, one in all_exercises().items() if one.lesson not in ("00", "03")}
    assert found == wanted  # 00 has its exercise in the text, 03 is done at home as a whole


@pytest.mark.parametrize("file", dict.fromkeys(file for file, *_ in asked()))
def test_questions_lead_to_sections_of_their_lesson(file):
    sources = [cell.source for cell in read(COURSE / "notebooks" / file).cells if cell.cell_type == "markdown"]
    headings = re.findall(r"^## (.+)$", "\n".join(sources), re.MULTILINE)
    found = teaching.asked_in(file, headings)
    assert sum(map(len, found.values())) == sum(name == file for name, *_ in asked())


def test_every_question_has_a_lesson_and_a_place():
    rows = table("What to ask before each experiment")
    assert [row[0] for row in rows] == [file[:2] for file, *_ in asked()]


@pytest.mark.parametrize("row", WRONG, ids=lambda row: row[1])
def test_a_wrong_answer_has_the_name_that_its_check_gives(row):
    exercise = all_exercises()[row[0].strip("`")]
    assert row[1] in {wrong.name for wrong in exercise.wrong}


@pytest.fixture
def notes(monkeypatch, tmp_path):
    """A copy of the notes in which a text can be replaced."""
    copy = tmp_path / "TEACHING.md"
    monkeypatch.setattr(teaching, "FILE", copy)

    def change(old, new):
        assert TEXT.count(old) >= 1
        copy.write_text(TEXT.replace(old, new), encoding="utf-8")

    return change


FIRST_ASK = "01_words_as_one_hot.ipynb#What-the-rows-cannot-say"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("## What to ask before", "## Ask before", 'the heading "## What to ask before each experiment", got What'),
        ("## Wrong answers to expect", "## Wrong answers", 'the heading "## Wrong answers to expect", got What'),
        ("## Changing the tasks", "## Wrong answers to expect", '"## Wrong answers to expect" once, got it 2 times'),
        ("| lesson | ask |", "| lesson | question |", "expected the columns lesson | ask | what you will hear | what"),
        ("| exercise | wrong answer | what helps |", "| exercise | what helps |", "expected the columns exercise | wr"),
        ("| what helps |\n|---|---|---|\n", "| what helps |\n", "expected |---|---| below the columns"),
        (" | cat and kitten, singular and plural", "", "expected 4 cells, one a column, got 3: 01 | [Which two words"),
        ("| 01 | [Which", "01 [Which", "expected 4 cells, one a column, got 3: 01 [Which two words"),
        (f"({FIRST_ASK})", "", "expected [question](NN_lesson.ipynb#Heading-of-its-section) in the column ask, got"),
        (FIRST_ASK, FIRST_ASK.replace("01_words", "01_word"), "expected the file of a lesson, got 01_word_as_one_hot"),
        (
            FIRST_ASK,
            FIRST_ASK + "-us",
            "expected a section of 01_words_as_one_hot.ipynb, got What-the-rows-cannot",
        ),
        ("| `one_hot` | width", "| `onehot` | width", "no exercise is called 'onehot'; nearest: one_hot"),
        (
            "width from the batch",
            "width of the batch",
            "of one_hot is called 'width of the batch'; nearest: width",
        ),
    ],
)
def test_what_does_not_fit_in_the_notes_ends_the_slides_with_one_line(notes, capsys, tmp_path, old, new, told):
    notes(old, new)
    assert commands.main(["slides", str(tmp_path / "slides"), "--only", "01"]) == 1
    shown = capsys.readouterr().err
    assert told in shown and "TEACHING.md" in shown and shown.count("\n") == 1


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("## Marking the open task", "## Marking", 'expected the heading "## Marking the open task", got What'),
        ("| 3 | a prediction", "| three | a prediction", "expected a number in the column points, got three"),
        ("| points | for |\n|---|---|\n", "", "expected the columns points | for, got 3 | a prediction"),
    ],
)
def test_what_does_not_fit_in_the_marking_ends_the_assignment_with_one_line(notes, capsys, tmp_path, old, new, told):
    notes(old, new)
    assert commands.main(["assignment", str(tmp_path / "course"), "--only", "10"]) == 1
    shown = capsys.readouterr().err
    assert told in shown and "TEACHING.md" in shown and shown.count("\n") == 1


def test_a_row_is_named_by_its_line(notes):
    notes("width from the batch", "width of the batch")
    line = next(n for n, text in enumerate(TEXT.splitlines(), 1) if "width from the batch" in text)
    with pytest.raises(ClassError, match=f'^TEACHING.md, line {line}, "Wrong answers to expect": '):
        teaching.helps()


def test_a_bar_in_a_cell_and_a_row_without_its_outer_bars_are_read_as_a_code_host_reads_them(notes):
    notes("| `one_hot` | width from the batch | Two batches", "`one_hot` | width from the batch | Two \\| more batches")
    assert teaching.helps()["one_hot", "width from the batch"].startswith("Two | more batches")


def test_a_question_may_lead_to_a_heading_with_a_hyphen(notes):
    notes(
        "(10_small_vision_transformer.ipynb#Three-front-ends)", "(10_small_vision_transformer.ipynb#Counting-ViT-B/16)"
    )
    assert set(teaching.asked_in("10_small_vision_transformer.ipynb", ["Counting ViT-B/16"])) == {"Counting ViT-B/16"}


def test_notes_that_are_not_there_are_named(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(teaching, "FILE", tmp_path / "TEACHING.md")
    assert commands.main(["slides", str(tmp_path / "slides"), "--only", "01"]) == 1
    shown = capsys.readouterr().err
    assert "TEACHING.md cannot be read (No such file or directory)" in shown and "written" not in shown
