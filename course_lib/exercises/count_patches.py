"""Lesson 04, count_patches: how many whole patches of side P fit on an image, S pixels from one to the next."""

from __future__ import annotations

from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise


def count_patches(height, width, patch_size, stride):
    rows = (height - patch_size) // stride + 1
    columns = (width - patch_size) // stride + 1
    return rows * columns


def cases() -> list[Case]:
    def case(height: int, width: int, patch_size: int, stride: int, only: str = "") -> Case:
        return Case(
            f"{height} × {width}, P = {patch_size}, S = {stride}",
            (height, width, patch_size, stride),
            letters={"H": height, "W": width, "P": patch_size, "S": stride},
            only=only,
        )

    return [
        case(10, 14, 4, 2),
        case(17, 23, 5, 3),
        case(10, 13, 5, 3),
        case(12, 31, 7, 2),
        case(28, 28, 7, 4, "square images"),
        case(10, 10, 4, 2, "square images"),
        case(12, 20, 4, 4, "stride = patch size"),
        case(11, 21, 5, 5, "stride = patch size"),
        case(6, 9, 3, 1),
        case(40, 31, 6, 4),
    ]


WRONG = mistakes(
    count_patches,
    r"""
brackets missing
    * binds before +: put brackets round each side, (...) * (...).
        return (height - patch_size) // stride + 1 * (width - patch_size) // stride + 1

rounded to the nearest
    round() sometimes goes up, to a patch that hangs over the border. Only whole patches count: //.
        return (round((height - patch_size) / stride) + 1) * (round((width - patch_size) / stride) + 1)

rounded down after the product
    Round each side down before you multiply: parts of a patch on both sides add up to whole ones in the product,
    and no such patch is there.
        return (height - patch_size + stride) * (width - patch_size + stride) // (stride * stride)

rounded to the nearest after the product
    Round each side before you multiply, and round it down: only whole patches count.
        return round(((height - patch_size) / stride + 1) * ((width - patch_size) / stride + 1))

one added too early
    The 1 is added after the division: first the steps, (size − P) // S, then one patch more.
        return (height - patch_size + 1) // stride * ((width - patch_size + 1) // stride)

every start, then divided
    The last start is at size − P, not at size: subtract P before you divide.
        return (height // stride + 1) * (width // stride + 1)

one added once
    Each side has one patch more than steps: add 1 to each before you multiply.
        return (height - patch_size) // stride * ((width - patch_size) // stride) + 1

rows only
    That is how many patches stand one below the other. How many are side by side, and how many in all?
        rows * columns → rows

last start left out
    range(0, size - P, S) stops before size - P, and a patch can start there: range(0, size - P + 1, S).
        return len(range(0, height - patch_size, stride)) * len(range(0, width - patch_size, stride))

every start
    Starts near the border were counted whose patch hangs over. The last start is at size − P.
        return len(range(0, height, stride)) * len(range(0, width, stride))

stride ignored
    size // P counts patches that lie side by side. With a stride smaller than P they overlap, and there are more of
    them.
        return height // patch_size * (width // patch_size)

divided by the stride
    size // S lets the last patches hang over the border. The last start is at size − P, so that is what the stride
    divides.
        return height // stride * (width // stride)

first patch forgotten
    (size − P) // S counts the steps. There is one patch more than there are steps, as there is one fence post more
    than gaps.
        return (height - patch_size) // stride * ((width - patch_size) // stride)

height used twice
    The height was used for both sides: right for square images only.
        rows * columns → rows * rows

width used twice
    The width was used for both sides: right for square images only.
        rows * columns → columns * columns

sides added
    Rows and columns of the grid were added: a grid of 3 rows and 4 columns has 12 places.
        rows * columns → rows + columns

patch size and stride swapped
    Patch size and stride have changed places: the first start is 0, the last is size − P, and S lies between two
    starts.
        return ((height - stride) // patch_size + 1) * ((width - stride) // patch_size + 1)

area divided
    The number of pixels was divided by those of a patch. That takes no account of the border or the stride.
        return height * width // (patch_size * patch_size)

patch size as count
    P is the side of a patch in pixels, not the number of patches along a side.
        return patch_size * patch_size

float result
    Use //, which counts whole steps: half a patch is no patch.
        return ((height - patch_size) / stride + 1) * ((width - patch_size) / stride + 1)

hangs over
    Rounding up counts patches that hang over the border. Only whole patches count: round down.
        return (-(-(height - patch_size) // stride) + 1) * (-(-(width - patch_size) // stride) + 1)
""",
)


EXERCISE = Exercise(
    name="count_patches",
    solution=count_patches,
    cases=cases,
    result=int,
    quantities=lambda height, width, patch_size, stride: {
        "number of rows": (height - patch_size) // stride + 1,
        "number of columns": (width - patch_size) // stride + 1,
    },
    wrong=WRONG,
    hints=(
        "One side first. At which pixels can a patch start? The first start is 0; what is the last one?",
        ("The last start is size − P. Starts are S apart. How many are there between 0 and size − P, both included?"),
        "((height - patch_size) // stride + 1) and the same for the width; multiply the two.",
    ),
    praise="With S = P this is size // P; with a smaller stride the same formula counts overlapping patches.",
)
