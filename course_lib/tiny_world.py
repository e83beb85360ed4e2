"""A small world of our own, written by a seeded grammar: the corpus for the lesson on word vectors.

`GROUPS` is the only place where the words of a group stand. The grammar draws from it, so that the words of
one group are used alike and a lesson can measure whether word vectors found the groups.
"""

from __future__ import annotations

import random
import re

from course_lib.letters import whole_number

# Order matters where a group has pairs.
# People: he, she by turns; two grown, two young; then the same for royalty.
# Animals: one, many by turns; two grown, two young; cats, then dogs. Motion: one, many by turns.
GROUPS: dict[str, tuple[str, ...]] = {
    "people": ("man", "woman", "boy", "girl", "king", "queen", "prince", "princess"),
    "animals": ("cat", "cats", "kitten", "kittens", "dog", "dogs", "puppy", "puppies"),
    "motion": ("walks", "walk", "runs", "run", "hurries", "hurry", "wanders", "wander"),
    "days": ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    "weather": ("sunny", "rainy", "windy", "cloudy", "snowy", "foggy"),
    "food": ("bread", "soup", "cheese", "rice", "honey", "cake"),
    "places": ("garden", "river", "forest", "hill", "market", "bridge"),
    "colours": ("black", "white", "brown", "grey"),
    "numbers": ("two", "three", "four", "five", "six"),
}

WAYS = ("to", "across", "past", "around")  # one for each pair of words of motion, in their order

# A slot in braces takes the form that fits {who}, or else a word of the group it names.
PERSON = (
    "on {days} the {who} {motion} {way} the {places}",
    "the {age} {who} {motion} {way} the {places}",
    "the {who} gives {food} and {food} to {his} friend",
    "the {who} and {his} friend like {food}",
    "the {age} {who} says {he} likes {food}",
    "{he} is a {age} {who} and likes {food}",
)
COMMON = (
    "the {who} takes the bus to {his} {work}",
    "the {who} takes the bus home on {days}",
    "the {age} {who} takes {his} friend home",
)
ROYALTY = (
    "the {who} wears {his} golden crown on {days}",
    "the {age} {who} in the palace wears {his} crown",
    "the royal {who} sits on {his} golden throne",
)
ANIMAL = (
    "{number} {size} {who} {motion} {way} the {places}",
    "on {days} the {who} {motion} {way} the {places}",
    "{number} {colours} {who} {is} near the {places}",
    "{this} {size} {who} {has} a {colours} tail",
)
CAT = (
    "{this} {colours} {who} purr{s} and drink{s} milk",
    "the {size} {who} purr{s} on the sofa",
)
DOG = (
    "{this} {colours} {who} bark{s} and chew{s} a bone",
    "the {size} {who} bark{s} at the door",
)
WORLD = (
    "on {days} it was {weather} near the {places}",
    "it was {weather} on {days} and {weather} on {days}",
    "lunch on {days} was {food} with {food}",
    "lunch was {food} with {food} and {food}",
    "behind the {places} lies a {places}",
)


def generate(sentences: int = 4000, seed: int = 3) -> list[str]:
    """Write the small world: that many sentences, lower case, a full stop at the end of each.

    The same seed gives the same sentences on every machine and Python version.
    """
    sentences = whole_number("sentences", sentences, least=0)
    rng = random.Random(whole_number("seed", seed, least=0))
    return [_sentence(rng) for _ in range(sentences)]


def _pick(rng: random.Random, options: tuple[str, ...] | list[str]) -> str:
    # random() alone is promised to stay the same in every Python; choice() and shuffle() are not.
    return options[int(rng.random() * len(options))]


def _sentence(rng: random.Random) -> str:
    kind = rng.random()
    if kind < 0.2:
        return _fill(rng, WORLD, {})
    number = int(rng.random() * 8)
    if kind < 0.55:
        own = COMMON if number < 4 else ROYALTY
        return _fill(rng, PERSON if rng.random() < 0.5 else own, _person(rng, number))
    kin = CAT if number < 4 else DOG
    return _fill(rng, ANIMAL if rng.random() < 0.7 else kin, _animal(rng, number))


def _person(rng: random.Random, number: int) -> dict[str, str]:
    male, grown = number % 2 == 0, number % 4 < 2
    way = int(rng.random() * len(WAYS))
    return {
        "who": GROUPS["people"][number],
        "he": "he" if male else "she",
        "his": "his" if male else "her",
        "age": "tall" if grown else "young",
        "work": "work" if grown else "school",
        "motion": GROUPS["motion"][2 * way],
        "way": WAYS[way],
    }


def _animal(rng: random.Random, number: int) -> dict[str, str]:
    one, grown = number % 2 == 0, number % 4 < 2
    way = int(rng.random() * len(WAYS))
    return {
        "who": GROUPS["animals"][number],
        "number": "one" if one else _pick(rng, GROUPS["numbers"]),
        "this": "this" if one else "these",
        "is": "is" if one else "are",
        "has": "has" if one else "have",
        "s": "s" if one else "",
        "size": "big" if grown else "little",
        "motion": GROUPS["motion"][2 * way + (not one)],
        "way": WAYS[way],
    }


def _fill(rng: random.Random, templates: tuple[str, ...], forms: dict[str, str]) -> str:
    """Choose a template and fill its slots from left to right; no word of a group comes twice."""
    used: list[str] = []

    def word(slot: re.Match[str]) -> str:
        if slot[1] in forms:
            return forms[slot[1]]
        used.append(_pick(rng, [option for option in GROUPS[slot[1]] if option not in used]))
        return used[-1]

    return re.sub(r"{(\w+)}", word, _pick(rng, templates)) + "."
