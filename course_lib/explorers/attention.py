"""Live picture of lesson 10: where the class token looks."""

from __future__ import annotations

import torch
from torch import Tensor

from course_lib.showing.controls import Choice, Slider
from course_lib.showing.drawing import BLUE, GREY, VERMILION, Drawing, shade
from course_lib.showing.live import Live
from course_lib.showing.tables import number_cell
from course_lib.vit import VisionTransformer


def class_token_attention(
    model: VisionTransformer, images: Tensor, labels: Tensor, grid: tuple[int, int], digit: int = 0
) -> Live:
    """Choose a digit of images (B, 1, H, W), a layer and a head; see the share of each patch in token 0's mixture."""
    model.eval()
    weights = model.attention_weights(images)[:, :, :, 0]  # (depth, B, heads, N + 1): row 0 of each head
    with torch.no_grad():
        chances = model(images).softmax(dim=1)
    depth, count, heads, _ = weights.shape

    def draw(digit: int, layer: int, head: str | int) -> Drawing:
        chosen = weights[layer - 1, digit]
        row = chosen.mean(dim=0) if head == "mean of all" else chosen[int(head) - 1]
        told = f"layer {layer}, {head if head == 'mean of all' else f'head {head}'}"
        return draw_attention(images[digit, 0], row, grid, chances[digit], int(labels[digit]), told)

    return Live(
        draw,
        digit=Slider("Digit", 0, count - 1, digit),
        layer=Slider("Layer", 1, depth, depth),
        head=Choice("Head", ["mean of all", *range(1, heads + 1)], "mean of all"),
    )


def draw_attention(
    image: Tensor, row: Tensor, grid: tuple[int, int], chances: Tensor, label: int, told: str
) -> Drawing:
    """The drawing behind class_token_attention: image (H, W), row (N + 1,) of weights that sum to 1."""
    rows, columns = grid
    own, patches = row[0].item(), row[1:].reshape(grid)
    strongest = int(row[1:].argmax())
    drawing, tile = Drawing(760, 330), 264 / max(grid)
    drawing.label(14, 18, "the digit and its patches", bold=True)
    drawing.label(310, 18, f"class token, {told}", bold=True)
    drawing.pixels(14, 36, columns * tile, rows * tile, image)
    most = max(patches.max().item(), 1e-9)
    for place, weight in enumerate(patches.flatten().tolist()):
        x, y = place % columns * tile, place // columns * tile
        drawing.rect(14 + x, 36 + y, tile, tile, stroke=GREY)
        number_cell(drawing, 310 + x, 36 + y, tile, tile, shade(weight, 0, most), f"{weight:.0%}")
        for panel, left in (("digit", 14), ("weights", 310)):
            drawing.spot(panel, f"patch {place}", left + x, 36 + y, tile, tile)
        drawing.say(
            f"patch {place}",
            f"patch {place}, row {place // columns}, column {place % columns}: {weight:.1%} of what the class token"
            f" takes in ({told}); an equal share would be {1 / len(row):.1%}",
        )
    for left in (14, 310):
        x, y = strongest % columns * tile, strongest // columns * tile
        drawing.rect(left + x, 36 + y, tile, tile, stroke=VERMILION, stroke_width=4)
    drawing.label(310, 36 + rows * tile + 16, f"and {own:.0%} on itself", size=12)
    answer = int(chances.argmax())
    drawing.label(600, 18, f"it is a {label}", bold=True)
    for kind, chance in enumerate(chances.tolist()):
        y = 46 + 27 * kind
        drawing.label(612, y, str(kind), anchor="end", bold=kind == answer)
        drawing.rect(622, y - 8, max(80 * chance, 1), 16, fill=BLUE)
        drawing.label(628 + 80 * chance, y, f"{chance:.0%}", size=11)
    drawing.text = (
        f"A handwritten {label} under a grid of {rows} × {columns} patches. Beside it the same grid with the share of"
        f" each patch in what the class token takes in, {told}: {patches.min().item():.0%} to {most:.0%}, and"
        f" {own:.0%} on itself. Patch {strongest} has most and is framed in both. On the right a bar for each digit:"
        f" the model answers {answer}, with {chances[answer].item():.0%}."
    )
    return drawing
