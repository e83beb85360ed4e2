"""Lesson 01: words as one-hot codes."""

from __future__ import annotations

import re
from collections import Counter

import torch
from torch.nn import functional as F

from course_lib.exercises.model import Case, Exercise, Option, Question, WrongAnswer


def tokenize(sentence):
    spaced = ""
    for character in sentence.lower():
        part_of_word = character.isalnum() or character.isspace()
        spaced += character if part_of_word else f" {character} "
    return spaced.split()


def build_vocabulary(tokens):
    vocabulary = {}
    for token in tokens:
        if token not in vocabulary:
            vocabulary[token] = len(vocabulary)
    return vocabulary


def one_hot(ids, vocabulary_size):
    if ((ids < 0) | (ids >= vocabulary_size)).any():
        raise ValueError(f"ids must lie in 0..{vocabulary_size - 1}, got {ids.tolist()}")
    return F.one_hot(ids, vocabulary_size).float()


def one_hot_bytes(vocabulary_size):
    return vocabulary_size * vocabulary_size * 4


def _sentences() -> list[Case]:
    return [
        Case(f"the sentence {sentence!r}", (sentence,), only="" if sentence else "trivial")
        for sentence in [
            "The cat sat, and the dog ran.",
            "Stop! Who goes there?",
            "two  spaces,and none",
            "7 days; 24 hours",
            "It rained (again)...",
            "",
            "Écoute, Ζωή",
            "  (quiet)",
        ]
    ]


def _token_lists() -> list[Case]:
    return [
        Case(f"the tokens {tokens}" if tokens else "an empty list", (tokens,), only="" if tokens else "trivial")
        for tokens in [
            ["the", "cat", "saw", "the", "dog", "."],
            ["b", "a", "b", "c", "a", "d"],
            ["one"],
            [],
            ["rain", "sun", "sun", "rain", "sun"],
        ]
    ]


def _id_cases() -> list[Case]:
    refuse = (ValueError, IndexError, RuntimeError)
    return [
        Case("ids [3, 0, 1, 1] and V = 6", (torch.tensor([3, 0, 1, 1]), 6), "T V", {"T": 4, "V": 6}),
        Case(
            "ids of shape (2, 3) and V = 5",
            (torch.tensor([[4, 0, 2], [1, 1, 3]]), 5),
            "B T V",
            {"B": 2, "T": 3, "V": 5},
        ),
        Case("ids [0, 2] and V = 4", (torch.tensor([0, 2]), 4), "T V", {"T": 2, "V": 4}),
        Case(
            "no ids at all and V = 3",
            (torch.tensor([], dtype=torch.int64), 3),
            "T V",
            {"T": 0, "V": 3},
            only="trivial",
        ),
        Case("ids [0, −1] and V = 4", (torch.tensor([0, -1]), 4), raises=refuse),
        Case("ids [1, 4, 0] and V = 4", (torch.tensor([1, 4, 0]), 4), raises=refuse),
    ]


def _rows_by_comparison(ids, vocabulary_size):
    return (ids.unsqueeze(-1) == torch.arange(vocabulary_size)).float()


def _checked(ids, vocabulary_size):
    if ((ids < 0) | (ids >= vocabulary_size)).any():
        raise ValueError("id outside the vocabulary")


def _width_from_batch(ids, vocabulary_size):
    _checked(ids, vocabulary_size)
    return F.one_hot(ids, int(ids.max()) + 1 if ids.numel() else 0).float() if ids.numel() else torch.zeros(0, 0)


def _width_from_torch(ids, vocabulary_size):
    return F.one_hot(ids).float()


def _transposed(ids, vocabulary_size):
    return one_hot(ids, vocabulary_size).transpose(-1, -2)


def _ids_off_by_one(ids, vocabulary_size):
    _checked(ids, vocabulary_size)
    return _rows_by_comparison(ids + 1, vocabulary_size)


def _ids_one_too_small(ids, vocabulary_size):
    _checked(ids, vocabulary_size)
    return _rows_by_comparison(ids - 1, vocabulary_size)


def _wraps(ids, vocabulary_size):
    return torch.eye(vocabulary_size)[ids]


def _wraps_both_ways(ids, vocabulary_size):
    return torch.eye(vocabulary_size)[ids % vocabulary_size]


def _limit_off_by_one(ids, vocabulary_size):
    if ((ids < 0) | (ids > vocabulary_size)).any():
        raise ValueError("id outside the vocabulary")
    return _rows_by_comparison(ids, vocabulary_size)


def _first_axis_only(ids, vocabulary_size):
    _checked(ids, vocabulary_size)
    rows = torch.zeros(len(ids), vocabulary_size)
    for place in range(len(ids)):
        rows[place, ids[place]] = 1
    return rows


def _integer(ids, vocabulary_size):
    return F.one_hot(ids, vocabulary_size)


def _flat(ids, vocabulary_size):
    return one_hot(ids.flatten(), vocabulary_size)


def _zeros_and_ones_swapped(ids, vocabulary_size):
    return 1 - one_hot(ids, vocabulary_size)


def _whole_rows(ids, vocabulary_size, checked=True):
    if checked:
        _checked(ids, vocabulary_size)
    rows = torch.zeros(len(ids), vocabulary_size)
    rows[ids] = 1
    return rows


def _split_off(marks):
    """A tokenizer that knows some marks only."""

    def tokens(sentence):
        for mark in marks:
            sentence = sentence.replace(mark, f" {mark} ")
        return sentence.lower().split()

    return tokens


_SOME_MARKS = (
    "Not all marks are split off. Every character that is neither a letter nor a digit nor a space is a mark: a list of"
    " marks by hand forgets some."
)


def _last_word_lost(sentence):
    tokens, word = [], ""
    for character in sentence.lower():
        if character.isalnum():
            word += character
            continue
        tokens += [word] * bool(word) + [character] * (not character.isspace())
        word = ""
    return tokens


def _renumbered(tokens):
    vocabulary = {}
    for token in tokens:
        vocabulary[token] = len(vocabulary)
    return vocabulary


def _all_in_every_row(ids, vocabulary_size):
    _checked(ids, vocabulary_size)
    return (
        one_hot(ids, vocabulary_size).amax(-2, keepdim=True).expand(*ids.shape, -1)
        if ids.numel()
        else one_hot(ids, vocabulary_size)
    )


EXERCISES = (
    Exercise(
        name="tokenize",
        lesson="01",
        solution=tokenize,
        cases=_sentences,
        result=list,
        wrong=(
            WrongAnswer(
                "marks stripped",
                lambda s: [w.strip(".,;:!?()") for w in s.lower().split()],
                "strip() throws the marks at both ends of a word away. They are tokens too: split them off and"
                " keep them.",
            ),
            WrongAnswer(
                "spaces kept",
                lambda s: re.split(r"(\W)", s.lower()),
                "re.split with brackets keeps what it splits at, spaces and empty texts too. Leave out each piece"
                " whose strip() is empty.",
            ),
            WrongAnswer(
                "last word lost",
                _last_word_lost,
                "A word is added only when something comes behind it, so a word at the very end is lost: add it"
                " after the loop.",
            ),
            WrongAnswer(
                "split at spaces",
                lambda s: s.split(),
                "Splitting at spaces leaves marks glued to words and capitals as they were: 'sat,' and 'sat' would be"
                " two different words. lower() gives a new text and leaves the old one as it is: use what it gives.",
            ),
            WrongAnswer(
                "punctuation glued",
                lambda s: s.lower().split(),
                "The marks are still glued to the words: "
                "'sat,' and 'sat' would be two different words. Split them off.",
            ),
            WrongAnswer(
                "case kept",
                lambda s: re.findall(r"\w+|[^\w\s]", s),
                "Capitals were kept: 'The' and 'the' would "
                "get two different ids. lower() gives a new text and leaves the old one as it is: use what it gives.",
            ),
            WrongAnswer(
                "punctuation lost",
                lambda s: re.findall(r"\w+", s.lower()),
                "The marks are gone. They are tokens too: a question mark changes a sentence.",
            ),
            WrongAnswer(
                "marks deleted",
                lambda s: re.sub(r"[^\w\s]", "", s.lower()).split(),
                "The marks were deleted. They are tokens too, and where no space stands beside a mark, two words have"
                " grown together: put spaces around each mark.",
            ),
            WrongAnswer(
                "space before the mark only",
                lambda s: re.sub(r"([^\w\s])", r" \1", s.lower()).split(),
                "A mark is cut off from what stands before it, but clings to what comes behind: it needs a space on"
                " both sides.",
            ),
            WrongAnswer(
                "space behind the mark only",
                lambda s: re.sub(r"([^\w\s])", r"\1 ", s.lower()).split(),
                "A mark is cut off from what comes behind it, but clings to what stands before: it needs a space on"
                " both sides.",
            ),
            WrongAnswer("marks . and , only", _split_off(".,"), _SOME_MARKS),
            WrongAnswer("marks . , ! ? only", _split_off(".,!?"), _SOME_MARKS),
            WrongAnswer("brackets not split off", _split_off(".,!?;:"), _SOME_MARKS),
            WrongAnswer(
                "punctuation and case lost",
                lambda s: re.findall(r"\w+", s),
                "The marks are gone and capitals were kept. Marks are tokens too, and 'The' is the same word as 'the'.",
            ),
            WrongAnswer(
                "single characters",
                lambda s: [c for c in s.lower() if not c.isspace()],
                "Every character became a token. Letters that stand together are one word.",
            ),
            WrongAnswer(
                "every character",
                lambda s: list(s),
                "list() of a text gives its characters, spaces included. Letters that stand together are one word.",
            ),
            WrongAnswer(
                "empty tokens",
                lambda s: re.sub(r"([^\w\s])", r" \1 ", s.lower()).split(" "),
                "split(' ') gives an empty token wherever two spaces meet. split() without an argument does not.",
            ),
            WrongAnswer(
                "marks joined",
                lambda s: re.findall(r"\w+|[^\w\s]+", s.lower()),
                "Marks that stand together were joined into one token: each mark is a token of its own.",
            ),
            WrongAnswer(
                "letters only",
                lambda s: re.findall(r"[a-z0-9]+|[^\w\s]", s.lower()),
                "Only a to z count as "
                "letters here, so 'écoute' lost its first letter. str.isalnum() and \\w know all letters.",
            ),
        ),
        hints=(
            (
                "Two things make two spellings of one word different: capitals, and marks that cling to it. Make"
                " all letters small first: sentence.lower()."
            ),
            (
                "Put a space before and after each punctuation mark, then split() at spaces. Or find all pieces"
                " that are either a run of letters or one mark."
            ),
            (
                'With a regular expression: re.findall(r"\\w+|[^\\w\\s]", …), and `import re` above the function. The'
                " first half matches a run of letters, digits or underscores, the second one character that is neither"
                " a letter nor a space."
            ),
        ),
        praise="Capitals and commas no longer make new words.",
    ),
    Exercise(
        name="build_vocabulary",
        lesson="01",
        solution=build_vocabulary,
        cases=_token_lists,
        result=dict,
        wrong=(
            WrongAnswer(
                "extra word",
                lambda tokens: {"<unk>": 0} | {t: i for i, t in enumerate(dict.fromkeys(tokens), 1)},
                "A stand-in for unknown words is a good idea, but it is not asked for here: only the words that occur.",
            ),
            WrongAnswer(
                "most frequent first",
                lambda tokens: {t: i for i, (t, _) in enumerate(Counter(tokens).most_common())},
                "most_common() sorts by how often a word occurs. The task asks for the order of first appearance.",
            ),
            WrongAnswer(
                "first word only",
                lambda tokens: dict.fromkeys(tokens[:1], 0),
                "Only the first word is there. A `return` inside the loop ends it in the first round: move it one"
                " level to the left.",
            ),
            WrongAnswer(
                "repeated words renumbered",
                _renumbered,
                "A word that came before got a new number. Ask first whether the word is in the dict already, and"
                " then leave it alone.",
            ),
            WrongAnswer(
                "last position as id",
                lambda tokens: {t: i for i, t in enumerate(tokens)},
                "A repeated word was "
                "counted again: its id is its last position, and numbers are left out. Give a number only to a "
                "word that has none yet.",
            ),
            WrongAnswer(
                "first position as id",
                lambda tokens: {t: tokens.index(t) for t in tokens},
                "The id is the word's "
                "first position, so a repeated word leaves a hole behind it. Ids have to be 0, 1, 2, … without "
                "holes: the next id is the size of the vocabulary so far.",
            ),
            WrongAnswer(
                "ids from one",
                lambda tokens: {t: i for i, t in enumerate(dict.fromkeys(tokens), 1)},
                "The ids start "
                "at 1. Row numbers of a table start at 0, so row 0 would stay empty and the last id would fall "
                "outside.",
            ),
            WrongAnswer(
                "alphabetical",
                lambda tokens: {t: i for i, t in enumerate(sorted(set(tokens)))},
                "These ids follow "
                "the alphabet. That is a fair way to number words, but the task asks for the order of first "
                "appearance.",
            ),
            WrongAnswer(
                "ids to words",
                lambda tokens: dict(enumerate(dict.fromkeys(tokens))),
                "This dict leads from ids to "
                "words. It is needed the other way round: vocabulary['cat'] gives a number.",
            ),
            WrongAnswer(
                "counts",
                lambda tokens: dict(Counter(tokens)),
                "These are counts, how often each word occurs. An id "
                "is a place in the table, another one for each word.",
            ),
            WrongAnswer(
                "places to words",
                lambda tokens: dict(enumerate(tokens)),
                "This dict leads from numbers to words, the other way round is needed: vocabulary['cat'] gives a"
                " number. `token in vocabulary` asks for keys, so it finds no word among numbers.",
            ),
            WrongAnswer(
                "counts from zero",
                lambda tokens: {token: number - 1 for token, number in Counter(tokens).items()},
                "These numbers tell how often a word came again. An id is a place in the table, another one for each"
                " word.",
            ),
            WrongAnswer(
                "newest first",
                lambda tokens: {t: i for i, t in enumerate(dict.fromkeys(reversed(tokens)))},
                "The ids run from the end of the text: the order of first appearance is wanted.",
            ),
        ),
        hints=(
            "Go through the tokens one by one. What has to happen to a token you have seen before?",
            "Nothing. And a new token gets the next free number: how many words are in the dict so far?",
            "if token not in vocabulary: vocabulary[token] = len(vocabulary)",
        ),
        praise="Every word has one id, and the ids have no holes.",
    ),
    Exercise(
        name="one_hot",
        lesson="01",
        solution=one_hot,
        cases=_id_cases,
        result=torch.Tensor,
        wrong=(
            WrongAnswer(
                "width left to torch, integer result",
                lambda ids, v: F.one_hot(ids),
                "You did not give the width, so F.one_hot took the largest id of this batch plus 1: F.one_hot(ids,"
                " vocabulary_size). And it answers in int64: .float().",
            ),
            WrongAnswer(
                "clamped",
                lambda ids, v: one_hot(ids.clamp(0, v - 1), v),
                "clamp turned an id outside into another word. Refuse it.",
            ),
            WrongAnswer(
                "limit off by one",
                _limit_off_by_one,
                "The largest id is V − 1: an id equal to V is outside too. Compare with >=.",
            ),
            WrongAnswer(
                "first axis only",
                _first_axis_only,
                "len(ids) is the length of the first axis only. Ids may have more axes: "
                "flatten them, fill the rows, reshape back, or let F.one_hot do it.",
            ),
            WrongAnswer(
                "all ids in every row",
                _all_in_every_row,
                "rows[:, ids] = 1 writes to EVERY row the ones of all tokens. Row t gets the 1 of token t only:"
                " rows[torch.arange(T), ids] = 1.",
            ),
            WrongAnswer(
                "whole rows filled",
                _whole_rows,
                "rows[id] = 1 fills a whole row, and takes the id for the row. The row is the token's place, and the id"
                " is its column: two indices.",
            ),
            WrongAnswer(
                "whole rows filled, nothing refused",
                lambda ids, v: _whole_rows(ids, v, checked=False),
                "rows[id] = 1 fills a whole row, and takes the id for the row. The row is the token's place, and the id"
                " is its column: two indices. And −1 counts from the end: test the ids first.",
            ),
            WrongAnswer(
                "the id in place of 1",
                lambda ids, v: one_hot(ids, v) * ids.unsqueeze(-1),
                "The id itself was written in its column. The column says which word it is; the number there is"
                " always 1.",
            ),
            WrongAnswer(
                "width from the batch",
                _width_from_batch,
                "The width was taken from the largest id that happens to be "
                "there. It belongs to the vocabulary: otherwise two sentences get rows of different length.",
            ),
            WrongAnswer(
                "width left to torch",
                _width_from_torch,
                "Without a width, F.one_hot takes the largest id of this "
                "batch plus 1. The width belongs to the vocabulary: pass it.",
            ),
            WrongAnswer(
                "transposed",
                _transposed,
                "The matrix lies on its side: each token needs a ROW, and the row is as long as the vocabulary.",
            ),
            WrongAnswer(
                "ids one too large",
                _ids_off_by_one,
                "Each 1 stands one place too far to the right. Ids start at 0, as columns do.",
            ),
            WrongAnswer(
                "ids one too small",
                _ids_one_too_small,
                "Each 1 stands one place too far to the left. Ids start at 0, as columns do.",
            ),
            WrongAnswer(
                "integer result",
                _integer,
                "F.one_hot gives int64. A matrix of floats cannot be multiplied by it, and "
                "it takes twice the memory of float32.",
            ),
            WrongAnswer(
                "row of zeros",
                _rows_by_comparison,
                "An id outside the vocabulary became a row of zeros, a word that "
                "is no word. Nobody would notice until much later: refuse it.",
            ),
            WrongAnswer(
                "negative ids wrap",
                _wraps,
                "Indexing counts negative numbers from the end, so −1 quietly became the last word. Refuse it.",
            ),
            WrongAnswer(
                "ids wrap round",
                _wraps_both_ways,
                "The remainder turned an id outside into some other word. Refuse it instead.",
            ),
            WrongAnswer(
                "batch flattened",
                _flat,
                "Ids may have any shape: one row more comes behind the axes that were there.",
            ),
            WrongAnswer(
                "zeros and ones swapped",
                _zeros_and_ones_swapped,
                "Zeros and ones have changed places: one 1 in a row of zeros is wanted.",
            ),
        ),
        hints=(
            "F.one_hot does most of it. Two things are left to you: the width, and the dtype.",
            (
                "Call F.one_hot with both arguments, ids and vocabulary_size. Then it also refuses an id outside."
                " The result is int64, and float32 is wanted: .float()."
            ),
            (
                "return F.one_hot(ids, vocabulary_size).float(). Built in another way, an id outside needs a test"
                " of its own: if ((ids < 0) | (ids >= vocabulary_size)).any(): raise ValueError(...)"
            ),
        ),
        praise="The width belongs to the vocabulary, and a word that is not in it is refused.",
    ),
    Exercise(
        name="one_hot_bytes",
        lesson="01",
        solution=one_hot_bytes,
        result=int,
        cases=lambda: [
            Case(f"V = {size:,}", (size,), only="trivial" if size == 1 else "") for size in (7, 8, 5_000, 1, 600)
        ],
        wrong=(
            WrongAnswer(
                "gigabytes",
                lambda v: v * v * 4 / 1e9,
                "That is in gigabytes. The answer is wanted in bytes, a whole number.",
            ),
            WrongAnswer(
                "megabytes",
                lambda v: v * v * 4 / 1e6,
                "That is in megabytes. The answer is wanted in bytes, a whole number.",
            ),
            WrongAnswer("power written ^", lambda v: (v ^ 2) * 4, "In Python ^ is no power: write v * v or v**2."),
            WrongAnswer(
                "power written ^, 2 times 4 first",
                lambda v: v ^ 2 * 4,
                "In Python ^ is no power, and * is worked out before it: write v * v or v**2.",
            ),
            WrongAnswer(
                "4 to the power of V",
                lambda v: 4**v,
                "V and 4 have changed places: 4 ** V is 4 · 4 · 4 · … with V factors. V ** 2 is V · V.",
            ),
            WrongAnswer(
                "one row",
                lambda v: v * 4,
                "That is one row, one word. The table has a row for each of the V words.",
            ),
            WrongAnswer("numbers", lambda v: v * v, "That is how many numbers there are. Each float32 takes 4 bytes."),
            WrongAnswer(
                "int64",
                lambda v: v * v * 8,
                "8 bytes are the size of an int64, the dtype in which F.one_hot answers. "
                "The question is about float32.",
            ),
            WrongAnswer("bits", lambda v: v * v * 32, "32 is the number of bits in a float32. A byte has 8 of them."),
            WrongAnswer(
                "one bit each",
                lambda v: v * v // 8,
                "A 0 or a 1 could be kept in a single bit, but float32 keeps 4 bytes for it.",
            ),
            WrongAnswer(
                "sides added", lambda v: 2 * v * 4, "The table is square: V rows times V columns, not V plus V."
            ),
        ),
        hints=(
            "How many rows has the table of a vocabulary of V words, and how long is each?",
            "V × V numbers. And how many bytes has a number in float32: torch.tensor(0.0).element_size()?",
            "vocabulary_size * vocabulary_size * 4",
        ),
        praise="It grows with the square: ten times the words, a hundred times the memory.",
    ),
)

QUESTIONS = (
    Question(
        name="width",
        lesson="01",
        text=(
            "A vocabulary has 9 words. A batch of 4 tokens happens to contain the ids 2, 0, 5 and 2. What shape"
            " should its one-hot matrix have?"
        ),
        options=(
            Option(
                "(4, 9)",
                "One row for each token, one column for each word of the vocabulary, whatever this batch contains.",
                right=True,
            ),
            Option(
                "(4, 6)",
                "6 is the largest id plus 1: what F.one_hot guesses when you do not tell it the width. The next "
                "batch would get another width, and no table fits both.",
            ),
            Option("(3, 9)", "Only three different ids, but four tokens: each token gets a row, also a repeated one."),
            Option("(9, 4)", "Then the tokens would be the columns. Each token gets a row."),
        ),
    ),
    Question(
        name="distance",
        lesson="01",
        text=(
            "cat, cats and Tuesday are three words of a vocabulary. Which two one-hot rows are closest to each other?"
        ),
        options=(
            Option(
                "cat and cats",
                "We know that they belong together; the rows do not. Run the next cell and compare the "
                "three distances.",
            ),
            Option("cat and Tuesday", "Nothing in the rows brings these two together. Run the next cell."),
            Option(
                "the two with neighbouring ids",
                "The ids are neighbours, but a row has its 1 in one place or in another: "
                "there is no near or far between places.",
            ),
            Option(
                "none: all three are equally far apart",
                "Each pair differs in exactly two places, so each distance is the square root of 2.",
                right=True,
            ),
        ),
    ),
    Question(
        name="ten_times",
        lesson="01",
        text=(
            "A table of one-hot rows for 5,000 words takes 100 MB in float32. How much does it take for 50,000 words?"
        ),
        options=(
            Option("100 MB", "Both the number of rows and their length grow with the vocabulary."),
            Option("1 GB", "That would hold if only the number of rows grew. Each row gets ten times as long as well."),
            Option("10 GB", "Ten times as many rows, each ten times as long: a hundred times the memory.", right=True),
            Option("1,000 GB", "That would be three factors of ten. A table has two sides."),
        ),
    ),
)
