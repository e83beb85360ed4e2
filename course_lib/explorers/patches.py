"""Live pictures of lessons 04 to 06: patches and coverage, two patches and their tokens, kernel and matrix."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor

from course_lib import patches
from course_lib.showing.controls import Slider
from course_lib.showing.drawing import (
    BLACK,
    GREEN,
    GREY,
    LIGHT,
    PURPLE,
    SKY,
    VERMILION,
    WHITE,
    Drawing,
    channels_to_back,
    diverge,
)
from course_lib.showing.live import Live
from course_lib.showing.tables import number_cell

INSIDE = "#c9e4f7"  # pale blue behind what is read
DARK_ORANGE = "#9c4200"
ABOVE, BELOW = diverge(1, 1), diverge(-1, 1)  # a bar has the colour of a weight with its sign
MOST_OUTLINED = 24  # patches along a side; more lines than that would only be a grey veil
MOST_ROWS = 64  # of the matrix of patches; more would be thinner than two pixels


def patch_grid(image: Tensor, size: int, patch_size: int, stride: int) -> Live:
    """Sliders for image size, patch size and stride over an image (1, C, H, W) with equal sides."""

    def draw(size: int, patch_size: int, stride: int) -> Drawing:
        return draw_patch_grid(image, size, patch_size, stride)

    return Live(
        draw,
        size=Slider("Image size", 16, 64, size),
        patch_size=Slider("Patch size P", 2, 16, patch_size),
        stride=Slider("Stride S", 1, 16, stride),
    )


def draw_patch_grid(image: Tensor, size: int, patch_size: int, stride: int) -> Drawing:
    """The drawing behind patch_grid: patches outlined, unread pixels painted over, the counts beside it."""
    small = torch.nn.functional.interpolate(image, size=(size, size), mode="bilinear", antialias=True).clamp(0, 1)[0]
    counts = patches.coverage(size, size, patch_size, stride)
    side = (size - patch_size) // stride + 1
    scale = 320 / size
    drawing = Drawing(660, 344)
    drawing.pixels(12, 12, 320, 320, channels_to_back(small))
    for start, end in _gaps(counts.amax(dim=0)):  # what no patch reads are whole rows and whole columns
        drawing.rect(12 + start * scale, 12, (end - start) * scale, 320, fill=VERMILION)
        drawing.rect(12, 12 + start * scale, 320, (end - start) * scale, fill=VERMILION)
    outlined = range(side if side <= MOST_OUTLINED else 0)
    for row, column in itertools.product(outlined, outlined):
        x, y = 12 + column * stride * scale, 12 + row * stride * scale
        drawing.rect(x, y, patch_size * scale, patch_size * scale, stroke=SKY)
    for number in range(min(side, 2)):  # the first patches, framed twice so that they show on any picture
        for inset, colour in ((0, WHITE), (1, BLACK)):
            x, width = 12 + number * stride * scale + inset, patch_size * scale - 2 * inset
            drawing.rect(x, 12 + inset, width, width, stroke=colour, stroke_width=2)
    unread, numbers, total = int((counts == 0).sum()), len(small) * patch_size**2, side * side
    lines = (
        (f"{side} × {side} = {total:,} {'patch' if total == 1 else 'patches'}", True),
        (f"{numbers} numbers in a patch", False),
        (f"{total**2:,} {'pair' if total == 1 else 'pairs'} of tokens", False),
        (f"{unread:,} pixels in no patch", unread > 0),
        (f"a pixel is read at most {_times(int(counts.max()))}", False),
        (f"numbers kept: {total * numbers / small.numel():.2f} × the image's", False),
        ("" if outlined else "too many patches to outline: the first two are framed", False),
    )
    for place, (text, bold) in enumerate(lines):
        drawing.label(356, 24 + 22 * place, text, bold=bold, size=13 if place < 6 else 11)
    _link_patches(drawing, small[None], patch_size, stride, counts, scale)
    drawing.text = (
        f"An image of {size} × {size} pixels under patches of {patch_size} × {patch_size} with stride {stride}: "
        f"{side} × {side} = {total:,} patches of {numbers} numbers, {unread:,} pixels in no patch, "
        f"a pixel read at most {_times(int(counts.max()))}."
    )
    return drawing


def _link_patches(drawing: Drawing, image: Tensor, patch_size: int, stride: int, counts: Tensor, scale: float) -> None:
    """Patches on the image and, where they are not too many, the rows of the matrix that they become."""
    rows = patches.overlapping_patches(image, patch_size, stride)[0]
    side, high = (image.shape[-1] - patch_size) // stride + 1, 140 / len(rows)
    shown = len(rows) <= MOST_ROWS
    if shown:
        drawing.label(356, 180, f"the matrix of patches, {len(rows)} × {rows.shape[1]}", size=12, bold=True)
        drawing.pixels(356, 192, 290, 140, rows)
    for start, end in _gaps(counts.amax(dim=0)):
        drawing.spot("image", "unread", 12 + start * scale, 12, (end - start) * scale, 320)
        drawing.spot("image", "unread", 12, 12 + start * scale, 320, (end - start) * scale)
        drawing.say("unread", f"{int((counts == 0).sum()):,} pixels lie in no patch")
    for number in range(len(rows) if side <= MOST_OUTLINED else 0):
        row, column = divmod(number, side)
        y, x = row * stride, column * stride
        drawing.spot("image", f"patch {number}", 12 + x * scale, 12 + y * scale, patch_size * scale, patch_size * scale)
        if shown:
            drawing.spot("matrix", f"patch {number}", 356, 192 + number * high, 290, high)
        drawing.say(
            f"patch {number}",
            f"patch {number} of {len(rows)}, row {row}, column {column}: pixels {y} to {y + patch_size - 1} down and"
            f" {x} to {x + patch_size - 1} across → row {number} of the matrix, {rows.shape[1]} numbers",
        )


def one_matrix(image: Tensor, *, patch_size: int, weight: Tensor, bias: Tensor, first: int, second: int) -> Live:
    """Two patches of an image (1, C, H, W), and the tokens that one weight (D, C·P·P) and bias (D,) make of them.

    Of one number of the tokens the row of the matrix is shown, painted as a patch.
    """

    def draw(first: int, second: int, number: int) -> Drawing:
        return draw_one_matrix(image, patch_size, weight, bias, first, second, number)

    last = patches.count_patches(image.shape[-2], image.shape[-1], patch_size) - 1
    return Live(
        draw,
        first=Slider("First patch", 0, last, first),
        second=Slider("Second patch", 0, last, second),
        number=Slider("Number", 0, len(weight) - 1, 0),
    )


def draw_one_matrix(
    image: Tensor, patch_size: int, weight: Tensor, bias: Tensor, first: int, second: int, number: int = 0
) -> Drawing:
    """The drawing behind one_matrix: both patches framed in the image and enlarged, each with its token as bars,
    and below them the row of the matrix that makes one number of both."""
    rows = patches.patchify(image, patch_size)
    tokens = torch.nn.functional.linear(rows, weight, bias)[0]
    scale, columns = 288 / image.shape[-1], image.shape[-1] // patch_size
    drawing = Drawing(760, 426)
    drawing.pixels(12, 12, 288, image.shape[-2] * scale, channels_to_back(image[0]))
    limit = tokens.abs().max().item()
    for place, (chosen, colour) in enumerate(((first, GREEN), (second, PURPLE))):  # not those of the signs
        row, column = divmod(chosen, columns)
        x, y, side = 12 + column * patch_size * scale, 12 + row * patch_size * scale, patch_size * scale
        drawing.rect(x - 2, y - 2, side + 4, side + 4, stroke=WHITE, stroke_width=5)
        drawing.rect(x - 2, y - 2, side + 4, side + 4, stroke=colour, stroke_width=3)
        top = 34 + 132 * place
        drawing.label(330, top - 14, f"patch {chosen}: row {row}, column {column}", bold=True)
        tile = patches.unpatchify(rows[:, chosen : chosen + 1], patch_size, image.shape[1], patch_size, patch_size)[0]
        drawing.pixels(330, top, 90, 90, channels_to_back(tile))
        drawing.rect(329, top - 1, 92, 92, stroke=colour, stroke_width=3)
        width = 300 / len(tokens[chosen])
        drawing.line(440, top + 45, 740, top + 45, stroke=GREY, width=1)
        for index, value in enumerate(tokens[chosen].tolist()):
            height = abs(value) / limit * 43
            up = top + 45 - height if value > 0 else top + 45
            drawing.rect(440 + index * width, up, max(width - 1, 1), height, fill=ABOVE if value > 0 else BELOW)
        drawing.rect(439 + number * width, top, width + 1, 90, stroke=BLACK)
    _draw_row(drawing, weight, bias, tokens, (first, second), number, (image.shape[1], patch_size))
    _link_tokens(drawing, rows[0], weight, bias, tokens, (first, second), scale * patch_size, columns)
    distance = (tokens[first] - tokens[second]).norm().item()
    differ = int((tokens[first] != tokens[second]).sum())
    smallest, largest = torch.pdist(tokens).aminmax()
    told = f"distance of the two tokens {distance:.2f}; of all pairs {smallest:.2f} to {largest:.2f}"
    drawing.label(330, 290, told, size=12, bold=True)
    drawing.text = (
        f"An image with two framed patches, number {first} and number {second}, each shown enlarged beside its"
        f" token, {tokens.shape[-1]} numbers as bars above and below a line. The same matrix made both tokens;"
        f" {differ} of their numbers differ, and their distance is {distance:.2f}. Below, row {number} of the matrix"
        f" as {image.shape[1]} small squares of {patch_size} × {patch_size} weights: with it number {number} is"
        f" {tokens[first, number]:.2f} for the first and {tokens[second, number]:.2f} for the second patch."
    )
    return drawing


def _draw_row(drawing, weight, bias, tokens, chosen, number, size) -> None:
    """One row of the matrix as a square for each channel, and the number that it makes of both patches."""
    channels, side = size
    drawing.label(12, 322, f"row {number} of the matrix, painted as a patch", bold=True)
    drawing.label(330, 410, "bars and weights: orange above 0, blue below 0", size=12)
    limit, cell = weight[number].abs().max().item(), 78 / side
    for channel, square in enumerate(weight[number].reshape(channels, side, side).tolist()):
        for row, column in itertools.product(range(side), range(side)):
            x, y = 12 + channel * 90 + column * cell, 336 + row * cell
            drawing.rect(x, y, cell, cell, fill=diverge(square[row][column], limit))
        drawing.rect(12 + channel * 90, 336, 78, 78, stroke=GREY)
        drawing.spot("row", f"number {number}", 12 + channel * 90, 336, 78, 78)
    for place, patch in enumerate(chosen):
        told = f"{weight.shape[1]} products and bias {bias[number]:.2f} sum to {tokens[patch, number]:.2f}"
        drawing.label(330, 350 + 30 * place, f"patch {patch}: {told}")


def _link_tokens(drawing, rows, weight, bias, tokens, chosen, side, columns) -> None:
    """Every patch tells how far its token lies from the first one; a number of the tokens tells its sum."""
    first, second = chosen
    for number, token in enumerate(tokens):
        row, column = divmod(number, columns)
        away = (token - tokens[first]).norm().item()
        drawing.spot("image", f"patch {number}", 12 + column * side, 12 + row * side, side, side)
        drawing.say(f"patch {number}", f"patch {number}, row {row}, column {column}: its token lies {away:.2f} from"
                                       f" that of patch {first}")  # fmt: skip
    for place, number in enumerate(chosen):
        drawing.spot("patches", f"patch {number}", 330, 34 + 132 * place, 90, 90)
    width = 300 / tokens.shape[1]
    for index in range(tokens.shape[1]):
        name = f"number {index}"
        for place in range(2):
            drawing.spot("tokens", name, 440 + index * width, 34 + 132 * place, width, 90)
        terms = " + ".join(f"{x:.2f}·({w:.2f})" for x, w in zip(rows[first, :3], weight[index, :3], strict=True))
        drawing.say(
            name,
            f"number {index}, with row {index} of the matrix: {terms} + … ({rows.shape[1]} products) + bias"
            f" {bias[index]:.2f} = {tokens[first, index]:.2f} for patch {first}; the same weights give"
            f" {tokens[second, index]:.2f} for patch {second}",
            [f"patch {number}" for number in chosen],
        )


def two_readings(image: Tensor, weight: Tensor) -> Live:
    """One number of the result, read as a sliding kernel and as row times row.

    image (1, 1, H, W) with small whole numbers, weight (D, 1, P, P).
    """

    def draw(token: int, number: int) -> Drawing:
        return draw_two_readings(image, weight, token, number)

    last = patches.count_patches(image.shape[-2], image.shape[-1], weight.shape[-1]) - 1
    return Live(draw, token=Slider("Token", 0, last, 1), number=Slider("Kernel", 0, len(weight) - 1, 0))


def draw_two_readings(image: Tensor, weight: Tensor, token: int, number: int) -> Drawing:
    """The drawing behind two_readings; both readings are computed by the layers that the lesson compares."""
    side, (height, width), cell = weight.shape[-1], image.shape[-2:], 38
    row, column = divmod(token, width // side)
    patch, kernel = patches.patchify(image, side)[0, token], weight[number].flatten()
    by_kernel = torch.nn.functional.conv2d(image, weight, stride=side)[0, number, row, column].item()
    by_row = torch.nn.functional.linear(patch, weight.flatten(1))[number].item()
    right = 20 + width * cell + 60
    drawing = Drawing(right + 100 + side * side * 44, height * cell + 84)
    drawing.label(20, 20, "a kernel on the image", bold=True)
    drawing.label(right, 20, "a row of the matrix on a row of pixels", bold=True)
    for y, x in itertools.product(range(height), range(width)):
        left, top = 20 + x * cell, 40 + y * cell
        inside = y // side == row and x // side == column
        pixel = f"{image[0, 0, y, x]:.0f}"
        if inside:
            drawing.rect(left, top, cell, cell, fill=INSIDE, stroke=LIGHT)
            drawing.label(left + cell / 2, top + 11, pixel, size=12, anchor="middle")
            told = f"× {kernel[y % side * side + x % side]:.1f}"
            drawing.label(left + cell / 2, top + 27, told, size=10, anchor="middle", colour=DARK_ORANGE)
        else:
            number_cell(drawing, left, top, cell, cell, WHITE, pixel)
    corner = 20 + column * side * cell, 40 + row * side * cell
    drawing.rect(*corner, side * cell, side * cell, stroke=VERMILION, stroke_width=3)
    drawing.label(20, 62 + height * cell, f"kernel {number}: sum of products {by_kernel:.2f}", bold=True)
    names = (("pixels", patch, "{:.0f}"), ("weights", kernel, "{:.1f}"), ("products", patch * kernel, "{:.1f}"))
    for line, (name, values, how) in enumerate(names):
        y = 60 + line * 44
        drawing.label(right, y + 15, name)
        for place, value in enumerate(values.tolist()):
            fill = INSIDE if line == 0 else WHITE
            number_cell(drawing, right + 80 + place * 44, y, 44, 30, fill, how.format(value))
    drawing.label(right, 200, f"row {number}: sum of products {by_row:.2f}", bold=True)
    drawing.label(right, 236, f"all numbers of token {token}:")
    for index, value in enumerate(torch.nn.functional.linear(patch, weight.flatten(1)).tolist()):
        x = right + 170 + index * 64
        number_cell(drawing, x, 222, 64, 28, INSIDE if index == number else WHITE, f"{value:.2f}")
    _link_places(drawing, patch, kernel, by_row, corner, cell, right + 80)
    drawing.text = (
        f"Left, an image of {height} × {width} numbers with a frame around patch {token}, on which kernel {number}"
        f" lies. Right, the same {side * side} pixels in a row, the {side * side} weights of row {number} below"
        f" them, and their products. Both sums are {by_kernel:.2f} and {by_row:.2f}."
    )
    return drawing


def _link_places(
    drawing: Drawing,
    patch: Tensor,
    kernel: Tensor,
    total: float,
    corner: tuple[float, float],
    cell: float,
    right: float,
) -> None:
    """A pixel under the kernel, whose corner is given, lights its place in the row; its product is one of the total."""
    side = round(len(patch) ** 0.5)
    for place, (pixel, factor) in enumerate(zip(patch.tolist(), kernel.tolist(), strict=True)):
        y, x = divmod(place, side)
        drawing.spot("image", f"place {place}", corner[0] + x * cell, corner[1] + y * cell, cell, cell)
        for line in range(3):
            drawing.spot("row", f"place {place}", right + place * 44, 60 + line * 44, 44, 30)
        drawing.say(
            f"place {place}",
            f"row {y}, column {x} of the kernel is place {place} of the row: {pixel:.0f} × {factor:.1f} ="
            f" {pixel * factor:.1f}, one of {side * side} products that sum to {total:.2f}",
        )


def _gaps(counts: Tensor) -> list[tuple[int, int]]:
    """Start and end of each run of zeros."""
    edges = torch.nn.functional.pad((counts == 0).int(), (1, 1)).diff().nonzero().flatten().tolist()
    return list(zip(edges[::2], edges[1::2], strict=True))


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")
