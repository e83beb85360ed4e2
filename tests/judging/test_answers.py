"""The measure of answers that readers typed: each is typed into a notebook of its own, checked and counted."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from course_lib.exercises import all_exercises
from course_lib.judging import repair
from tests.tools.answers import judge_all, table

# What readers typed before they saw any solution, each with what is true of it by the text of its task.
TYPED = Path(__file__).with_name("answers.json")
NAMED = 55.0  # per cent of the wrong ones that get the name of their mistake

SETUP = "import torch\nrows = 3"
RIGHT = "p, s = patch_size, stride; return ((height - p) // s + 1) * ((width - p) // s + 1)"
ANSWERS = [  # truth, the line of the answer, verdict
    ("right", RIGHT, "right"),
    ("wrong", "return height // patch_size * (width // patch_size)", "named"),
    ("wrong", "return ((height - patch_size) // stride - 1) * ((width - patch_size) // stride + 1)", "located"),
    ("wrong", "return stride * width + 12345", "general"),
    ("right", "return 1", "false refusal"),
    ("open", "return 1", "open"),
]


@pytest.fixture
def judged(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_PROGRESS", "off")
    head = "def count_patches(height, width, patch_size, stride):\n    "
    answers = [
        {"exercise": "count_patches", "truth": truth, "what": "", "setup": 0, "code": head + line}
        for truth, line, _ in ANSWERS
    ]
    file = tmp_path / "answers.json"
    file.write_text(json.dumps({"setups": [SETUP], "answers": answers}), encoding="utf-8")
    return judge_all(file)


def test_each_answer_gets_the_verdict_that_its_check_earns(judged):
    assert [one.verdict for one in judged] == [verdict for *_, verdict in ANSWERS]
    assert judged[1].result.diagnosis == "stride ignored"


def test_the_table_counts_them_by_exercise_and_in_all(judged):
    head, one, total = table(judged).splitlines()
    assert one.split()[:8] == ["count_patches", "1", "1", "1", "1", "1", "0", "1"]
    assert total.split()[1:8] == one.split()[1:8] and head.split()[-3:] == ["median", "most", "s"]


@pytest.fixture
def without_repairs(monkeypatch):
    """Their search takes time, and what it finds depends on that."""
    monkeypatch.setattr(repair, "BUDGET", 0.0)
    monkeypatch.setenv("COURSE_PROGRESS", "off")


@pytest.mark.parametrize("name", list(all_exercises()))
def test_of_the_typed_answers_no_wrong_one_passes_and_no_right_one_is_refused(name, without_repairs):
    judged = judge_all(TYPED, [name])
    assert len(judged) > 5
    assert [(one.verdict, one.answer["what"]) for one in judged if one.verdict.startswith("false")] == []


def test_most_of_the_typed_answers_get_the_name_of_their_mistake(without_repairs):
    counts = Counter(one.verdict for one in judge_all(TYPED) if one.answer["truth"] == "wrong")
    assert 100 * counts["named"] / counts.total() >= NAMED, counts
