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

from course_lib import COURSE, checking, patches, progress
from course_lib.checking import check, hint, solution
from course_lib.exercises import all_exercises, find
from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.patchify import patchify as solved_patchify
from course_lib.judging import relations, running
from course_lib.showing import controls
from course_lib.words import check_ids
from tests.support.right_ways import RIGHT_WAYS

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
    """The same function or class under the name of an exercise; a built-in is wrapped."""
    if inspect.isclass(function):
        return type(name, (function,), {})
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


def after(name, change):
    """The solution of an exercise, its result changed; of a class, what its forward gives."""
    own = EXERCISES[name].solution
    if not inspect.isclass(own):
        return lambda *args: change(own(*args))

    class Changed(own):
        def forward(self, images):
            return change(super().forward(images))

    return Changed


def known_wrong(name, wrong):
    return next(known for known in EXERCISES[name].wrong if known.name == wrong)


@functools.cache
def ends(name, wrong):
    function = EXERCISES[name].solution if wrong is None else known_wrong(name, wrong).answer
    return running.run(EXERCISES[name], function)


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
    if "einops" in way.__name__.lower():
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

    if inspect.isclass(own):

        class Longer(own):
            def __init__(self, *args, verbose=False):
                super().__init__(*args)

        assert judge(name, Longer).passed
    assert judge(name, longer).passed


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
        assert not all(map(running.alike, ends(name, one), ends(name, other))), (one, other)


@pytest.mark.parametrize(("name", "wrong"), WRONG)
def test_a_wrong_answer_is_wrong_on_some_case(name, wrong):
    assert not all(map(running.right, ends(name, wrong), ends(name, None)))


@pytest.mark.parametrize("name", ["conv_from_linear", "linear_from_conv", "merge_linear_into_conv"])
def test_a_layer_that_does_not_say_its_true_sizes_fails(name):
    own = EXERCISES[name].solution
    attribute = "in_features" if name == "linear_from_conv" else "out_channels"

    def other_sizes(*args):
        layer = own(*args)
        setattr(layer, attribute, 1)
        return layer

    result = judge(name, other_sizes)
    assert not result.passed and result.diagnosis == "not what was asked"
    assert f"the layer says {attribute}=1, but the weight that was put into it has {attribute}=" in result.message


REFUSES = """
def linear_from_conv(conv):
    if {test}: raise ValueError({text})
    linear = nn.Linear(conv.weight[0].numel(), conv.out_channels, bias=conv.bias is not None)
    linear.weight = nn.Parameter(conv.weight.detach().flatten(1).clone())
    linear.bias = None if conv.bias is None else nn.Parameter(conv.bias.detach().clone())
    return linear
"""
ALL_FOUR = "conv.stride != conv.kernel_size or any(conv.padding) or conv.dilation != (1, 1) or conv.groups != 1"
BROKEN = (
    "'stride' if conv.stride != conv.kernel_size else 'padding' if any(conv.padding) else"
    " 'dilation' if conv.dilation != (1, 1) else 'groups'"
)


@pytest.mark.parametrize(
    ("test", "text", "diagnosis"),
    [
        (ALL_FOUR, "'no projection'", "condition not named"),
        (ALL_FOUR, "'stride, padding, dilation or groups is wrong'", "condition not named"),
        ("conv.stride != conv.kernel_size", "f'stride is {conv.stride}'", "stride only"),
        ("conv.padding != 0", "f'padding is {conv.padding}, not 0'", "every convolution refused, by padding alone"),
        (ALL_FOUR.replace("any(conv.padding)", "conv.padding == (1, 1)"), BROKEN, "no error"),
    ],
)
def test_an_error_has_to_name_the_setting_that_is_broken_and_no_other(tmp_path, test, text, diagnosis):
    source = REFUSES.format(test=test, text=text)
    result = check(from_source(tmp_path, source, "linear_from_conv"))
    assert not result.passed and result.diagnosis == diagnosis


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
        (
            "skip_gram_pairs",
            {
                "right-hand neighbours missing",
                "words compared, not positions",
                "paired with itself",
                "pairs across sentences",
            },
        ),
        ("negative_sampling_loss", {"sign of the negatives wrong", "negatives averaged", "log of a sigmoid"}),
        ("nearest", {"dot product", "worst first"}),
        ("analogy", {"question words not left out", "dot product"}),
        ("project", {"weight not turned", "bias forgotten", "patches added up", "a matrix for each patch"}),
        ("encoder_parameters", {"positions left out", "bias left out", "weights times tokens"}),
        ("channels_last_weight", {"backwards", "unchanged"}),
        ("nearest_code", {"farthest code", "dot product", "wrong axis"}),
        ("quantisation_error", {"summed", "root taken", "farthest code", "dot product"}),
        ("conv_from_linear", {"order of the patch misread", "bias lost"}),
        ("linear_from_conv", {"nothing refused", "condition not named", "order of the patch misread"}),
        ("merge_linear_into_conv", {"first bias lost", "bias not passed through", "order of the product swapped"}),
        (
            "PatchEmbedding",
            {
                "reshape in place of transpose",
                "tokens and numbers swapped",
                "only the width checked",
                "assert for a check",
            },
        ),
    ],
)
def test_the_wrong_answers_of_the_course_plan_are_known(name, wrongs):
    assert wrongs <= {wrong.name for wrong in EXERCISES[name].wrong}


def in_order(*order):
    """Patchify, but for the order in which the six axes stand before they are merged."""

    def patchify(images, patch_size):
        batch, channels, height, width = images.shape
        rows, columns = height // patch_size, width // patch_size
        split = images.reshape(batch, channels, rows, patch_size, columns, patch_size)
        return split.permute(order).reshape(batch, rows * columns, -1)

    return patchify


def test_all_other_orders_of_the_six_axes_fail():
    exercise = EXERCISES["patchify"]
    expected = running.run(exercise, exercise.solution)
    passed, diagnosed = [], 0
    for order in itertools.permutations(range(6)):
        got = running.run(exercise, in_order(*order))
        if all(map(running.right, got, expected)):
            passed.append(order)
        diagnosed += 1
    assert diagnosed == 720 and passed == [(0, 2, 4, 1, 3, 5)]


@pytest.mark.parametrize("order", [(0, 4, 2, 5, 3, 1), (0, 2, 4, 5, 3, 1), (1, 2, 4, 0, 3, 5), (5, 4, 3, 2, 1, 0)])
def test_a_wrong_order_of_axes_is_told_as_one(order):
    result = judge("patchify", in_order(*order))
    assert not result.passed and result.diagnosis in {"wrong order"} | {w.name for w in EXERCISES["patchify"].wrong}
    assert "another order" in result.message


# ---------------------------------------------------------------- not attempted

GAPS = {
    "dots": '"""What to do."""\n...',
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


def source_of(name, body):
    """A function with that body; of a class, one whose forward has it."""
    body = body.replace("\n", "\n    ")
    if not inspect.isclass(EXERCISES[name].solution):
        return f"def {name}({signature_of(name)}):\n    {body}\n"
    body = body.replace("\n", "\n    ")
    return (
        f"class {name}(nn.Module):\n    def __init__(self, {signature_of(name)}):\n        super().__init__()\n"
        f"        self.layer = nn.Linear(2, 3)\n\n    def forward(self, images):\n        {body}\n"
    )


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("name", NAMES)
def test_a_gap_is_not_attempted(tmp_path, name, gap):
    source = source_of(name, GAPS[gap]).replace("        self.layer = nn.Linear(2, 3)\n", "        ...\n")
    result = check(from_source(tmp_path, source, name))
    assert (result.passed, result.attempted, result.diagnosis) == (False, False, None)
    assert result.message.startswith(f"{name}: not attempted yet.") and f"hint({name})" in result.message
    assert progress.tries() == {}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_the_notebook_does_not_have_is_not_attempted(name):
    assert not hasattr(sys.modules["__main__"], name)
    assert check(name).attempted is False


@pytest.mark.parametrize("name", NAMES)
def test_returning_none_is_told(tmp_path, name):
    result = check(from_source(tmp_path, source_of(name, "return None"), name))
    assert not result.passed and result.attempted and result.diagnosis == "returned nothing"
    assert "returned None" in result.message and "`return ...`" in result.message


# ---------------------------------------------------------------- errors and endless loops


@pytest.mark.parametrize("name", NAMES)
def test_an_error_shows_the_learners_own_line(tmp_path, name):
    source = source_of(name, "x = torch.zeros(2, 3)\nreturn x.reshape(7)  # my line")
    result = check(from_source(tmp_path, source, name))
    line = len(source.splitlines())
    assert not result.passed and result.diagnosis == "raised"
    assert f"on line {line}, `return x.reshape(7)  # my line`" in result.message and "RuntimeError" in result.message
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
        ("return torch.cdist(torch.zeros(2, 3), torch.zeros(2, 4))", "rows with rows, and these have 3 and 4 numbers"),
        ("return images.min(dim=1) ** 2", "min gives both values and indices"),
        ("return images[0, 0, 0, 0, 0]", "more indices than axes"),
        ("return images.index_select(0, torch.zeros(1, 1).long())", "ids of one axis only"),
        ("return torch.zeros(2) ^ 2", "a square is ** 2"),
        ("return torch.nn.Conv2d(3, 4, 1)(torch.zeros(1, 5, 2, 2))", "made for 3 channels gets 5"),
        ("return torch.nn.Conv2d(3, 4, 1)(torch.zeros(1, 3, 2, 2).double())", "A layer and its input have two dtypes"),
        ("return torch.nn.Linear(2, 3).wieght", "it has no `wieght`. What comes nearest: `weight`"),
        ("return torch.nn.Embedding(2, 3).shape", "Embedding is a layer and has no `shape`; a tensor has it"),
        ("return images.shapes", "A tensor has no `shapes`. What comes nearest: `shape`"),
        ("return tuple(images.shape).numel()", "`numel` belongs to tensors, and here a tuple of Python stands"),
        ("return torch.nn.functional.onehot(images)", "What comes nearest: `one_hot`"),
        ("return math.prod(images.shape)", "write `import math` above your answer"),
        ("return np.array(images)", "write `import numpy as np` above your answer"),
        ("if False: size = 3\n    return size", "size is used before it has a value"),
        ("return torch.zeros(2, 3) @ torch.zeros(2, 3)", "the inner sizes have to meet, and here 3 meets 2"),
        ("return torch.zeros(4, 2, 3) @ torch.zeros(4, 2, 3)", "inner sizes that meet, here 3 and 2"),
        ("return torch.mm(images[0], images[0])", "torch.mm takes two plain tables only"),
        ("return torch.dot(images[0, 0], images[0, 0])", "torch.dot takes two plain vectors only"),
        ("return torch.zeros(2, 3) * torch.zeros(3, 2)", "a product of tables is `@`"),
        ("return F.cosine_similarity(torch.zeros(3), torch.zeros(3))", "two plain vectors have axis 0 only: dim=0"),
        ("return F.cosine_similarity(torch.zeros(3), torch.zeros(3), dim=0).max(3)", "The k largest come from topk(k)"),
        ("return images.sum(7)", "Axis 7 is asked for"),
        ("return torch.cat([images, images[0]], dim=1)", "cat joins tensors with the same number of axes"),
        ("return torch.cat([images[:, :, :1], images])", "cat joined along axis 0, the batch"),
        ("return torch.cat([images[:1], images], dim=1)", "cat joined along axis 1"),
        ("return [int(row) for row in images]", "A loop over a tensor goes along its first axis only"),
        ("return torch.bincount(images[0, 0].long())", "bincount takes ids of one axis only"),
        ("if images.sum() >= 0: raise ValueError('no')", "This input is right and has to be accepted"),
        ("assert images.sum() < 0", "This input is right and has to be accepted"),
    ],
)
def test_errors_are_told_with_what_they_usually_mean(tmp_path, line, says):
    result = check(from_source(tmp_path, f"def patchify(images, patch_size):\n    {line}\n", "patchify"))
    assert not result.passed and result.diagnosis == "raised"
    assert says in result.message and re.search("line [23]", result.message)
    assert "self." not in result.message


def test_endless_recursion_is_told(tmp_path):
    source = "def numbers_in(shape):\n    return numbers_in(shape)\n"
    result = check(from_source(tmp_path, source, "numbers_in"))
    assert result.diagnosis == "raised" and "RecursionError" in result.message


ENDLESS = "number = 0\nwhile True:\n    number += 1"


@pytest.mark.parametrize("name", ["patchify", "tokenize", "linear_from_embedding", "PatchEmbedding"])
def test_an_endless_loop_is_stopped_by_the_time_limit(tmp_path, monkeypatch, name):
    monkeypatch.setattr(checking, "TIME_LIMIT", 0.3)
    result = check(from_source(tmp_path, source_of(name, ENDLESS), name))
    assert not result.passed and result.diagnosis == "timed out"
    assert "did not come to an end: it was stopped after 0.3 seconds" in result.message
    assert "Is there a loop that never ends?" in result.message
    assert re.search(r"on line [3489], `(while True:|number \+= 1)`", result.message)


@pytest.mark.parametrize("handler", [signal.SIG_IGN, signal.SIG_DFL])
def test_an_endless_loop_is_stopped_where_the_process_ignores_interrupts(tmp_path, monkeypatch, handler):
    """As in one that a script has started in the background: there it ran on, and filled the memory."""
    monkeypatch.setattr(checking, "TIME_LIMIT", 0.3)
    before = signal.signal(signal.SIGINT, handler)
    try:
        result = check(from_source(tmp_path, source_of("tokenize", ENDLESS), "tokenize"))
        assert signal.getsignal(signal.SIGINT) == handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert result.diagnosis == "timed out"


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
        result = check(from_source(tmp_path, source_of("patchify", ENDLESS), "patchify"))
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


# ---------------------------------------------------------------- classes


def class_source(init, forward, head="class PatchEmbedding(nn.Module):"):
    lines = [
        "def __init__(self, in_channels, patch_size, embedding_dim):",
        *init,
        "def forward(self, images):",
        *forward,
    ]
    body = "\n".join(("    " if line.startswith("def ") else "        ") + line for line in lines)
    return f"{head}\n{body}\n"


CONVOLUTION = (
    "self.patch_size = patch_size",
    "self.layer = nn.Conv2d(in_channels, embedding_dim, patch_size, patch_size)",
)
TOKENS = "return self.layer(images).flatten(2).transpose(1, 2)"


def check_class(tmp_path, *parts, **names):
    return check(from_source(tmp_path, class_source(*parts), "PatchEmbedding", **names))


@pytest.mark.parametrize("gap", ["...", "pass", "return ..."])
def test_a_class_with_one_method_written_is_attempted(tmp_path, gap):
    result = check_class(tmp_path, ("super().__init__()", gap), ("return images",))
    assert result.attempted and not result.passed
    result = check_class(tmp_path, ("super().__init__()", *CONVOLUTION), (gap,))
    assert result.attempted and result.diagnosis == "returned nothing"


@pytest.mark.parametrize("head", ["class PatchEmbedding(nn.Module):", "class PatchEmbedding(torch.nn.Module):"])
def test_a_class_with_nothing_but_gaps_is_not_attempted(tmp_path, head):
    source = class_source(("super().__init__()", "..."), ('"""Tokens of the images."""', "..."), head)
    assert check(from_source(tmp_path, source, "PatchEmbedding")).attempted is False


def test_a_forward_that_returns_nothing_is_told(tmp_path):
    result = check_class(tmp_path, ("super().__init__()", *CONVOLUTION), (TOKENS.replace("return", "tokens ="),))
    assert result.diagnosis == "returned nothing" and "expected a tensor, but your code returned None" in result.message


@pytest.mark.parametrize(
    "line", ["return self.layer(pictures)", "return self.layers(images)", "return images @ self.layer"]
)
def test_an_error_in_forward_shows_the_learners_own_line(tmp_path, line):
    result = check_class(tmp_path, ("super().__init__()", *CONVOLUTION), ("images = images * 1", line))
    assert result.diagnosis == "raised" and f"on line 8, `{line}`" in result.message


def test_an_error_in_init_shows_the_learners_own_line(tmp_path):
    result = check_class(tmp_path, ("super().__init__()", "self.layer = nn.Conv2d(channels, 3)"), ("return images",))
    assert result.diagnosis == "raised" and "on line 4, `self.layer = nn.Conv2d(channels, 3)`" in result.message
    assert "Run the cells above first" in result.message and "called self.channels" in result.message


def test_what_forward_lacks_has_to_be_made_in_init(tmp_path):
    result = check_class(tmp_path, ("super().__init__()", *CONVOLUTION), ("return self.layers(images)",))
    assert "What forward takes from self has to be made in __init__" in result.message
    result = check_class(tmp_path, ("super().__init__()", *CONVOLUTION), ("return images @ self.layer.shape",))
    assert "Conv2d is a layer and has no `shape`" in result.message


def test_a_forgotten_start_of_the_parent_is_told(tmp_path):
    result = check_class(tmp_path, CONVOLUTION, (TOKENS,))
    assert result.diagnosis == "raised" and "on line 4, `self.layer = " in result.message
    assert "`super().__init__()`" in result.message


def test_a_class_that_is_no_module_is_told(tmp_path):
    result = check(
        from_source(tmp_path, class_source(CONVOLUTION, (TOKENS,), "class PatchEmbedding:"), "PatchEmbedding")
    )
    assert result.diagnosis == "not what was asked" and "class PatchEmbedding(nn.Module)" in result.message
    assert "double" not in result.message


def test_a_class_without_forward_is_told(tmp_path):
    source = class_source(("super().__init__()", *CONVOLUTION), (TOKENS,)).replace("def forward", "def call")
    result = check(from_source(tmp_path, source, "PatchEmbedding"))
    assert result.diagnosis == "raised" and 'missing the required "forward" function' in result.message


def test_an_endless_loop_in_init_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(checking, "TIME_LIMIT", 0.3)
    result = check_class(tmp_path, ("super().__init__()", "while True:", "    pass"), (TOKENS,))
    assert result.diagnosis == "timed out" and re.search(r"on line [45], `(while True:|pass)`", result.message)


def test_images_changed_in_place_by_forward_are_told(tmp_path):
    result = check_class(tmp_path, ("super().__init__()", *CONVOLUTION), ("images -= images.mean()", TOKENS))
    assert result.diagnosis == "changed its input" and "work on a copy" in result.message


def test_a_check_by_patchify_is_fine(tmp_path):
    checked = ("patchify(images, self.patch_size)", TOKENS)
    parts = ("super().__init__()", *CONVOLUTION), checked
    assert check_class(tmp_path, *parts, patchify=patches.patchify).passed


def test_a_class_typed_into_a_notebook_is_checked(tmp_path, monkeypatch):
    """There the source of a class cannot be had, only that of its methods."""
    import nbformat
    from nbclient import NotebookClient

    monkeypatch.setenv("PYTHONPATH", str(COURSE))
    gap = class_source(("super().__init__()", "..."), ("...",))
    wrong = class_source(("super().__init__()", *CONVOLUTION), (TOKENS,))
    broken = class_source(("super().__init__()", *CONVOLUTION), ("return self.layer(pictures)",))
    right = class_source(("super().__init__()", *CONVOLUTION), ("patchify(images, self.patch_size)", TOKENS))
    start = (
        "import torch\nfrom torch import nn\nfrom course_lib.checking import check\n"
        "from course_lib.patches import patchify"
    )
    cells = [start]
    for source in (gap, wrong, broken, right):
        cells += [source, "check(PatchEmbedding)", "check('PatchEmbedding')"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()
    said = [cell.outputs[0].data["text/plain"] for cell in notebook.cells if cell.source.startswith("check(")]
    assert said[::2] == said[1::2]
    assert said[0].startswith("PatchEmbedding: not attempted yet.")
    assert known_wrong("PatchEmbedding", "sizes not checked").because in said[2]
    assert "on line 7, `return self.layer(pictures)`" in said[4] and "NameError" in said[4]
    assert said[6].startswith("PatchEmbedding: correct on ")


def test_an_answer_that_leaves_a_layer_is_told_as_a_layer():
    result = judge("linear_from_conv", known_wrong("linear_from_conv", "nothing refused").answer)
    assert "but your code returned an nn.Linear." in result.message


def test_values_and_indices_together_are_told():
    result = judge("nearest", lambda vector, weight, k: F.cosine_similarity(weight, vector[None]).topk(k))
    assert result.diagnosis == "wrong type" and "as in .indices" in result.message


def test_pairs_as_a_tensor_are_told_to_become_a_list():
    result = judge("skip_gram_pairs", lambda *args: torch.tensor(EXERCISES["skip_gram_pairs"].solution(*args)))
    assert result.diagnosis == "wrong type" and "Convert it with .tolist()." in result.message


# ---------------------------------------------------------------- results of the wrong kind


@pytest.mark.parametrize("name", TENSOR_RESULTS)
def test_a_numpy_result_is_told_to_be_converted(name):
    result = judge(name, after(name, lambda value: value.detach().numpy()))
    assert not result.passed and result.diagnosis == "wrong type"
    assert "That is numpy: convert it with torch.from_numpy(...)." in result.message


@pytest.mark.parametrize("name", TENSOR_RESULTS)
def test_nan_is_told(name):
    result = judge(name, after(name, lambda value: value * float("nan")))
    expected = "not a number" if wanted_dtype(name).is_floating_point else "wrong dtype"
    assert not result.passed and result.diagnosis == expected


def wanted_dtype(name):
    return ends(name, None)[0].value.dtype


@pytest.mark.parametrize("name", TENSOR_RESULTS)
def test_another_dtype_is_told_with_how_to_convert(name):
    def another(dtype):
        return torch.float32 if dtype == torch.float64 else torch.float64

    wanted = wanted_dtype(name)
    other = another(wanted)
    result = judge(name, after(name, lambda value: value.to(another(value.dtype))))
    assert not result.passed and result.diagnosis == "wrong dtype"
    cure = {torch.int64: ".long()", torch.float32: ".float()", torch.float64: ".to(torch.float64)"}[wanted]
    assert f"expected {str(wanted)[6:]}, got {str(other)[6:]}" in result.message and cure in result.message


@pytest.mark.parametrize("name", [name for name in NAMES if EXERCISES[name].result is int])
def test_a_whole_number_of_another_kind_is_told_with_how_to_convert(name):
    own = EXERCISES[name].solution
    for convert, says in (
        (float, "(float)"),
        (lambda n: torch.tensor(n), "int(...)"),
        (lambda n: torch.tensor(n).numpy(), "int(...)"),
        (str, "int(...)"),
        (lambda n: f"{n} bytes", "without words or units"),
        (lambda n: n / 7 + 0.5, "(float)"),
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

    def many(a, b, c, d, e, f, g, h):
        raise AssertionError("must not run")

    for answer, takes in ((none, "()"), (many, "(a, b, c, d, e, f, g, h)")):
        result = judge(name, answer)
        assert result.diagnosis == "wrong arguments" and f"({', '.join(wanted)})" in result.message
        assert f"yours takes {takes}" in result.message


def given_to(name):
    """What an answer can change: its arguments, or what its forward gets."""
    case = EXERCISES[name].cases()[0]
    return case.given or case.args


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in NAMES
        if any(isinstance(argument, (list, torch.Tensor, nn.Module)) for argument in given_to(name))
    ],
)
def test_a_change_of_the_input_is_told(name):
    own = EXERCISES[name].solution

    def change(args):
        first = next(argument for argument in args if isinstance(argument, (list, torch.Tensor, nn.Module)))
        if isinstance(first, list):
            first.append("more")
        elif isinstance(first, nn.Module):
            first.weight.data.zero_()
        else:
            first.data += 1

    def changing(*args):
        result = own(*args)
        change(args)
        return result

    if inspect.isclass(own):

        class Changing(own):
            def forward(self, *args):
                result = super().forward(*args)
                change(args)
                return result

        changing = Changing
    result = judge(name, changing)
    assert not result.passed and result.diagnosis == "changed its input"
    assert "work on a copy" in result.message
    assert "only" not in result.message


@pytest.mark.parametrize("line", ["tokens += positions", "tokens.data = tokens.data + positions", "tokens[:] = 0"])
def test_the_line_that_changes_an_input_is_shown(tmp_path, line):
    body = f"other = tokens * 1\n{line}\nreturn other + positions"
    result = check(from_source(tmp_path, source_of("add_positions", body), "add_positions"))
    assert result.diagnosis == "changed its input" and f"in place on line 3, `{line}` (" in result.message
    assert sys.gettrace() is None


def test_a_change_in_a_function_of_torch_is_shown_by_the_line_that_calls_it(tmp_path):
    source = "def add_positions(tokens, positions):\n    return tokens.add_(positions)\n"
    result = check(from_source(tmp_path, source, "add_positions"))
    assert "in place on line 2, `return tokens.add_(positions)` (" in result.message


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
    with torch.random.fork_rng():
        result = judge(name, after(name, lambda value: value + torch.randint(1, 1000, (1,)).squeeze()))
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
        result = solved_patchify(images, patch_size)
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
        result = EXERCISES["unpatchify"].solution(patches, patch_size, channels, height, width)
        return result if height == width else result.flip(3)

    assert judge("unpatchify", square).diagnosis == "right for square images only"


@pytest.mark.parametrize(
    "name", ["numbers_in", "one_hot_bytes", "unread_pixels", "count_patches", "encoder_parameters"]
)
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
    result = judge("patchify", lambda *args: change(solved_patchify(*args)))
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
    result = judge("patchify", lambda *args: change(solved_patchify(*args)))
    assert not result.passed and result.diagnosis == diagnosis and says in result.message
    assert "expected (B=4, N=6, C·P·P=18), got (" in result.message


def test_a_lookup_without_gradient_is_told():
    own = EXERCISES["lookup_by_matmul"].solution
    result = judge("lookup_by_matmul", lambda ids, weight: own(ids, weight.detach() * 1))
    assert "no gradient reaches weight" in result.message


def test_a_lookup_with_another_gradient_is_told():
    own = EXERCISES["lookup_by_index"].solution

    def twice(ids, weight):
        rows = own(ids, weight)
        return rows + rows - rows.detach()

    result = judge("lookup_by_index", twice)
    assert not result.passed and result.diagnosis == "wrong gradient"


TERMS = {  # changes of the arguments and of the result of an exercise: what is told of them
    "project": [
        (lambda own, x, w, b: own(x, -w, b), "right for other arguments", "for `-patches` in place of `patches`"),
        (lambda own, x, w, b: own(x, w, 0 * b) + b.mean(), "off alike along an axis", "does not change along B and N"),
    ],
    "count_patches": [
        (lambda own, h, w, p, s: own(h, w, p, s + 1), "right for other arguments", "`stride + 1` in place of `stride`"),
        (lambda own, h, w, p, s: own(h, 9 * s, p, s), "an argument without influence", "each time `width` was changed"),
        (lambda own, h, w, p, s: own(h, w, p, s) * ((w - p) % s + 2), "off by a multiple", "of the number of"),
    ],
    "unread_pixels": [
        (lambda own, h, w, p: h * w - h // p * p - w // p * p, "off by a term", "(height that is read) + (width that"),
    ],
    "encoder_parameters": [
        (lambda own, n, t, d: own(n, t, d) - t * t + 3, "off by a term", "by 3 and too small by `tokens` · `tokens`."),
        (lambda own, n, t, d: n * d * d + t * d, "another term", "`patch_length` · `dimension` · `dimension` +"),
    ],
    "hybrid_tokens": [
        (lambda own, size, s, p: own(size, p, s + 1), "right for other arguments", "`stem_stride + 1`"),
    ],
    "vit_parameters": [
        (lambda own, *a: own(*a) - a[4] * a[3] ** 2, "off by a term", "by `dimension` · `dimension` · `depth`."),
    ],
    "numbers_in": [
        (lambda own, shape: own(shape[::-1][:-1]) * 1, "batch left out", "first axis counts as well"),
        (lambda own, shape: own(shape) * (-1) ** len(shape), "sign in part", "some have the wrong one"),
    ],
    "tokenize": [
        (lambda own, s: own(s)[::-1], "wrong order", "The right entries, in another order."),
        (lambda own, s: own(s)[1:], "entries missing", "Nothing came that does not belong there"),
        (lambda own, s: own(s) + ["."], "entries too many", "others that do not belong there"),
        (lambda own, s: [part for word in own(s) for part in (word, "")], "empty entries", "its strip() is not empty"),
        (lambda own, s: [word.title() for word in own(s)], "right but for capitals", "Right but for capital letters."),
        (lambda own, s: ["".join(own(s))][: len(s)], "cut at other places", "cut into pieces at other places"),
    ],
    "build_vocabulary": [
        (lambda own, t: dict.fromkeys(own(t), 7), "right keys, other values", "The keys are right"),
        (lambda own, t: own(t) | {"x": 1}, "entries too many", "others that do not belong there"),
    ],
    "rows_with_gradient": [(lambda own, ids, v: 0 * own(ids, v), "nothing but zeros", "Is anything put into")],
    "add_positions": [
        (lambda own, x, p: x * 1, "an argument came back", "On every case `tokens` came back as it went in."),
        (lambda own, x, p: x + 2 * p, "right for other arguments", "`2 * positions` in place of `positions`"),
        (lambda own, x, p: torch.cat([own(x, p)[:, :-1], x[:, -1:]], 1), "wrong in the last place", "stands last"),
    ],
    "prepend_class_token": [
        (lambda own, x, c: own(x + 1, c + 0), "right for other arguments", "`tokens + 1` in place of `tokens`"),
        (lambda own, x, c: own(x * x, c), "right in the first place", "What stands first along N+1 is right"),
    ],
}


@pytest.mark.parametrize(
    ("name", "change", "diagnosis", "says"), [(name, *each) for name, changes in TERMS.items() for each in changes]
)
def test_a_wrong_result_is_told_by_what_it_has_to_do_with_the_right_one(name, change, diagnosis, says):
    own = EXERCISES[name].solution
    result = judge(name, lambda *args: change(own, *args))
    assert not result.passed and result.diagnosis == diagnosis and says in result.message


def test_a_result_that_has_nothing_to_do_with_the_right_one_is_told_as_different():
    result = judge("count_patches", lambda h, w, p, s: hash((h, w, p, s)) % 1000003)
    assert result.diagnosis == "different"
    result = judge("add_positions", lambda tokens, positions: (tokens * 3).sin() + positions.cos())
    assert result.diagnosis == "different"


def test_an_answer_that_never_ends_with_other_arguments_is_told_all_the_same(monkeypatch):
    monkeypatch.setattr(relations, "SECONDS", 0.2)
    known = {case.args for case in EXERCISES["encoder_parameters"].cases()}

    def stubborn(length, tokens, dimension):
        while (length, tokens, dimension) not in known:
            pass
        return hash((length, tokens, dimension)) % 1000003

    assert judge("encoder_parameters", stubborn).diagnosis == "different"


def test_a_dict_that_holds_itself_is_told():
    def nested(tokens):
        vocabulary = {}
        for token in tokens:
            vocabulary[token] = vocabulary
        return vocabulary

    assert judge("build_vocabulary", nested).diagnosis == "right keys, other values"


def test_a_number_of_thousands_of_digits_is_told():
    result = judge("one_hot_bytes", lambda size: size**size * 4)
    assert not result.passed and result.diagnosis == "different" and len(result.message) < 300
    result = judge("one_hot_bytes", lambda size: 4**size)
    assert not result.passed and result.diagnosis == "4 to the power of V" and len(result.message) < 300


@pytest.mark.parametrize("name", ["PatchEmbedding", "HybridEmbedding", "PatchTokens"])
def test_right_numbers_of_a_layer_without_a_gradient_are_told(name):
    result = judge(name, after(name, lambda value: value.detach()))
    assert not result.passed and result.diagnosis == "not what was asked"
    assert "the numbers are right, but no gradient reaches" in result.message


def test_one_float_among_whole_numbers_is_told_without_a_word_on_division_alone():
    message = judge("one_hot_bytes", lambda size: size * size * 4.0).message
    assert "4.0 does, and so does /" in message


@pytest.mark.parametrize("result", [0, 7])
def test_a_constant_is_told_as_what_it_is(result):
    found = judge("numbers_in", lambda shape: result * len(shape) // len(shape))
    assert found.diagnosis == "the same for every input" and "0 times anything is 0" in found.message


def test_an_assert_where_an_error_is_asked_for_is_told_to_become_a_raise(tmp_path):
    body = "assert ((0 <= ids) & (ids < {0})).all()\nreturn {1}"
    for name, rows, result in (
        ("one_hot", "vocabulary_size", "F.one_hot(ids, vocabulary_size).float()"),
        ("lookup_by_index", "len(weight)", "weight[ids]"),
    ):
        found = check(from_source(tmp_path, source_of(name, body.format(rows, result)), name))
        assert found.diagnosis == "wrong error" and "with an AssertionError." in found.message
        assert "Write `if …: raise ValueError(…)` in its place" in found.message


def test_check_ids_in_an_if_is_told_to_stand_alone(tmp_path):
    body = "if not check_ids(ids, len(weight)):\n    return\nreturn weight[ids]"
    source = source_of("lookup_by_index", body)
    message = check(from_source(tmp_path, source, "lookup_by_index", check_ids=check_ids)).message
    assert "call it on a line of its own, without `if`" in message


def test_an_axis_that_was_never_made_is_not_told_as_summed_only(tmp_path):
    body = "rows = torch.zeros(len(ids), len(weight))\nfor i, one in enumerate(ids):\n    rows[i, one] = 1\n"
    source = source_of("lookup_by_matmul", f"check_ids(ids, len(weight))\n{body}return rows @ weight")
    result = check(from_source(tmp_path, source, "lookup_by_matmul", check_ids=check_ids))
    assert result.diagnosis == "axis missing" and "axis T is missing" in result.message
    assert "or never made" in result.message


@pytest.mark.parametrize("name", NAMES)
def test_the_solution_passes_inside_no_grad(name):
    with torch.no_grad():
        assert check(EXERCISES[name].solution).passed


# ---------------------------------------------------------------- names, messages, hints, solutions


def test_the_name_as_text_takes_the_function_of_the_notebook(monkeypatch):
    monkeypatch.setattr(sys.modules["__main__"], "patchify", solved_patchify, raising=False)
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
def test_html_and_plain_text_carry_the_same_words(name, monkeypatch):
    monkeypatch.setenv("COURSE_WIDGETS", "off")
    exercise = EXERCISES[name]
    shown = [check(exercise.solution), check(name), hint(name), hint(name), hint(name), solution(name)]
    shown += [judge(name, wrong.answer) for wrong in exercise.wrong]
    for result in shown:
        of_html, of_text = shown_words(result)
        assert of_html == of_text
        assert set(result._repr_mimebundle_()) == {"text/html", "text/plain"}
        assert repr(result) == result._repr_mimebundle_()["text/plain"]


def test_a_check_has_the_buttons_that_help_then_and_keeps_its_words_beside_them(monkeypatch):
    monkeypatch.delenv("COURSE_WIDGETS", raising=False)

    def open_answer(shape): ...

    made = []
    monkeypatch.setattr(checking, "Buttons", lambda *args: made.append(args) or controls.Buttons(*args))
    for answer, labels in (
        (EXERCISES["numbers_in"].solution, ["Show a solution"]),
        (EXERCISES["numbers_in"].wrong[0].answer, ["Hint", "Show a solution"]),
        (open_answer, ["Hint"]),
    ):
        result = check(renamed(answer, "numbers_in"))
        bundle = result._repr_mimebundle_()
        assert made[-1][:3] == ("Help with numbers_in", labels, "numbers_in")
        assert bundle.keys() == {"application/vnd.jupyter.widget-view+json", "text/html", "text/plain"}
        assert bundle["text/plain"] == repr(result)


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
    assert exercise.lesson == "04" and exercise.solution is solved_patchify
    assert exercise.solution_source.startswith("def patchify(images, patch_size):")


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        ("self.stem(images) → self.stem(images).detach()", "no gradient reaches self.stem."),
        ("self.stem(images) → torch.no_grad()(self.stem)(images)", "no gradient reaches self.stem."),
        ("self.stem(images) → self.stem(images.detach())", "no gradient reaches the images"),
        ("self.stem(images) → self.stem.eval()(images)", "forward switches the stem to train() or eval()"),
        ("self.stem(images) → self.stem.train()(images)", "forward switches the stem to train() or eval()"),
        ("self.stem = stem → self.stem = stem.requires_grad_(False)", "is frozen, so it would never learn"),
    ],
)
def test_a_hybrid_whose_stem_cannot_learn_or_is_switched_is_told_so(edit, told):
    (made,) = mistakes(EXERCISES["HybridEmbedding"].solution, f"cut off\n    Why.\n        {edit}")
    result = check(made.answer)
    assert not result.passed and result.diagnosis == "not what was asked" and told in result.message
