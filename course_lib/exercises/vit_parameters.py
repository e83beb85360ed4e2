"""Lesson 10, exercise vit_parameters."""

from __future__ import annotations

from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise


def vit_parameters(channels, patch_size, image_size, dimension, depth, hidden, classes):
    num_patches = (image_size // patch_size) ** 2
    projection = channels * patch_size**2 * dimension + dimension
    class_token_and_positions = dimension + (num_patches + 1) * dimension
    attention = 4 * (dimension * dimension + dimension)
    network = dimension * hidden + hidden + hidden * dimension + dimension
    norms = 2 * (2 * dimension)
    last_norm_and_head = 2 * dimension + dimension * classes + classes
    return projection + class_token_and_positions + depth * (attention + network + norms) + last_norm_and_head


def _parts(channels, patch_size, image_size, dimension, depth, hidden, classes):
    """What each part of the model learns, and the number of patches."""
    num_patches = (image_size // patch_size) ** 2
    return {
        "number of patches": num_patches,
        "number of tokens": num_patches + 1,
        "length of a patch": channels * patch_size**2,
        "numbers of the projection": channels * patch_size**2 * dimension + dimension,
        "class token and positions": (num_patches + 2) * dimension,
        "attention of a block": 4 * (dimension * dimension + dimension),
        "feed-forward network of a block": 2 * dimension * hidden + hidden + dimension,
        "two norms of a block": 4 * dimension,
        "last norm and head": 2 * dimension + dimension * classes + classes,
    }


def _count(**parts):
    """The solution with some of its parts changed: each is a function of the sizes, or a number."""

    def wrong(channels, patch_size, image_size, dimension, depth, hidden, classes):
        d, n = dimension, (image_size // patch_size) ** 2
        values = {
            "projection": channels * patch_size**2 * d + d,
            "class_token": d,
            "positions": (n + 1) * d,
            "attention": 4 * (d * d + d),
            "network": d * hidden + hidden + hidden * d + d,
            "norms": 4 * d,
            "depth": depth,
            "last_norm": 2 * d,
            "head": d * classes + classes,
        }
        sizes = {"d": d, "n": n, "c": channels, "p": patch_size, "hidden": hidden, "classes": classes}
        values |= {name: part(**sizes) if callable(part) else part for name, part in parts.items()}
        block = values["attention"] + values["network"] + values["norms"]
        ends = ("projection", "class_token", "positions", "last_norm", "head")
        return sum(values[name] for name in ends) + values["depth"] * block

    return wrong


def _count_cases() -> list[Case]:
    def case(channels, patch_size, image_size, dimension, depth, hidden, classes, only="", label="") -> Case:
        sizes = (channels, patch_size, image_size, dimension, depth, hidden, classes)
        told = ", ".join(f"{name} {size}" for name, size in zip(_NAMES, sizes, strict=True))
        letters = {"L": channels * patch_size**2, "D": dimension}
        return Case(label or told, sizes, letters=letters, only=only)

    return [
        case(2, 7, 28, 64, 3, 136, 10),
        case(4, 8, 40, 96, 6, 200, 12),
        case(5, 4, 24, 48, 2, 100, 7),
        case(3, 16, 224, 768, 12, 3072, 1000, "C·P·P = D", "ViT-B/16"),
        case(3, 8, 32, 192, 4, 384, 5, "C·P·P = D"),
        case(2, 1, 6, 20, 3, 36, 4, "patches of one pixel"),
    ]


_NAMES = ("channels", "patch_size", "image_size", "dimension", "depth", "hidden", "classes")


WRONG = mistakes(
    vit_parameters,
    r"""
D numbers too few
    Exactly D are missing. Which is it: the class token, its row of positions, or the bias of the projection?
        return _count(class_token=0)(channels, patch_size, image_size, dimension, depth, hidden, classes)

2 · D numbers too few
    Exactly 2 · D are missing. Which is it: the LayerNorm before the head, or class token and its row of positions?
        return _count(last_norm=0)(channels, patch_size, image_size, dimension, depth, hidden, classes)

D numbers too few in each block
    Exactly D are missing in each block. Which is it: the bias of the second layer of the small network, or one of
    the four of attention?
        return _count(network=lambda d, hidden, **_: 2 * d * hidden + hidden)(
            channels, patch_size, image_size, dimension, depth, hidden, classes
        )

2 · D numbers too few in each block
    Exactly 2 · D are missing in each block: there are two LayerNorms, with 2 · D numbers each.
        return _count(norms=lambda d, **_: 2 * d)(channels, patch_size, image_size, dimension, depth, hidden, classes)

3 · D numbers too few in each block
    Exactly 3 · D are missing in each block. Each of the four matrices of attention has its own bias.
        return _count(attention=lambda d, **_: 4 * d * d + d)(
            channels, patch_size, image_size, dimension, depth, hidden, classes
        )

4 · D numbers too few in each block
    Exactly 4 · D are missing in each block. Which is it: its two LayerNorms, or the biases of attention?
        return _count(norms=0)(channels, patch_size, image_size, dimension, depth, hidden, classes)

positions forgotten
    The positions are missing: (N + 1) · D.
        return _count(positions=0)(channels, patch_size, image_size, dimension, depth, hidden, classes)

class token and positions forgotten
    What belongs to no layer is missing: class token and positions, D + (N + 1) · D.
        return _count(class_token=0, positions=0)(channels, patch_size, image_size, dimension, depth, hidden, classes)

class token of one number
    The class token was counted as one number. It is a row of D.
        return _count(class_token=1)(channels, patch_size, image_size, dimension, depth, hidden, classes)

one number for each place
    A position is a row of D numbers: (N + 1) · D.
        return _count(positions=lambda n, **_: n + 1)(
            channels, patch_size, image_size, dimension, depth, hidden, classes
        )

a position for each pixel
    Each pixel got a position. Patches get one: N is (image_size // patch_size) ** 2.
        return _count(positions=lambda n, p, d, **_: (n * p * p + 1) * d)(
            channels, patch_size, image_size, dimension, depth, hidden, classes
        )

area over side
    image_size ** 2 // patch_size is too many. Divide first, then square: (image_size // patch_size) ** 2.
        return _count(positions=lambda n, p, d, **_: (n * p + 1) * d)(
            channels, patch_size, image_size, dimension, depth, hidden, classes
        )

patch side not squared
    A patch has C · P · P numbers: P was counted once.
        return _count(projection=lambda c, p, d, **_: c * p * d + d)(
            channels, patch_size, image_size, dimension, depth, hidden, classes
        )

projection for each patch
    The projection was counted for each patch. All patches share it.
        return _count(projection=lambda c, p, d, n, **_: n * (c * p * p * d + d))(
            channels, patch_size, image_size, dimension, depth, hidden, classes
        )

channels forgotten
    A patch has C · P · P numbers: the channels are missing.
        return _count(projection=lambda p, d, **_: p * p * d + d)(
            channels, patch_size, image_size, dimension, depth, hidden, classes
        )

three matrices in attention
    Query, key and value make three matrices. A fourth one follows, at the output of attention.
        return _count(attention=lambda d, **_: 3 * (d * d + d))(
            channels, patch_size, image_size, dimension, depth, hidden, classes
        )

biases of the network forgotten
    Both layers of the small network have a bias: hidden + D in each block.
        return _count(network=lambda d, hidden, **_: 2 * d * hidden)(
            channels, patch_size, image_size, dimension, depth, hidden, classes
        )

first bias of the network forgotten
    The first layer of the small network has a bias too: `hidden` numbers in each block.
        return _count(network=lambda d, hidden, **_: 2 * d * hidden + d)(
            channels, patch_size, image_size, dimension, depth, hidden, classes
        )

both biases of the network with hidden numbers
    A bias has one number for each number that comes out: hidden in the first layer, D in the second.
        return _count(network=lambda d, hidden, **_: 2 * (d * hidden + hidden))(
            channels, patch_size, image_size, dimension, depth, hidden, classes
        )

both biases of the network with D numbers
    A bias has one number for each number that comes out: hidden in the first layer, D in the second.
        return _count(network=lambda d, hidden, **_: 2 * (d * hidden + d))(
            channels, patch_size, image_size, dimension, depth, hidden, classes
        )

hidden taken as 4 · D
    The hidden layer was taken as 4 · D. That fits ViT-B/16; here its size is given: `hidden`.
        return _count(network=lambda d, **_: 8 * d * d + 5 * d)(
            channels, patch_size, image_size, dimension, depth, hidden, classes
        )

no bias in the blocks
    The blocks have no biases: 4 · D of attention and hidden + D of the small network, in each block.
        return _count(attention=lambda d, **_: 4 * d * d, network=lambda d, hidden, **_: 2 * d * hidden)(
            channels, patch_size, image_size, dimension, depth, hidden, classes
        )

no bias at all
    The biases are missing, everywhere: each matrix has one, as long as what comes out of it.
        return _count(
            projection=lambda c, p, d, **_: c * p * p * d,
            attention=lambda d, **_: 4 * d * d,
            network=lambda d, hidden, **_: 2 * d * hidden,
            head=lambda d, classes, **_: d * classes,
        )(channels, patch_size, image_size, dimension, depth, hidden, classes)

one matrix in attention
    One matrix was counted in attention. There are four: query, key, value and output.
        return _count(attention=lambda d, **_: d * d + d)(
            channels, patch_size, image_size, dimension, depth, hidden, classes
        )

one layer in the network
    The small network has two layers: to `hidden` numbers, and back to D.
        return _count(network=lambda d, hidden, **_: d * hidden + hidden)(
            channels, patch_size, image_size, dimension, depth, hidden, classes
        )

shift of the norms forgotten
    A LayerNorm learns two numbers for each of D: a factor and a shift.
        return _count(norms=lambda d, **_: 2 * d, last_norm=lambda d, **_: d)(
            channels, patch_size, image_size, dimension, depth, hidden, classes
        )

all norms forgotten
    The LayerNorms are missing: two in each block and one before the head, 2 · D each.
        return _count(norms=0, last_norm=0)(channels, patch_size, image_size, dimension, depth, hidden, classes)

everything behind the blocks forgotten
    What follows the blocks is missing: 2 · D of the LayerNorm, D · classes + classes of the head.
        return _count(last_norm=0, head=0)(channels, patch_size, image_size, dimension, depth, hidden, classes)

head forgotten
    The head is missing: D · classes + classes.
        return _count(head=0)(channels, patch_size, image_size, dimension, depth, hidden, classes)

bias of the head forgotten
    The head has a bias: one number for each class.
        return _count(head=lambda d, classes, **_: d * classes)(
            channels, patch_size, image_size, dimension, depth, hidden, classes
        )

blocks times attention only
    Only attention was multiplied by `depth`. Put brackets around the whole block.
        once = vit_parameters(channels, patch_size, image_size, dimension, 1, hidden, classes)
        return once + (depth - 1) * 4 * (dimension * dimension + dimension)

all times depth
    All was multiplied by `depth`. Projection, positions, last LayerNorm and head are there once.
        return (lambda *sizes: sizes[4] * vit_parameters(*sizes[:4], 1, *sizes[5:]))(
            channels, patch_size, image_size, dimension, depth, hidden, classes
        )

head in each block
    The last LayerNorm and the head were counted in each block. They follow the blocks, once.
        right = vit_parameters(channels, patch_size, image_size, dimension, depth, hidden, classes)
        return right + (depth - 1) * (2 * dimension + dimension * classes + classes)

one block
    One block was counted. There are `depth` of them.
        return _count(depth=1)(channels, patch_size, image_size, dimension, depth, hidden, classes)

side of the grid not squared
    The grid has rows and columns: N is (image_size // patch_size) squared.
        right = vit_parameters(channels, patch_size, image_size, dimension, depth, hidden, classes)
        side = image_size // patch_size
        return right - (side**2 - side) * dimension
""",
)


EXERCISE = Exercise(
    name="vit_parameters",
    solution=vit_parameters,
    cases=_count_cases,
    result=int,
    quantities=_parts,
    wrong=WRONG,
    hints=(
        "Count part by part: projection, class token and positions, one block, what follows the blocks.",
        "A block: four D × D matrices with biases, two layers D → hidden → D with biases, two LayerNorms with 2 · D"
        " each. Behind the blocks: one LayerNorm and the head.",
        "depth * (4 * (d * d + d) + (d * hidden + hidden + hidden * d + d) + 4 * d), and the parts outside of it",
    ),
    praise="86,567,656 for ViT-B/16, to the last number.",
)
