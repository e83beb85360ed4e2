"""What every exercise and question has to have, and what its cases must keep apart."""

from __future__ import annotations

import collections
import inspect
import re
from pathlib import Path

import pytest
import torch

import course_lib.exercises
from course_lib import COURSE
from course_lib.exercises import all_exercises, all_questions, find_question, questions
from course_lib.exercises.lessons import LESSONS, notebooks
from course_lib.exercises.mistakes import mistakes

EXERCISES, QUESTIONS = all_exercises(), all_questions()
CASES = [(name, case) for name, exercise in EXERCISES.items() for case in exercise.cases()]
FILES = sorted(Path(course_lib.exercises.__file__).parent.glob("*.py"))


def trivial(argument):
    """Nothing at all, or a size at which all formulas give the same."""
    if isinstance(argument, torch.Tensor):
        return argument.numel() == 0
    return argument in ("", [], 1) or (isinstance(argument, tuple) and 0 in argument)


COINCIDENCES = {
    "square images": lambda letters, case: letters["H"] == letters["W"],
    "square tables": lambda letters, case: letters["V"] == letters["D"],
    "one channel": lambda letters, case: letters["C"] == 1,
    "three channels": lambda letters, case: letters["C"] == 3,
    "a batch of one": lambda letters, case: letters["B"] == 1,
    "stride = patch size": lambda letters, case: letters["S"] == letters["P"],
    "ids without repeats": lambda letters, case: case.args[0].unique().numel() == case.args[0].numel(),
    "trivial": lambda letters, case: trivial(case.args[0]) or all_of_size_1(letters) or divides(letters),
    "C·P·P = D": lambda letters, case: letters["L"] == letters["D"],
    "one patch": lambda letters, case: letters["N"] == 1,
    "one negative": lambda letters, case: letters["K"] == 1,
    "k = 1": lambda letters, case: letters["k"] == 1,
    "a square second layer": lambda letters, case: case.args[1].in_features == case.args[1].out_features,
    "square grids": lambda letters, case: case.args[1][0] == case.args[1][1] and case.args[2][0] == case.args[2][1],
    "equal grids": lambda letters, case: case.args[1] == case.args[2],
    "patches of one pixel": lambda letters, case: 1 in case.args[1:3],
    "a single axis": lambda letters, case: len(case.args[0]) == 1,
}


def all_of_size_1(letters):
    """Whether every axis has the size 1, so that each of them would be squeezed away."""
    return set(letters.values()) == {1}


def divides(letters):
    """Whether no pixel is left over, so that the answer is 0."""
    return "P" in letters and letters["H"] % letters["P"] == 0 == letters["W"] % letters["P"]


def layer_sizes(case):
    return {"in": case.args[1].in_features, "out": case.args[1].out_features}


def differ(letters, one, other):
    return one not in letters or other not in letters or letters[one] != letters[other]


@pytest.mark.parametrize(("name", "case"), CASES, ids=lambda value: value if isinstance(value, str) else value.label)
def test_letters_are_kept_apart_except_where_a_case_says_so(name, case):
    letters = case.letters
    if all_of_size_1(letters):
        assert case.only == "trivial"
        return
    coincidences = {
        "square images": not differ(letters, "H", "W"),
        "one channel": letters.get("C") == 1,
        "three channels": letters.get("C") == 3,
        "square tables": not differ(letters, "V", "D"),
        "a batch of one": letters.get("B") == 1,
        "stride = patch size": not differ(letters, "S", "P"),
        "C·P·P = D": not differ(letters, "L", "D"),
        "one patch": letters.get("N") == 1,
        "one negative": letters.get("K") == 1,
        "k = 1": letters.get("k") == 1,
        "a square second layer": name == "merge_linear_into_conv" and not differ(layer_sizes(case), "in", "out"),
    }
    assert {tag for tag, true in coincidences.items() if true} <= {case.only}
    if not case.only:
        pairs = (("N", "D"), ("T", "V"), ("T", "D"), ("B", "K"), ("B", "D"), ("K", "D"), ("k", "D"), ("L", "N"))
        assert all(differ(letters, *pair) for pair in pairs)
        if {"C", "P", "N"} <= letters.keys():
            assert letters["C"] * letters["P"] ** 2 not in (letters["N"], letters.get("D"))


@pytest.mark.parametrize(
    ("name", "case"),
    [(name, case) for name, case in CASES if case.only],
    ids=lambda value: value if isinstance(value, str) else value.label,
)
def test_a_declared_coincidence_is_one(name, case):
    assert COINCIDENCES[case.only](case.letters, case)


@pytest.mark.parametrize(
    ("name", "case"),
    [(name, case) for name, case in CASES if case.axes],
    ids=lambda value: value if isinstance(value, str) else value.label,
)
def test_axes_and_letters_of_a_case_are_the_shape_of_its_result(name, case):
    exercise = EXERCISES[name]
    value = exercise.solution(*case.args)
    if exercise.use is not None:
        value = exercise.use(value, case)
    if exercise.read is not None:
        value = exercise.read(value)["weight"]
    shape = tuple(value.shape)
    axes = case.axes.split()
    assert len(axes) == len(shape)
    known = dict(case.letters)
    if {"C", "P"} <= known.keys():
        known["C·P·P"] = known["P·P·C"] = known["C"] * known["P"] ** 2
    if "N" in known:
        known["N+1"] = known["N"] + 1
    assert tuple(known[axis] for axis in axes) == shape


@pytest.mark.parametrize("name", EXERCISES)
def test_cases_have_labels_of_their_own_and_most_are_without_coincidence(name):
    cases = EXERCISES[name].cases()
    assert len({case.label for case in cases}) == len(cases) >= 3
    assert sum(not case.only and not case.raises for case in cases) >= 2
    assert EXERCISES[name].cases()[0].args[0] is not cases[0].args[0] or not hasattr(cases[0].args[0], "add_")


@pytest.mark.parametrize("name", EXERCISES)
def test_hints_lead_from_vague_to_concrete(name):
    hints = EXERCISES[name].hints
    assert (
        len(hints) >= 3
        and len(set(hints)) == len(hints)
        and all(len(hint.split()) >= 3 or "(" in hint or "*" in hint for hint in hints)
    )

    def code(hint):
        return re.search(r"\w\(.*\)|\w \* \w|// \w|= ", hint)

    assert code(hints[-1]), "the last hint holds code"
    solution_line = EXERCISES[name].solution_source.splitlines()[-1].strip().removeprefix("return ")
    assert len(solution_line.split()) == 1 or solution_line not in hints[0]


@pytest.mark.parametrize("name", EXERCISES)
def test_every_exercise_is_complete(name):
    exercise = EXERCISES[name]
    assert exercise.name == name == exercise.solution.__name__
    assert len(exercise.praise.split()) >= 4 and exercise.praise.endswith(".")
    assert len(exercise.wrong) >= 5
    assert len({wrong.name for wrong in exercise.wrong}) == len(exercise.wrong)
    assert all(len(wrong.because.split()) >= 4 and wrong.because.rstrip()[-1] in ".?" for wrong in exercise.wrong)
    assert not any("!" in text for text in (exercise.praise, *exercise.hints) if "!=" not in text)


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_has_one_right_option_and_explains_each(name):
    question = QUESTIONS[name]
    assert 3 <= len(question.options) <= 5
    assert sum(option.right for option in question.options) == 1
    assert len({option.text for option in question.options}) == len(question.options)
    assert all(len(option.because.split()) >= 6 for option in question.options), [
        option.text for option in question.options if len(option.because.split()) < 6
    ]
    assert question.text.rstrip().endswith("?") and find_question(name) is question


def test_the_right_option_is_not_always_at_the_same_place():
    places = collections.Counter(
        [option.right for option in question.options].index(True) for question in QUESTIONS.values()
    )
    assert len(places) >= 3 and max(places.values()) <= 0.6 * len(QUESTIONS)


def test_names_are_unique():
    names = [name for lesson in LESSONS for name in lesson.exercises]
    assert len(set(names)) == len(names) == len(EXERCISES)
    assert len(questions.QUESTIONS) == len(QUESTIONS)


def test_every_exercise_and_every_notebook_belongs_to_a_lesson():
    holding = [file for file in FILES if re.search(r"^EXERCISE = ", file.read_text(encoding="utf-8"), re.MULTILINE)]
    assert len(holding) == len(EXERCISES) > 30
    assert sorted((COURSE / "notebooks").glob("*.ipynb")) == notebooks()
    assert [question.lesson for question in QUESTIONS.values()] == sorted(q.lesson for q in QUESTIONS.values())
    assert {question.lesson for question in QUESTIONS.values()} == {lesson.number for lesson in LESSONS}


def right(rows, columns):
    count = rows * columns
    return count


class Right:
    def __init__(self, side):
        self.side = side


def test_a_mistake_is_an_edit_of_the_solution_or_a_whole_body():
    page = """
sides added
    Rows and columns
    were added.
        rows * columns → rows + columns
        return … → return count + 1

rows only
    That is one side.
        if rows:
            return math.sqrt(rows) + helper
"""
    added, only = mistakes(right, page, helper=0.5)
    assert (added.name, added.because, added.answer(2, 3)) == ("sides added", "Rows and columns were added.", 6)
    assert (only.name, only.because, only.answer(4, 3)) == ("rows only", "That is one side.", 2.5)
    assert inspect.getsource(added.answer).splitlines()[1].strip() == "count = rows + columns"


def test_a_mistake_of_a_class_is_an_edit_methods_or_what_makes_it():
    page = """
one more
    Too large.
        self.side = side → self.side = side + 1

doubled
    Too large.
        def twice(self):
            return 2 * self.side

another
    It is none.
        return side
"""
    more, doubled, another = (wrong.answer(3) for wrong in mistakes(Right, page))
    assert more.side == 4 and doubled.twice() == 6 and isinstance(doubled, Right) and another == 3


@pytest.mark.parametrize(
    ("page", "told"),
    [
        ("sides added\n        rows * columns → rows", "expected a name, 4 blanks and its explanation, 8 blanks"),
        ("sides added\n    Why.", "expected a name, 4 blanks and its explanation, 8 blanks"),
        ("twice\n    Why.\n        count → number", "twice: expected `old → new`, and the old once .* stands 2 times"),
        ("never\n    Why.\n        none → one", "never: expected `old → new`.* got 'none → one', which stands 0 times"),
        ("half\n    Why.\n        rows * columns → 1\n        count = 2", "half: .* got 'count = 2'"),
        ("no Python\n    Why.\n        rows * columns → (", "'\\(' was never closed"),
    ],
)
def test_a_page_that_cannot_be_read_is_told_with_its_entry(page, told):
    with pytest.raises((ValueError, SyntaxError), match=f"(?s){told}"):
        mistakes(right, page)


def test_unknown_questions_are_told_with_the_nearest():
    with pytest.raises(LookupError, match="no quiz question is called 'widht'; nearest: width"):
        find_question("widht")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_no_exercise_draws_from_the_global_random_stream(file):
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if re.search(r"torch\.(manual_seed|rand\w*|normal|bernoulli|multinomial)\(", line):
            assert "generator" in line, f"{file.name}:{number}: {line.strip()}"
        assert not re.search(r"\brandom\.(seed|random|shuffle|choice|randint)\(|np\.random", line), (
            f"{file.name}:{number}"
        )
