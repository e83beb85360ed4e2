"""Lesson 01, build_vocabulary: tokens -> a dict that numbers the different ones in order of first appearance."""

from __future__ import annotations

from collections import Counter

from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise


def build_vocabulary(tokens):
    vocabulary = {}
    for token in tokens:
        if token not in vocabulary:
            vocabulary[token] = len(vocabulary)
    return vocabulary


def cases() -> list[Case]:
    return [
        Case(f"the tokens {tokens}" if tokens else "an empty list", (tokens,), only="" if tokens else "trivial")
        for tokens in [
            ["the", "cat", "saw", "the", "dog", "."],
            ["b", "a", "b", "c", "a", "d"],
            ["one"],
            [],
            ["rain", "sun", "sun", "rain", "sun"],
            ["The", "end", "the", "End", "The"],
        ]
    ]


WRONG = mistakes(
    build_vocabulary,
    r"""
extra word
    A stand-in for unknown words is a good idea, but it is not asked for here: only the words that occur.
        vocabulary = {} → vocabulary = {"<unk>": 0}

most frequent first
    most_common() sorts by how often a word occurs. The task asks for the order of first appearance.
        for token in tokens → for token, count in Counter(tokens).most_common()

first word only
    Only the first word is there. A `return` inside the loop ends it in the first round: move it one level to the
    left.
        = len(vocabulary) → = len(vocabulary); return vocabulary

repeated words renumbered
    A word that came before got a new number. Ask first whether the word is in the dict already, and then leave it
    alone.
        vocabulary = {}
        for token in tokens:
            vocabulary[token] = len(vocabulary)
        return vocabulary

last position as id
    A repeated word was counted again: its id is its last position, and numbers are left out. Give a number only to
    a word that has none yet.
        return {token: place for place, token in enumerate(tokens)}

first position as id
    The id is the word's first position, so a repeated word leaves a hole behind it. Ids have to be 0, 1, 2, …
    without holes: the next id is the size of the vocabulary so far.
        len(vocabulary) → tokens.index(token)

ids from one
    The ids start at 1. Row numbers of a table start at 0, so row 0 would stay empty and the last id would fall
    outside.
        len(vocabulary) → len(vocabulary) + 1

alphabetical
    These ids follow the alphabet. That is a fair way to number words, but the task asks for the order of first
    appearance.
        in tokens → in sorted(tokens)

ids to words
    This dict leads from ids to words. It is needed the other way round: vocabulary['cat'] gives a number.
        return … → return {number: token for token, number in vocabulary.items()}

counts
    These are counts, how often each word occurs. An id is a place in the table, another one for each word.
        return dict(Counter(tokens))

places to words
    This dict leads from numbers to words, the other way round is needed: vocabulary['cat'] gives a number. `token
    in vocabulary` asks for keys, so it finds no word among numbers.
        vocabulary[token] = len(vocabulary) → vocabulary[len(vocabulary)] = token

capitals made small
    The and the are two different tokens here: the tokens are numbered as they come. Small letters are tokenize's work.
        in tokens → in [token.lower() for token in tokens]

counts from zero
    These numbers tell how often a word came again. An id is a place in the table, another one for each word.
        return {token: count - 1 for token, count in Counter(tokens).items()}

newest first
    The ids run from the end of the text: the order of first appearance is wanted.
        in tokens → in reversed(tokens)

list of the words
    These are the words without repeats. A dict is wanted that gives each its id: number them as they come.
        return list(dict.fromkeys(tokens))
""",
    Counter=Counter,
)


EXERCISE = Exercise(
    name="build_vocabulary",
    solution=build_vocabulary,
    cases=cases,
    result=dict,
    wrong=WRONG,
    hints=(
        "Go through the tokens one by one. What has to happen to a token you have seen before?",
        "Nothing. And a new token gets the next free number: how many words are in the dict so far?",
        "if token not in vocabulary: vocabulary[token] = len(vocabulary)",
    ),
    praise="Every word has one id, and the ids have no holes.",
)
