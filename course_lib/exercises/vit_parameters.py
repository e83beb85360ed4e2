"""Lesson 10, vit_parameters: how many numbers a vision transformer of given sizes learns."""

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


def cases() -> list[Case]:
    def case(channels, patch_size, image_size, dimension, depth, hidden, classes, only="", label="") -> Case:
        return Case(
            label
            or f"channels {channels}, patch_size {patch_size}, image_size {image_size}, dimension {dimension},"
            f" depth {depth}, hidden {hidden}, classes {classes}",
            (channels, patch_size, image_size, dimension, depth, hidden, classes),
            letters={"L": channels * patch_size**2, "D": dimension},
            only=only,
        )

    return [
        case(2, 7, 28, 64, 3, 136, 10),
        case(4, 8, 40, 96, 6, 200, 12),
        case(5, 4, 24, 48, 2, 100, 7),
        case(3, 16, 224, 768, 12, 3072, 1000, "C·P·P = D", "ViT-B/16"),
        case(3, 8, 32, 192, 4, 384, 5, "C·P·P = D"),
        case(2, 1, 6, 20, 3, 36, 4, "patches of one pixel"),
    ]


def parts(channels, patch_size, image_size, dimension, depth, hidden, classes):
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


WRONG = mistakes(
    vit_parameters,
    r"""
D numbers too few
    Exactly D are missing. Which is it: the class token, its row of positions, or the bias of the projection?
        dimension + (num_patches + 1) * dimension → (num_patches + 1) * dimension

2 · D numbers too few
    Exactly 2 · D are missing. Which is it: the LayerNorm before the head, or class token and its row of positions?
        2 * dimension + dimension * classes → dimension * classes

D numbers too few in each block
    Exactly D are missing in each block. Which is it: the bias of the second layer of the small network, or one of
    the four of attention?
        hidden * dimension + dimension → hidden * dimension

2 · D numbers too few in each block
    Exactly 2 · D are missing in each block: there are two LayerNorms, with 2 · D numbers each.
        norms = … → norms = 2 * dimension

3 · D numbers too few in each block
    Exactly 3 · D are missing in each block. Each of the four matrices of attention has its own bias.
        4 * (dimension * dimension + dimension) → 4 * dimension * dimension + dimension

4 · D numbers too few in each block
    Exactly 4 · D are missing in each block. Which is it: its two LayerNorms, or the biases of attention?
        + norms →

positions forgotten
    The positions are missing: (N + 1) · D.
        dimension + (num_patches + 1) * dimension → dimension

class token and positions forgotten
    What belongs to no layer is missing: class token and positions, D + (N + 1) · D.
        class_token_and_positions = … → class_token_and_positions = 0

class token of one number
    The class token was counted as one number. It is a row of D.
        dimension + (num_patches + 1) → 1 + (num_patches + 1)

one number for each place
    A position is a row of D numbers: (N + 1) · D.
        (num_patches + 1) * dimension → num_patches + 1

a position for each pixel
    Each pixel got a position. Patches get one: N is (image_size // patch_size) ** 2.
        num_patches = … → num_patches = image_size**2

area over side
    image_size ** 2 // patch_size is too many. Divide first, then square: (image_size // patch_size) ** 2.
        num_patches = … → num_patches = image_size**2 // patch_size

patch side not squared
    A patch has C · P · P numbers: P was counted once.
        patch_size**2 → patch_size

projection for each patch
    The projection was counted for each patch. All patches share it.
        return projection → return num_patches * projection

channels forgotten
    A patch has C · P · P numbers: the channels are missing.
        channels * patch_size**2 → patch_size**2

three matrices in attention
    Query, key and value make three matrices. A fourth one follows, at the output of attention.
        4 * → 3 *

biases of the network forgotten
    Both layers of the small network have a bias: hidden + D in each block.
        network = … → network = dimension * hidden + hidden * dimension

first bias of the network forgotten
    The first layer of the small network has a bias too: `hidden` numbers in each block.
        dimension * hidden + hidden + → dimension * hidden +

both biases of the network with hidden numbers
    A bias has one number for each number that comes out: hidden in the first layer, D in the second.
        hidden * dimension + dimension → hidden * dimension + hidden

both biases of the network with D numbers
    A bias has one number for each number that comes out: hidden in the first layer, D in the second.
        dimension * hidden + hidden + → dimension * hidden + dimension +

hidden taken as 4 · D
    The hidden layer was taken as 4 · D. That fits ViT-B/16; here its size is given: `hidden`.
        network = … → network = dimension * 4 * dimension + 4 * dimension + 4 * dimension * dimension + dimension

no bias in the blocks
    The blocks have no biases: 4 · D of attention and hidden + D of the small network, in each block.
        attention = … → attention = 4 * dimension * dimension
        network = … → network = dimension * hidden + hidden * dimension

no bias at all
    The biases are missing, everywhere: each matrix has one, as long as what comes out of it.
        patch_size**2 * dimension + dimension → patch_size**2 * dimension
        attention = … → attention = 4 * dimension * dimension
        network = … → network = dimension * hidden + hidden * dimension
        dimension * classes + classes → dimension * classes

one matrix in attention
    One matrix was counted in attention. There are four: query, key, value and output.
        4 * →

one layer in the network
    The small network has two layers: to `hidden` numbers, and back to D.
        + hidden * dimension + dimension →

shift of the norms forgotten
    2 · D are missing in each block, and D besides: as if a LayerNorm learned D numbers (it learns a factor and a shift
    for each), or as if a block had one norm, and the class token no position.
        norms = … → norms = 2 * dimension
        = 2 * dimension + → = dimension +

all norms forgotten
    The LayerNorms are missing: two in each block and one before the head, 2 · D each.
        + norms →
        2 * dimension + dimension * classes → dimension * classes

everything behind the blocks forgotten
    What follows the blocks is missing: 2 · D of the LayerNorm, D · classes + classes of the head.
        + last_norm_and_head →

head forgotten
    The head is missing: D · classes + classes.
        + dimension * classes + classes →

bias of the head forgotten
    The head has a bias: one number for each class.
        + classes →

blocks times attention only
    Only attention was multiplied by `depth`. Put brackets around the whole block.
        depth * (attention + network + norms) → depth * attention + network + norms

all times depth
    All was multiplied by `depth`. Projection, positions, last LayerNorm and head are there once.
        return projection → return depth * (projection
        depth * (attention + network + norms) + last_norm_and_head → attention + network + norms + last_norm_and_head)

head in each block
    The last LayerNorm and the head were counted in each block. They follow the blocks, once.
        (attention + network + norms) + last_norm_and_head → (attention + network + norms + last_norm_and_head)

one block
    One block was counted. There are `depth` of them.
        depth * ( → (

side of the grid not squared
    The grid has rows and columns: N is (image_size // patch_size) squared.
        num_patches = … → num_patches = image_size // patch_size
""",
)


EXERCISE = Exercise(
    name="vit_parameters",
    solution=vit_parameters,
    cases=cases,
    result=int,
    quantities=parts,
    wrong=WRONG,
    hints=(
        "Count part by part: projection, class token and positions, one block, what follows the blocks.",
        "A block: four D × D matrices with biases, two layers D → hidden → D with biases, two LayerNorms with 2 · D"
        " each. Behind the blocks: one LayerNorm and the head.",
        "depth * (4 * (d * d + d) + (d * hidden + hidden + hidden * d + d) + 4 * d), and the parts outside of it",
    ),
    praise="86,567,656 for ViT-B/16, to the last number.",
)
