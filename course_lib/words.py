"""Words as numbers: tokens, vocabulary, ids, one-hot rows (lessons 01 and 02)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor

from course_lib.letters import positive_int

ONE_HOT_LIMIT = 512 * 2**20  # bytes; beyond it a learner's machine starts to swap


def tokenize(sentence: str) -> list[str]:
    """Split a sentence into lower-case words and punctuation marks, one token each.

    A word is a run of letters or digits, in any alphabet, with the accents and vowel signs that belong to them; a
    letter typed in two parts (a and ¨) becomes one (ä). Raises TypeError where `sentence` is no text.
    """
    if not isinstance(sentence, str):
        raise TypeError(f"tokenize expects one sentence as text, got {type(sentence).__name__}")
    spaced = ""
    for character in unicodedata.normalize("NFC", sentence.lower()):
        stays = character.isspace() or _of_a_word(character)
        spaced += character if stays else f" {character} "
    return spaced.split()


def _of_a_word(character: str) -> bool:
    # Accents and vowel signs are no letters to Python: their category begins with M. The last two, which have no
    # width, say whether their neighbours are written joined.
    return character.isalnum() or unicodedata.category(character)[0] == "M" or character in "\u200c\u200d"


def build_vocabulary(tokens: Iterable[str]) -> dict[str, int]:
    """Number the different tokens 0, 1, 2, … in order of first appearance."""
    return {token: number for number, token in enumerate(dict.fromkeys(list_of_tokens("build_vocabulary", tokens)))}


def encode(tokens: Iterable[str], vocabulary: Mapping[str, int], unknown: str | None = None) -> Tensor:
    """Ids (T,) int64 of the tokens; a token that the vocabulary lacks gets the id of `unknown`.

    Without `unknown` a missing token raises a ValueError that names it and its position.
    """
    tokens = list_of_tokens("encode", tokens)
    if unknown is not None and unknown not in vocabulary:
        raise ValueError(f"the stand-in {unknown!r} is itself not among the {len(vocabulary)} words")
    ids = []
    for position, token in enumerate(tokens):
        if token in vocabulary:
            ids.append(vocabulary[token])
        elif unknown is not None:
            ids.append(vocabulary[unknown])
        else:
            raise ValueError(
                f"token {token!r} at position {position} is not among the {len(vocabulary)} words of the "
                "vocabulary: add it, or name a stand-in with unknown="
            )
    return whole_numbers(ids)


def decode(ids: Tensor, vocabulary: Mapping[str, int]) -> list[str]:
    """Tokens of the ids (T,): the inverse of encode. Raises ValueError for an id without a word."""
    words = {number: token for token, number in vocabulary.items()}
    checked = check_ids(ids, max(words, default=0) + 1)
    if checked.ndim != 1:
        raise ValueError(f"decode expects ids of shape (T,), got {tuple(checked.shape)}")
    missing = sorted(set(checked.tolist()) - words.keys())
    if missing:
        raise ValueError(f"the vocabulary has no word for id {missing[0]}: its {len(words)} ids have holes")
    return [words[number] for number in checked.tolist()]


def list_of_tokens(name: str, tokens: Iterable[str]) -> list[str]:
    """The tokens as a list; a TypeError that begins with `name` refuses one whole text and what is no text."""
    if isinstance(tokens, (str, bytes)):
        raise TypeError(f"{name} expects a list of tokens, got one text: call tokenize first")
    tokens = list(tokens)
    for position, token in enumerate(tokens):
        if not isinstance(token, str):
            raise TypeError(f"{name} expects tokens that are texts, got {type(token).__name__} at position {position}")
    return tokens


def whole_numbers(ids: Any) -> Tensor:
    """The ids as int64, any shape; a tensor that is int64 already is handed back itself.

    A TypeError refuses numbers that are no ids: floats, bools.
    """
    mixed = isinstance(ids, (list, tuple)) and any(isinstance(number, bool) for number in ids)
    try:
        ids = torch.as_tensor(ids)
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"ids are whole numbers in a tensor or in lists of equal length, got {ids!r:.80}") from None
    if ids.dtype == torch.bool or mixed:
        raise TypeError("ids are whole numbers, got bool: a bool tensor picks rows like a mask, it names none")
    if (ids.is_floating_point() or ids.is_complex()) and ids.numel():  # an empty list becomes float32 in torch
        raise TypeError(f"ids are whole numbers, got {ids.dtype}: keep them as int64, or call .long() on them")
    return ids.to(torch.int64)


def check_ids(ids: Any, rows: int) -> Tensor:
    """The ids as whole_numbers gives them, when each lies in 0..rows−1.

    A ValueError names the first id outside, its position and the range, on any device: a GPU would
    report it only later and somewhere else.
    """
    rows, ids = positive_int("the number of rows", rows), whole_numbers(ids)
    outside = (ids < 0) | (ids >= rows)
    if outside.any():
        at = tuple(outside.nonzero()[0].tolist())
        where = "" if not at else f" at position {at[0] if len(at) == 1 else at}"
        raise ValueError(f"id {ids[at].item()}{where} is outside 0..{rows - 1}: the table has {rows} rows")
    return ids


def check_table(weight: Tensor) -> None:
    """ValueError where `weight` is no table (V, D)."""
    if not isinstance(weight, Tensor) or weight.ndim != 2:
        came = tuple(weight.shape) if isinstance(weight, Tensor) else type(weight).__name__
        raise ValueError(f"weight must be a table (V, D), got {came}")


def one_hot(ids: Any, vocabulary_size: int) -> Tensor:
    """One row of zeros with a single 1 for each id: (…) -> (…, V), float32.

    The width is a property of the vocabulary, so it has no default. Raises as check_ids does, and a
    ValueError where the result would need more than 512 MiB.
    """
    vocabulary_size = positive_int("vocabulary_size", vocabulary_size)
    ids = check_ids(ids, vocabulary_size)
    needed = ids.numel() * vocabulary_size * 4
    if needed > ONE_HOT_LIMIT:
        raise ValueError(
            f"{ids.numel()} one-hot rows of {vocabulary_size} numbers need {needed / 2**30:.1f} GiB; the ids "
            f"themselves need {ids.numel() * 8} bytes: look rows up instead (lesson 02)"
        )
    rows = torch.zeros(*ids.shape, vocabulary_size, dtype=torch.float32, device=ids.device)
    return rows.scatter_(-1, ids.unsqueeze(-1), 1.0)


def one_hot_bytes(vocabulary_size: int) -> int:
    """Bytes of the one-hot table of a whole vocabulary, V × V numbers in float32."""
    return positive_int("vocabulary_size", vocabulary_size) ** 2 * 4
