"""The notes for teachers agree with the lessons: sessions, exercises and wrong answers that exist."""

from __future__ import annotations

import re

import pytest

from course_lib import COURSE
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
