"""Wrong answers made by a machine: those that give other results fail and are explained, all others pass."""

from __future__ import annotations

import functools
import inspect
import re
from collections import Counter

import pytest

from course_lib.exercises import all_exercises
from tests.support import inputs
from tests.support.right_ways import RIGHT_WAYS
from tests.tools.mutants import DRAWS, checked, difference, kind, made, mutants, share, spread

EXERCISES = all_exercises()
NAMES = list(EXERCISES)
FUNCTIONS = [name for name in NAMES if not inspect.isclass(EXERCISES[name].solution)]
TOLD = 85.0  # per cent of the wrong ones that are told as more than different
pytestmark = pytest.mark.filterwarnings("ignore")  # a mutant may convert, divide or pad as nobody would


@functools.cache
def told(name):
    """(mutant, what check answers) for a slice of the mutants of an exercise."""
    return [(mutant, checked(EXERCISES[name], mutant)) for mutant in spread(mutants(EXERCISES[name]))]


# ---------------------------------------------------------------- the mutants


@pytest.mark.parametrize("name", NAMES)
def test_mutants_are_different_sources_in_a_fixed_order(name):
    once, again = mutants(EXERCISES[name]), mutants.__wrapped__(EXERCISES[name])
    assert once == again
    assert len({mutant.source for mutant in once} | {EXERCISES[name].solution_source}) == len(once) + 1


def test_mutants_make_the_mistakes_that_the_table_speaks_of():
    names = {mutant.name for mutant in mutants(EXERCISES["patchify"])}
    assert {
        "line 5: split.permute(0, 2, 4, 1, 3, 5) -> split.permute(0, 4, 2, 1, 3, 5)",
        "line 3: height // patch_size -> height / patch_size",
        "line 6: rows * columns -> rows",
        "line 4: rows -> columns",
        "line 5: 2 -> 3",
    } <= names


def test_a_slice_is_taken_evenly():
    assert spread(list(range(10)), most=5) == [0, 2, 4, 6, 8]
    assert spread([1, 2], most=5) == [1, 2]


# ---------------------------------------------------------------- what judges them


@pytest.mark.parametrize("name", NAMES)
def test_the_random_inputs_keep_the_contract(name):
    given = [inputs.draw(name, seed) for seed in range(DRAWS)]
    deeds = [inputs.deed(EXERCISES[name].solution, one, seed=0) for one in given]
    assert all((deed.error is not None) == bool(one.refused) for one, deed in zip(given, deeds, strict=True))
    assert len({repr(deed) for deed in deeds}) > 5


@pytest.mark.parametrize("name", NAMES)
def test_the_random_inputs_tell_every_known_wrong_answer_from_the_solution(name):
    assert [wrong.name for wrong in EXERCISES[name].wrong if difference(EXERCISES[name], wrong.answer) is None] == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_random_inputs_tell_no_right_answer_from_the_solution(name):
    ways = [way for way in RIGHT_WAYS[name] if "einops" not in way.__name__]
    assert [way.__name__ for way in ways if difference(EXERCISES[name], way) is not None] == []


# ---------------------------------------------------------------- the checks


@pytest.mark.parametrize("name", NAMES)
def test_a_mutant_passes_where_it_does_the_same_and_only_there(name):
    wrongly_passed, wrongly_failed = [], []
    for mutant, result in told(name):
        if result.diagnosis == "timed out":
            continue  # it would not come to an end on other inputs either
        other = difference(EXERCISES[name], made(EXERCISES[name], mutant))
        if result.passed and other is not None:
            wrongly_passed.append((mutant.name, other))
        if not result.passed and other is None:
            wrongly_failed.append((mutant.name, result.message))
    assert wrongly_passed == [] and wrongly_failed == []


@pytest.mark.parametrize("name", NAMES)
def test_most_mutants_are_told_as_more_than_different(name):
    counts = Counter(kind(EXERCISES[name], result) for _, result in told(name))
    assert counts.total() - counts["same"] >= 20
    assert share(counts) >= TOLD, counts


@pytest.mark.parametrize("name", [name for name in NAMES if EXERCISES[name].result is int])
def test_what_is_told_in_letters_is_true_of_every_case(name):
    exercise = EXERCISES[name]
    for mutant, result in told(name):
        if result.diagnosis not in ("off by a term", "another term"):
            continue
        answer, (fact,) = made(exercise, mutant), re.findall(r"On every case your number is (.*)\.$", result.message)
        for case in exercise.cases():
            numbers = {f"`{argument}`": value for argument, value in exercise.named(case)}
            if exercise.quantities is not None:
                numbers |= {f"({quantity})": value for quantity, value in exercise.quantities(*case.args).items()}
            large, small = (_value(fact, rf"too {way} by (.*?)(?: and too|$)", numbers) for way in ("large", "small"))
            other = exercise.solution(*case.args) + large - small if "too " in fact else _value(fact, "(.*)", numbers)
            assert answer(*case.args) == other, (mutant.name, fact)


def _value(fact, pattern, numbers):
    """The sum in a sentence, each quantity replaced by its number; 0 where it has none."""
    found = re.search(pattern, fact)
    text = re.sub(r"`\w+`|\([^)]*\)", lambda quantity: f"({numbers[quantity[0]]})", found[1] if found else "0")
    return eval(text.replace("·", "*").replace("−", "-"))
