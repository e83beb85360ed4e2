"""Words as numbers: tokens, vocabulary, ids, one-hot rows."""

from __future__ import annotations

import re
import string
import unicodedata

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from course_lib import words
from course_lib.exercises import find
from course_lib.letters import both_sides, positive_int

FEW = settings(max_examples=40, deadline=None)
TOKENS = st.lists(st.text(string.ascii_lowercase, min_size=1, max_size=3), max_size=20)


@pytest.mark.parametrize(
    ("sentence", "tokens"),
    [
        ("The cat sat.", ["the", "cat", "sat", "."]),
        ("Stop! Who?!", ["stop", "!", "who", "?", "!"]),
        ("  two   spaces,and none ", ["two", "spaces", ",", "and", "none"]),
        ("7 days; 24 hours", ["7", "days", ";", "24", "hours"]),
        ("snake_case", ["snake", "_", "case"]),
        ("Écoute, Ζωή", ["écoute", ",", "ζωή"]),
        ("tab\tand\nline", ["tab", "and", "line"]),
        ("don't", ["don", "'", "t"]),
        ("İzmir", ["i\u0307zmir"]),
        ("हिन्दी भाषा।", ["हिन्दी", "भाषा", "।"]),
        ("ภาษาไทย", ["ภาษาไทย"]),
        ("שָׁלוֹם, וַעֲלֵיכֶם", ["שָׁלוֹם", ",", "וַעֲלֵיכֶם"]),
        ("ශ්\u200dරී", ["ශ්\u200dරී"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("", []),
    ],
)
def test_tokenize_splits_words_from_marks_and_lowers_them(sentence, tokens):
    assert words.tokenize(sentence) == tokens


@pytest.mark.parametrize("word", ["Käse", "Écoute", "Ζωή", "привет", "tiếng", "각하"])
def test_a_letter_typed_in_two_parts_is_the_same_letter(word):
    assert words.tokenize(unicodedata.normalize("NFD", word)) == words.tokenize(word) == [word.lower()]


@FEW
@given(st.text(max_size=40).map(lambda text: unicodedata.normalize("NFC", text.lower())))
def test_tokenize_does_what_the_solution_of_its_exercise_does_where_no_letter_has_a_mark(sentence):
    plain = "".join(c for c in sentence if unicodedata.category(c)[0] != "M" and c not in "\u200c\u200d")
    plain = unicodedata.normalize("NFC", plain)
    assert words.tokenize(plain) == find("tokenize").solution(plain)


@FEW
@given(st.text(max_size=40))
def test_tokenize_loses_nothing_but_spaces(sentence):
    whole = unicodedata.normalize("NFC", sentence.lower())
    assert "".join(words.tokenize(sentence)) == re.sub(r"\s", "", whole)


@pytest.mark.parametrize("sentence", [None, 3, ["the", "cat"], b"the cat"])
def test_tokenize_refuses_what_is_no_text(sentence):
    with pytest.raises(TypeError, match=f"one sentence as text, got {type(sentence).__name__}"):
        words.tokenize(sentence)


def test_vocabulary_numbers_words_in_order_of_first_appearance():
    assert words.build_vocabulary("b a b c a d".split()) == {"b": 0, "a": 1, "c": 2, "d": 3}
    assert words.build_vocabulary([]) == {}
    assert words.build_vocabulary(token for token in ("x", "x")) == {"x": 0}


@FEW
@given(TOKENS)
def test_vocabulary_has_no_holes_and_every_word(tokens):
    vocabulary = words.build_vocabulary(tokens)
    assert set(vocabulary) == set(tokens)
    assert list(vocabulary.values()) == list(range(len(vocabulary)))


@pytest.mark.parametrize("function", [words.build_vocabulary, lambda text: words.encode(text, {})])
def test_a_text_in_place_of_tokens_is_refused_with_what_to_do(function):
    with pytest.raises(TypeError, match="list of tokens, got one text: call tokenize first"):
        function("the cat")


@pytest.mark.parametrize("function", [words.build_vocabulary, lambda tokens: words.encode(tokens, {})])
@pytest.mark.parametrize("tokens", [[["the", "cat"]], [1, 2], ["the", None]])
def test_tokens_that_are_no_texts_are_refused_with_their_place(function, tokens):
    place = 1 if tokens[0] == "the" else 0
    told = f"tokens that are texts, got {type(tokens[place]).__name__} at position {place}"
    with pytest.raises(TypeError, match=told):
        function(tokens)


def test_bytes_in_place_of_tokens_are_refused_as_a_text_is():
    with pytest.raises(TypeError, match="list of tokens, got one text: call tokenize first"):
        words.build_vocabulary(b"the cat")


def test_encode_gives_ids():
    ids = words.encode(["cat", "the", "cat"], {"the": 0, "cat": 1})
    assert ids.tolist() == [1, 0, 1] and ids.dtype == torch.int64
    assert words.encode([], {"the": 0}).shape == (0,) and words.encode([], {"the": 0}).dtype == torch.int64


def test_encode_names_the_missing_token_and_its_place():
    with pytest.raises(ValueError, match="token 'dog' at position 2 is not among the 2 words") as caught:
        words.encode(["the", "cat", "dog", "cow"], {"the": 0, "cat": 1})
    assert "add it, or name a stand-in with unknown=" in str(caught.value)


def test_encode_takes_a_stand_in_for_missing_tokens():
    assert words.encode(["dog", "the", "cow"], {"?": 0, "the": 1}, unknown="?").tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match="the stand-in '!' is itself not among the 2 words"):
        words.encode(["the"], {"?": 0, "the": 1}, unknown="!")


@FEW
@given(TOKENS.filter(bool))
def test_decode_takes_back_what_encode_did(tokens):
    vocabulary = words.build_vocabulary(tokens)
    assert words.decode(words.encode(tokens, vocabulary), vocabulary) == tokens


def test_decode_of_no_ids_is_no_words_even_with_an_empty_vocabulary():
    assert words.decode(words.encode([], {}), {}) == []


def test_decode_refuses_ids_without_a_word():
    with pytest.raises(ValueError, match=r"id 2 at position 1 is outside 0\.\.1"):
        words.decode(torch.tensor([0, 2]), {"the": 0, "cat": 1})
    with pytest.raises(ValueError, match=r"shape \(T,\), got \(1, 2\)"):
        words.decode(torch.tensor([[0, 1]]), {"the": 0, "cat": 1})


def test_decode_names_an_id_that_falls_into_a_hole_of_the_vocabulary():
    with pytest.raises(ValueError, match="1"):
        words.decode(torch.tensor([0, 1]), {"the": 0, "cat": 2})


@pytest.mark.parametrize(
    ("ids", "rows", "text"),
    [
        ([[0, 1], [6, 2]], 6, "id 6 at position (1, 0) is outside 0..5: the table has 6 rows"),
        ([0, -1], 4, "id -1 at position 1 is outside 0..3: the table has 4 rows"),
        (7, 7, "id 7 is outside 0..6: the table has 7 rows"),
        ([5, 6, -3], 5, "id 5 at position 0 is outside 0..4: the table has 5 rows"),
    ],
)
def test_an_id_outside_is_named_with_position_and_range(ids, rows, text):
    with pytest.raises(ValueError) as caught:
        words.check_ids(torch.tensor(ids), rows)
    assert str(caught.value) == text


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64])
def test_every_whole_number_dtype_may_hold_ids(dtype):
    ids = words.check_ids(torch.tensor([[2, 0], [1, 2]], dtype=dtype), 3)
    assert ids.dtype == torch.int64 and ids.tolist() == [[2, 0], [1, 2]]


def test_ids_may_come_as_a_list_a_number_or_numpy():
    assert words.check_ids([1, 0], 2).tolist() == [1, 0]
    assert words.check_ids(1, 2).shape == ()
    assert words.check_ids(torch.tensor([1, 0]).numpy(), 2).tolist() == [1, 0]
    assert words.check_ids([], 2).dtype == torch.int64 and words.check_ids([], 2).shape == (0,)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64, torch.bfloat16, torch.complex64])
def test_floats_are_no_ids(dtype):
    with pytest.raises(TypeError, match=f"ids are whole numbers, got {dtype}: keep them as int64"):
        words.check_ids(torch.tensor([0, 1], dtype=dtype), 3)


def test_bools_are_no_ids():
    with pytest.raises(TypeError, match="got bool: a bool tensor picks rows like a mask"):
        words.check_ids(torch.tensor([True, False]), 3)
    with pytest.raises(TypeError, match="got bool"):
        words.check_ids([2, True], 3)


def test_a_vocabulary_of_floats_is_refused():
    with pytest.raises(TypeError, match="ids are whole numbers, got torch.float32"):
        words.encode(["a"], {"a": 1.7})


@pytest.mark.parametrize("ids", ["cat", None, ["cat"], [[0, 1], [2]]])
def test_what_cannot_become_a_tensor_of_ids_is_named(ids):
    told = f"whole numbers in a tensor or in lists of equal length, got {ids!r}"
    with pytest.raises(TypeError, match=re.escape(told)):
        words.check_ids(ids, 3)


def test_check_ids_leaves_the_ids_as_they_were():
    ids = torch.tensor([2, 0], dtype=torch.int32)
    words.check_ids(ids, 3)
    assert ids.dtype == torch.int32 and ids.tolist() == [2, 0]


def test_one_hot_has_a_single_one_in_each_row():
    rows = words.one_hot(torch.tensor([2, 0]), 4)
    assert rows.tolist() == [[0, 0, 1, 0], [1, 0, 0, 0]] and rows.dtype == torch.float32


@FEW
@given(st.integers(1, 9), st.lists(st.integers(0, 4), max_size=3), st.data())
def test_one_hot_equals_torch_for_ids_of_any_shape(size, shape, data):
    count = int(torch.tensor(shape).prod())
    numbers = data.draw(st.lists(st.integers(0, size - 1), min_size=count, max_size=count))
    ids = torch.tensor(numbers, dtype=torch.int64).reshape(shape)
    assert torch.equal(words.one_hot(ids, size), F.one_hot(ids, size).float())


@pytest.mark.parametrize("dtype", [torch.float16, torch.float64])
def test_one_hot_is_float32_whatever_the_default_dtype_is(dtype):
    before = torch.get_default_dtype()
    try:
        torch.set_default_dtype(dtype)
        assert words.one_hot([2, 0], 3).dtype == torch.float32
    finally:
        torch.set_default_dtype(before)


def test_one_hot_works_on_ids_that_are_not_contiguous():
    ids = torch.arange(6).reshape(2, 3).T
    assert torch.equal(words.one_hot(ids, 6).argmax(-1), ids)


def test_one_hot_refuses_ids_outside():
    with pytest.raises(ValueError, match=r"id 4 at position 1 is outside 0\.\.3"):
        words.one_hot([0, 4], 4)


def test_one_hot_has_no_default_width():
    with pytest.raises(TypeError, match="vocabulary_size"):
        words.one_hot(torch.tensor([0]))


def test_one_hot_refuses_what_would_fill_the_memory_and_says_what_it_would_take():
    with pytest.raises(ValueError, match="look rows up instead") as caught:
        words.one_hot(torch.zeros(20_000, dtype=torch.int64), 50_000)
    assert "20000 one-hot rows of 50000 numbers need 3.7 GiB; the ids themselves need 160000 bytes" in str(caught.value)


def test_one_hot_bytes():
    assert words.one_hot_bytes(5_000) == 100_000_000
    assert words.one_hot_bytes(1) == 4


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (0, ValueError, "vocabulary_size must be at least 1, got 0"),
        (-2, ValueError, "vocabulary_size must be at least 1, got -2"),
        (True, TypeError, "vocabulary_size must be a whole number, got True"),
        (torch.tensor(True), TypeError, "vocabulary_size must be a whole number, got tensor(True)"),
        (4.0, TypeError, "vocabulary_size must be a whole number, got 4.0: use 4 or //"),
        (4.5, TypeError, "vocabulary_size must be a whole number, got 4.5"),
        ("4", TypeError, "vocabulary_size must be a whole number, got '4'"),
        (None, TypeError, "vocabulary_size must be a whole number, got None"),
        (float("inf"), TypeError, "vocabulary_size must be a whole number, got inf"),
        (float("nan"), TypeError, "vocabulary_size must be a whole number, got nan"),
    ],
)
def test_sizes_that_are_no_sizes_are_named(value, error, text):
    with pytest.raises(error) as caught:
        words.one_hot_bytes(value)
    assert str(caught.value) == text


def test_sizes_may_come_from_tensors_and_numpy():
    assert positive_int("n", torch.tensor(3)) == 3
    assert positive_int("n", torch.arange(5).numpy()[4]) == 4
    assert both_sides("n", 3) == (3, 3) and both_sides("n", [2, 5]) == (2, 5)


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        ((1, 2, 3), ValueError, "patch_size must be one whole number or a pair (height, width), got (1, 2, 3)"),
        ((2, 0), ValueError, "patch_size[1] must be at least 1, got 0"),
        ((2.0, 2), TypeError, "patch_size[0] must be a whole number, got 2.0: use 2 or //"),
    ],
)
def test_a_pair_of_sizes_names_the_wrong_half(value, error, text):
    with pytest.raises(error) as caught:
        both_sides("patch_size", value)
    assert str(caught.value) == text
