"""The open task: a try is trained, kept in the own record, and ranked."""

from __future__ import annotations

import json

import pytest
import torch
from torch import nn

from course_lib import data, leaderboard, progress, vit


@pytest.fixture(autouse=True)
def own_record(monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_PROGRESS", str(tmp_path / "events.jsonl"))
    return tmp_path / "events.jsonl"


def plain(classes=10):
    return nn.Sequential(nn.Flatten(), nn.Linear(784, classes))


def keep(name, accuracy, seconds, parameters=7):
    progress.record("try", name, accuracy=accuracy, parameters=parameters, seconds=seconds)


def test_a_try_is_trained_measured_on_held_out_digits_and_kept():
    model, told = plain(), []
    made = leaderboard.attempt(" plain ", model, epochs=3, progress_bar=lambda *done: told.append(done))
    digits = data.digits(size=28)
    assert made.name == "plain" and made.parameters == 7850 and made.within_the_minute
    assert made.accuracy == vit.accuracy(model, digits.test_images, digits.test_labels) > 0.7
    assert told[-1] == (69, 69)
    assert leaderboard.leaderboard().tries == [made]
    assert leaderboard.leaderboard().tries[0].name in repr(leaderboard.leaderboard())


def test_the_best_comes_first_and_what_took_too_long_comes_last():
    keep("good", 0.95, 30.0)
    keep("slow but best", 0.999, 60.1)
    keep("better", 0.98, 50.0)
    keep("as good, faster", 0.98, 20.0)
    board = leaderboard.leaderboard()
    assert [made.name for made in board.tries] == ["as good, faster", "better", "good", "slow but best"]
    lines = repr(board).splitlines()
    assert lines[1].split() == ["1", "as", "good,", "faster", "98.0%", "7", "20.0"]
    assert "longer than a minute" in lines[4] and "longer" not in "".join(lines[:4])


def test_the_baseline_stands_below_what_beats_it():
    keep("equal", 0.97, 10.0)
    keep("better", 0.98, 10.0)
    keep("better, too late", 0.99, 70.0)

    def names(baseline):
        return [line[3:43].strip() for line in repr(leaderboard.leaderboard(baseline)).splitlines()[1:]]

    assert names(0.97) == ["better", "(the baseline)", "equal", "better, too late"]
    assert names(0.5) == ["better", "equal", "(the baseline)", "better, too late"]
    assert names(0.985) == ["(the baseline)", "better", "equal", "better, too late"]
    assert names(None) == ["better", "equal", "better, too late"]


def test_the_baseline_comes_last_when_all_beat_it():
    keep("only", 0.9, 1.0)
    assert "(the baseline)" in repr(leaderboard.leaderboard(0.8)).splitlines()[-1]


def test_an_empty_board_says_how_a_try_is_made():
    assert repr(leaderboard.leaderboard()) == "No tries yet: attempt(...) makes one."


def test_a_name_is_shown_as_text():
    keep("<b>bold</b>", 0.9, 1.0)
    assert "&lt;b&gt;bold&lt;/b&gt;" in leaderboard.leaderboard()._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize("accuracy", ["0.9", None, float("nan"), [1]])
def test_a_foreign_line_is_skipped(own_record, accuracy):
    keep("mine", 0.9, 1.0)
    line = json.dumps({"kind": "try", "name": "odd", "accuracy": accuracy, "parameters": 1, "seconds": 1.0})
    with own_record.open("a") as file:
        file.write(line + "\n" + '{"kind": "check", "name": "patchify", "passed": true}\n')
    assert [made.name for made in leaderboard.leaderboard().tries] == ["mine"]


def test_a_model_with_other_scores_or_a_try_without_name_is_refused_and_nothing_is_kept():
    with pytest.raises(ValueError, match=r"10 scores for each of 2 digits, \(2, 10\), got \(2, 3\)"):
        leaderboard.attempt("three", plain(3), epochs=1)
    with pytest.raises(ValueError, match="give the try a name"):
        leaderboard.attempt(" ", plain(), epochs=1)
    assert leaderboard.leaderboard().tries == []


def test_the_first_look_at_a_model_leaves_its_running_means_alone():
    norm = nn.BatchNorm2d(1)
    seen = []
    model = nn.Sequential(norm, plain())
    model.register_forward_hook(lambda *_: seen.append(norm.running_mean.item()))
    leaderboard.attempt("with batch norm", model, epochs=1)
    assert seen[0] == 0.0
    assert torch.isfinite(norm.running_mean).all() and norm.running_mean.item() > 0


def test_the_seconds_of_earlier_tries_with_the_same_model_count():
    model = plain()
    first = leaderboard.attempt("first", model, epochs=20)
    second = leaderboard.attempt("second", model, epochs=1)
    assert second.seconds >= first.seconds > 0
    assert leaderboard.attempt("another", plain(), epochs=1).seconds < first.seconds


def test_sizes_that_do_not_fit_are_told_with_the_rule_for_the_number_of_patches():
    with pytest.raises(ValueError, match=r"\(28 // P\) \*\* 2 tokens"):
        leaderboard.attempt("patches of 4", nn.Sequential(nn.Flatten(), nn.Linear(50, 10)), epochs=1)
    with pytest.raises(TypeError, match="expected a model"):
        leaderboard.attempt("a class", nn.Linear, epochs=1)
    with pytest.raises(ValueError, match="at least one epoch"):
        leaderboard.attempt("none", plain(), epochs=0)
    assert leaderboard.leaderboard().tries == []


def test_an_interrupted_try_is_not_kept_and_has_trained_nothing():
    model = plain()
    before = model[1].weight.clone()

    def interrupt(done, all_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        leaderboard.attempt("stopped", model, epochs=3, progress_bar=interrupt)
    assert leaderboard.leaderboard().tries == [] and torch.equal(model[1].weight, before)


@pytest.mark.parametrize("place", [(vit, "accuracy"), (progress, "record")])
def test_a_try_that_is_stopped_after_its_training_has_trained_nothing_either(monkeypatch, place):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    model = plain()
    before = model[1].weight.clone()
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(*place, interrupt)
        leaderboard.attempt("stopped", model, epochs=20)
    assert leaderboard.leaderboard().tries == [] and torch.equal(model[1].weight, before)
    assert model.training and model not in leaderboard._seconds


@pytest.mark.parametrize("model", [nn.Linear(3, 2), nn.Sequential(nn.Flatten(), nn.Linear(784, 3))])
def test_a_model_that_is_refused_stays_in_its_mode(model):
    with pytest.raises(ValueError, match="scores|cannot take"):
        leaderboard.attempt("unfit", model, epochs=1)
    assert model.training and all(part.training for part in model.modules())
