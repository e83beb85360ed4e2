"""Lesson 08, exercise hybrid_tokens."""

from __future__ import annotations

from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise


def hybrid_tokens(image_size, stem_stride, patch_size):
    height, width = image_size
    step = stem_stride * patch_size
    return (height // step) * (width // step)


def _count_cases() -> list[Case]:
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
        return image_size[0] // patch_size * (image_size[1] // patch_size)

patch size ignored
    These are the cells of the map. A patch takes patch_size × patch_size of them.
        return image_size[0] // stem_stride * (image_size[1] // stem_stride)

stride and patch size added
    A patch of P cells is stem_stride · P pixels wide: the two are multiplied.
        return image_size[0] // (stem_stride + patch_size) * (image_size[1] // (stem_stride + patch_size))

height squared
    The height was used twice. Images need not be square.
        return (image_size[0] // (stem_stride * patch_size)) ** 2

width squared
    The width was used twice. Images need not be square.
        return (image_size[1] // (stem_stride * patch_size)) ** 2

one side only
    These are the patches of one column. The grid has rows and columns: multiply.
        return image_size[0] // (stem_stride * patch_size)

sides added
    Rows and columns of the grid were added. They are multiplied.
        return image_size[0] // (stem_stride * patch_size) + image_size[1] // (stem_stride * patch_size)

area divided by one step
    The area was divided by one step. A step counts in both directions: each side is divided.
        return image_size[0] * image_size[1] // (stem_stride * patch_size)

stride counted once
    The patch was counted in both directions, the stride in one. The stem shrinks both sides.
        return image_size[0] * image_size[1] // (stem_stride * patch_size**2)

patch size counted once
    The stride was counted in both directions, the patch in one. A patch has rows and columns of cells.
        return image_size[0] * image_size[1] // (stem_stride**2 * patch_size)

patches that overlap
    This counts patches that move by one cell. Side by side they move by their own size.
        return (image_size[0] // stem_stride - patch_size + 1) * (image_size[1] // stem_stride - patch_size + 1)

class token counted
    One too many: the class token is not made by the front end.
        return hybrid_tokens(image_size, stem_stride, patch_size) + 1

patch size taken in pixels
    The patch size was taken in pixels of the image. It counts cells of the map.
        return (
            image_size[0]
            // max(patch_size // stem_stride, 1)
            // stem_stride
            * (image_size[1] // max(patch_size // stem_stride, 1) // stem_stride)
        )

multiplied by the patch size
    The cells of the map were multiplied by the patch size. A patch takes patch_size cells of a row, so divide: //
    stride // patch_size, or brackets around stride * patch_size.
        return image_size[0] // stem_stride * patch_size * (image_size[1] // stem_stride * patch_size)

columns only
    These are the patches of one row. The grid has rows and columns: multiply.
        return image_size[1] // (stem_stride * patch_size)

one more on each side
    One row and one column too many. All sizes divide here, so nothing is added to the quotient.
        return (image_size[0] // (stem_stride * patch_size) + 1) * (image_size[1] // (stem_stride * patch_size) + 1)

patches of the image, a stride apart
    This counts patches of patch_size PIXELS that lie a stride apart. Here the stem divides by its stride first, and
    the patches count cells of its map.
        return ((image_size[0] - patch_size) // stem_stride + 1) * ((image_size[1] - patch_size) // stem_stride + 1)

pixels of a patch
    These are the pixels that one patch covers. How many such patches fit on the image?
        return (stem_stride * patch_size) ** 2

image size taken as one side
    image_size is a pair, and a pair cannot be divided: height, width = image_size.
        return (image_size // (stem_stride * patch_size)) ** 2

patch size divided by the stride
    The patch size was divided by the stride, as if it were in pixels. It counts cells of the map.
        return (
            image_size[0]
            // stem_stride
            // (patch_size // stem_stride)
            * (image_size[1] // stem_stride // (patch_size // stem_stride))
        )
""",
)


EXERCISE = Exercise(
    name="hybrid_tokens",
    solution=hybrid_tokens,
    cases=_count_cases,
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
