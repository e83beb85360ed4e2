"""Lesson 08, hybrid_tokens: how many tokens come from an image of (H, W) behind a stem with a stride."""

from __future__ import annotations

from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise


def hybrid_tokens(image_size, stem_stride, patch_size):
    height, width = image_size
    step = stem_stride * patch_size
    return (height // step) * (width // step)


def cases() -> list[Case]:
    def case(height: int, width: int, stride: int, patch_size: int, only: str = "") -> Case:
        return Case(
            f"an image of {height} × {width}, a stem of stride {stride}, patches of {patch_size} × {patch_size} cells",
            ((height, width), stride, patch_size),
            letters={"H": height, "W": width},
            only=only,
        )

    return [
        case(224, 320, 16, 2),
        case(96, 60, 4, 3),
        case(64, 320, 8, 4),
        case(120, 72, 2, 6),
        case(384, 192, 32, 1),
        case(224, 224, 16, 1, "square images"),
        case(224, 224, 32, 1, "square images"),
        case(28, 21, 1, 1, "patches of one pixel"),
    ]


WRONG = mistakes(
    hybrid_tokens,
    r"""
stem stride ignored
    The patches were cut from the image. The stem has shrunk it by its stride first.
        step = … → step = patch_size

patch size ignored
    These are the cells of the map. A patch takes patch_size × patch_size of them.
        step = … → step = stem_stride

stride and patch size added
    A patch of P cells is stem_stride · P pixels wide: the two are multiplied.
        stem_stride * patch_size → stem_stride + patch_size

height squared
    The height was used twice. Images need not be square.
        (width // step) → (height // step)

width squared
    The width was used twice. Images need not be square.
        (height // step) → (width // step)

one side only
    These are the patches of one column. The grid has rows and columns: multiply.
        * (width // step) →

sides added
    Rows and columns of the grid were added. They are multiplied.
        (height // step) * → (height // step) +

area divided by one step
    The area was divided by one step. A step counts in both directions: each side is divided.
        return … → return height * width // step

stride counted once
    The patch was counted in both directions, the stride in one. The stem shrinks both sides.
        return … → return height * width // (stem_stride * patch_size**2)

patch size counted once
    The stride was counted in both directions, the patch in one. A patch has rows and columns of cells.
        return … → return height * width // (stem_stride**2 * patch_size)

patches that overlap
    This counts patches that move by one cell. Side by side they move by their own size.
        return … → return (height // stem_stride - patch_size + 1) * (width // stem_stride - patch_size + 1)

class token counted
    One too many: the class token is not made by the front end.
        (width // step) → (width // step) + 1

patch size taken in pixels
    The patch size was taken in pixels of the image. It counts cells of the map.
        step = … → step = stem_stride * max(patch_size // stem_stride, 1)

multiplied by the patch size
    The cells of the map were multiplied by the patch size. A patch takes patch_size cells of a row, so divide: //
    stride // patch_size, or brackets around stride * patch_size.
        return … → return height // stem_stride * patch_size * (width // stem_stride * patch_size)

columns only
    These are the patches of one row. The grid has rows and columns: multiply.
        (height // step) * →

one more on each side
    One row and one column too many. All sizes divide here, so nothing is added to the quotient.
        return … → return (height // step + 1) * (width // step + 1)

patches of the image, a stride apart
    This counts patches of patch_size PIXELS that lie a stride apart. Here the stem divides by its stride first, and
    the patches count cells of its map.
        return … → return ((height - patch_size) // stem_stride + 1) * ((width - patch_size) // stem_stride + 1)

pixels of a patch
    These are the pixels that one patch covers. How many such patches fit on the image?
        return … → return step**2

image size taken as one side
    image_size is a pair, and a pair cannot be divided: height, width = image_size.
        height, width = image_size → height = width = image_size

patch size divided by the stride
    The patch size was divided by the stride, as if it were in pixels. It counts cells of the map.
        step = … → step = stem_stride * (patch_size // stem_stride)
""",
)


EXERCISE = Exercise(
    name="hybrid_tokens",
    solution=hybrid_tokens,
    cases=cases,
    result=int,
    quantities=lambda image_size, stem_stride, patch_size: {
        "height of the image": image_size[0],
        "width of the image": image_size[1],
        "number of rows": image_size[0] // (stem_stride * patch_size),
        "number of columns": image_size[1] // (stem_stride * patch_size),
    },
    wrong=WRONG,
    hints=(
        "Two things make the grid smaller, one after the other: which?",
        "The map has height // stem_stride rows. A patch takes patch_size of them.",
        "rows = height // (stem_stride * patch_size), and the same for columns; the result is rows * columns",
    ),
    praise="A cell of the map is a stride wide, and a patch counts cells.",
)
