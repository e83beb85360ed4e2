"""Live pictures of lessons 01 and 02: a sentence and its codes, what one-hot rows cost, a lookup step by step."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence

import torch
from torch import Tensor

from course_lib import embed, measure, words
from course_lib.showing.controls import Choice, Slider, TextBox
from course_lib.showing.drawing import BLUE, GREEN, GREY, LIGHT, VERMILION, WHITE, Drawing, diverge
from course_lib.showing.live import Live
from course_lib.showing.tables import CELL, number_cells, table_frame

SIZES = (10, 100, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
MOST_TOKENS = 10


def sentence_codes(sentence: str) -> Live:
    """Type a sentence; see its tokens, their ids in order of first appearance, and their one-hot rows."""
    return Live(draw_sentence_codes, sentence=TextBox("Sentence", sentence, length=70))


def draw_sentence_codes(sentence: str) -> Drawing:
    """The drawing behind sentence_codes; a ValueError tells what cannot be drawn."""
    every_token = words.tokenize(sentence)
    if not every_token:
        raise ValueError("Type at least one word.")
    tokens = every_token[:MOST_TOKENS]
    vocabulary = words.build_vocabulary(tokens)
    matrix = words.one_hot(words.encode(tokens, vocabulary), len(vocabulary))
    rows, columns = [_short(token, 12) for token in tokens], [_short(word, 7) for word in vocabulary]
    drawing = one_hot_drawing(rows, columns, matrix)
    if len(every_token) > MOST_TOKENS:
        told = f"the first {MOST_TOKENS} of {len(every_token)} tokens"
        drawing.label(drawing.width + 20, 90, told, size=12, colour=GREY)
    # Room for the longest sentence, so that the page does not jump while somebody types.
    drawing.width = max(drawing.width, 640)
    drawing.height = max(drawing.height, 64 + MOST_TOKENS * CELL + 16)
    return drawing


def one_hot_drawing(tokens: Sequence[str], words: Sequence[str], matrix: Tensor) -> Drawing:
    """The one-hot rows (T, V) of a sentence, a row for each token and a column for each word."""
    drawing, left, top = table_frame(tokens, words)
    for row, column in matrix.nonzero().tolist():
        drawing.label(left - 12, top + (row + 0.5) * CELL, f"id {column}", size=11, anchor="end", colour=GREY)
    number_cells(drawing, left, top, matrix, lambda value: BLUE if value else WHITE, decimals=0)
    for column, word in enumerate(words):
        rows = [row for row, number in enumerate(matrix.argmax(dim=1).tolist()) if number == column]
        drawing.spot("words", f"id {column}", left + column * CELL, 4, CELL, top - 4)
        for row in rows:
            drawing.spot("tokens", f"id {column}", 4, top + row * CELL, left - 6, CELL)
            drawing.spot("rows", f"id {column}", left, top + row * CELL, len(words) * CELL, CELL)
        told = " and ".join(map(str, rows))
        drawing.say(
            f"id {column}",
            f"{word!r}, token {told} → id {column} → a row with its only 1 in column {column}",
        )
    places = ", ".join(f"{token} in column {row.argmax().item()}" for token, row in zip(tokens, matrix, strict=True))
    drawing.text = (
        f"A table of {len(tokens)} rows, one for each token, and {len(words)} columns, one for each word of "
        f"the vocabulary. Each row has a single 1, all other cells are 0: {places}."
    )
    return drawing


def _short(word: str, most: int) -> str:
    return word if len(word) <= most else word[: most - 1] + "…"


def one_hot_cost(vocabulary_size: int) -> Live:
    """Memory of the one-hot rows of a whole vocabulary as an area, beside the ids that say the same."""
    return Live(draw_one_hot_cost, vocabulary_size=Choice("Words in the vocabulary", SIZES, vocabulary_size))


def draw_one_hot_cost(vocabulary_size: int) -> Drawing:
    """The drawing behind one_hot_cost: one side of the square is V, so its area is V × V numbers."""
    side = max(vocabulary_size / SIZES[-1] * 260, 1.0)
    laptop = (8e9 / 4) ** 0.5 / SIZES[-1] * 260  # side of a square of as many float32 as 8 GB hold
    table, ids = words.one_hot_bytes(vocabulary_size), vocabulary_size * 8
    drawing = Drawing(640, 300)
    drawing.rect(20, 20, side, side, fill=VERMILION if side > laptop else BLUE)
    drawing.rect(20, 20, laptop, laptop, stroke=WHITE if side > laptop else GREY)
    drawing.label(26 + max(side, laptop), 14 + laptop, "8 GB, a small laptop", size=11, colour=GREY)
    drawing.label(320, 60, f"{vocabulary_size:,} words", size=16, bold=True)
    drawing.label(320, 92, f"one-hot rows in float32: {in_bytes(table)}")
    drawing.label(320, 116, f"in int64, as F.one_hot answers: {in_bytes(2 * table)}")
    drawing.label(320, 140, f"the ids alone: {in_bytes(ids)}")
    if side < 6:
        drawing.label(20, 284, "too small to be seen: in the corner at the top left", size=12, colour=GREY)
    if table >= ids:
        drawing.label(320, 180, f"one-hot takes {table // ids:,} times as much", bold=True)
    larger = "larger than" if side > laptop else "inside"
    drawing.text = (
        f"A square whose area stands for the one-hot table of {vocabulary_size:,} words, {in_bytes(table)} in"
        f" float32, {larger} the outline of 8 GB. The ids alone take {in_bytes(ids)}."
    )
    return drawing


def lookup_steps(tokens: Sequence[str], ids: Tensor, weight: Tensor, token: int = 0) -> Live:
    """Walk through the tokens; the 1, the row of the table and the row of the result light up together."""

    def draw(token: int) -> Drawing:
        return lookup_drawing(tokens, ids, weight, token)

    return Live(draw, token=Slider("Token", 0, len(ids) - 1, token))


def lookup_drawing(tokens: Sequence[str], ids: Tensor, weight: Tensor, token: int) -> Drawing:
    """One-hot rows (T, V) beside the table (V, D) and the result (T, D), with one token's way through lit up."""
    one_hot = torch.nn.functional.one_hot(ids, len(weight)).float()
    result, limit, picked = weight[ids], weight.abs().max().item(), int(ids[token])
    count, rows, dimension = len(ids), *weight.shape
    left, top, wide = 110, 62, 48
    table_x = left + rows * CELL + 66
    result_x = table_x + dimension * wide + 66
    drawing = Drawing(result_x + dimension * wide + 16, top + max(rows, count) * CELL + 16)
    for x, name in ((left, "one-hot rows (T, V)"), (table_x, "table (V, D)"), (result_x, "result (T, D)")):
        drawing.label(x, 20, name, bold=True)
    for row, name in enumerate(tokens):
        drawing.label(left - 10, top + (row + 0.5) * CELL, name, anchor="end", bold=row == token)
    for row in range(rows):
        drawing.label(table_x - 8, top + (row + 0.5) * CELL, str(row), size=11, anchor="end", bold=row == picked)
        drawing.label(left + (row + 0.5) * CELL, top - 11, str(row), size=11, anchor="middle", bold=row == picked)
    drawing.label(table_x - 42, top + count * CELL / 2, "×", size=20, anchor="middle")
    drawing.label(result_x - 34, top + count * CELL / 2, "=", size=20, anchor="middle")
    number_cells(drawing, left, top, one_hot, lambda value: BLUE if value else WHITE, decimals=0)
    number_cells(drawing, table_x, top, weight, lambda value: diverge(value, 1.5 * limit), decimals=2, wide=wide)
    number_cells(drawing, result_x, top, result, lambda value: diverge(value, 1.5 * limit), decimals=2, wide=wide)
    for x, row, width in (
        (left, token, rows * CELL),
        (table_x, picked, dimension * wide),
        (result_x, token, dimension * wide),
    ):
        drawing.rect(x - 2, top + row * CELL - 2, width + 4, CELL + 4, stroke=VERMILION, stroke_width=3)
    _link_lookup(drawing, tokens, ids, weight, ((left, CELL), (table_x, wide), (result_x, wide)), top)
    numbers = ", ".join(f"{value:.2f}" for value in result[token].tolist())
    drawing.text = (
        f"Three tables in a row: one-hot rows of {count} tokens, times a table of {rows} rows, equals {count} "
        f"vectors. Framed: token {token}, {tokens[token]!r}, has its 1 in column {picked}; row {picked} of the "
        f"table is {numbers}; the same numbers are row {token} of the result."
    )
    return drawing


def _link_lookup(
    drawing: Drawing, tokens: Sequence[str], ids: Tensor, weight: Tensor, places: Sequence, top: float
) -> None:
    """An id lights its one-hot rows, its row of the table and its rows of the result; a number tells its sum."""
    (left, cell), (table_x, wide), (result_x, _) = places
    one_hot, dimension = torch.nn.functional.one_hot(ids, len(weight)).float(), weight.shape[1]
    for number in range(len(weight)):
        users = [token for token, other in enumerate(ids.tolist()) if other == number]
        told = " and ".join(f"token {token}, {tokens[token]!r}" for token in users) or "no token of this sentence"
        drawing.spot("table", f"id {number}", table_x, top + number * CELL, dimension * wide, CELL)
        drawing.say(f"id {number}", f"id {number} → row {number} of the table, taken by {told}")
        for token in users:
            drawing.spot("one-hot rows", f"id {number}", left, top + token * CELL, len(weight) * cell, CELL)
    for token, column in itertools.product(range(len(ids)), range(dimension)):
        name = f"number {column} of token {token}"
        drawing.spot("result", name, result_x + column * wide, top + token * CELL, wide, CELL)
        drawing.say(name, f"{name}: {written_sum(one_hot[token], weight[:, column])}", [f"id {ids[token]}"])


def written_sum(ones: Tensor, numbers: Tensor) -> str:
    """The sum of products of two rows (V,), the first one of zeros and ones, written out."""
    terms = [f"{one:.0f}·({number:.2f})" for one, number in zip(ones.tolist(), numbers.tolist(), strict=True)]
    return f"{' + '.join(terms)} = {(ones @ numbers).item():.2f}"


def lookup_cost(tokens: int, dimension: int, vocabulary_size: int) -> Live:
    """Product and lookup side by side as the vocabulary grows: multiplications, memory, and time measured here."""

    def draw(vocabulary_size: int) -> Drawing:
        return draw_lookup_cost(tokens, dimension, vocabulary_size)

    return Live(draw, vocabulary_size=Choice("Words in the vocabulary", SIZES[1:-1], vocabulary_size))


def draw_lookup_cost(tokens: int, dimension: int, vocabulary_size: int) -> Drawing:
    """The drawing behind lookup_cost."""
    product, lookup = measure_lookup(tokens, dimension, vocabulary_size)
    rows = (
        ("multiplications", tokens * vocabulary_size * dimension, 0, "{:,}".format),
        ("memory for the rows", tokens * vocabulary_size * 4, tokens * 8, in_bytes),
        ("time, median of 5", product, lookup, in_seconds),
    )
    drawing = Drawing(640, 190)
    drawing.label(20, 22, f"{tokens} tokens, {vocabulary_size:,} words, vectors of {dimension} numbers", bold=True)
    drawing.label(300, 52, "one-hot × table", anchor="end", colour=BLUE, bold=True)
    drawing.label(440, 52, "lookup", anchor="end", colour=GREEN, bold=True)
    drawing.line(20, 66, 440, 66, stroke=LIGHT)
    for place, (name, one, other, told) in enumerate(rows):
        y = 86 + 28 * place
        drawing.label(20, y, name)
        drawing.label(300, y, told(one), anchor="end", mono=True)
        drawing.label(440, y, told(other), anchor="end", mono=True)
    drawing.label(20, 172, f"The product takes {product / lookup:,.0f} times as long here.", bold=True)
    drawing.text = (
        f"A small table for {tokens} tokens and a vocabulary of {vocabulary_size:,} words: the product takes "
        f"{rows[0][1]:,} multiplications and {in_bytes(rows[1][1])} of one-hot rows, the lookup none and "
        f"{in_bytes(rows[1][2])} of ids. Below, both times as measured on this computer."
    )
    return drawing


def measure_lookup(tokens: int, dimension: int, vocabulary_size: int, runs: int = 5) -> tuple[float, float]:
    """Median seconds of the product, one-hot rows made anew each time, and of the lookup."""
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(vocabulary_size, (tokens,), generator=generator)
    weight = torch.randn(vocabulary_size, dimension, generator=generator)
    taken = measure.seconds(
        {"product": lambda: embed.lookup_by_matmul(ids, weight), "lookup": lambda: embed.lookup_by_index(ids, weight)},
        runs,
    )
    return statistics.median(taken["product"]), statistics.median(taken["lookup"])


def in_bytes(count: float) -> str:
    """A number of bytes in words: 100.0 MB."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} B" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def in_seconds(seconds: float) -> str:
    """A duration in milliseconds or microseconds."""
    return f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f} µs"
