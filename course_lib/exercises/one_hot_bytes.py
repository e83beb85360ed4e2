"""Lesson 01, one_hot_bytes: how many bytes the one-hot rows of a whole vocabulary take in float32."""

from __future__ import annotations

from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise


def one_hot_bytes(vocabulary_size):
    return vocabulary_size * vocabulary_size * 4


def cases() -> list[Case]:
    return [
        Case(f"V = {size:,}", (size,), only="trivial" if size == 1 else "") for size in (7, 8, 5_000, 1, 600, 300_000)
    ]


WRONG = mistakes(
    one_hot_bytes,
    r"""
gigabytes
    That is in gigabytes. The answer is wanted in bytes, a whole number.
        * 4 → * 4 / 1e9

megabytes
    That is in megabytes. The answer is wanted in bytes, a whole number.
        * 4 → * 4 / 1e6

power written ^
    In Python ^ is no power: write v * v or v**2.
        vocabulary_size * vocabulary_size → (vocabulary_size ^ 2)

power written ^, 2 times 4 first
    In Python ^ is no power, and * is worked out before it: write v * v or v**2.
        vocabulary_size * vocabulary_size → vocabulary_size ^ 2

4 to the power of V
    V and 4 have changed places: 4 ** V is 4 · 4 · 4 · … with V factors. V ** 2 is V · V.
        return 4 ** vocabulary_size

one row
    That is one row, one word. The table has a row for each of the V words.
        vocabulary_size * vocabulary_size → vocabulary_size

numbers
    That is how many numbers there are. Each float32 takes 4 bytes.
        return vocabulary_size * vocabulary_size

int64
    8 bytes are the size of an int64, the dtype in which F.one_hot answers. The question is about float32.
        * 4 → * 8

bits
    32 is the number of bits in a float32. A byte has 8 of them.
        * 4 → * 32

one bit each
    A 0 or a 1 could be kept in a single bit, but float32 keeps 4 bytes for it.
        * 4 → // 8

sides added
    The table is square: V rows times V columns, not V plus V.
        vocabulary_size * vocabulary_size → (vocabulary_size + vocabulary_size)
""",
)


EXERCISE = Exercise(
    name="one_hot_bytes",
    solution=one_hot_bytes,
    cases=cases,
    result=int,
    wrong=WRONG,
    hints=(
        "How many rows has the table of a vocabulary of V words, and how long is each?",
        "V × V numbers. And how many bytes has a number in float32: torch.tensor(0.0).element_size()?",
        "vocabulary_size * vocabulary_size * 4",
    ),
    praise="It grows with the square: ten times the words, a hundred times the memory.",
)
