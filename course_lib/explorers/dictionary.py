"""Live picture of lesson 09: a picture painted from K patches, and everything that one code stands for."""

from __future__ import annotations

import functools

import torch
from torch import Tensor

from course_lib import codebook, patches
from course_lib.showing.controls import Choice, Slider
from course_lib.showing.drawing import BLACK, VERMILION, WHITE, YELLOW, Drawing, channels_to_back
from course_lib.showing.live import Live
from course_lib.showing.tables import outline

CODES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
SIDES = (4, 6, 8)
STEP = 4  # pixels from one place of the pointer to the next: no patch is skipped
LEFT, MIDDLE, RIGHT, TOP = 12, 276, 540, 34  # corners of the portrait, of the repainted one and of the codebook
SHOWN, BOOK = 252, 168  # pixels of each picture and of the codebook on the page


def patch_dictionary(image: Tensor, *, codes: int, patch_size: int, across: int, down: int) -> Live:
    """Learn a codebook from an image (1, C, H, W), repaint it, and point at the pixel (down, across).

    H = W, a multiple of 24, so that patches of 4, 6 and 8 pixels fit; C is 1 or 3.
    """
    if image.shape[-1] != image.shape[-2] or image.shape[-1] % 24:
        raise ValueError(f"expected an image with equal sides, a multiple of 24, got {tuple(image.shape)}")

    @functools.cache  # learned once, so that pointing is quick
    def learned(codes: int, patch_size: int) -> Tensor:
        return codebook.kmeans(patches.patchify(image, patch_size)[0], codes=codes)

    def draw(codes: int, patch_size: int, across: int, down: int) -> Drawing:
        return draw_dictionary(image, learned(codes, patch_size), patch_size, across, down)

    last = image.shape[-1] - 1
    return Live(
        draw,
        codes=Choice("Codes K", CODES, codes),
        patch_size=Choice("Patch size P", SIDES, patch_size),
        across=Slider("Point: across", 0, last, across, STEP),
        down=Slider("Point: down", 0, last, down, STEP),
    )


def draw_dictionary(image: Tensor, book: Tensor, patch_size: int, across: int, down: int) -> Drawing:
    """The drawing behind patch_dictionary, for a codebook (K, C·P·P)."""
    channels, height, width = image.shape[1:]
    rows = patches.patchify(image, patch_size)
    ids = codebook.nearest_code(rows, book)
    repainted = patches.unpatchify(codebook.decode(ids, book), patch_size, channels, height, width)
    grid = ids.reshape(height // patch_size, width // patch_size)
    row, column = down // patch_size, across // patch_size
    number, code = row * grid.shape[1] + column, int(grid[row, column])

    drawing, side = Drawing(720, TOP + SHOWN + 98), SHOWN * patch_size / width
    painted = f"painted from K = {len(book)} {'code' if len(book) == 1 else 'codes'}"
    for left, name, picture in ((LEFT, "the portrait", image), (MIDDLE, painted, repainted)):
        drawing.label(left, 16, name, bold=True)
        drawing.pixels(left, TOP, SHOWN, SHOWN, channels_to_back(picture[0]))
        _outline(drawing, left, side, grid == code)
        _frame(drawing, left + column * side, TOP + row * side, side)
        for place, other in enumerate(ids.flatten().tolist()):
            y, x = divmod(place, grid.shape[1])
            drawing.spot(name, f"code {other}", left + x * side, TOP + y * side, side, side)
    _draw_codebook(drawing, _tiles(book, channels, patch_size), code)
    for left, name, numbers in ((RIGHT, f"patch {number}", rows[0, number]), (RIGHT + 96, f"code {code}", book[code])):
        drawing.label(left, TOP + BOOK + 16, name, size=12, bold=True)
        drawing.pixels(left, TOP + BOOK + 28, 72, 72, channels_to_back(_tiles(numbers[None], channels, patch_size)[0]))
        drawing.rect(left, TOP + BOOK + 28, 72, 72, stroke=VERMILION, stroke_width=2)
    drawing.label(RIGHT + 84, TOP + BOOK + 64, "→", size=14, anchor="middle", bold=True)

    for other, uses in enumerate(torch.bincount(ids.flatten(), minlength=len(book)).tolist()):
        drawing.say(f"code {other}", f"code {other} stands for {uses} of {ids.numel()} patches, all lit up")
    used, ranking, cost = _told(ids, book, code, codebook.quantisation_error(rows, book).item())
    pointed = f"patch {number} (row {row}, column {column}) → {used} (outlined)"
    for line, words in enumerate((pointed, ranking, cost)):
        drawing.label(LEFT, TOP + SHOWN + 32 + 24 * line, words, bold=line == 0)
    drawing.text = (
        f"A portrait of {height} × {width} pixels, and beside it the same portrait painted from K = {len(book)}"
        f" codes of {patch_size} × {patch_size} pixels. Patch {number} in row {row}, column {column} is framed. It"
        f" has {used}, all outlined in both pictures; the tile of this code is framed in the codebook; {ranking};"
        f" {cost}."
    )
    return drawing


def _told(ids: Tensor, book: Tensor, code: int, error: float) -> tuple[str, str, str]:
    """In words: how often a code is used, which one is used most, and what the codebook loses and saves."""
    uses, bits = torch.bincount(ids.flatten(), minlength=len(book)), codebook.code_bits(len(book))
    most = int(uses.argmax())
    ranking = f"most used is code {most}, by {uses[most]} patches"
    if uses[code] == uses[most]:
        ranking = "no code is used more"
    cost = f"error {error:.4f}; {bits} {'bit' if bits == 1 else 'bits'} a patch in place of {8 * book.shape[1]}"
    return f"code {code}, used by {uses[code]} of {ids.numel()} patches", ranking, cost


def _draw_codebook(drawing: Drawing, tiles: Tensor, code: int) -> None:
    """All codes as tiles (K, C, P, P) in a square, one of them framed."""
    columns = 2 ** ((codebook.code_bits(len(tiles)) + 1) // 2)  # 1, 2, 2, 4, 4, … tiles in a line
    step = BOOK / max(columns, 4)
    drawing.label(RIGHT, 16, "the codebook", bold=True)
    for place, tile in enumerate(tiles):
        line, column = divmod(place, columns)
        drawing.pixels(RIGHT + column * step, TOP + line * step, step - 1, step - 1, channels_to_back(tile))
        drawing.spot("codebook", f"code {place}", RIGHT + column * step, TOP + line * step, step - 1, step - 1)
    line, column = divmod(code, columns)
    _frame(drawing, RIGHT + column * step, TOP + line * step, step - 1, thick=2 if step < 20 else 3)


def _tiles(book: Tensor, channels: int, patch_size: int) -> Tensor:
    """Codes (K, C·P·P) as little images (K, C, P, P)."""
    return book.reshape(len(book), channels, patch_size, patch_size)


def _frame(drawing: Drawing, x: float, y: float, side: float, thick: int = 3) -> None:
    for colour, width in ((WHITE, thick + 2), (VERMILION, thick)):
        drawing.rect(x - thick, y - thick, side + 2 * thick, side + 2 * thick, stroke=colour, stroke_width=width)


def _outline(drawing: Drawing, left: float, side: float, inside: Tensor) -> None:
    """Two-coloured lines, seen on dark and on bright ground, around the patches of a grid that are `inside`."""
    for colour, width in ((BLACK, 4), (YELLOW, 2)):
        for line in outline(inside):
            x1, y1, x2, y2 = (side * number for number in line)
            drawing.line(left + x1, TOP + y1, left + x2, TOP + y2, stroke=colour, width=width)
