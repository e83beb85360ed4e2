"""Lesson 03, skip_gram_pairs: all pairs of a word and a neighbour in its sentence, up to a window away."""

from __future__ import annotations

from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise


def skip_gram_pairs(sentences, window):
    pairs = []
    for sentence in sentences:
        for middle in range(len(sentence)):
            for place in range(middle - window, middle + window + 1):
                if place != middle and 0 <= place < len(sentence):
                    pairs.append((sentence[middle], sentence[place]))
    return pairs


def cases() -> list[Case]:
    def case(sentences: list[list[int]], window: int, only: str = "") -> Case:
        return Case(f"the sentences {sentences} and window {window}", (sentences, window), only=only)

    return [
        case([[4, 7, 9, 2]], 1),
        case([[5, 5, 8], [3, 6]], 1),
        case([[1, 2, 3, 1, 4], [6, 2], [9]], 2),
        case([], 2, "trivial"),
        case([[3, 1, 2, 7]], 9),
        case([[8, 1, 6, 3, 5, 2]], 3),
    ]


def _read_pairs(pairs: list) -> dict[str, list]:
    """Pairs in any order: which one comes first is a matter of taste."""
    return {"pairs": sorted((tuple(p) if isinstance(p, (list, tuple)) else p for p in pairs), key=repr)}


def _pairs(
    left=True, right=True, by_word=False, itself=False, glued=False, once=False, reach=0, whole=False, reach_left=0
):
    def wrong(sentences, window):
        parts = [[word for sentence in sentences for word in sentence]] if glued else sentences
        found = []
        for sentence in parts:
            for i, centre in enumerate(sentence):
                low, high = i - window - reach_left if left else i, i + window + 1 + reach if right else i
                low, high = (0, len(sentence)) if whole else (low, high)
                for j in range(max(0, low), min(len(sentence), high)):
                    skip = sentence[j] == centre if by_word else j == i and not itself
                    if not skip:
                        found.append((centre, sentence[j]))
        return list(dict.fromkeys(found)) if once else found

    return wrong


def _in_one_slice(sentence, middle, window, keep):
    """Pairs from sentence[middle − window : middle + window + 1]; keep(place, word) says which words of it count."""
    near = sentence[middle - window : middle + window + 1]
    return [(sentence[middle], word) for place, word in enumerate(near) if keep(place, word)]


def _any_place(sentence, middle, window, end):
    """Pairs with all places from middle − window on, as long as they are below end."""
    places = range(middle - window, min(end, middle + window + 1))
    return [(sentence[middle], sentence[place]) for place in places if place != middle]


def _first_places(sentences, window, by_word=False):
    pairs = []
    for sentence in sentences:
        for word in sentence:
            middle = sentence.index(word)
            near = [sentence[place] for place in _around(sentence, middle, window)]
            pairs += [(word, other) for other in near if not by_word or other != word]
    return pairs


def _around(sentence, middle, window):
    return [j for j in range(max(0, middle - window), min(len(sentence), middle + window + 1)) if j != middle]


def _each_place(pair):
    """Pairs made by pair(sentence, middle, window), which gives the list for one place."""

    def wrong(sentences, window):
        return [
            found
            for sentence in sentences
            for middle in range(len(sentence))
            for found in pair(sentence, middle, window)
        ]

    return wrong


def _stops_at_a_border(sentence, middle, window):
    found = []
    for place in range(middle - window, middle + window + 1):
        if not 0 <= place < len(sentence):
            break
        if place != middle:
            found.append((sentence[middle], sentence[place]))
    return found


WRONG = mistakes(
    skip_gram_pairs,
    r"""
right-hand neighbours missing
    Only words on the left became neighbours. A slice or range ends one before its end: go up to middle + window +
    1.
        middle + window → middle

left-hand neighbours missing
    Only words on the right became neighbours.
        middle - window → middle

last neighbour missing
    The farthest neighbour on the right is missing: range stops before its end, so it has to be middle + window + 1.
        middle + window + 1 → middle + window

words compared, not positions
    A repeated word was taken for the centre itself. Compare places, not words.
        return _pairs(by_word=True)(sentences, window)

paired with itself
    Each word was paired with itself. Leave out the place of the centre.
        return _pairs(itself=True)(sentences, window)

pairs across sentences
    The last word of a sentence met the first of the next. Go through the sentences one by one.
        return _pairs(glued=True)(sentences, window)

repeated pairs dropped
    A pair that occurs twice counts twice: that is how often the two words meet.
        return _pairs(once=True)(sentences, window)

window ignored
    All words of the sentence were paired: only those at most `window` places away are neighbours.
        return _pairs(whole=True)(sentences, window)

window too wide
    One neighbour too many on the right: up to middle + window, both included.
        middle + window + 1 → middle + window + 2

slice begins below zero
    sentence[middle − window : middle] with a negative start counts from the end. Use max(0, middle − window).
        return [
            (sentence[i], word)
            for sentence in sentences
            for i in range(len(sentence))
            for word in sentence[i - window : i] + sentence[i + 1 : i + window + 1]
        ]

places in place of words
    These are the places. The words that stand there are wanted: sentence[middle], sentence[place].
        return _each_place(lambda s, i, w: [(i, j) for j in _around(s, i, w)])(sentences, window)

words at the border left out
    Only words with a whole window around them became centres. At the border of a sentence the window is shorter,
    the word still counts.
        return _each_place(lambda s, i, w: [(s[i], s[j]) for j in _around(s, i, w)] if w <= i < len(s) - w else [])(
            sentences, window
        )

negative places wrap
    A negative place counts from the end: the first word met the last one. Only places from 0 on are inside.
        return _each_place(
            lambda s, i, w: [(s[i], s[j]) for j in range(i - w, min(len(s), i + w + 1)) if j != i and j >= -len(s)]
        )(sentences, window)

no lower bound
    Place −1 is the last word of the sentence, so its first words met its last ones. Only places from 0 on are
    inside: the test needs a lower bound as well.
        return _each_place(lambda s, i, w: _any_place(s, i, w, len(s)))(sentences, window)

no bound
    A list was asked for a place that it does not have. Before the first word and behind the last one of a sentence
    nothing stands: leave out places below 0 and from len(sentence) on.
        return _each_place(lambda s, i, w: _any_place(s, i, w, i + w + 1))(sentences, window)

one slice, begun below zero
    sentence[middle − window : …] with a negative start counts from the end, so the first words got no neighbours or
    wrong ones. The centre itself stands in the slice, too. Go by places, from max(0, middle − window), and leave
    out the place of the centre.
        return _each_place(lambda s, i, w: _in_one_slice(s, i, w, lambda place, word: True))(sentences, window)

one slice, begun below zero, words compared
    sentence[middle − window : …] with a negative start counts from the end, so the first words got no neighbours or
    wrong ones: max(0, middle − window). And a repeated word was taken for the centre itself: compare places, not
    words.
        return [
            pair
            for sentence in sentences
            for i in range(len(sentence))
            for pair in _in_one_slice(sentence, i, window, lambda place, word, centre=sentence[i]: word != centre)
        ]

one slice, begun below zero, place in the slice compared
    sentence[middle − window : …] with a negative start counts from the end, so the first words got no neighbours or
    wrong ones. Let the places begin at max(0, middle − window).
        return _each_place(lambda s, i, w: _in_one_slice(s, i, w, lambda place, word: place != w))(sentences, window)

place in the slice
    Near the beginning of a sentence the slice is shorter, and the centre does not stand at place `window` of it.
    Compare places in the sentence.
        return _each_place(
            lambda s, i, w: [
                (s[i], s[j]) for j in range(max(0, i - w), min(len(s), i + w + 1)) if j - max(0, i - w) != w
            ]
        )(sentences, window)

first place of the word
    index() finds the first place of a word only, so a repeated word got the neighbours of its first place.
    enumerate(sentence) gives place and word.
        return _first_places(sentences, window)

first place of the word, words compared
    index() finds the first place of a word only: enumerate(sentence) gives place and word. And a repeated word was
    taken for the centre itself: compare places, not words.
        return _first_places(sentences, window, by_word=True)

last sentence only
    Only the pairs of the last sentence are left. `pairs = []` inside the loop begins anew for each sentence: put it
    in front of the loop.
        for sentence in sentences:
            pairs = skip_gram_pairs([sentence], window)
        return pairs

last sentence only, and a list before
    Only the pairs of the last sentence are left. Does something inside the loop empty the list, such as `pairs =
    []`, or put a new one in its place?
        return skip_gram_pairs(sentences[-1:], window)

last word only
    Only the pairs of the last word are left. `pairs = []` inside the loop begins anew for each word: put it in
    front of all loops.
        for sentence in sentences:
            for middle, word in enumerate(sentence):
                pairs = [(word, sentence[place]) for place in _around(sentence, middle, window)]
        return pairs

farthest missing on both sides
    The farthest neighbours are missing on both sides. A word exactly `window` places away counts: a comparison
    takes <=, not <, and a range stops before its end.
        return skip_gram_pairs(sentences, window - 1)

farthest missing on the left
    The farthest neighbour on the left is missing: the places begin at middle − window.
        middle - window → middle - window + 1

first sentence only
    Only the first sentence was read. Does `return` stand inside the loop?
        return skip_gram_pairs(sentences[:1], window)

return inside the loop over sentences
    Only the first sentence was read. A `return` inside the loop ends the function in the first round: move it to
    the left.
        return skip_gram_pairs(sentences[:1], window) if sentences else None

return inside the loop over words
    Only the first word of the first sentence was a centre. A `return` inside the loop ends the function in the
    first round: move it to the left.
        return (
            [(sentences[0][0], sentences[0][place]) for place in _around(sentences[0], 0, window)]
            if sentences
            else None
        )

last word left out
    The last word of a sentence was never a centre: range(len(sentence)) goes up to it.
        range(len(sentence)) → range(len(sentence) - 1)

only the farthest
    Only words exactly `window` places away were taken: all nearer ones count as well.
        return _each_place(lambda s, i, w: [(s[i], s[j]) for j in (i - w, i + w) if 0 <= j < len(s)])(sentences, window)

neighbours in one list
    A centre with the list of its neighbours is one entry. Each neighbour makes a pair of its own.
        return _each_place(lambda s, i, w: [(s[i], [s[j] for j in _around(s, i, w)])])(sentences, window)

ids without pairs
    The ids stand one after another. Append each pair as one entry: pairs.append((centre, context)).
        pairs.append → pairs.extend

stopped at the border
    A place outside the sentence ended the loop. Skip that place and go on: `continue`, not `break`.
        return _each_place(_stops_at_a_border)(sentences, window)

window halved
    The window was halved. It counts the places to each side, not both together.
        return skip_gram_pairs(sentences, window // 2)

window always 2
    The window was 2 whatever was asked: use the argument.
        return skip_gram_pairs(sentences, 2)
""",
)


EXERCISE = Exercise(
    name="skip_gram_pairs",
    solution=skip_gram_pairs,
    cases=cases,
    result=list,
    read=_read_pairs,
    wrong=WRONG,
    hints=(
        "Three loops: over sentences, over the place of the centre, over the places around it.",
        (
            "The places run from middle − window to middle + window, both included. Leave out those outside"
            " the sentence, and the centre's own place."
        ),
        (
            "for place in range(middle - window, middle + window + 1): if place != middle and 0 <= place <"
            " len(sentence): pairs.append((sentence[middle], sentence[place]))"
        ),
    ),
    praise="Places, not words; both sides; and no pair across a full stop.",
)
