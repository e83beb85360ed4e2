"""The names of mistakes that any exercise can have, each declared here once with what it means.

A check tells one of these or the name of a known wrong answer of the exercise. The records of learners hold them:
what a name says may become clearer, the name stays.
"""

from __future__ import annotations

import re

MEANING: dict[str, str] = {}  # name -> what it says of an answer; "…" in a name stands for any words
SURE: set[str] = set()  # names that stand whatever else is found


def _name(name: str, meaning: str, sure: bool = False) -> str:
    if name in MEANING:
        raise ValueError(f"the name {name!r} is declared twice")
    MEANING[name] = meaning
    if sure:
        SURE.add(name)
    return name


def filled(name: str, words: str) -> str:
    """An open name with its words in it: "wrong …" becomes "wrong stride"."""
    return name.replace("…", words)


def is_general(name: str) -> bool:
    """Whether a name is one of these."""
    return name in MEANING or any(re.fullmatch(re.escape(one).replace("…", ".+"), name) for one in _OPEN)


# How the call ended
WRONG_ARGUMENTS = _name("wrong arguments", "it cannot be called with the arguments of the exercise")
TIMED_OUT = _name("timed out", "it did not come to an end in the time of a check", sure=True)
INTERRUPTED = _name("interrupted", "the learner stopped the check, which says nothing about the answer")
RAISED = _name("raised", "it stopped with an error of its own", sure=True)
NOT_ASKED = _name("not what was asked", "it runs, and is not the kind of thing that was asked for", sure=True)
NOT_THE_SAME_TWICE = _name("not the same twice", "two calls with the same input gave two results")
CHANGED_ITS_INPUT = _name("changed its input", "it wrote into what it was given", sure=True)

# Inputs that have to be refused
NO_ERROR = _name("no error", "it accepted what has to be refused")
WRONG_ERROR = _name("wrong error", "it refused with another class of error than was asked for")
UNEXPLAINED_ERROR = _name("error without the reason", "it refused rightly, and its error does not say what is wrong")

# Form
RETURNED_NOTHING = _name("returned nothing", "None or the gap came back", sure=True)
WRONG_TYPE = _name("wrong type", "another type than was asked for", sure=True)
AXES_SWAPPED = _name("axes swapped", "the right sizes, in another order")
AXIS_MISSING = _name("axis missing", "one axis too few")
AXES_MERGED = _name("axes merged", "two axes became one")
EXTRA_AXIS = _name("extra axis", "one axis too many")
AXIS_STILL_SPLIT = _name("axis still split", "two axes that should be one")
AXES_COUNT = _name("wrong number of axes", "more axes or fewer, in no way that has a name")
WRONG_SIZE = _name("wrong size", "one axis has another size")
WRONG_SHAPE = _name("wrong shape", "several sizes differ")
WRONG_DTYPE = _name("wrong dtype", "numbers of another type")
WRONG_PART = _name("wrong …", "a setting or a part of a layer is another one")

# Numbers
NOT_A_NUMBER = _name("not a number", "nan or infinity came", sure=True)
ROUNDED = _name("rounded", "right to seven digits: the numbers went through float32")
WRONG_ORDER = _name("wrong order", "the right numbers or entries, in another order")
DIFFERENT = _name("different", "other numbers, and nothing is known that explains them")
NO_GRADIENT = _name("no gradient", "right numbers that do not learn")
WRONG_GRADIENT = _name("wrong gradient", "right numbers that learn something else")

# What all numbers have in common
SIGN = _name("sign", "each number has the opposite sign")
SIGN_IN_PART = _name("sign in part", "some numbers have the opposite sign")
CONSTANT = _name("constant", "each number is off by the same")
FACTOR = _name("factor", "each number is off by the same factor")
ZEROS = _name("nothing but zeros", "all numbers are 0")
OFF_BY_A_TERM = _name("off by a term", "a whole number is off by a term in the letters of the exercise")
ANOTHER_TERM = _name("another term", "a whole number is another term in the letters of the exercise")
OFF_BY_A_MULTIPLE = _name("off by a multiple", "a whole number is off by a multiple of one quantity")
OFF_ALONG_AN_AXIS = _name("off alike along an axis", "the error does not change along an axis")
WRONG_IN_PLACE = _name("wrong in the … place", "only the first or the last place of an axis is wrong")
RIGHT_IN_PLACE = _name("right in the … place", "only the first or the last place of an axis is right")

# What it has to do with the arguments
SAME_FOR_EVERY_INPUT = _name("the same for every input", "one result for all cases")
AN_ARGUMENT = _name("an argument came back", "the result is one of the arguments as it came in")
WITHOUT_INFLUENCE = _name("an argument without influence", "an argument may change and the result does not")
OTHER_ARGUMENTS = _name("right for other arguments", "it would be right if an argument were another")
RIGHT_FOR_ONE_CASE = _name("right for one case only", "one case of all comes out right")
RIGHT_FOR_SOME = _name("right for … only", "right where sizes coincide, such as square images")

# Lists, texts and dicts
ENTRIES_MISSING = _name("entries missing", "entries are missing, and nothing wrong is there")
ENTRIES_TOO_MANY = _name("entries too many", "all right entries are there, and others")
BUT_FOR_CAPITALS = _name("right but for capitals", "upper and lower case differ")
EMPTY_ENTRIES = _name("empty entries", "entries with nothing in them")
CUT_ELSEWHERE = _name("cut at other places", "the right characters, cut into other pieces")
OTHER_VALUES = _name("right keys, other values", "a dict with the right keys")

_OPEN = [name for name in MEANING if "…" in name]
