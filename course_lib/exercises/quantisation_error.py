"""Lesson 09, quantisation_error: the mean squared difference between patches and their nearest codes."""

from __future__ import annotations

import torch
from torch import Tensor

from course_lib.exercises.codebooks import patch_cases
from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise, from_a_layer
from course_lib.exercises.nearest_code import nearest_code


def quantisation_error(patches, codebook):
    ids = torch.cdist(patches, codebook).argmin(dim=-1)
    return ((patches - codebook[ids]) ** 2).mean()


def cases() -> list[Case]:
    return [
        Case(case.label, tuple(map(from_a_layer, case.args)), "", case.letters, case.only) for case in patch_cases()
    ]


def _chosen(choose):
    """The error against the codes that `choose` picks, in place of the nearest ones."""
    return lambda p, c: ((p - c[choose(p, c)]) ** 2).mean()


def _residual(patches, codebook):
    return patches - codebook[nearest_code(patches, codebook)]


WRONG = mistakes(
    quantisation_error,
    r"""
summed
    The squares were added up. Take their mean, or a larger image would count as a worse one.
        ((patches - codebook[ids]) ** 2).mean → ((patches - codebook[ids]) ** 2).sum

summed over a patch
    The squares of a patch were added up, and only then came the mean over patches. Take the mean over all numbers,
    so that patches of other sizes can be compared.
        (patches - codebook[ids]) ** 2 → ((patches - codebook[ids]) ** 2).sum(-1)

summed over an image
    The squares of an image were added up, and only then came the mean over images. Take the mean over all numbers.
        return (_residual(patches, codebook) ** 2).sum((-1, -2)).mean()

root of the sum
    This is the root of the SUM of the squares. The mean of the squares is asked for, without a root.
        return _residual(patches, codebook).norm()

variance
    The variance takes the mean difference away before it squares. Here nothing is taken away.
        return _residual(patches, codebook).var()

only the code squared
    ** binds more tightly than the minus: only the code was squared. Put brackets around the difference.
        (patches - codebook[ids]) ** 2 → patches - codebook[ids] ** 2

worst number only
    This is the largest of the squares. Their mean is wanted.
        ((patches - codebook[ids]) ** 2).mean → ((patches - codebook[ids]) ** 2).max

root taken
    This is the root of the wanted number. The mean of the squares is asked for, without a root.
        ((patches - codebook[ids]) ** 2).mean() → ((patches - codebook[ids]) ** 2).mean().sqrt()

mean distance
    This is the mean DISTANCE, a root for each patch. Wanted are squared differences, and their mean over all
    numbers.
        return torch.cdist(patches, codebook).amin(-1).mean()

one number a patch
    There is still one error for each patch. Take the mean over all of them: one number.
        ((patches - codebook[ids]) ** 2).mean() → ((patches - codebook[ids]) ** 2).mean(dim=-1)

one number an image
    There is still one error for each image. Take the mean over the batch as well.
        return (_residual(patches, codebook) ** 2).mean((-1, -2))

halved
    This is half of it. Some books put ½ before the squares; here it is left out.
        return (_residual(patches, codebook) ** 2).mean() / 2

absolute differences
    These are absolute differences. Square them before the mean.
        (patches - codebook[ids]) ** 2 → (patches - codebook[ids]).abs()

differences not squared
    The differences were averaged with their signs, so above and below cancel out. Square them first.
        (patches - codebook[ids]) ** 2 → (patches - codebook[ids])

squared after the mean
    The mean was taken first and squared then: above and below cancelled out before. Square first.
        ((patches - codebook[ids]) ** 2).mean() → (patches - codebook[ids]).mean() ** 2

all codes
    Every patch was compared with ALL codes. Only its nearest one counts.
        return ((patches.unsqueeze(-2) - codebook) ** 2).mean()

all distances
    This is the mean over ALL pairs of patch and code, and of sums. Only the nearest code of a patch counts, and the
    mean is over all numbers.
        return (torch.cdist(patches, codebook) ** 2).mean()

smallest of all distances
    This is the one pair that fits best. EACH patch has a nearest code: min with dim=-1, then a mean.
        return (torch.cdist(patches, codebook) ** 2).min()

mean over the batch only
    mean(0) averages over the images only. One number is wanted: mean() without an axis.
        ((patches - codebook[ids]) ** 2).mean() → ((patches - codebook[ids]) ** 2).mean(dim=0)

mean of the codes
    The patches were compared with the mean of all codes. Each has a nearest code: find it first.
        return ((patches - codebook.mean(0)) ** 2).mean()

first code
    Every patch was compared with code 0. Each has a nearest code: find it first.
        codebook[ids] → codebook[0]

farthest code
    This is the error against the FARTHEST codes: argmin, not argmax.
        torch.cdist(patches, codebook).argmin → torch.cdist(patches, codebook).argmax

dot product
    This is the error against the codes with the largest dot product. The nearest ones are wanted.
        return _chosen(lambda p, c: (p @ c.T).argmax(-1))(patches, codebook)

best patch only
    This is the error of the luckiest patch. The mean over all patches is wanted.
        return (_residual(patches, codebook) ** 2).mean(-1).min()

first image only
    Only the first image of the batch was measured. The mean is over all of them.
        patches - codebook[ids] → (patches - codebook[ids])[0]

smallest distance of all
    min() without dim= gives one distance, that of the best pair. EACH patch has a nearest code; their squared
    differences are averaged.
        return torch.cdist(patches, codebook).min()

squares not averaged
    These are the squares, one for each number of each patch. Their mean is wanted: .mean().
        ((patches - codebook[ids]) ** 2).mean() → (patches - codebook[ids]) ** 2

a root for each patch
    A root was taken for each patch. The mean of the squares is asked for, without any root.
        return (_residual(patches, codebook) ** 2).mean(-1).sqrt().mean()

divided by the patches of an image
    The sum was divided by N, the patches of one image. Divide by how many NUMBERS there are, which mean() does.
        return (_residual(patches, codebook) ** 2).sum() / patches.shape[1]

divided by the length of a patch
    The sum was divided by C·P·P, the numbers of one patch. Divide by the numbers of all patches, which mean() does.
        return (_residual(patches, codebook) ** 2).sum() / patches.shape[-1]

divided by the number of codes
    The sum was divided by K, the number of codes. Divide by how many numbers the PATCHES have, which mean() does.
        return (_residual(patches, codebook) ** 2).sum() / len(codebook)

last image only
    Only the last image of the batch was measured. Does a loop replace the error in place of adding it? Or use no
    loop at all.
        return (_residual(patches[-1], codebook) ** 2).mean()

means of the images added up
    The errors of the images were added up. Take their mean: the error must not grow with the batch.
        (patches - codebook[ids]) ** 2 → ((patches - codebook[ids]) ** 2).sum(0)

each number with a code of its own
    Each NUMBER was compared with the code that fits it best. A patch takes one code as a whole: first one distance
    for each pair of patch and code, then the smallest.
        return ((patches.unsqueeze(-2) - codebook) ** 2).amin(-2).mean()

codes added
    The codes were added to the patches. What is lost is the difference: patches − codebook[ids].
        patches - codebook[ids] → patches + codebook[ids]

codes multiplied
    Patches and codes were multiplied. What is lost is the difference: patches − codebook[ids].
        patches - codebook[ids] → patches * codebook[ids]

codes alone
    These are the squares of the codes alone. What is lost is the difference to the patches.
        patches - codebook[ids] → codebook[ids]

third power
    Third powers keep the sign, so above and below cancel out. A square is ** 2.
        ** 2 → ** 3

squared twice
    The squares were squared once more. One ** 2 is enough, and the mean is taken of that.
        ** 2 → ** 4

base and exponent swapped
    2 ** x is a power of two. The square has the difference in front: x ** 2.
        (patches - codebook[ids]) ** 2 → 2 ** (patches - codebook[ids])

distances forgotten
    argmin was taken over the numbers of a patch, and its place used as an id. Ids come from the distances between
    patches and codes.
        return ((patches - codebook[patches.argmin(-1)]) ** 2).mean()

one code for all
    argmin without dim= gives one place among ALL distances, for all patches together. Each patch has a nearest code
    of its own: dim=-1.
        torch.cdist(patches, codebook).argmin(dim=-1) → torch.cdist(patches, codebook).argmin()

patches among themselves
    The distances are those between patches. Each is nearest to itself, and its own number was taken for the id of a
    code: torch.cdist(patches, codebook).
        torch.cdist(patches, codebook) → torch.cdist(patches, patches)

doubled in place of squared
    * 2 doubles the differences. A square is ** 2.
        (patches - codebook[ids]) ** 2 → (patches - codebook[ids]) * 2
""",
    nearest_code=nearest_code,
)


EXERCISE = Exercise(
    name="quantisation_error",
    solution=quantisation_error,
    cases=cases,
    result=Tensor,
    slack=1e-9,
    wrong=WRONG,
    hints=(
        "Each patch has a stand-in, its nearest code. How far is it off, number by number?",
        "ids of the nearest codes, then codebook[ids], which has the shape of the patches. Subtract and square.",
        "ids = torch.cdist(patches, codebook).argmin(dim=-1), then ((patches - codebook[ids]) ** 2).mean()",
    ),
    praise="One number for all that was lost, the same for large and small images.",
)
