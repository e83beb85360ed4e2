"""A hub for a class: its list, its learners' copies and numbers, and three learners at work at once on loopback."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from course_lib import COURSE, progress
from course_lib.classroom import copies, hub
from course_lib.classroom.overview import overview
from course_lib.classroom.places import ClassError

NAMES = ["learner_1", "learner_2", "learner_3"]
NOTEBOOK = "00_start_here.ipynb"
CHECK = """
from course_lib.checking import check

def numbers_in(shape):
    {body}

print(check(numbers_in).passed)
"""
WRONG = CHECK.format(body="return sum(shape)")
RIGHT = CHECK.format(body="import math; return math.prod(shape)")


def together(work, learners):
    """What `work` gives for each learner; all are at it at once."""
    with ThreadPoolExecutor(len(learners)) as pool:
        return list(pool.map(work, learners))


@pytest.fixture(scope="module")
def klass():
    """A hub and three learners who logged in and opened lesson 00."""
    pytest.importorskip("websocket", reason="comes with JupyterLab")
    from tests.hub import Hub, Learner, require_hub

    require_hub()
    running = Hub(NAMES)
    try:
        running.start()
        running.learners = [Learner(running, name) for name in NAMES]
        together(enter, running.learners)
        yield running
    finally:
        running.remove()


def enter(learner):
    assert learner.login(f"secret of {learner.name}")
    learner.start()
    learner.open(NOTEBOOK)


def record(running, name):
    return running.folder / "progress" / f"{name}.jsonl"


# ---------------------------------------------------------------- three learners at once


def test_each_learner_solves_an_exercise_and_has_a_record_of_their_own(klass, capsys):
    first = klass.learners[0]
    assert first.run(WRONG).endswith("False")
    assert [answer.split()[-1] for answer in together(lambda learner: learner.run(RIGHT), klass.learners)] == [
        "True"
    ] * 3
    found = [[event["passed"] for event in progress.events(record(klass, name))] for name in NAMES]
    assert found == [[False, True], [True], [True]]
    overview([record(klass, name) for name in NAMES], None, force=False)
    told = capsys.readouterr().out.splitlines()
    assert [line.split() for line in told[:2]] == [NAMES, ["numbers_in", *["solved", "2", "solved", "1", "solved", "1"]]]
