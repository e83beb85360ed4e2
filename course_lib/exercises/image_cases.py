"""Images of many sizes for the cases of lesson 04."""

from __future__ import annotations


def sizes_of(batch: int, channels: int, height: int, width: int, patch_size: int) -> dict[str, int]:
    return {
        "B": batch,
        "C": channels,
        "H": height,
        "W": width,
        "P": patch_size,
        "N": (height // patch_size) * (width // patch_size),
    }


IMAGE_CASES = (  # batch, channels, height, width, patch size, coincidence
    (4, 2, 6, 9, 3, ""),
    (3, 5, 8, 4, 2, ""),
    (2, 2, 6, 6, 3, "square images"),
    (3, 4, 8, 8, 2, "square images"),
    (2, 1, 6, 4, 2, "one channel"),
    (3, 1, 6, 9, 3, "one channel"),
    (2, 3, 4, 10, 2, "three channels"),
    (4, 3, 9, 6, 3, "three channels"),
    (1, 4, 8, 6, 2, "a batch of one"),
    (1, 2, 6, 9, 3, "a batch of one"),
    (3, 2, 4, 5, 1, "trivial"),  # a patch is a pixel
    (1, 1, 1, 1, 1, "trivial"),
)


def describe(batch: int, channels: int, height: int, width: int, patch_size: int) -> str:
    images = "one image" if batch == 1 else f"{batch} images"
    return f"{images} of {channels} × {height} × {width} pixels, P = {patch_size}"
