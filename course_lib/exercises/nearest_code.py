"""Lesson 09, nearest_code: patches (B, N, L) and a codebook (K, L) -> the id of the nearest code, (B, N)."""

from __future__ import annotations

import torch
from torch import Tensor

from course_lib.exercises.codebooks import patch_cases
from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Exercise


def nearest_code(patches, codebook):
    distances = torch.cdist(patches, codebook)
    return distances.argmin(dim=-1)


def _each(distance):
    """(…, K): one number for each pair of patch and code, smallest for the code to choose."""
    return lambda p, c: distance(p.unsqueeze(-2) - c).argmin(-1)


WRONG = mistakes(
    nearest_code,
    r"""
farthest code
    Each patch got the code that is FARTHEST from it: argmin, not argmax.
        distances.argmin → distances.argmax

dot product
    The code with the largest dot product was taken. Long codes win there, near or not: use the distance.
        return (patches @ codebook.T).argmax(-1)

smallest dot product
    The code with the SMALLEST dot product was taken. A dot product is no distance: subtract, square, add up.
        return (patches @ codebook.T).argmin(-1)

product taken once
    The square of a difference is p² − 2·p·c + c²: the product counts TWICE.
        return ((patches**2).sum(-1, keepdim=True) - patches @ codebook.T + (codebook**2).sum(-1)).argmin(-1)

cosine
    These are the codes in the most similar DIRECTION. A dark patch and a bright one can point the same way: use the
    distance.
        return (F.normalize(patches, dim=-1) @ F.normalize(codebook, dim=-1).T).argmax(-1)

distance of absolute differences
    Absolute differences were added up. Here nearest means the usual distance, from squared differences, the one
    whose best centre is the mean.
        return torch.cdist(patches, codebook, p=1).argmin(-1)

largest single difference
    Only the largest difference of each pair was looked at. All of them count: square and add up.
        return torch.cdist(patches, codebook, p=torch.inf).argmin(-1)

summed before squaring
    Only the mean brightness of patch and code is compared: where differences are added up before they are squared,
    above and below cancel out. Square, or take the distance, number by number.
        return _each(lambda d: d.sum(-1) ** 2)(patches, codebook)

differences not squared
    The differences were added up with their signs, so the code with the largest numbers always wins. Square them
    first.
        return _each(lambda d: d.sum(-1))(patches, codebook)

codes added up
    The squares were added up over the codes. Add over the numbers of a patch, the last axis, so that one distance
    is left for each code.
        return ((patches.unsqueeze(-2) - codebook) ** 2).sum(-2).argmin(-1)

axis kept
    An axis of size 1 is left behind, by keepdim=True or topk. An id is one number for a patch: [..., 0] takes it.
        distances.argmin(dim=-1) → distances.argmin(dim=-1).unsqueeze(-1)

wrong axis
    The smallest was sought among the patches, not among the codes: that is the nearest PATCH for each code. The
    codes are the last axis of the distances.
        dim=-1 → dim=-2

no axis
    argmin without dim= seeks one place among all numbers. Each patch needs its own: dim=-1.
        distances.argmin(dim=-1) → distances.argmin()

one-hot rows
    These are one-hot rows of the right ids. Return the ids themselves.
        return F.one_hot(nearest_code(patches, codebook), len(codebook))

distance to the nearest
    These are the smallest distances. Wanted is the PLACE of the smallest: argmin in place of min.
        return torch.cdist(patches, codebook).min(-1).values

all distances
    These are the distances to all K codes. Now find the place of the smallest for each patch.
        distances.argmin(dim=-1) → distances

codes in order of distance
    These are all codes, nearest first. Only the first of them is wanted: [..., 0], or argmin.
        return torch.cdist(patches, codebook).argsort(-1)

the codes themselves
    These are the right codes, but the numbers in them. Return their ids; decode comes later.
        return codebook[nearest_code(patches, codebook)]

counted from 1
    Every id is one too large. Codes are numbered from 0.
        distances.argmin(dim=-1) → distances.argmin(dim=-1) + 1

ids as floats
    The ids came as float32. They are places in a table: int64.
        distances.argmin(dim=-1) → distances.argmin(dim=-1).float()

first image only
    Only the first image got ids. Every image of the batch is wanted.
        distances.argmin → distances[0].argmin

sought in the batch
    The smallest was sought among the images of the batch. The codes are the last axis of the distances: dim=-1.
        dim=-1 → dim=0

all added up
    sum() without dim= adds up everything, so one number was left and its place is 0. Add over the numbers of a
    patch: dim=-1.
        return ((patches.unsqueeze(-2) - codebook) ** 2).sum().argmin()

squares not added up
    The squares were not added up: this is the place of the best single NUMBER in each code. First .sum(-1), one
    distance for each code.
        return ((patches.unsqueeze(-2) - codebook) ** 2).argmin(-1)

patches and codes not lined up
    N patches meet K codes, and * or − goes place by place. Each patch with each code needs an axis between: patches
    (B, N, 1, L) − codebook (K, L), by unsqueeze(2).
        return ((patches - codebook) ** 2).sum(-1).argmin(-1)

first pixel only
    Only the first number of patch and code was compared. The distance takes all of them.
        return (patches[..., :1] - codebook[:, 0]).abs().argmin(-1)
""",
)


EXERCISE = Exercise(
    name="nearest_code",
    solution=nearest_code,
    cases=patch_cases,
    result=Tensor,
    wrong=WRONG,
    hints=(
        "First the distance of every patch from every code, (B, N, K). Then look along one axis.",
        "torch.cdist(patches, codebook) gives the distances. min gives the smallest number; what gives its place?",
        "distances = torch.cdist(patches, codebook), and then distances.argmin(dim=-1)",
    ),
    praise="Every patch has an id now, as every word has.",
)
