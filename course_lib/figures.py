"""The pictures of the lessons, each with a text that says what a person would see."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import torch
from torch import Tensor

from course_lib.explorers.words import one_hot_drawing
from course_lib.explorers.words import written_sum as written_sum  # lesson 02 asks for it here
from course_lib.showing.drawing import (
    BLUE,
    GREEN,
    GREY,
    SKY,
    VERMILION,
    WHITE,
    Drawing,
    channels_to_back,
    diverge,
    shade,
)
from course_lib.showing.picture import Picture
from course_lib.showing.tables import CELL, number_cell, number_cells, outline, table_frame

# Pale enough for black numbers, and told apart in grey as well where they are neighbours.
PATCH_COLOURS = ("#9ad0f5", "#f5c26b", "#8fd6b8", "#f2a07b", "#e3d95c", "#c9a6d8")

# The lessons' pictures. Colours are never the only sign: what matters is also written, framed or numbered.


def one_hot_matrix(tokens: Sequence[str], words: Sequence[str], matrix: Tensor) -> Picture:
    """The picture of one_hot_drawing."""
    return one_hot_drawing(tokens, words, matrix).picture()


def distance_table(words: Sequence[str], distances: Tensor) -> Picture:
    """Distances (V, V) between the rows of some words, as numbers on one scale of colours."""
    drawing, left, top = table_frame(words, words, cell=46, id_width=0)
    high = distances.max().item()
    number_cells(drawing, left, top, distances, lambda value: shade(value, 0, 2 * high), decimals=2, cell=46)
    off = distances[~torch.eye(len(words), dtype=torch.bool)]
    drawing.text = (
        f"A square table of the distances between {len(words)} words: {', '.join(words)}. The diagonal is 0; "
        f"every other cell shows {off.min().item():.2f} to {off.max().item():.2f}, all in the same colour."
    )
    return drawing.picture()


def gradient_rows(words: Sequence[str], gradient: Tensor, uses: Tensor) -> Picture:
    """The gradient (V, D) of a table, row by row, beside the number of times each row was used."""
    wide, left, top = 54, 110, 46
    drawing = Drawing(left + gradient.shape[1] * wide + 190, top + len(words) * CELL + 14)
    drawing.label(left, 20, "gradient (V, D)", bold=True)
    drawing.label(left + gradient.shape[1] * wide + 24, 20, "uses of the row", bold=True)
    limit = gradient.abs().max().item()
    number_cells(drawing, left, top, gradient, lambda value: diverge(value, 1.5 * limit), decimals=1, wide=wide)
    for row, (word, count) in enumerate(zip(words, uses.tolist(), strict=True)):
        y = top + (row + 0.5) * CELL
        drawing.label(left - 10, y, word, anchor="end", bold=count > 0)
        for use in range(count):
            drawing.rect(left + gradient.shape[1] * wide + 24 + use * 22, y - 8, 16, 16, fill=GREEN)
        drawing.label(left + gradient.shape[1] * wide + 32 + count * 22, y, f"{count} ×", size=12)
    told = "; ".join(
        f"{word} {count} times, each number {gradient[row, 0].item():.1f}"
        for row, (word, count) in enumerate(zip(words, uses.tolist(), strict=True))
    )
    drawing.text = f"The gradient of each row of the table beside the number of its uses: {told}."
    return drawing.picture()


def pick_or_mix(word: Tensor, patch: Tensor, matrix: Tensor) -> Picture:
    """One matrix (L, D) met by a one-hot row (L,), which picks a row, and by a patch (L,), which mixes all of them."""
    length, dimension = matrix.shape
    wide, limit, left = 46, matrix.abs().max().item(), 20
    matrix_x, result_x = left + length * wide + 130, left + (length + dimension) * wide + 210
    drawing = Drawing(result_x + dimension * wide + 20, 2 * (length * CELL + 78) + 8)

    def signed(value: float) -> str:
        return diverge(value, 1.6 * limit)

    for place, (row, name) in enumerate(((word, "a word, one-hot: picks one row"), (patch, "a patch: mixes all rows"))):
        top = 50 + place * (length * CELL + 78)
        middle = top + (length - 1) * CELL / 2
        drawing.label(left, top - 30, name, bold=True)
        number_cells(drawing, left, middle, row[None], lambda value: shade(value, 0, 1.4), decimals=1, wide=wide)
        drawing.label(matrix_x - 106, middle + CELL / 2, "×", size=20, anchor="middle")
        for number, weight in enumerate(row.tolist()):
            y = top + number * CELL
            number_cells(drawing, matrix_x, y, matrix[number][None], signed, decimals=1, wide=wide)
            if weight:
                thick = 1 + 2.5 * weight
                drawing.rect(matrix_x - 2, y + 1, dimension * wide + 4, CELL - 2, stroke=VERMILION, stroke_width=thick)
            told = f"row {number}: {weight:.1f} ·"
            drawing.label(matrix_x - 8, y + CELL / 2, told, size=11, anchor="end", bold=weight > 0)
        drawing.label(result_x - 34, middle + CELL / 2, "=", size=20, anchor="middle")
        number_cells(drawing, result_x, middle, (row @ matrix)[None], signed, decimals=1, wide=wide)
    results = [", ".join(f"{number:.1f}" for number in (row @ matrix).tolist()) for row in (word, patch)]
    drawing.text = (
        f"Twice the same matrix of {length} rows and {dimension} columns. Above, a one-hot row times the matrix:"
        f" only row {word.argmax().item()} is framed, and it comes out unchanged, {results[0]}. Below, a patch with"
        f" the numbers {', '.join(f'{number:.1f}' for number in patch.tolist())}: every row with a weight above 0"
        f" is framed, the thicker the larger its weight, and their sum comes out, {results[1]}."
    )
    return drawing.picture()


def numbered_patches(image: Tensor, patch_size: int) -> Picture:
    """An image (C, H, W) with the grid of its side-by-side patches, numbered row by row."""
    channels, height, width = image.shape
    scale = max(360 // height, 1)
    drawing = Drawing(width * scale + 24, height * scale + 24)
    drawing.pixels(12, 12, width * scale, height * scale, channels_to_back(image))
    rows, columns = height // patch_size, width // patch_size
    for number in range(rows * columns):
        x, y = 12 + number % columns * patch_size * scale, 12 + number // columns * patch_size * scale
        drawing.rect(x, y, patch_size * scale, patch_size * scale, stroke=SKY, stroke_width=2)
        drawing.rect(x + 3, y + 3, 26, 18, fill=WHITE)
        drawing.label(x + 16, y + 12, str(number), size=12, anchor="middle", bold=True)
    drawing.text = (
        f"An image of {height} × {width} pixels with {channels} channel{'s' * (channels > 1)}, cut by a grid into "
        f"{rows} rows of {columns} patches, {patch_size} × {patch_size} pixels each, numbered row by row from "
        f"0 at the top left to {rows * columns - 1} at the bottom right."
    )
    return drawing.picture()


def cut_in_steps(height: int, width: int, patch_size: int) -> Picture:
    """Split, swap, merge: the numbers 0, 1, 2, … of a small image, and the order in which each step reads them."""
    rows, columns, tile, gap, top = height // patch_size, width // patch_size, patch_size * CELL, 12, 62
    step, grid_width = tile + gap, columns * (tile + gap) - gap
    swapped_x = 20 + grid_width + 40
    merged_x = swapped_x + grid_width + 70
    drawing = Drawing(merged_x + patch_size**2 * CELL + 20, top + max(rows * step, rows * columns * (CELL + 6)) + 10)
    numbers = torch.arange(height * width).reshape(rows, patch_size, columns, patch_size)
    titles = (
        (20, "split", "read along the rows"),
        (swapped_x, "swap", "read tile by tile"),
        (merged_x, "merge", "one row for a tile"),
    )
    for x, name, how in titles:
        drawing.label(x, 16, name, bold=True)
        drawing.label(x, 36, how, size=12, colour=GREY)
    middles: dict[int, tuple[float, float]] = {}
    for row, inner, column, across in itertools.product(*map(range, numbers.shape)):
        number, patch = int(numbers[row, inner, column, across]), row * columns + column
        fill, y = PATCH_COLOURS[patch % len(PATCH_COLOURS)], top + row * step + inner * CELL
        middles[number] = (column * step + across * CELL + CELL / 2, y + CELL / 2)
        for x in (20, swapped_x):
            number_cell(drawing, x + column * step + across * CELL, y, CELL, CELL, fill, str(number))
        place = inner * patch_size + across
        number_cell(drawing, merged_x + place * CELL, top + patch * (CELL + 6), CELL, CELL, fill, str(number))
        middle = top + patch * (CELL + 6) + CELL / 2
        drawing.label(merged_x - 10, middle, str(patch), size=11, anchor="end", colour=GREY)
    merged = numbers.permute(0, 2, 1, 3).reshape(rows * columns, -1)
    for x, order in ((20, range(width)), (swapped_x, merged[:2].flatten().tolist())):
        for here, there in itertools.pairwise(order):
            (x1, y1), (x2, y2) = middles[here], middles[there]
            drawing.line(x + x1, y1 + 9, x + x2, y2 + 9, stroke=VERMILION, width=2, arrow=there == list(order)[-1])
    drawing.text = (
        f"Three panels. Split: the {height} × {width} numbers stand apart in {rows} × {columns} tiles, and an"
        f" arrow reads the first row, 0 to {width - 1}, across the tiles. Swap: the same tiles, but the arrow"
        f" reads one tile to its end before the next, {', '.join(map(str, merged[:2].flatten().tolist()))}. Merge:"
        f" each tile is one row, patch 1 is {', '.join(map(str, merged[1].tolist()))}."
    )
    return drawing.picture()


def patch_colours(height: int, width: int, **versions: Tensor) -> Picture:
    """Which pixel went into which patch, one panel for each version (N, P·P) of an image of numbers 0, 1, 2, …."""
    scale = max(280 // height, 1)
    drawing = Drawing(len(versions) * (width * scale + 30) + 10, height * scale + 50)
    told = []
    for panel, (name, patches) in enumerate(versions.items()):
        x, owner = 20 + panel * (width * scale + 30), torch.zeros(height * width, dtype=torch.int64)
        for number, row in enumerate(patches.long()):
            owner[row] = number
        owner = owner.reshape(height, width)
        drawing.label(x, 20, name.replace("_", " "), bold=True)
        for row, column in itertools.product(range(height), range(width)):
            fill = PATCH_COLOURS[int(owner[row, column]) % len(PATCH_COLOURS)]
            drawing.rect(x + column * scale, 40 + row * scale, scale, scale, fill=fill)
        for line in outline(owner == 0):
            x1, y1, x2, y2 = (scale * number for number in line)
            drawing.line(x + x1, 40 + y1, x + x2, 40 + y2, width=3)
        inside = (owner == 0).nonzero()
        drawing.label(
            x + (inside[0, 1].item() + 0.5) * scale + 4,
            40 + (inside[0, 0].item() + 0.7) * scale,
            "0",
            size=13,
            bold=True,
        )
        high, wide = (inside.max(0).values - inside.min(0).values + 1).tolist()
        told.append(f"{name.replace('_', ' ')}: patch 0, framed, spreads over {high} rows and {wide} columns")
    drawing.text = f"The {height} × {width} pixels coloured by the patch that takes them. " + "; ".join(told) + "."
    return drawing.picture()


def side_by_side(**images: Tensor) -> Picture:
    """Images (C, H, W) in a row, on one scale from 0 to 1, each under its name."""
    height, width = next(iter(images.values())).shape[-2:]
    scale = max(240 // height, 1)
    drawing = Drawing(len(images) * (width * scale + 24) + 16, height * scale + 52)
    for place, (name, image) in enumerate(images.items()):
        x = 20 + place * (width * scale + 24)
        drawing.label(x, 20, name.replace("_", " "), bold=True)
        drawing.pixels(x, 36, width * scale, height * scale, channels_to_back(image))
    names = [name.replace("_", " ") for name in images]
    first = next(iter(images.values()))
    same = [
        f"{name} is {'equal to' if torch.equal(image, first) else 'different from'} the first"
        for name, image in zip(names[1:], list(images.values())[1:], strict=True)
    ]
    drawing.text = (
        f"{len(images)} pictures of {height} × {width} pixels side by side: {', '.join(names)}; {'; '.join(same)}."
    )
    return drawing.picture()


def unread_border(image: Tensor, patch_size: int) -> Picture:
    """An image (C, H, W) with its grid of whole patches; the pixels that no patch reads are crossed out."""
    channels, height, width = image.shape
    scale = 340 / height
    rows, columns = height // patch_size, width // patch_size
    read_h, read_w = rows * patch_size * scale, columns * patch_size * scale
    drawing = Drawing(round(width * scale) + 24, round(height * scale) + 24)
    drawing.pixels(12, 12, width * scale, height * scale, channels_to_back(image))
    for row, column in itertools.product(range(rows), range(columns)):
        side = patch_size * scale
        drawing.rect(12 + column * side, 12 + row * side, side, side, stroke=SKY)
    for x, y, w, h in (
        (12 + read_w, 12, width * scale - read_w, height * scale),
        (12, 12 + read_h, read_w, height * scale - read_h),
    ):
        drawing.rect(x, y, w, h, fill=VERMILION)
    unread = height * width - rows * columns * patch_size**2
    drawing.text = (
        f"An image of {height} × {width} pixels under a grid of {rows} × {columns} patches of {patch_size} ×"
        f" {patch_size}. A strip of {height - rows * patch_size} pixels below and one of"
        f" {width - columns * patch_size} pixels on the right, filled with one colour, belong to no patch:"
        f" {unread} pixels."
    )
    return drawing.picture()


def coverage_map(counts: Tensor, patch_size: int, stride: int) -> Picture:
    """How many patches read each pixel (H, W), as colours with the numbers written in."""
    height, width = counts.shape
    cell, high = max(min(520 // width, 20), 8), counts.max().item()
    drawing = Drawing(width * cell + 24, height * cell + 24)
    for row, column in itertools.product(range(height), range(width)):
        count = counts[row, column].item()
        fill = VERMILION if count == 0 else shade(count, 0, 1.2 * high)
        number_cell(
            drawing, 12 + column * cell, 12 + row * cell, cell, cell, fill, str(count), size=min(cell * 0.55, 11)
        )
    unread = int((counts == 0).sum())
    drawing.text = (
        f"A table of {height} × {width} pixels, each with the number of patches that read it (patch size"
        f" {patch_size}, stride {stride}): from {counts.min().item()} to {high}. {unread} pixels are read by none."
    )
    return drawing.picture()


def error_by_codes(codes: Sequence[int], **series: Sequence[float]) -> Picture:
    """Two series of errors as bars with their numbers, a pair for each number of codes K."""
    left, wide, high, top = 20, 128, 190, 64
    drawing = Drawing(left + wide * len(codes) + 20, top + high + 52)
    looks = dict(zip(series, ((BLUE, BLUE), (WHITE, VERMILION)), strict=True))
    for place, (name, (fill, edge)) in enumerate(looks.items()):
        drawing.rect(left + 190 * place, 12, 16, 16, fill=fill, stroke=edge, stroke_width=2)
        drawing.label(left + 190 * place + 24, 20, name.replace("_", " "))
    largest = max(map(max, series.values()))
    for group, count in enumerate(codes):
        x = left + group * wide
        for place, (name, (fill, edge)) in enumerate(looks.items()):
            value = series[name][group]
            height = value / largest * high
            y = top + high - height
            drawing.rect(x + 6 + 58 * place, y, 50, height, fill=fill, stroke=edge, stroke_width=2)
            drawing.label(x + 31 + 58 * place, y - 10, f"{value:.4f}", size=12, anchor="middle")
        drawing.label(x + 60, top + high + 18, f"K = {count}", anchor="middle", bold=True)
    drawing.line(left, top + high, left + wide * len(codes), top + high, stroke=GREY)
    told = [
        f"{name.replace('_', ' ')}: " + ", ".join(f"{value:.4f}" for value in values) for name, values in series.items()
    ]
    drawing.text = f"Errors as pairs of bars for K = {', '.join(map(str, codes))}. {'; '.join(told)}."
    return drawing.picture()
