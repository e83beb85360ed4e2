"""Lesson 01, tokenize: a sentence -> its words and marks in small letters, one token each."""

from __future__ import annotations

import re
import string

from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise


def tokenize(sentence):
    spaced = ""
    for character in sentence.lower():
        part_of_word = character.isalnum() or character.isspace()
        spaced += character if part_of_word else f" {character} "
    return spaced.split()


def cases() -> list[Case]:
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
            "A snake_case name, half-asleep",
            "“No” – said I… it isn't",
            "one\ttwo\nthree",
            "  (quiet)",
        ]
    ]


WRONG = mistakes(
    tokenize,
    r"""
marks stripped
    strip() throws the marks at both ends of a word away. They are tokens too: split them off and keep them.
        return [word.strip(".,;:!?()") for word in sentence.lower().split()]

spaces kept
    re.split with brackets keeps what it splits at, spaces and empty texts too. Leave out each piece whose strip()
    is empty.
        return re.split(r"(\W)", sentence.lower())

last word lost
    A word is added only when something comes behind it, so a word at the very end is lost: add it after the loop.
        tokens, word = [], ""
        for character in sentence.lower():
            if character.isalnum():
                word += character
            else:
                tokens += [word, character]
                word = ""
        return [token for token in tokens if token.strip()]

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
        sentence.lower() → sentence

punctuation lost
    The marks are gone. They are tokens too: a question mark changes a sentence.
        f" {character} " → " "

marks deleted
    The marks were deleted. They are tokens too, and where no space stands beside a mark, two words have grown
    together: put spaces around each mark.
        f" {character} " → ""

space before the mark only
    A mark is cut off from what stands before it, but clings to what comes behind: it needs a space on both sides.
        f" {character} " → f" {character}"

space behind the mark only
    A mark is cut off from what comes behind it, but clings to what stands before: it needs a space on both sides.
        f" {character} " → f"{character} "

marks . and , only
    Not all marks are split off. Every character that is neither a letter nor a digit nor a space is a mark: a list
    of marks by hand forgets some.
        part_of_word = … → part_of_word = character not in ".,"

marks . , ! ? only
    Not all marks are split off. Every character that is neither a letter nor a digit nor a space is a mark: a list
    of marks by hand forgets some.
        part_of_word = … → part_of_word = character not in ".,!?"

brackets not split off
    Not all marks are split off. Every character that is neither a letter nor a digit nor a space is a mark: a list
    of marks by hand forgets some.
        part_of_word = … → part_of_word = character not in ".,!?;:"

punctuation and case lost
    The marks are gone and capitals were kept. Marks are tokens too, and 'The' is the same word as 'the'.
        sentence.lower() → sentence
        f" {character} " → " "

single characters
    Every character became a token. Letters that stand together are one word.
        part_of_word = … → part_of_word = character.isspace()

every character
    list() of a text gives its characters, spaces included. Letters that stand together are one word.
        return list(sentence)

empty tokens
    split(' ') gives an empty token wherever two spaces meet. split() without an argument does not.
        spaced.split() → spaced.split(" ")

marks joined
    Marks that stand together were joined into one token: each mark is a token of its own.
        return re.findall(r"\w+|[^\w\s]+", sentence.lower())

underscore in the word
    \w matches letters, digits and the underscore, so snake_case stayed one word. _ is a mark: [^\W_]+ is a run of
    letters or digits alone.
        return re.findall(r"\w+|[^\w\s]", sentence.lower())

underscore lost
    \w takes the underscore for a letter, and [^\W_] alone leaves it out: it is a mark, a token of its own.
        return re.findall(r"[^\W_]+|[^\w\s]", sentence.lower())

marks of the keyboard only
    string.punctuation holds the 32 marks of a plain keyboard. “, – and … are marks too: ask of each character whether
    it is a letter or a digit, isalnum(), and whether it is a space, isspace().
        for mark in string.punctuation:
            sentence = sentence.replace(mark, f" {mark} ")
        return sentence.lower().split()

apostrophe in the word
    isn't stayed one word. An apostrophe is a mark like each other: every one is a token of its own.
        part_of_word = … → part_of_word = character.isalnum() or character.isspace() or character == "'"

apostrophe and underscore in the word
    isn't stayed one word, and \w takes the underscore for a letter. Every mark is a token of its own.
        return re.findall(r"[\w']+|[^\w\s]", sentence.lower())

hyphen in the word
    half-asleep stayed one word. A hyphen is a mark like each other: every one is a token of its own.
        part_of_word = … → part_of_word = character.isalnum() or character.isspace() or character == "-"

spaces only
    A tab and the end of a line are white space as well, and came out as tokens: ask character.isspace(), or leave out
    each piece whose strip() is empty.
        return re.findall(r"[^\W_]+|[^\w ]|_", sentence.lower())

every character, in small letters
    list() of a text gives its characters, spaces included. Letters that stand together are one word.
        return list(sentence.lower())

spaces as marks
    \W is all but letters, digits and _, so each space became a token: leave white space out, [^\w\s].
        return re.findall(r"\w+|\W", sentence.lower())

words alone
    Only the words were found, and \w takes _ for a letter. Marks are tokens too: re.findall takes several patterns, a
    | between them.
        return re.findall(r"\w+", sentence.lower())

marks behind the words
    All words came first and then all marks. Tokens keep the order of the sentence: one pattern for both, a | between.
        return re.findall(r"\w+", sentence.lower()) + re.findall(r"[^\w\s]", sentence.lower())

letters of English only
    Only a to z count as letters here, so é and ζ became marks. str.isalnum() and \w know all letters.
        return re.findall(r"[a-z0-9]+|[^a-z0-9\s]", sentence.lower())

letters only
    Only a to z count as letters here, so 'écoute' lost its first letter. str.isalnum() and \w know all letters.
        return re.findall(r"[a-z0-9]+|[^\w\s]", sentence.lower())
""",
    re=re,
    string=string,
)


EXERCISE = Exercise(
    name="tokenize",
    solution=tokenize,
    cases=cases,
    result=list,
    wrong=WRONG,
    hints=(
        "Two things make two spellings of one word different: capitals, and marks that cling to it. Make all letters"
        " small first: sentence.lower().",
        "Put a space before and after each punctuation mark, then split() at spaces. Or find all pieces that are either"
        " a run of letters or one mark.",
        r'With a regular expression: re.findall(r"[^\W_]+|[^\w\s]|_", …), and `import re` above the function. \w is a'
        " letter, a digit or _, so the first part matches a run of letters or digits, the others one mark each.",
    ),
    praise="Capitals and commas no longer make new words.",
)
