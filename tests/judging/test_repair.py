"""Diagnosis by repair: each rule mends an answer of its kind, the place is told first, and all stays as it was."""

from __future__ import annotations

import ast
import builtins
import types

import pytest

from course_lib import checking
from course_lib.checking import hint
from course_lib.exercises import all_exercises
from course_lib.judging import edits, repair
from course_lib.judging.timelimit import Stopped
from tests.tools.answers import judge

SETUP = """
import torch
from torch import nn
from torch.nn import functional as F
P = 4
kept = []
"""
PATCHIFY = """def patchify(images, patch_size):
    b, c, h, w = images.shape
    split = images.reshape(b, c, h // patch_size, patch_size, w // patch_size, patch_size)
    return split{}.reshape(b, -1, c * patch_size ** 2)"""
UNREAD = "def unread_pixels(height, width, patch_size):\n    {}"
COUNT = "def count_patches(height, width, patch_size, stride):\n    {}"
FIELD = "def receptive_field(layers):\n    side, step = 1, 1\n    for kernel, stride in layers:\n        {}"
LOSS = """def negative_sampling_loss(centre, context, negatives):
    right = (centre * context).sum(-1)
    wrong = (negatives @ centre.unsqueeze(-1)).squeeze(-1)
    return -({}).mean()"""
PAIRS = """def skip_gram_pairs(sentences, window):
    pairs = []
    for s in sentences:
        for i in range(len(s)):
            for j in range(max(i - window, 0), min(i + window + 1, len(s))):
                if i == j:
                    {}
                pairs.append((s[i], s[j]))
    return pairs"""
VOCABULARY = "def build_vocabulary(tokens):\n    ids = {{}}\n    for token in tokens:\n        {}"
READ = "read = (height // patch_size) * (width // patch_size) * patch_size ** 2"
SIGN = "return height * width + (height // patch_size) * (width // patch_size) * patch_size ** 2"
BRACKETS = "return (height - patch_size // stride + 1) * ((width - patch_size) // stride + 1)"
PROJECT = "def project(patches, weight, bias):\n    {}"

MENDED = {  # rule: the exercise, an answer, where its mistake is, and what mends it
    "name of the notebook": (
        "unread_pixels",
        UNREAD.format("return height * width - (height // P) * (width // patch_size) * patch_size ** 2"),
        "line 2: `P` is a name of the notebook",
        "`patch_size` in place of `P`",
    ),
    "number for a name": (
        "unread_pixels",
        UNREAD.format("return height * width - (height // 4) * (width // patch_size) * patch_size ** 2"),
        "line 2: the number `4`, which is right for one case only",
        "`patch_size` in place of `4`",
    ),
    "other name": (
        "unread_pixels",
        UNREAD.format("return height * width - (height // patch_size) * (width // width) * patch_size ** 2"),
        "line 2: the name `width`",
        "`patch_size` in place of `width`",
    ),
    "operator": (
        "unread_pixels",
        UNREAD.format(SIGN),
        "line 2: the operator in `height * width +",
        "`height * width - height //",
    ),
    "comparison": (
        "build_vocabulary",
        VOCABULARY.format("if token in ids:\n            ids[token] = len(ids)\n    return ids"),
        "line 4: the comparison `token in ids`",
        "`token not in ids` in place of",
    ),
    "sides": (
        "unread_pixels",
        UNREAD.format("return height * width - (height // patch_size) * (patch_size // width) * patch_size ** 2"),
        "line 2: the order of the two sides in `patch_size // width`",
        "`width // patch_size` in place of",
    ),
    "condition": (
        "skip_gram_pairs",
        PAIRS.replace("if i == j", "if i - j").format("continue"),
        "line 6: the condition `i - j`",
        "`not i - j` in place of",
    ),
    "order": (
        "patchify",
        PATCHIFY.format(".permute(0, 2, 4, 5, 1, 3)"),
        "line 4: the order in `split.permute(0, 2, 4, 5, 1, 3)`",
        "`split.permute(0, 2, 4, 1, 3, 5)` in place of",
    ),
    "targets": (
        "patchify",
        PATCHIFY.format(".permute(0, 2, 4, 1, 3, 5)").replace("b, c, h, w =", "b, h, c, w ="),
        "line 2: the order of the names on the left of `b, h, c, w = images.shape`",
        "`b, c, h, w = images.shape` in place of",
    ),
    "other number": (
        "count_patches",
        COUNT.format("return ((height - patch_size) // stride + 1) * ((width - patch_size) // stride + 3)"),
        "line 2: the number `3`",
        "`1` in place of `3`",
    ),
    "twin": (
        "negative_sampling_loss",
        LOSS.format("F.logsigmoid(right) + F.logsigmoid(-wrong).prod(-1)"),
        "line 4: `F.logsigmoid(-wrong).prod`: another function",
        "`F.logsigmoid(-wrong).sum` in place of",
    ),
    "assignment": (
        "receptive_field",
        FIELD.format("side += (kernel - 1) * step; step += stride\n    return side"),
        "line 4: how `step += stride` keeps its result",
        "`step *= stride` in place of",
    ),
    "break": (
        "skip_gram_pairs",
        PAIRS.format("break"),
        "line 7: `break`: does the loop end here",
        "`continue` in place of `break`",
    ),
    "dtype": (
        "decode",
        "def decode(ids, codebook):\n    return F.one_hot(ids, len(codebook)).float() @ codebook",
        "line 2: the dtype in `F.one_hot(ids, len(codebook)).float()`",
        "`F.one_hot(ids, len(codebook)).to(codebook.dtype)` in place of",
    ),
    "brackets": (
        "count_patches",
        COUNT.format(BRACKETS),
        "line 2: what belongs together in `height - patch_size // stride`",
        "`(height - patch_size) // stride` in place of",
    ),
    "brackets of a call": (
        "negative_sampling_loss",
        LOSS.format("(F.logsigmoid(right) + F.logsigmoid(-wrong)).sum(-1)"),
        "line 4: what the call in `(F.logsigmoid(right) + F.logsigmoid(-wrong)).sum(-1)` is applied to",
        "`F.logsigmoid(right) + F.logsigmoid(-wrong).sum(-1)` in place of",
    ),
    "term too much": (
        "project",
        PROJECT.format("return patches @ weight.T + bias + bias.mean()"),
        "line 2: something too much in `patches @ weight.T + bias + bias.mean()`",
        "`patches @ weight.T + bias` in place of",
    ),
    "argument too much": (
        "nearest_code",
        "def nearest_code(patches, codebook):\n    return torch.cdist(patches, codebook).argmin(-1).to(patches.dtype)",
        "line 2: an argument too much in `torch.cdist(patches, codebook).argmin(-1).to(patches.dtype)`",
        "`torch.cdist(patches, codebook).argmin(-1).to()` in place of",
    ),
    "call too much": (
        "project",
        PROJECT.format("return patches.flip(-1) @ weight.T + bias"),
        "line 2: something too much in `patches.flip(-1)`",
        "`patches` in place of `patches.flip(-1)`",
    ),
    "setting": (
        "patchify",
        "def patchify(images, patch_size):\n    return F.unfold(images, patch_size, padding=1, stride=patch_size).mT",
        "line 2: the settings in `F.unfold(images, patch_size, padding=1, stride=patch_size)`",
        "`F.unfold(images, patch_size, stride=patch_size)` in place of",
    ),
    "index": (
        "decode",
        "def decode(ids, codebook):\n    return codebook[ids][None]",
        "line 2: the index in `codebook[ids][None]`",
        "`codebook[ids]` in place of",
    ),
    "place of the index": (
        "decode",
        "def decode(ids, codebook):\n    return codebook[None, ids]",
        "line 2: the axis of the index in `codebook[None, ids]`",
        "`codebook[ids]` in place of",
    ),
    "range": (
        "count_patches",
        COUNT.format(
            "return len(range(0, height - patch_size, stride)) * len(range(0, width - patch_size + 1, stride))"
        ),
        "line 2: where `range(0, height - patch_size, stride)` begins and ends",
        "`range(0, height - patch_size + 1, stride)` in place of",
    ),
    "result kept": (
        "patchify",
        PATCHIFY.replace("    return split{}", "    split.permute(0, 2, 4, 1, 3, 5)\n    return split"),
        "line 4: the result of `split.permute(0, 2, 4, 1, 3, 5)` is not kept",
        "`split = split.permute(0, 2, 4, 1, 3, 5)`",
    ),
    "return missing": (
        "unread_pixels",
        UNREAD.format(
            "read = (height // patch_size) * (width // patch_size) * patch_size ** 2\n    height * width - read"
        ),
        "line 3: nothing is returned behind `height * width - read`",
        "behind `height * width - read`, `return height * width - read`",
    ),
    "line too much": (
        "project",
        PROJECT.format("patches -= patches.mean(-1, keepdim=True)\n    return patches @ weight.T + bias"),
        "line 2: `patches -= patches.mean(-1, keepdim=True)` is too much",
        "leave out `patches -= patches.mean(-1, keepdim=True)`",
    ),
    "lines swapped": (
        "receptive_field",
        FIELD.format("step = step * stride\n        side = side + (kernel - 1) * step\n    return side"),
        "line 4: the order of the lines around `step = step * stride`",
        "`side = side + (kernel - 1) * step` before `step = step * stride`",
    ),
    "block": (
        "numbers_in",
        "def numbers_in(shape):\n    n = 1\n    for s in shape:\n        n *= s\n        return n",
        "line 3: what stands inside the block, and what behind it, at `for s in shape:",
        "",
    ),
    "minus": (
        "negative_sampling_loss",
        LOSS.format("F.logsigmoid(right) + F.logsigmoid(wrong).sum(-1)"),
        "line 4: the sign of `wrong`",
        "`-wrong` in place of `wrong`",
    ),
    "term missing": (
        "project",
        PROJECT.format("return patches @ weight.T"),
        "line 2: something is missing behind `patches @ weight.T`",
        "`patches @ weight.T + bias` in place of",
    ),
    "call missing": (
        "numbers_in",
        "import numpy as np\n\ndef numbers_in(shape):\n    return np.prod(shape)",
        "line 4: something is still to be done with `np.prod(shape)`",
        "`int(np.prod(shape))` in place of",
    ),
}


def typed(exercise, code):
    """What the check says of code that was typed into a notebook."""
    return judge({"exercise": exercise, "code": code, "truth": "wrong"}, SETUP).result


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    monkeypatch.setenv("COURSE_PROGRESS", "off")
    monkeypatch.setattr(checking, "_cures", {})
    monkeypatch.setattr(checking, "_hints_shown", {})


# ---------------------------------------------------------------- the rules


@pytest.mark.parametrize("rule", edits.RULES, ids=lambda rule: rule.name)
def test_each_rule_gives_the_edit_that_mends_an_answer_of_its_kind(rule):
    exercise, code, place, cure = MENDED[rule.name]
    tree = ast.parse(code)
    sizes = frozenset({"height", "width", "patch_size", "stride"})
    given = [edit for edit in edits.edits(tree, frozenset({"P", "kept"}), sizes) if edit.rule is rule]
    fitting = [edit for edit in given if place in edit.place and cure in edit.cure]
    assert fitting, [edit.cure for edit in given]
    names = {}
    exec(SETUP, names)
    assert any(passes(exercise, edit, tree, dict(names)) for edit in fitting)


def passes(exercise, edit, tree, names):
    edit.apply()
    try:
        exec(compile(tree, "edited", "exec"), names)
        return checking.check(names[exercise]).passed
    finally:
        edit.undo()


def test_an_edit_undone_leaves_the_code_as_it_was():
    for _, code, *_ in MENDED.values():
        tree = ast.parse(code)
        before = ast.unparse(tree)
        for edit in edits.edits(tree, frozenset({"P"}), frozenset({"height"})):
            edit.apply()
            edit.undo()
        assert ast.unparse(tree) == before


# ---------------------------------------------------------------- what is told


@pytest.mark.parametrize("rule", ["operator", "order", "brackets", "call missing", "name of the notebook", "index"])
def test_the_check_tells_the_place_and_the_hint_the_edit(rule):
    exercise, code, place, cure = MENDED[rule]
    result = typed(exercise, code)
    assert not result.passed and f"\nLook at {place}" in result.message and cure not in result.message
    assert f"`hint({exercise})` shows it" in result.message
    assert cure in hint(exercise).message
    assert hint(exercise).message.startswith("Hint 1 of ")


def test_two_edits_are_told_where_one_is_not_enough():
    code = "def nearest_code(patches, codebook):\n    return torch.cdist(patches.round(), codebook.round()).argmin(-1)"
    message = typed("nearest_code", code).message
    assert message.count("line 2: something too much in") == 2 and ", and at line 2: " in message
    assert "`patches.round()`" in message and "`codebook.round()`" in message


def test_two_repairs_of_one_size_are_both_told():
    code = PATCHIFY.format(".permute(0, 2, 4, 1, 3, 5)").replace("b, c, h, w =", "b, c, w, h =")
    message = typed("patchify", code).message
    assert "line 3: the order in" in message and ", or at line 2: the order of the names on the left" in message


def test_a_name_of_the_notebook_is_told_where_nothing_mends_the_answer():
    message = typed("unread_pixels", UNREAD.format("return kept or P * 7 + height ** width % 11")).message
    assert "Look at `P` on line 2 and `kept` on line 2: a name of the notebook" in message


def test_nothing_is_looked_for_where_the_mistake_has_a_name():
    exercise = all_exercises()["project"]
    result = typed("project", PROJECT.format("return patches @ weight.T"))
    assert result.diagnosis in {wrong.name for wrong in exercise.wrong} and "Look at" not in result.message


def test_a_layer_too_much_that_draws_random_numbers_is_located():
    code = PROJECT.format("return F.dropout(patches, 0.9) @ weight.T + bias")
    result = typed("project", code)
    assert (
        result.diagnosis == "not the same twice" and "something too much in `F.dropout(patches, 0.9)`" in result.message
    )


def test_nothing_is_looked_for_outside_the_notebook():
    def unread_pixels(height, width, patch_size):
        return height * width + (height // patch_size) * (width // patch_size) * patch_size**2

    assert "Look at" not in checking.check(unread_pixels).message


# ---------------------------------------------------------------- all stays as it was


def test_what_the_notebook_holds_is_not_changed(monkeypatch):
    seen = []
    monkeypatch.setattr(repair, "_copy", lambda value, own=repair._copy: seen.append(value) or own(value))
    code = COUNT.format(
        "kept.append(1)\n    return (height - patch_size // stride + 1) * ((width - patch_size) // stride + 1)"
    )
    notebook = types.ModuleType("__main__")
    exec(SETUP, vars(notebook))
    result = typed("count_patches", code)
    assert "what belongs together" in result.message
    assert any(isinstance(value, list) for value in seen)
    cases, calls = len(all_exercises()["count_patches"].cases()), len(next(v for v in seen if isinstance(v, list)))
    assert calls % cases == 0 and calls <= 20 * cases  # the check's own calls, none of the hundreds of the search


def test_an_answer_that_prints_is_silent_while_it_is_mended(capsys):
    code = UNREAD.format(
        "print('x')\n    return height * width + (height // patch_size) * (width // patch_size) * patch_size ** 2"
    )
    assert "the operator in" in typed("unread_pixels", code).message
    assert capsys.readouterr().out.count("x") <= 40


@pytest.mark.parametrize("call", ["open('x', 'w').write('')", "input()", "exec('1')"])
def test_what_reaches_beyond_its_own_names_is_not_run_again(monkeypatch, tmp_path, call):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(builtins, "input", lambda: "")
    code = UNREAD.format(
        f"{call}\n    return height * width + (height // patch_size) * (width // patch_size) * patch_size ** 2"
    )
    assert "Look at" not in typed("unread_pixels", code).message


def test_a_stop_ends_the_search_and_keeps_the_verdict(monkeypatch):
    def stop(*_):
        raise Stopped

    monkeypatch.setattr(repair._Search, "_try", stop)
    exercise, code, *_ = MENDED["operator"]
    result = typed(exercise, code)
    assert not result.passed and result.diagnosis not in (None, "interrupted") and "Look at" not in result.message


def test_an_edit_that_makes_a_loop_endless_ends(monkeypatch):
    code = """def unread_pixels(height, width, patch_size):
    read = 0
    while read + patch_size < height:
        read += patch_size
    return height * width - read * (width // patch_size) * patch_size"""
    assert "line 3: the comparison `read + patch_size < height`" in typed("unread_pixels", code).message


def test_without_time_nothing_is_found(monkeypatch):
    monkeypatch.setattr(repair, "BUDGET", 0.0)
    exercise, code, *_ = MENDED["operator"]
    assert "Look at" not in typed(exercise, code).message
