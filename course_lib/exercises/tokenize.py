"""Lesson 01, exercise tokenize."""

from __future__ import annotations

import re

from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise


def tokenize(sentence):
    spaced = ""
    for character in sentence.lower():
        part_of_word = character.isalnum() or character.isspace()
        spaced += character if part_of_word else f" {character} "
    return spaced.split()


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


def _split_off(marks):
    """A tokenizer that knows some marks only."""

    def tokens(sentence):
        for mark in marks:
            sentence = sentence.replace(mark, f" {mark} ")
        return sentence.lower().split()

    return tokens


WRONG = mistakes(
    tokenize,
    r"""
marks stripped
    strip() throws the marks at both ends of a word away. They are tokens too: split them off and keep them.
        return [w.strip(".,;:!?()") for w in sentence.lower().split()]

spaces kept
    re.split with brackets keeps what it splits at, spaces and empty texts too. Leave out each piece whose strip()
    is empty.
        return re.split("(\\W)", sentence.lower())

last word lost
    A word is added only when something comes behind it, so a word at the very end is lost: add it after the loop.
        tokens, word = ([], "")
        for character in sentence.lower():
            if character.isalnum():
                word += character
                continue
            tokens += [word] * bool(word) + [character] * (not character.isspace())
            word = ""
        return tokens

split at spaces
    Splitting at spaces leaves marks glued to words and capitals as they were: 'sat,' and 'sat' would be two
    different words. lower() gives a new text and leaves the old one as it is: use what it gives.
        return sentence.split()

punctuation glued
    The marks are still glued to the words: 'sat,' and 'sat' would be two different words. Split them off.
        return sentence.lower().split()

case kept
    Capitals were kept: 'The' and 'the' would get two different ids. lower() gives a new text and leaves the old one
    as it is: use what it gives.
        return re.findall("\\w+|[^\\w\\s]", sentence)

punctuation lost
    The marks are gone. They are tokens too: a question mark changes a sentence.
        return re.findall("\\w+", sentence.lower())

marks deleted
    The marks were deleted. They are tokens too, and where no space stands beside a mark, two words have grown
    together: put spaces around each mark.
        return re.sub("[^\\w\\s]", "", sentence.lower()).split()

space before the mark only
    A mark is cut off from what stands before it, but clings to what comes behind: it needs a space on both sides.
        return re.sub("([^\\w\\s])", " \\1", sentence.lower()).split()

space behind the mark only
    A mark is cut off from what comes behind it, but clings to what stands before: it needs a space on both sides.
        return re.sub("([^\\w\\s])", "\\1 ", sentence.lower()).split()

marks . and , only
    Not all marks are split off. Every character that is neither a letter nor a digit nor a space is a mark: a list
    of marks by hand forgets some.
        return _split_off(".,")(sentence)

marks . , ! ? only
    Not all marks are split off. Every character that is neither a letter nor a digit nor a space is a mark: a list
    of marks by hand forgets some.
        return _split_off(".,!?")(sentence)

brackets not split off
    Not all marks are split off. Every character that is neither a letter nor a digit nor a space is a mark: a list
    of marks by hand forgets some.
        return _split_off(".,!?;:")(sentence)

punctuation and case lost
    The marks are gone and capitals were kept. Marks are tokens too, and 'The' is the same word as 'the'.
        return re.findall("\\w+", sentence)

single characters
    Every character became a token. Letters that stand together are one word.
        return [c for c in sentence.lower() if not c.isspace()]

every character
    list() of a text gives its characters, spaces included. Letters that stand together are one word.
        return list(sentence)

empty tokens
    split(' ') gives an empty token wherever two spaces meet. split() without an argument does not.
        return re.sub("([^\\w\\s])", " \\1 ", sentence.lower()).split(" ")

marks joined
    Marks that stand together were joined into one token: each mark is a token of its own.
        return re.findall("\\w+|[^\\w\\s]+", sentence.lower())

letters only
    Only a to z count as letters here, so 'écoute' lost its first letter. str.isalnum() and \w know all letters.
        return re.findall("[a-z0-9]+|[^\\w\\s]", sentence.lower())
""",
    re=re,
)


EXERCISE = Exercise(
    name="tokenize",
    solution=tokenize,
    cases=_sentences,
    result=list,
    wrong=WRONG,
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
)
