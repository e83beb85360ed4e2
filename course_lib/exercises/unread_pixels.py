"""Lesson 04, unread_pixels: how many pixels of an image lie in no whole patch."""

from __future__ import annotations

from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise


def unread_pixels(height, width, patch_size):
    read = (height // patch_size * patch_size) * (width // patch_size * patch_size)
    return height * width - read


def cases() -> list[Case]:
    def case(height: int, width: int, patch_size: int, only: str = "") -> Case:
        return Case(
            f"{height} × {width}, P = {patch_size}",
            (height, width, patch_size),
            letters={"H": height, "W": width, "P": patch_size},
            only=only,
        )

    return [
        case(10, 9, 4),
        case(17, 23, 5),
        case(9, 8, 4),
        case(8, 11, 4),
        case(220, 220, 16, "square images"),
        case(9, 9, 4, "square images"),
        case(12, 20, 4, "trivial"),
        case(5, 7, 1, "trivial"),
    ]


WRONG = mistakes(
    unread_pixels,
    r"""
lengths swapped
    The strip below is as long as the image is WIDE, the one on the right as long as it is HIGH.
        return height % patch_size * height + width % patch_size * width - height % patch_size * (width % patch_size)

grid times P
    Each patch reads P·P pixels, not P.
        width // patch_size * patch_size → width // patch_size

patches taken off
    The number of PATCHES was subtracted from the number of pixels. Each patch reads P·P pixels.
        return height * width - height // patch_size * (width // patch_size)

height used twice
    The height was used for both sides: right for square images only.
        return height * height - (height // patch_size * patch_size) ** 2

height used twice for what is read
    The height was used for both sides of what is read: right for square images only.
        width // patch_size → height // patch_size

width used twice for what is read
    The width was used for both sides of what is read: right for square images only.
        height // patch_size → width // patch_size

the ones that are read, height used twice
    The height was used for both sides. And these would be the pixels that are read: what is left of the image?
        return (height // patch_size * patch_size) ** 2

the ones that are read, width used twice
    The width was used for both sides. And these would be the pixels that are read: what is left of the image?
        return (width // patch_size * patch_size) ** 2

number of patches
    That is how many patches there are. Each reads P·P pixels; how many pixels are left over?
        return height // patch_size * (width // patch_size)

corner that padding adds
    -height % P is what padding would ADD until the patches fit; height % P is what is left over. And the product of
    the two is a corner, not the two whole strips.
        return -height % patch_size * (-width % patch_size)

difference turned round
    The difference is the wrong way round: the whole image minus what is read.
        height * width - read → read - height * width

percent
    That is how many per cent. The question is how many pixels.
        return (
            100
            * (height * width - height // patch_size * patch_size * (width // patch_size * patch_size))
            / (height * width)
        )

corner only
    That is only the corner where the two strips meet. The whole strip below and the whole strip on the right are
    not read.
        return height % patch_size * (width % patch_size)

corner twice
    The corner where the strip below and the strip on the right meet was counted twice.
        return height % patch_size * width + width % patch_size * height

corner missing
    The corner where the two strips meet is not read either.
        return height % patch_size * (width - width % patch_size) + width % patch_size * (height - height % patch_size)

strips without length
    These are the widths of the two strips. A strip has a length as well.
        return height % patch_size + width % patch_size

strip below only
    The strip on the right is missing.
        return height % patch_size * width

strip on the right only
    The strip below is missing.
        return width % patch_size * height

the ones that are read
    These are the pixels that are read. What is left of the image?
        height * width - read → read

remainder of the area
    The remainder of the area says nothing about the border: patches have to fit along each side.
        return height * width % (patch_size * patch_size)

padding
    That is how many pixels padding would ADD. The question is how many are left out without it.
        return -(-height // patch_size) * patch_size * (-(-width // patch_size) * patch_size) - height * width

share
    That is a share of the image. The question is how many pixels.
        return 1 - height // patch_size * patch_size * (width // patch_size * patch_size) / (height * width)
""",
)


EXERCISE = Exercise(
    name="unread_pixels",
    solution=unread_pixels,
    cases=cases,
    result=int,
    quantities=lambda height, width, patch_size: {
        "height that is read": height // patch_size * patch_size,
        "width that is read": width // patch_size * patch_size,
    },
    wrong=WRONG,
    hints=(
        "Which part of the image do the patches cover? How many pixels high and wide is it?",
        "height // P * P pixels high. Subtract what is covered from the whole.",
        "height * width - (height // patch_size * patch_size) * (width // patch_size * patch_size)",
    ),
    praise="PyTorch's own ways leave them out without a word; the course's patchify refuses such sizes.",
)
