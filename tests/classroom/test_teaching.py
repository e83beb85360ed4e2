"""The notes for teachers agree with the lessons: sessions, exercises and wrong answers that exist."""

from __future__ import annotations

import re

import pytest

from course_lib import COURSE
from course_lib.classroom import commands, teaching
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


@pytest.mark.parametrize(("file", "heading"), asked())
def test_a_question_leads_to_a_section_of_its_lesson(file, heading):
    sources = [cell.source for cell in read(COURSE / "notebooks" / file).cells if cell.cell_type == "markdown"]
    assert f"## {heading}" in "\n".join(sources).splitlines()


def test_every_question_has_a_lesson_and_a_place():
    rows = table("What to ask before each experiment")
    assert [row[0] for row in rows] == [file[:2] for (file, _), asks in asked().items() for _ in asks]


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
        (
            "## What to ask before",
            "## What one asks before",
            'expected the heading "## What to ask before each experiment"',
        ),
        (
            "## Wrong answers to expect",
            "## Wrong answers",
            'expected the heading "## Wrong answers to expect", got What',
        ),
        (" | cat and kitten, singular and plural", "", "expected 4 cells, got '01 | [Which two words"),
        (f"({FIRST_ASK})", "", "expected [question](NN_lesson.ipynb#Heading-of-its-section) in the second cell, got"),
        (FIRST_ASK, FIRST_ASK.replace("01_words", "01_word"), "expected [question](NN_lesson.ipynb#"),
        (
            FIRST_ASK,
            FIRST_ASK + "-us",
            "expected a section of 01_words_as_one_hot.ipynb (",
        ),
        (
            "| `one_hot` | width",
            "| `onehot` | width",
            "expected the name of an exercise in the first cell, got '`one",
        ),
        ("width from the batch", "width of the batch", "expected the name of a wrong answer of one_hot, got 'width of"),
    ],
)
def test_what_does_not_fit_in_the_notes_ends_the_slides_with_one_line(notes, capsys, tmp_path, old, new, told):
    notes(old, new)
    assert commands.main(["slides", str(tmp_path / "slides"), "--only", "01"]) == 1
    shown = capsys.readouterr().err
    assert told in shown and "TEACHING.md" in shown and shown.count("\n") == 1
