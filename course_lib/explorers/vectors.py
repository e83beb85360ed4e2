"""Live picture of lesson 03: the map of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import Tensor

from course_lib import skipgram
from course_lib.showing.controls import Choice, Slider
from course_lib.showing.drawing import BLACK, BLUE, GREEN, GREY, PURPLE, VERMILION, Drawing
from course_lib.showing.live import Live
from course_lib.showing.progress_bar import ProgressBar as ProgressBar  # lessons 03 and 10 import it from here

LETTERS = "ABCDEFGHK"  # no I, which looks like a line
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, BLACK, "#7a5c00", "#4b6fae", "#a0522d", "#5b5b5b")


def word_map(
    vectors: skipgram.WordVectors,
    vocabulary: Mapping[str, int],
    groups: Mapping[str, Sequence[str]],
    word: str,
    epoch: int,
) -> Live:
    """The words on a plane, at the start and after each epoch; one word with its nearest ones by name.

    `word` and `epoch` are what is shown first. An epoch outside 0 to the last one raises a ValueError.
    """
    planes = skipgram.on_a_plane(vectors.snapshots)
    names = sorted(name for members in groups.values() for name in members)

    def draw(moment: int, word: str) -> Drawing:
        return draw_word_map(vectors, planes, vocabulary, groups, moment, word)

    last = len(vectors.snapshots) - 1
    return Live(draw, moment=Slider("After epoch", 0, last, epoch), word=Choice("Word", names, word))


def draw_word_map(vectors, planes, vocabulary, groups, moment: int, word: str) -> Drawing:
    """The drawing behind word_map: each grouped word is the letter of its group."""
    weight, plane, words = vectors.snapshots[moment], planes[moment], list(vocabulary)
    grouped = [vocabulary[name] for members in groups.values() for name in members]
    reach = plane[grouped].abs().amax(dim=0).tolist()
    drawing = Drawing(760, 440)
    drawing.rect(10, 10, 560, 420, stroke=GREY)

    def place(name: str) -> tuple[float, float]:
        x, y = plane[vocabulary[name]].tolist()
        return 290 + x / reach[0] * 262, 220 - y / reach[1] * 196

    for row, ((group, members), colour) in enumerate(zip(groups.items(), COLOURS, strict=False)):
        letter = LETTERS[row]
        drawing.label(590, 28 + 22 * row, f"{letter}  {group}", colour=colour, bold=True)
        for name in members:
            x, y = place(name)
            drawing.label(x, y, letter, size=11, anchor="middle", colour=colour, bold=name == word)
            others = _nearest(weight, vocabulary, words, name)
            drawing.spot("map", name, x - 7, y - 7, 14, 14)
            same = sum(other in members for other in others)
            drawing.say(
                name, f"{name} ({group}): nearest are {', '.join(others)}; {same} of {len(others)} in its group", others
            )
    near = _nearest(weight, vocabulary, words, word)
    x, y = place(word)
    for other in near:
        drawing.line(x, y, *place(other), stroke=BLACK, width=1)
    drawing.rect(x - 8, y - 8, 16, 16, stroke=BLACK, stroke_width=2)
    drawing.label(590, 280, f"{word}: nearest", bold=True)
    for row, other in enumerate(near):
        drawing.label(600, 304 + 20 * row, other)
    share = skipgram.share_in_group(weight, dict(vocabulary), groups)
    drawing.label(590, 390, f"in their group: {share:.0%}")
    count = sum(map(len, groups.values()))
    named = ", ".join(f"{letter} {group}" for letter, group in zip(LETTERS, groups, strict=False))
    drawing.text = (
        f"A map of {count} words after epoch {moment}. Each word is the letter of its group: {named}. The word"
        f" {word} is framed, with lines to the three words nearest to it. Beside the map stand their names, and"
        " the share of nearest words that belong to the same group."
    )
    return drawing


def _nearest(weight: Tensor, vocabulary: Mapping[str, int], words: Sequence[str], word: str) -> list[str]:
    """The three words nearest to a word."""
    number = vocabulary[word]
    found = skipgram.nearest(weight[number], weight, 4).tolist()
    return [words[other] for other in found if other != number][:3]
