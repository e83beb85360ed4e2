"""Live picture of lesson 07: shuffled patches, and what attention makes of them with and without positions."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from course_lib import patches
from course_lib.showing.controls import Slider
from course_lib.showing.drawing import BLUE, GREY, VERMILION, WHITE, Drawing, channels_to_back
from course_lib.showing.live import Live

MOST_SWAPS = 20


def shuffled_patches(
    image: Tensor, *, patch_size: int, weight: Tensor, positions: Tensor, attend: Callable[[Tensor], Tensor]
) -> Live:
    """Swap more and more patches of an image (1, C, H, W); weight (D, C·P·P), positions (N, D)."""

    def draw(swaps: int) -> Drawing:
        return draw_shuffled(image, patch_size, weight, positions, attend, swaps)

    return Live(draw, swaps=Slider("Swaps", 0, MOST_SWAPS, 3))


def draw_shuffled(image, patch_size, weight, positions, attend, swaps: int) -> Drawing:
    """The drawing behind shuffled_patches: the shuffled image, and how far each patch's result moved."""
    rows = patches.patchify(image, patch_size)
    order = swapped(rows.shape[1], swaps)
    changes = []
    for table in (torch.zeros_like(positions), positions):
        before = attend(rows @ weight.T + table)[:, order]
        after = attend(rows[:, order] @ weight.T + table)
        changes.append((after - before).abs().amax(dim=-1)[0])
    channels, height, width = image.shape[1:]
    shown = patches.unpatchify(rows[:, order], patch_size, channels, height, width)[0]
    drawing = Drawing(720, 324)
    drawing.pixels(12, 12, 300, 300, channels_to_back(shown))
    side, columns = 300 * patch_size / width, width // patch_size
    for place, patch in enumerate(order.tolist()):
        x, y = 12 + place % columns * side, 12 + place // columns * side
        _number(drawing, x + 16, y + 12, patch, place, 26)
    limit = max(changes[1].max().item(), 1e-9)
    for panel, (name, change) in enumerate(zip(("without positions", "with positions"), changes, strict=True)):
        top = 40 + 150 * panel
        drawing.label(350, top - 16, f"{name}: largest change of a result {change.max().item():.2f}", bold=True)
        drawing.line(350, top + 100, 700, top + 100, stroke=GREY, width=1)
        for place, value in enumerate(change.tolist()):
            high = value / limit * 90
            drawing.rect(352 + place * 350 / len(change), top + 100 - high, 350 / len(change) - 4, high, fill=BLUE)
            drawing.spot(name, f"place {place}", 350 + place * 350 / len(change), top, 350 / len(change), 100)
            _number(drawing, 350 + (place + 0.5) * 350 / len(change), top + 111, int(order[place]), place, 19)
    for place, patch in enumerate(order.tolist()):
        x, y = 12 + place % columns * side, 12 + place // columns * side
        drawing.spot("image", f"place {place}", x, y, side, side)
        where = "where it belongs" if place == patch else f"it belongs to place {patch}"
        moved = [change[place].item() for change in changes]
        drawing.say(
            f"place {place}",
            f"place {place} holds patch {patch}, {where}; its result changed by at most {moved[0]:.2f} without"
            f" positions, {moved[1]:.2f} with",
        )
    drawing.text = (
        f"An image of {len(order)} numbered patches after {swaps} swaps;"
        f" {int((order != torch.arange(len(order))).sum())} are out of place. Beside it two rows of bars, one bar"
        " for each place, with the number of the patch that lies there: how far its result changed. Without"
        f" positions at most {changes[0].max().item():.2f}, with positions up to {changes[1].max().item():.2f}."
    )
    return drawing


def _number(drawing: Drawing, x: float, y: float, patch: int, place: int, wide: float) -> None:
    """The number of a patch with its middle at (x, y), framed where the patch is out of place."""
    frame = VERMILION if place != patch else None
    drawing.rect(x - wide / 2, y - 9, wide, 18, fill=WHITE, stroke=frame, stroke_width=2)
    drawing.label(x, y, str(patch), size=11, anchor="middle", bold=True)


def swapped(count: int, swaps: int, seed: int = 0) -> Tensor:
    """An order of `count` places after so many swaps of two; each one more keeps those before it."""
    order, generator = torch.arange(count), torch.Generator().manual_seed(seed)
    for _ in range(swaps):
        one, other = torch.randperm(count, generator=generator)[:2].tolist()
        order[[one, other]] = order[[other, one]]
    return order
