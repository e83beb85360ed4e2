"""The measure of answers that readers typed: each is typed into a notebook of its own, checked and counted."""

from __future__ import annotations

import json

import pytest

from tests.tools.answers import judge_all, table

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
