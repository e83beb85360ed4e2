"""The checks: right answers pass whatever way they take, wrong ones are told as what they are."""

from __future__ import annotations

import functools
import html
import inspect
import itertools
import re
import signal
import sys
import threading
import types

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from course_lib import checking, outcomes, progress
from course_lib.checking import check, hint, solution
from course_lib.exercises import all_exercises, find, lesson_04
from tests.right_ways import RIGHT_WAYS

EXERCISES = all_exercises()
NAMES = list(EXERCISES)
TENSOR_RESULTS = [name for name in NAMES if EXERCISES[name].result is torch.Tensor]
WRONG = [(name, wrong.name) for name in NAMES for wrong in EXERCISES[name].wrong]


@pytest.fixture(autouse=True)
def fresh(monkeypatch, tmp_path):
    """No hint shown, nothing tried, and a record of its own for each test."""
    monkeypatch.setenv("COURSE_PROGRESS", str(tmp_path / "events.jsonl"))
    monkeypatch.setattr(checking, "_hints_shown", {})
    monkeypatch.setattr(checking, "_tried", set())


def renamed(function, name):
    """The same function under the name of an exercise; a built-in is wrapped."""
    if not isinstance(function, types.FunctionType):

        def wrapped(*args):
            return function(*args)

        wrapped.__name__ = name
        return wrapped
    copy = types.FunctionType(
        function.__code__, function.__globals__, name, function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def judge(name, function):
    result = check(renamed(function, name))
    assert bool(result) is result.passed
    assert result.message.startswith(f"{name}: ")
    return result


def known_wrong(name, wrong):
    return next(known for known in EXERCISES[name].wrong if known.name == wrong)


@functools.cache
def ends(name, wrong):
    function = EXERCISES[name].solution if wrong is None else known_wrong(name, wrong).answer
    return outcomes.run(EXERCISES[name], function)


# ---------------------------------------------------------------- right answers


@pytest.mark.parametrize("name", NAMES)
def test_the_solution_passes(name):
    result = check(EXERCISES[name].solution)
    total = len(EXERCISES[name].cases())
    assert result.passed and result.attempted and result.diagnosis is None
    assert result.message == f"{name}: correct on {total} of {total} cases. {EXERCISES[name].praise}"


@pytest.mark.parametrize(
    ("name", "way"),
    [(name, way) for name, ways in RIGHT_WAYS.items() for way in ways],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_every_right_way_passes(name, way):
    if "einops" in way.__name__:
        pytest.importorskip("einops")
    result = judge(name, way)
    assert result.passed, result


@pytest.mark.parametrize("name", NAMES)
def test_each_exercise_has_two_more_right_ways(name):
    assert len(RIGHT_WAYS[name]) >= 2


@pytest.mark.parametrize("name", NAMES)
def test_a_check_leaves_the_global_random_stream_alone(name):
    before = torch.get_rng_state()
    assert check(EXERCISES[name].solution).passed
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("name", NAMES)
def test_a_right_answer_passes_whatever_the_random_state(name):
    with torch.random.fork_rng():
        for seed in (0, 12345):
            torch.manual_seed(seed)
            assert check(EXERCISES[name].solution).passed
    assert torch.get_default_dtype() == torch.float32


@pytest.mark.parametrize("name", NAMES)
def test_arguments_of_keywords_and_more_arguments_with_defaults_are_fine(name):
    own = EXERCISES[name].solution

    def longer(*args, verbose=False):
        return own(*args)

    assert judge(name, longer).passed


def test_a_right_answer_passes_inside_no_grad():
    with torch.no_grad():
        assert check(EXERCISES["patchify"].solution).passed


# ---------------------------------------------------------------- known wrong answers


@pytest.mark.parametrize(("name", "wrong"), WRONG)
def test_a_known_wrong_answer_is_rejected_and_named(name, wrong):
    known = known_wrong(name, wrong)
    result = judge(name, known.answer)
    assert not result.passed and result.attempted
    assert result.diagnosis == wrong
    assert known.because in result.message


@pytest.mark.parametrize("name", NAMES)
def test_no_two_wrong_answers_look_alike_on_all_cases(name):
    for one, other in itertools.combinations([wrong.name for wrong in EXERCISES[name].wrong], 2):
        assert not all(map(outcomes.alike, ends(name, one), ends(name, other))), (one, other)


@pytest.mark.parametrize(("name", "wrong"), WRONG)
def test_a_wrong_answer_is_wrong_on_some_case(name, wrong):
    assert not all(map(outcomes.right, ends(name, wrong), ends(name, None)))


@pytest.mark.parametrize(
    ("name", "wrongs"),
    [
        (
            "one_hot",
            {
                "width from the batch",
                "transposed",
                "ids one too large",
                "ids one too small",
                "integer result",
                "row of zeros",
                "negative ids wrap",
            },
        ),
        ("build_vocabulary", {"last position as id", "first position as id"}),
        ("tokenize", {"case kept", "punctuation glued"}),
        ("one_hot_bytes", {"one row", "bits", "int64"}),
        ("lookup_by_index", {"table turned", "detached from the table", "negative ids wrap", "ids as floats"}),
        ("lookup_by_matmul", {"table turned", "detached from the table", "negative ids wrap", "ids as floats"}),
        ("linear_from_embedding", {"weight not turned", "bias left on"}),
        ("rows_with_gradient", {"each row once"}),
        ("count_patches", {"stride ignored", "divided by the stride", "patch size as count"}),
        (
            "patchify",
            {
                "reshape alone",
                "column by column",
                "channel last",
                "patches turned",
                "square images only",
                "batch lost",
                "patch size as count",
            },
        ),
        ("unpatchify", {"grid guessed from N", "reshape alone", "batch lost"}),
    ],
)
def test_the_wrong_answers_of_the_course_plan_are_known(name, wrongs):
    assert wrongs <= {wrong.name for wrong in EXERCISES[name].wrong}


def test_all_other_orders_of_the_six_axes_fail():
    exercise = EXERCISES["patchify"]
    expected = outcomes.run(exercise, exercise.solution)
    passed, diagnosed = [], 0
    for order in itertools.permutations(range(6)):
        got = outcomes.run(exercise, lesson_04._patchify_order(*order))
        if all(map(outcomes.right, got, expected)):
            passed.append(order)
        diagnosed += 1
    assert diagnosed == 720 and passed == [(0, 2, 4, 1, 3, 5)]


@pytest.mark.parametrize("order", [(0, 4, 2, 5, 3, 1), (0, 2, 4, 5, 3, 1), (1, 2, 4, 0, 3, 5), (5, 4, 3, 2, 1, 0)])
def test_a_wrong_order_of_axes_is_told_as_one(order):
    result = judge("patchify", lesson_04._patchify_order(*order))
    assert not result.passed and result.diagnosis in {"wrong order"} | {w.name for w in EXERCISES["patchify"].wrong}
    assert "another order" in result.message


# ---------------------------------------------------------------- not attempted

GAPS = {
    "dots": '"""What to do."""\n    ...',
    "dots alone": "...",
    "pass": "pass",
    "docstring alone": '"""What to do."""',
    "dots returned": "return ...",
}


def from_source(tmp_path, source, name, **names):
    """A function from a file, so that its source can be read."""
    file = tmp_path / f"answer_{name}.py"
    file.write_text(source, encoding="utf-8")
    space = {"torch": torch, "F": F, "nn": nn, **names}
    exec(compile(source, str(file), "exec"), space)
    return space[name]


def signature_of(name):
    return ", ".join(inspect.signature(EXERCISES[name].solution).parameters)


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("name", NAMES)
def test_a_gap_is_not_attempted(tmp_path, name, gap):
    answer = from_source(tmp_path, f"def {name}({signature_of(name)}):\n    {GAPS[gap]}\n", name)
    result = check(answer)
    assert (result.passed, result.attempted, result.diagnosis) == (False, False, None)
    assert result.message.startswith(f"{name}: not attempted yet.") and f"hint({name})" in result.message
    assert progress.tries() == {}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_the_notebook_does_not_have_is_not_attempted(name):
    assert not hasattr(sys.modules["__main__"], name)
    assert check(name).attempted is False


@pytest.mark.parametrize("name", NAMES)
def test_returning_none_is_told(tmp_path, name):
    answer = from_source(tmp_path, f"def {name}({signature_of(name)}):\n    return None\n", name)
    result = check(answer)
    assert not result.passed and result.attempted and result.diagnosis == "returned nothing"
    assert "returned None" in result.message and "`return ...`" in result.message


# ---------------------------------------------------------------- errors and endless loops


@pytest.mark.parametrize("name", NAMES)
def test_an_error_shows_the_learners_own_line(tmp_path, name):
    source = f"def {name}({signature_of(name)}):\n    x = torch.zeros(2, 3)\n    return x.reshape(7)  # my line\n"
    result = check(from_source(tmp_path, source, name))
    assert not result.passed and result.diagnosis == "raised"
    assert "on line 3, `return x.reshape(7)  # my line`" in result.message and "RuntimeError" in result.message
    assert "A reshape keeps the number of numbers: there are 6" in result.message
    assert str(tmp_path) not in result.message


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("raise SystemExit", "SystemExit"),
        ("raise SystemExit(3)", "SystemExit"),
        ("import sys; sys.exit()", "SystemExit"),
        ("return undefined_name", "Run the cells above first"),
        ("return 1 / 0", "ZeroDivisionError"),
        ("raise NotImplementedError", "NotImplementedError"),
        ("return patchfy(images, patch_size)", "NameError"),
        ("raise ValueError('two\\nlines')", "ValueError: two"),
        ("raise KeyError('')", "KeyError"),
        ("b, c, h = images.shape", "right"),
        ("return images.permute(0, 1, 2)", "permute has to name every axis once"),
        ("return images.reshape(2, 3 / 1, 4)", "A size has to be a whole number"),
        ("return torch.zeros(2, 3) @ torch.zeros(2, 3)", "the inner sizes have to meet: (2, 3) @ (2, 3) has 3 and 2"),
    ],
)
def test_errors_are_told_with_what_they_usually_mean(tmp_path, line, says):
    result = check(from_source(tmp_path, f"def patchify(images, patch_size):\n    {line}\n", "patchify"))
    assert not result.passed and result.diagnosis == "raised"
    assert says in result.message and "line 2" in result.message


def test_endless_recursion_is_told(tmp_path):
    source = "def numbers_in(shape):\n    return numbers_in(shape)\n"
    result = check(from_source(tmp_path, source, "numbers_in"))
    assert result.diagnosis == "raised" and "RecursionError" in result.message


ENDLESS = "def {name}({arguments}):\n    number = 0\n    while True:\n        number += 1\n"


@pytest.mark.parametrize("name", ["patchify", "tokenize", "linear_from_embedding"])
def test_an_endless_loop_is_stopped_by_the_time_limit(tmp_path, monkeypatch, name):
    monkeypatch.setattr(checking, "TIME_LIMIT", 0.3)
    result = check(from_source(tmp_path, ENDLESS.format(name=name, arguments=signature_of(name)), name))
    assert not result.passed and result.diagnosis == "timed out"
    assert "did not come to an end: it was stopped after 0.3 seconds" in result.message
    assert "Is there a loop that never ends?" in result.message
    assert re.search(r"on line [34], `(while True:|number \+= 1)`", result.message)


def test_an_endless_loop_that_swallows_the_interrupt_once_is_stopped_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(checking, "TIME_LIMIT", 0.3)
    source = (
        "def numbers_in(shape):\n    caught = 0\n    while True:\n        try:\n            number = 1\n"
        "            while True:\n                number += 1\n        except BaseException:\n"
        "            caught += 1\n            if caught > 4:\n                raise\n"
    )
    result = check(from_source(tmp_path, source, "numbers_in"))
    assert result.diagnosis == "timed out"


@pytest.mark.skipif(not hasattr(signal, "raise_signal"), reason="needs signals")
def test_an_endless_loop_is_stopped_by_an_interrupt(tmp_path):
    timer = threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    try:
        result = check(
            from_source(tmp_path, ENDLESS.format(name="patchify", arguments="images, patch_size"), "patchify")
        )
    finally:
        timer.cancel()
    assert not result.passed and result.diagnosis == "interrupted"
    assert "it was interrupted on line" in result.message


def test_an_endless_loop_on_one_later_case_is_told_with_that_case(tmp_path, monkeypatch):
    monkeypatch.setattr(checking, "TIME_LIMIT", 0.5)
    source = (
        "def patchify(images, patch_size):\n    while patch_size == 3:\n        pass\n"
        "    return F.unfold(images, patch_size, stride=patch_size).transpose(1, 2)\n"
    )
    result = check(from_source(tmp_path, source, "patchify"))
    assert result.diagnosis == "timed out" and "P = 3" in result.message


def test_a_check_works_in_another_thread():
    results = []
    thread = threading.Thread(target=lambda: results.append(check(EXERCISES["patchify"].solution)))
    thread.start()
    thread.join()
    assert results[0].passed


# ---------------------------------------------------------------- results of the wrong kind


@pytest.mark.parametrize("name", TENSOR_RESULTS)
def test_a_numpy_result_is_told_to_be_converted(name):
    own = EXERCISES[name].solution
    result = judge(name, lambda *args: own(*args).detach().numpy())
    assert not result.passed and result.diagnosis == "wrong type"
    assert "That is numpy: convert it with torch.from_numpy(...)." in result.message


@pytest.mark.parametrize("name", TENSOR_RESULTS)
def test_nan_is_told(name):
    own = EXERCISES[name].solution

    def broken(*args):
        return own(*args) * float("nan")

    result = judge(name, broken)
    expected = "wrong dtype" if name == "rows_with_gradient" else "not a number"
    assert not result.passed and result.diagnosis == expected


@pytest.mark.parametrize("name", TENSOR_RESULTS)
def test_another_dtype_is_told_with_how_to_convert(name):
    own = EXERCISES[name].solution
    result = judge(name, lambda *args: own(*args).to(torch.float64))
    assert not result.passed and result.diagnosis == "wrong dtype"
    wanted, cure = ("int64", ".long()") if name == "rows_with_gradient" else ("float32", ".float()")
    assert f"expected {wanted}, got float64" in result.message and cure in result.message


@pytest.mark.parametrize("name", [name for name in NAMES if EXERCISES[name].result is int])
def test_a_whole_number_of_another_kind_is_told_with_how_to_convert(name):
    own = EXERCISES[name].solution
    for convert, says in (
        (float, "(float)"),
        (lambda n: torch.tensor(n), "int(...)"),
        (lambda n: torch.tensor(n).numpy(), "int(...)"),
        (str, "int(...)"),
        (bool, "(bool)"),
    ):
        result = judge(name, lambda *args, convert=convert: convert(own(*args)))
        assert not result.passed and result.diagnosis in {"wrong type"} | {w.name for w in EXERCISES[name].wrong}
        assert "expected a whole number (int)" in result.message and says in result.message


def unusual():
    class Odd:
        def __repr__(self):
            raise RuntimeError("no repr")

        def __eq__(self, other):
            raise RuntimeError("no ==")

    return {
        "a generator": (item for item in "abc"),
        "an object": object(),
        "a function": lambda: 0,
        "a class": Odd,
        "an object that cannot be shown": Odd(),
        "a set": {1, 2},
        "bytes": b"abc",
        "a list of tensors": [torch.zeros(2), torch.ones(3)],
        "an empty tensor": torch.zeros(0),
        "a scalar": torch.tensor(1.0),
        "a list with arrays": [torch.zeros(2).numpy()] * 2,
        "a dict with arrays": {"the": torch.zeros(2).numpy(), "b": torch.zeros(3)},
        "an empty dict": {},
        "an empty list": [],
        "a sparse tensor": torch.eye(3).to_sparse(),
        "a tensor without numbers": torch.empty(2, 6, 8, device="meta"),
        "a complex tensor": torch.zeros(2, 6, 8, dtype=torch.complex64),
        "a bool": True,
        "infinity": float("inf"),
        "a very long text": "x" * 10_000,
        "a layer": nn.Linear(2, 2),
        "a lazy layer": nn.LazyLinear(2),
        "a list that holds an odd object": [Odd()],
        "a dict that holds an odd object": {"the": Odd()},
    }


@pytest.mark.parametrize("kind", unusual())
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore")
def test_whatever_comes_back_a_check_answers(name, kind):
    value = unusual()[kind]
    result = judge(name, lambda *args: value)
    assert result.passed is False and result.diagnosis
    assert not re.search(r"0x[0-9a-f]{6,}", repr(result))
    assert len(result.message) < 1200


def test_meta_and_sparse_tensors_of_the_right_shape_are_told():
    own = EXERCISES["patchify"].solution
    for convert in (lambda x: x.to("meta"), lambda x: x.to_sparse()):
        result = judge("patchify", lambda *args, convert=convert: convert(own(*args)))
        assert not result.passed and result.diagnosis


@pytest.mark.filterwarnings("ignore")
def test_generators_and_coroutines_are_told(tmp_path):
    for source in (
        "def tokenize(sentence):\n    yield from sentence.lower().split()\n",
        "async def tokenize(sentence):\n    return sentence.lower().split()\n",
    ):
        result = check(from_source(tmp_path, source, "tokenize"))
        assert result.diagnosis == "wrong type" and "expected a list" in result.message
        assert "0x" not in result.message


def test_a_generator_is_told_to_become_a_list():
    def tokens(sentence):
        yield from EXERCISES["tokenize"].solution(sentence)

    assert "list(...)" in judge("tokenize", tokens).message


def test_a_lambda_is_told_to_become_a_function():
    with pytest.raises(TypeError, match="a lambda has no name to find its exercise by: use def"):
        check(lambda images, patch_size: images)


def test_a_lambda_with_a_name_in_the_notebook_can_be_checked(monkeypatch):
    monkeypatch.setattr(sys.modules["__main__"], "count_patches", lambda h, w, p, s: (h // p) * (w // p), raising=False)
    assert check("count_patches").diagnosis == "stride ignored"
    own = EXERCISES["count_patches"].solution
    monkeypatch.setattr(sys.modules["__main__"], "count_patches", lambda *args: own(*args))
    assert check("count_patches").passed


@pytest.mark.parametrize("value", [torch.zeros(2, 6, 8), 3, "text", [1]])
def test_a_call_in_place_of_the_function_is_told(value):
    if isinstance(value, str):
        with pytest.raises(LookupError):
            check(value)
    else:
        with pytest.raises(TypeError, match=r"expected the function itself, as in check\(patchify\)"):
            check(value)


@pytest.mark.parametrize("value", [torch.zeros(2, 6, 8), 3, [1]])
def test_a_name_that_holds_no_function_is_told(monkeypatch, value):
    monkeypatch.setattr(sys.modules["__main__"], "patchify", value, raising=False)
    try:
        result = check("patchify")
    except TypeError as error:
        assert "function" in str(error) and "callable object" not in str(error)
    else:
        assert not result.passed and result.diagnosis


# ---------------------------------------------------------------- arguments, changes in place, memory


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_number_of_arguments_is_told_without_a_run(name):
    wanted = inspect.signature(EXERCISES[name].solution).parameters

    def none():
        raise AssertionError("must not run")

    def many(a, b, c, d, e, f, g):
        raise AssertionError("must not run")

    for answer, takes in ((none, "()"), (many, "(a, b, c, d, e, f, g)")):
        result = judge(name, answer)
        assert result.diagnosis == "wrong arguments" and f"({', '.join(wanted)})" in result.message
        assert f"yours takes {takes}" in result.message


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in NAMES
        if name not in ("numbers_in", "tokenize", "one_hot_bytes", "count_patches", "unread_pixels")
    ],
)
def test_a_change_of_the_input_is_told(name):
    own = EXERCISES[name].solution

    def changing(*args):
        result = own(*args)
        first = args[0]
        if isinstance(first, list):
            first.append("more")
        elif isinstance(first, nn.Module):
            first.weight.data.zero_()
        else:
            first += 1
        return result

    result = judge(name, changing)
    assert not result.passed and result.diagnosis == "changed its input"
    assert "work on a copy" in result.message
    assert "only" not in result.message


def test_a_change_of_the_table_without_gradient_is_told():
    def changing(ids, weight):
        result = EXERCISES["lookup_by_index"].solution(ids, weight)
        with torch.no_grad():
            weight[0] = 0
        return result.clone()

    result = judge("lookup_by_index", changing)
    assert not result.passed and result.diagnosis == "changed its input"


@pytest.mark.parametrize("name", TENSOR_RESULTS)
def test_random_results_are_told_as_random(name):
    own = EXERCISES[name].solution
    with torch.random.fork_rng():
        result = judge(name, lambda *args: own(*args) + torch.randint(1, 1000, (1,)))
    assert not result.passed and result.diagnosis == "not the same twice"
    assert "random" in result.message


def test_a_result_right_in_the_first_run_only_is_told():
    calls = []

    def tiring(*args):
        calls.append(1)
        return EXERCISES["patchify"].solution(*args) + (len(calls) > len(EXERCISES["patchify"].cases()))

    result = judge("patchify", tiring)
    assert not result.passed and result.diagnosis == "not the same twice"


def test_a_default_list_that_grows_from_call_to_call_is_told():
    def growing(sentence, tokens=[]):  # noqa: B006
        tokens.extend(EXERCISES["tokenize"].solution(sentence))
        return tokens

    result = judge("tokenize", growing)
    assert not result.passed and result.diagnosis == "not the same twice"
    assert "the call before" in result.message


def test_a_default_dict_that_grows_from_call_to_call_is_told():
    def growing(tokens, vocabulary={}):  # noqa: B006
        for token in tokens:
            vocabulary.setdefault(token, len(vocabulary))
        return vocabulary

    result = judge("build_vocabulary", growing)
    assert not result.passed and result.diagnosis == "not the same twice"


def test_a_result_kept_from_the_first_call_is_told():
    kept = []

    def remembering(images, patch_size):
        if not kept:
            kept.append(EXERCISES["patchify"].solution(images, patch_size))
        return kept[0]

    result = judge("patchify", remembering)
    assert not result.passed and result.diagnosis in ("not the same twice", "the same for every input")


def test_one_buffer_for_all_results_is_no_reason_to_fail_earlier_cases():
    buffer = {}

    def reusing(ids, vocabulary_size):
        counts = buffer.setdefault(vocabulary_size, torch.zeros(vocabulary_size, dtype=torch.int64))
        counts.zero_()
        return counts.index_add_(0, ids.flatten(), torch.ones(ids.numel(), dtype=torch.int64))

    assert judge("rows_with_gradient", reusing).passed


# ---------------------------------------------------------------- right for some inputs only


def right_when(condition):
    def sometimes(images, patch_size):
        result = lesson_04.patchify(images, patch_size)
        return result if condition(*images.shape, patch_size) else result.flip(-1)

    return sometimes


@pytest.mark.parametrize(
    ("tag", "condition"),
    [
        ("square images", lambda b, c, h, w, p: h == w),
        ("a batch of one", lambda b, c, h, w, p: b == 1),
        ("three channels", lambda b, c, h, w, p: c == 3),
        ("one channel", lambda b, c, h, w, p: c == 1),
    ],
)
def test_a_result_that_is_right_for_a_coincidence_only_is_told(tag, condition):
    result = judge("patchify", right_when(condition))
    assert not result.passed and result.diagnosis == f"right for {tag} only"
    assert f"right for {tag} only. On " in result.message


def test_one_right_case_is_named_and_nothing_is_concluded_from_it():
    result = judge("patchify", right_when(lambda b, c, h, w, p: (b, h, w, p) == (3, 8, 4, 2)))
    assert not result.passed and result.diagnosis == "right for one case only"
    assert "only one comes out right, 3 images of 5 × 8 × 4 pixels, P = 2. On " in result.message


def test_one_lucky_case_with_a_coincidence_is_no_proof_of_it():
    one_square = right_when(lambda b, c, h, w, p: h == w == 6)
    assert "square" not in judge("patchify", one_square).diagnosis


def test_square_images_only_is_told_for_the_inverse_too():
    def square(patches, patch_size, channels, height, width):
        result = lesson_04.unpatchify(patches, patch_size, channels, height, width)
        return result if height == width else result.flip(3)

    assert judge("unpatchify", square).diagnosis == "right for square images only"


@pytest.mark.parametrize("name", ["numbers_in", "one_hot_bytes", "unread_pixels", "count_patches"])
def test_a_fixed_number_is_never_right(name):
    exercise = EXERCISES[name]
    for case in exercise.cases():
        number = exercise.solution(*case.args)
        result = judge(name, lambda *args, number=number: number)
        assert not result.passed and result.diagnosis


def test_a_nothing_that_happens_to_be_right_for_empty_input_is_not_praised():
    result = judge("rows_with_gradient", lambda ids, v: F.one_hot(ids.flatten(), v).sum(0) * 3)
    assert result.diagnosis == "factor" and "3 times" in result.message
    result = judge("tokenize", lambda sentence: [word.strip(".,!?") for word in sentence.lower().split()])
    assert "right for one size only" not in result.message


# ---------------------------------------------------------------- relations


@pytest.mark.parametrize(
    ("change", "diagnosis", "says"),
    [
        (lambda x: -x, "sign", "opposite sign"),
        (lambda x: x + 3, "constant", "too large by 3"),
        (lambda x: x - 1, "constant", "too small by 1"),
        (lambda x: x * 2, "factor", "2 times"),
        (lambda x: x / 4, "factor", "1/4"),
        (lambda x: x.flip(1), "wrong order", "another order"),
    ],
)
def test_a_result_that_is_nearly_right_is_told_how(change, diagnosis, says):
    result = judge("patchify", lambda *args: change(lesson_04.patchify(*args)))
    assert not result.passed and result.diagnosis == diagnosis and says in result.message


@pytest.mark.parametrize(
    ("change", "diagnosis", "says"),
    [
        (lambda x: x.transpose(1, 2), "unfold not turned", "N and C·P·P are swapped"),
        (lambda x: x.transpose(0, 1), "axes swapped", "right numbers, but B and N are swapped"),
        (lambda x: x.flatten(1), "axes merged", "N and C·P·P are merged"),
        (lambda x: x.sum(1), "axis missing", "axis N is missing"),
        (lambda x: x[:, :-1], "wrong size", "N is 5 and should be 6"),
        (lambda x: x[None], "extra axis", "extra axis at place 0"),
    ],
)
def test_a_wrong_shape_is_told_in_letters(change, diagnosis, says):
    result = judge("patchify", lambda *args: change(lesson_04.patchify(*args)))
    assert not result.passed and result.diagnosis == diagnosis and says in result.message
    assert "expected (B=4, N=6, C·P·P=18), got (" in result.message


def test_a_lookup_without_gradient_is_told():
    own = EXERCISES["lookup_by_matmul"].solution
    result = judge("lookup_by_matmul", lambda ids, weight: own(ids, weight.detach() * 1))
    assert "no gradient reaches the table" in result.message


def test_a_lookup_with_another_gradient_is_told():
    own = EXERCISES["lookup_by_index"].solution

    def twice(ids, weight):
        rows = own(ids, weight)
        return rows + rows - rows.detach()

    result = judge("lookup_by_index", twice)
    assert not result.passed and result.diagnosis == "wrong gradient"


# ---------------------------------------------------------------- names, messages, hints, solutions


def test_the_name_as_text_takes_the_function_of_the_notebook(monkeypatch):
    monkeypatch.setattr(sys.modules["__main__"], "patchify", lesson_04.patchify, raising=False)
    assert check("patchify").passed


@pytest.mark.parametrize("call", [check, hint, solution])
def test_an_unknown_name_is_told_with_the_nearest(call):
    with pytest.raises(LookupError, match="no exercise is called 'patchfy'; nearest: patchify"):
        call("patchfy")

    def unpatchfy(): ...

    with pytest.raises(LookupError, match="nearest: unpatchify"):
        call(unpatchfy)


def shown_words(result):
    bundle = result._repr_mimebundle_()
    text = html.unescape(
        re.sub(r"<(?!br|pre)[^>]*>", "", bundle["text/html"])
        .replace("<br>", " ")
        .replace('<pre style="margin:6px 0 0;line-height:1.35">', " ")
    )
    return text.split(), bundle["text/plain"].replace("`", "").split()


@pytest.mark.parametrize("name", NAMES)
def test_html_and_plain_text_carry_the_same_words(name):
    exercise = EXERCISES[name]
    shown = [check(exercise.solution), check(name), hint(name), hint(name), hint(name), solution(name)]
    shown += [judge(name, wrong.answer) for wrong in exercise.wrong]
    for result in shown:
        of_html, of_text = shown_words(result)
        assert of_html == of_text
        assert set(result._repr_mimebundle_()) == {"text/html", "text/plain"}
        assert repr(result) == result._repr_mimebundle_()["text/plain"]


def test_everything_in_html_is_escaped(tmp_path):
    nasty = "<script>alert(1)</script>"
    for source in (
        f"def patchify(images, patch_size):\n    return undefined  # {nasty} & `{nasty}`\n",
        f"def patchify(images, patch_size):\n    raise ValueError('{nasty}')\n",
        f"def patchify(images, patch_size):\n    return '{nasty}'\n",
        f"def tokenize(sentence):\n    return ['{nasty}']\n",
    ):
        result = check(from_source(tmp_path, source, source.split("(")[0][4:]))
        shown = result._repr_mimebundle_()["text/html"]
        assert "<script" not in shown and "&lt;script&gt;" in shown
        assert nasty in result._repr_mimebundle_()["text/plain"]


@pytest.mark.parametrize(("name", "wrong"), WRONG)
def test_a_result_is_the_same_text_twice_and_on_every_machine(name, wrong):
    answer = known_wrong(name, wrong).answer
    first, second = judge(name, answer), judge(name, answer)
    assert repr(first) == repr(second)
    assert not re.search(r"0x[0-9a-f]{6,}|/root|/home|/tmp|\.py\b|\\Users", repr(first))


@pytest.mark.parametrize("name", NAMES)
def test_hints_come_one_by_one_and_begin_anew(name):
    hints = EXERCISES[name].hints
    shown = [repr(hint(name)) for _ in range(len(hints) + 1)]
    for number, (text, one) in enumerate(zip(shown, hints, strict=False), 1):
        assert text.startswith(f"Hint {number} of {len(hints)}: {one}")
    assert shown[-1] == shown[0]
    assert f"solution({name})" in shown[-2] and f"hint({name})" in shown[0]
    assert [event["number"] for event in progress.events()] == [*range(1, len(hints) + 1), 1]


@pytest.mark.parametrize("name", NAMES)
def test_a_solution_takes_an_attempt_or_a_second_call_and_passes(name):
    first = solution(name)
    assert "you have not tried it yet" in repr(first) and EXERCISES[name].solution_source not in repr(first)
    second = solution(name)
    assert EXERCISES[name].solution_source in repr(second)
    space = {"torch": torch, "F": F, "nn": nn, "check_ids": __import__("course_lib.words").words.check_ids}
    exec(second.lines, space)
    assert check(space[name]).passed


@pytest.mark.parametrize("name", NAMES)
def test_a_solution_comes_at_once_after_an_attempt(name):
    judge(name, EXERCISES[name].wrong[0].answer)
    assert EXERCISES[name].solution_source in repr(solution(name))


def test_an_attempt_of_an_earlier_session_counts(monkeypatch):
    judge("patchify", EXERCISES["patchify"].wrong[0].answer)
    monkeypatch.setattr(checking, "_tried", set())
    assert EXERCISES["patchify"].solution_source in repr(solution("patchify"))


def test_the_event_of_a_check_holds_no_code():
    judge("patchify", EXERCISES["patchify"].wrong[0].answer)
    check(EXERCISES["patchify"].solution)
    events = list(progress.events())
    assert [set(event) for event in events] == [{"time", "kind", "name", "passed", "diagnosis"}] * 2
    assert [(event["passed"], event["diagnosis"]) for event in events] == [
        (False, EXERCISES["patchify"].wrong[0].name),
        (True, None),
    ]
    assert progress.solved() == {"patchify"} and progress.tries() == {"patchify": 2}


def test_find_gives_what_the_notebooks_need():
    exercise = find("patchify")
    assert exercise.lesson == "04" and exercise.solution is lesson_04.patchify
    assert exercise.solution_source.startswith("def patchify(images, patch_size):")
