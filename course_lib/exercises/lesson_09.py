"""Lesson 09: a dictionary of patches, the nearest code, the way back, and the error."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from course_lib.exercises.model import Case, Exercise, Option, Question, WrongAnswer, random_numbers


def nearest_code(patches, codebook):
    distances = torch.cdist(patches, codebook)
    return distances.argmin(dim=-1)


def decode(ids, codebook):
    return codebook[ids]


def quantisation_error(patches, codebook):
    ids = torch.cdist(patches, codebook).argmin(dim=-1)
    return ((patches - codebook[ids]) ** 2).mean()


def _codebook(codes: int, length: int) -> Tensor:
    """Codes of different lengths, so that the dot product and the distance choose differently."""
    return random_numbers(codes, length, seed=codes) * torch.linspace(0.4, 1.6, codes, dtype=torch.float64)[:, None]


SIZES = ((2, 5, 2, 2, 7, ""), (3, 4, 2, 3, 6, ""), (4, 9, 5, 1, 3, ""), (1, 6, 2, 2, 5, "a batch of one"),
         (1, 3, 4, 2, 8, "a batch of one"))  # fmt: skip


def _patch_cases() -> list[Case]:
    def case(batch: int, count: int, channels: int, side: int, codes: int, only: str) -> Case:
        codebook = _codebook(codes, channels * side**2)
        near = codebook[torch.arange(batch * count).reshape(batch, count) * 3 % codes]  # every code is wanted
        return Case(
            f"{batch} × {count} patches of {channels}·{side}·{side} numbers and {codes} codes",
            (near + 0.8 * random_numbers(*near.shape, seed=count), codebook),
            "B N",
            {"B": batch, "N": count, "C": channels, "P": side, "K": codes},
            only,
        )

    return [case(*sizes) for sizes in SIZES]


def _error_cases() -> list[Case]:
    return [Case(case.label, case.args, "", case.letters, case.only) for case in _patch_cases()]


def _id_cases() -> list[Case]:
    def case(ids: list, channels: int, side: int, codes: int, only: str = "") -> Case:
        shape = torch.tensor(ids).shape
        letters = {"N": shape[-1], "C": channels, "P": side, "K": codes}
        if len(shape) == 2:
            letters["B"] = shape[0]
        return Case(
            f"ids {ids} and {codes} codes of {channels}·{side}·{side} numbers",
            (torch.tensor(ids), _codebook(codes, channels * side**2).requires_grad_()),
            "B N C·P·P" if len(shape) == 2 else "N C·P·P",
            letters,
            only,
        )

    return [
        case([[0, 4, 4, 1], [2, 0, 1, 3], [4, 4, 2, 0]], 2, 2, 6),
        case([[6, 2, 2, 5, 0], [1, 6, 3, 6, 4]], 2, 3, 7),
        case([3, 1, 1, 0, 3, 2], 5, 1, 4),
        case([[2, 0, 1, 1, 2, 0, 3]], 4, 2, 5, "a batch of one"),
        case([[3, 3, 1]], 2, 2, 4, "a batch of one"),
    ]


def _chosen(choose):
    """The error against the codes that `choose` picks, in place of the nearest ones."""
    return lambda p, c: ((p - c[choose(p, c)]) ** 2).mean()


def _farthest(patches, codebook):
    return torch.cdist(patches, codebook).argmax(-1)


def _by_dot_product(patches, codebook):
    return (patches @ codebook.T).argmax(-1)


def _cosine(patches, codebook):
    return (F.normalize(patches, dim=-1) @ F.normalize(codebook, dim=-1).T).argmax(-1)


def _differences(patches, codebook):
    return patches.unsqueeze(-2) - codebook


def _each(distance):
    """(…, K): one number for each pair of patch and code, smallest for the code to choose."""
    return lambda p, c: distance(_differences(p, c)).argmin(-1)


def _residual(patches, codebook):
    return patches - codebook[nearest_code(patches, codebook)]


def _width_from_ids(ids, codebook):
    return F.one_hot(ids).to(codebook.dtype) @ codebook


EXERCISES = (
    Exercise(
        name="nearest_code",
        lesson="09",
        solution=nearest_code,
        cases=_patch_cases,
        result=Tensor,
        wrong=(
            WrongAnswer(
                "farthest code", _farthest, "Each patch got the code that is FARTHEST from it: argmin, not argmax."
            ),
            WrongAnswer(
                "dot product",
                _by_dot_product,
                "The code with the largest dot product was taken. Long codes win there, near or not: use the distance.",
            ),
            WrongAnswer(
                "smallest dot product",
                lambda p, c: (p @ c.T).argmin(-1),
                "The code with the SMALLEST dot product was taken. A dot product is no distance: subtract, square,"
                " add up.",
            ),
            WrongAnswer(
                "product taken once",
                lambda p, c: ((p**2).sum(-1, keepdim=True) - p @ c.T + (c**2).sum(-1)).argmin(-1),
                "The square of a difference is p² − 2·p·c + c²: the product counts TWICE.",
            ),
            WrongAnswer(
                "cosine",
                _cosine,
                "These are the codes in the most similar DIRECTION. A dark patch and a bright one can point the"
                " same way: use the distance.",
            ),
            WrongAnswer(
                "distance of absolute differences",
                lambda p, c: torch.cdist(p, c, p=1).argmin(-1),
                "Absolute differences were added up. Here nearest means the usual distance, from squared"
                " differences, the one whose best centre is the mean.",
            ),
            WrongAnswer(
                "largest single difference",
                lambda p, c: torch.cdist(p, c, p=torch.inf).argmin(-1),
                "Only the largest difference of each pair was looked at. All of them count: square and add up.",
            ),
            WrongAnswer(
                "summed before squaring",
                _each(lambda d: d.sum(-1) ** 2),
                "The differences were added up first and squared then: above and below cancel out, and only the"
                " mean brightness is compared. Square first.",
            ),
            WrongAnswer(
                "differences not squared",
                _each(lambda d: d.sum(-1)),
                "The differences were added up with their signs, so the code with the largest numbers always wins."
                " Square them first.",
            ),
            WrongAnswer(
                "codes added up",
                lambda p, c: (_differences(p, c) ** 2).sum(-2).argmin(-1),
                "The squares were added up over the codes. Add over the numbers of a patch, the last axis, so that"
                " one distance is left for each code.",
            ),
            WrongAnswer(
                "axis kept",
                lambda p, c: torch.cdist(p, c).argmin(-1, keepdim=True),
                "An axis of size 1 is left behind, by keepdim=True or topk. An id is one number for a patch:"
                " [..., 0] takes it.",
            ),
            WrongAnswer(
                "wrong axis",
                lambda p, c: torch.cdist(p, c).argmin(-2),
                "The smallest was sought among the patches, not among the codes: that is the nearest PATCH for each"
                " code. The codes are the last axis of the distances.",
            ),
            WrongAnswer(
                "no axis",
                lambda p, c: torch.cdist(p, c).argmin(),
                "argmin without dim= seeks one place among all numbers. Each patch needs its own: dim=-1.",
            ),
            WrongAnswer(
                "one-hot rows",
                lambda p, c: F.one_hot(nearest_code(p, c), len(c)),
                "These are one-hot rows of the right ids. Return the ids themselves.",
            ),
            WrongAnswer(
                "distance to the nearest",
                lambda p, c: torch.cdist(p, c).min(-1).values,
                "These are the smallest distances. Wanted is the PLACE of the smallest: argmin in place of min.",
            ),
            WrongAnswer(
                "all distances",
                lambda p, c: torch.cdist(p, c),
                "These are the distances to all K codes. Now find the place of the smallest for each patch.",
            ),
            WrongAnswer(
                "codes in order of distance",
                lambda p, c: torch.cdist(p, c).argsort(-1),
                "These are all codes, nearest first. Only the first of them is wanted: [..., 0], or argmin.",
            ),
            WrongAnswer(
                "the codes themselves",
                lambda p, c: c[nearest_code(p, c)],
                "These are the right codes, but the numbers in them. Return their ids; decode comes later.",
            ),
            WrongAnswer(
                "counted from 1",
                lambda p, c: nearest_code(p, c) + 1,
                "Every id is one too large. Codes are numbered from 0.",
            ),
            WrongAnswer(
                "ids as floats",
                lambda p, c: nearest_code(p, c).float(),
                "The ids came as float32. They are places in a table: int64.",
            ),
            WrongAnswer(
                "first image only",
                lambda p, c: nearest_code(p[0], c),
                "Only the first image got ids. Every image of the batch is wanted.",
            ),
            WrongAnswer(
                "sought in the batch",
                lambda p, c: torch.cdist(p, c).argmin(0),
                "The smallest was sought among the images of the batch. The codes are the last axis of the"
                " distances: dim=-1.",
            ),
            WrongAnswer(
                "all added up",
                lambda p, c: (_differences(p, c) ** 2).sum().argmin(),
                "sum() without dim= adds up everything, so one number was left and its place is 0. Add over"
                " the numbers of a patch: dim=-1.",
            ),
            WrongAnswer(
                "squares not added up",
                lambda p, c: (_differences(p, c) ** 2).argmin(-1),
                "The squares were not added up: this is the place of the best single NUMBER in each code."
                " First .sum(-1), one distance for each code.",
            ),
        ),
        hints=(
            "First the distance of every patch from every code, (B, N, K). Then look along one axis.",
            "torch.cdist(patches, codebook) gives the distances. min gives the smallest number; what gives its place?",
            "distances = torch.cdist(patches, codebook), and then distances.argmin(dim=-1)",
        ),
        praise="Every patch has an id now, as every word has.",
    ),
    Exercise(
        name="decode",
        lesson="09",
        solution=decode,
        cases=_id_cases,
        result=Tensor,
        gradient=1,
        wrong=(
            WrongAnswer(
                "table turned",
                lambda i, c: c.T[i],
                "The codebook must not be turned: code k is codebook[k], a row.",
            ),
            WrongAnswer(
                "columns picked",
                lambda i, c: c[:, i],
                "codebook[:, ids] picks columns. A code is a row: codebook[ids].",
            ),
            WrongAnswer(
                "counted from 1",
                lambda i, c: c[i - 1],
                "Each patch got the code BEFORE its own: ids count from 0, and −1 wraps round to the last code.",
            ),
            WrongAnswer(
                "one row further",
                lambda i, c: c[i + 1],
                "Each patch got the code AFTER its own, and the last id finds none. Ids count from 0, as rows do.",
            ),
            WrongAnswer(
                "detached from the codebook",
                lambda i, c: c.detach()[i],
                "A lookup hands its gradient to the rows it took: index the codebook itself, no copy of its numbers.",
            ),
            WrongAnswer(
                "one-hot rows",
                lambda i, c: F.one_hot(i, len(c)).to(c.dtype),
                "These are the one-hot rows of the ids. The product with the codebook is missing.",
            ),
            WrongAnswer(
                "width from the ids",
                _width_from_ids,
                "F.one_hot took the width from the largest id that occurs. The codebook has K rows, used or not:"
                " F.one_hot(ids, len(codebook)).",
            ),
            WrongAnswer(
                "each code once",
                lambda i, c: c[i.unique()],
                "Each code that occurs came once. Wanted is one code for every PATCH, in the order of the ids.",
            ),
            WrongAnswer(
                "shape of the ids lost",
                lambda i, c: c[i.flatten()].unsqueeze(0),
                "The ids were flattened. The result keeps their shape, with the numbers of the code as a last axis.",
            ),
            WrongAnswer(
                "numbers before patches",
                lambda i, c: c[i].transpose(-1, -2),
                "Patches and numbers are swapped: the numbers of a code are the last axis.",
            ),
            WrongAnswer(
                "first image only",
                lambda i, c: c[i[0]],
                "Only the first row of ids was looked up. All of them are wanted.",
            ),
            WrongAnswer(
                "codes added up",
                lambda i, c: c[i].sum(-2),
                "The codes of all patches were added up. Every patch keeps a code of its own.",
            ),
            WrongAnswer(
                "ids as factors",
                lambda i, c: i.unsqueeze(-1) * c[0],
                "The ids were used as numbers to multiply with. An id is a name: it says which row to take.",
            ),
            WrongAnswer(
                "codebook before the one-hot rows",
                lambda i, c: c @ F.one_hot(i, len(c)).to(c.dtype),
                "The factors stand in the wrong order. Each one-hot row picks a row of the codebook: rows @ codebook.",
            ),
            WrongAnswer(
                "codebook turned in the product",
                lambda i, c: F.one_hot(i, len(c)).to(c.dtype) @ c.T,
                "One-hot rows have K numbers, and the codebook has K rows: they meet as they are. Leave out .T.",
            ),
            WrongAnswer(
                "ids in a product",
                lambda i, c: i @ c,
                "The ids were multiplied as numbers. An id is a name: look it up, codebook[ids], or make its"
                " one-hot row first.",
            ),
            WrongAnswer(
                "ids flattened",
                lambda i, c: c[i.flatten()],
                "The ids were flattened, which is right only where they have one axis. The result keeps their"
                " shape: codebook[ids] takes ids of any shape.",
            ),
            WrongAnswer(
                "table and ids swapped",
                lambda i, c: F.embedding(c, i),
                "F.embedding takes the ids first and the table second: F.embedding(ids, codebook).",
            ),
            WrongAnswer(
                "ids indexed by the codebook",
                lambda i, c: i[c],
                "The codebook is the table and the ids say which rows to take: codebook[ids], not ids[codebook].",
            ),
        ),
        hints=(
            "You wrote this in lesson 02, with words. What was it called there?",
            "A table that is indexed with a tensor of ids gives one row for each id, in the shape of the ids.",
            "result = codebook[ids]",
        ),
        praise="Decoding is the lookup of lesson 02, with patches for rows.",
    ),
    Exercise(
        name="quantisation_error",
        lesson="09",
        solution=quantisation_error,
        cases=_error_cases,
        result=Tensor,
        slack=1e-9,
        wrong=(
            WrongAnswer(
                "summed",
                lambda p, c: (_residual(p, c) ** 2).sum(),
                "The squares were added up. Take their mean, or a larger image would count as a worse one.",
            ),
            WrongAnswer(
                "summed over a patch",
                lambda p, c: (_residual(p, c) ** 2).sum(-1).mean(),
                "The squares of a patch were added up, and only then came the mean over patches. Take the mean over"
                " all numbers, so that patches of other sizes can be compared.",
            ),
            WrongAnswer(
                "summed over an image",
                lambda p, c: (_residual(p, c) ** 2).sum((-1, -2)).mean(),
                "The squares of an image were added up, and only then came the mean over images. Take the mean over"
                " all numbers.",
            ),
            WrongAnswer(
                "root of the sum",
                lambda p, c: _residual(p, c).norm(),
                "This is the root of the SUM of the squares. The mean of the squares is asked for, without a root.",
            ),
            WrongAnswer(
                "variance",
                lambda p, c: _residual(p, c).var(),
                "The variance takes the mean difference away before it squares. Here nothing is taken away.",
            ),
            WrongAnswer(
                "only the code squared",
                lambda p, c: (p - c[nearest_code(p, c)] ** 2).mean(),
                "** binds more tightly than the minus: only the code was squared. Put brackets around the difference.",
            ),
            WrongAnswer(
                "worst number only",
                lambda p, c: (_residual(p, c) ** 2).max(),
                "This is the largest of the squares. Their mean is wanted.",
            ),
            WrongAnswer(
                "root taken",
                lambda p, c: (_residual(p, c) ** 2).mean().sqrt(),
                "This is the root of the wanted number. The mean of the squares is asked for, without a root.",
            ),
            WrongAnswer(
                "mean distance",
                lambda p, c: torch.cdist(p, c).amin(-1).mean(),
                "This is the mean DISTANCE, a root for each patch. Wanted are squared differences, and their mean"
                " over all numbers.",
            ),
            WrongAnswer(
                "one number a patch",
                lambda p, c: (_residual(p, c) ** 2).mean(-1),
                "There is still one error for each patch. Take the mean over all of them: one number.",
            ),
            WrongAnswer(
                "one number an image",
                lambda p, c: (_residual(p, c) ** 2).mean((-1, -2)),
                "There is still one error for each image. Take the mean over the batch as well.",
            ),
            WrongAnswer(
                "halved",
                lambda p, c: (_residual(p, c) ** 2).mean() / 2,
                "This is half of it. Some books put ½ before the squares; here it is left out.",
            ),
            WrongAnswer(
                "absolute differences",
                lambda p, c: _residual(p, c).abs().mean(),
                "These are absolute differences. Square them before the mean.",
            ),
            WrongAnswer(
                "differences not squared",
                lambda p, c: _residual(p, c).mean(),
                "The differences were averaged with their signs, so above and below cancel out. Square them first.",
            ),
            WrongAnswer(
                "squared after the mean",
                lambda p, c: _residual(p, c).mean() ** 2,
                "The mean was taken first and squared then: above and below cancelled out before. Square first.",
            ),
            WrongAnswer(
                "all codes",
                lambda p, c: (_differences(p, c) ** 2).mean(),
                "Every patch was compared with ALL codes. Only its nearest one counts.",
            ),
            WrongAnswer(
                "all distances",
                lambda p, c: (torch.cdist(p, c) ** 2).mean(),
                "This is the mean over ALL pairs of patch and code, and of sums. Only the nearest code of a patch"
                " counts, and the mean is over all numbers.",
            ),
            WrongAnswer(
                "smallest of all distances",
                lambda p, c: (torch.cdist(p, c) ** 2).min(),
                "This is the one pair that fits best. EACH patch has a nearest code: min with dim=-1, then a mean.",
            ),
            WrongAnswer(
                "mean over the batch only",
                lambda p, c: (_residual(p, c) ** 2).mean(0),
                "mean(0) averages over the images only. One number is wanted: mean() without an axis.",
            ),
            WrongAnswer(
                "mean of the codes",
                lambda p, c: ((p - c.mean(0)) ** 2).mean(),
                "The patches were compared with the mean of all codes. Each has a nearest code: find it first.",
            ),
            WrongAnswer(
                "first code",
                lambda p, c: ((p - c[0]) ** 2).mean(),
                "Every patch was compared with code 0. Each has a nearest code: find it first.",
            ),
            WrongAnswer(
                "farthest code",
                _chosen(_farthest),
                "This is the error against the FARTHEST codes: argmin, not argmax.",
            ),
            WrongAnswer(
                "dot product",
                _chosen(_by_dot_product),
                "This is the error against the codes with the largest dot product. The nearest ones are wanted.",
            ),
            WrongAnswer(
                "best patch only",
                lambda p, c: (_residual(p, c) ** 2).mean(-1).min(),
                "This is the error of the luckiest patch. The mean over all patches is wanted.",
            ),
            WrongAnswer(
                "first image only",
                lambda p, c: (_residual(p[0], c) ** 2).mean(),
                "Only the first image of the batch was measured. The mean is over all of them.",
            ),
            WrongAnswer(
                "smallest distance of all",
                lambda p, c: torch.cdist(p, c).min(),
                "min() without dim= gives one distance, that of the best pair. EACH patch has a nearest code;"
                " their squared differences are averaged.",
            ),
            WrongAnswer(
                "squares not averaged",
                lambda p, c: _residual(p, c) ** 2,
                "These are the squares, one for each number of each patch. Their mean is wanted: .mean().",
            ),
            WrongAnswer(
                "a root for each patch",
                lambda p, c: (_residual(p, c) ** 2).mean(-1).sqrt().mean(),
                "A root was taken for each patch. The mean of the squares is asked for, without any root.",
            ),
            WrongAnswer(
                "divided by the patches of an image",
                lambda p, c: (_residual(p, c) ** 2).sum() / p.shape[1],
                "The sum was divided by N, the patches of one image. Divide by how many NUMBERS there are,"
                " which mean() does.",
            ),
            WrongAnswer(
                "divided by the length of a patch",
                lambda p, c: (_residual(p, c) ** 2).sum() / p.shape[-1],
                "The sum was divided by C·P·P, the numbers of one patch. Divide by the numbers of all"
                " patches, which mean() does.",
            ),
            WrongAnswer(
                "divided by the number of codes",
                lambda p, c: (_residual(p, c) ** 2).sum() / len(c),
                "The sum was divided by K, the number of codes. Divide by how many numbers the PATCHES have,"
                " which mean() does.",
            ),
            WrongAnswer(
                "last image only",
                lambda p, c: (_residual(p[-1], c) ** 2).mean(),
                "Only the last image of the batch was measured. Does a loop replace the error in place of"
                " adding it? Or use no loop at all.",
            ),
            WrongAnswer(
                "means of the images added up",
                lambda p, c: (_residual(p, c) ** 2).mean((-1, -2)).sum(),
                "The errors of the images were added up. Take their mean: the error must not grow with the batch.",
            ),
            WrongAnswer(
                "each number with a code of its own",
                lambda p, c: (_differences(p, c) ** 2).amin(-2).mean(),
                "Each NUMBER was compared with the code that fits it best. A patch takes one code as a whole:"
                " first one distance for each pair of patch and code, then the smallest.",
            ),
            WrongAnswer(
                "codes added",
                lambda p, c: ((p + c[nearest_code(p, c)]) ** 2).mean(),
                "The codes were added to the patches. What is lost is the difference: patches − codebook[ids].",
            ),
            WrongAnswer(
                "codes multiplied",
                lambda p, c: ((p * c[nearest_code(p, c)]) ** 2).mean(),
                "Patches and codes were multiplied. What is lost is the difference: patches − codebook[ids].",
            ),
            WrongAnswer(
                "codes alone",
                lambda p, c: (c[nearest_code(p, c)] ** 2).mean(),
                "These are the squares of the codes alone. What is lost is the difference to the patches.",
            ),
            WrongAnswer(
                "third power",
                lambda p, c: (_residual(p, c) ** 3).mean(),
                "Third powers keep the sign, so above and below cancel out. A square is ** 2.",
            ),
            WrongAnswer(
                "squared twice",
                lambda p, c: (_residual(p, c) ** 4).mean(),
                "The squares were squared once more. One ** 2 is enough, and the mean is taken of that.",
            ),
            WrongAnswer(
                "base and exponent swapped",
                lambda p, c: (2 ** _residual(p, c)).mean(),
                "2 ** x is a power of two. The square has the difference in front: x ** 2.",
            ),
            WrongAnswer(
                "distances forgotten",
                lambda p, c: ((p - c[p.argmin(-1)]) ** 2).mean(),
                "argmin was taken over the numbers of a patch, and its place used as an id. Ids come from the distances"
                " between patches and codes.",
            ),
            WrongAnswer(
                "one code for all",
                lambda p, c: ((p - c[torch.cdist(p, c).argmin()]) ** 2).mean(),
                "argmin without dim= gives one place among ALL distances, for all patches together. Each patch has a"
                " nearest code of its own: dim=-1.",
            ),
            WrongAnswer(
                "patches among themselves",
                lambda p, c: ((p - c[torch.cdist(p, p).argmin(-1)]) ** 2).mean(),
                "The distances are those between patches. Each is nearest to itself, and its own number was taken for"
                " the id of a code: torch.cdist(patches, codebook).",
            ),
            WrongAnswer(
                "doubled in place of squared",
                lambda p, c: (_residual(p, c) * 2).mean(),
                "* 2 doubles the differences. A square is ** 2.",
            ),
        ),
        hints=(
            "Each patch has a stand-in, its nearest code. How far is it off, number by number?",
            "ids of the nearest codes, then codebook[ids], which has the shape of the patches. Subtract and square.",
            "ids = torch.cdist(patches, codebook).argmin(dim=-1), then ((patches - codebook[ids]) ** 2).mean()",
        ),
        praise="One number for all that was lost, the same for large and small images.",
    ),
)

QUESTIONS = (
    Question(
        name="kmeans_error",
        lesson="09",
        text="The two steps are repeated again and again. What does the error do from one round to the next?",
        options=(
            Option(
                "it rises now and then, when patches change their code",
                "A patch changes its code only for a nearer one, and that makes its own error smaller.",
            ),
            Option(
                "it falls to 0, if one waits long enough",
                "With fewer codes than different patches some patches have to share a code, and something is left.",
            ),
            Option(
                "it never rises, and at some time it stays",
                "A nearer code lowers a patch's error, and no other point has smaller squared differences from a group"
                " than its mean. Neither step can do harm.",
                right=True,
            ),
            Option(
                "it stays as it is: only the ids change",
                "The codes move as well, each to the mean of its patches, and so they come nearer to them.",
            ),
        ),
    ),
    Question(
        name="code_bits",
        lesson="09",
        text="A codebook has K = 256 codes of 108 numbers. How many bits does it take to say which code a patch has?",
        options=(
            Option("256", "256 is the number of codes. With 8 bits one can count from 0 to 255."),
            Option(
                "8",
                "2⁸ = 256, so 8 bits name every code: log2 K. The patch itself, 108 numbers of 8 bits, takes 864.",
                right=True,
            ),
            Option("864", "108 numbers of 8 bits: that is the patch itself, not the number of a code."),
            Option("108", "One for each number of the patch? The id names the whole patch at once."),
        ),
    ),
    Question(
        name="choice_gradient",
        lesson="09",
        text=(
            "An encoder makes vectors, each is replaced by its nearest code, and a decoder makes pixels of the"
            " codes. Does the loss of these pixels reach the encoder and the codebook?"
        ),
        options=(
            Option("yes, both", "The only way back to the encoder leads through the ids, and those are whole numbers."),
            Option(
                "the encoder only", "The loss was computed from codes. From the vectors came only the choice of ids."
            ),
            Option("no, neither", "The codes were looked up, and a lookup passes its gradient to the rows it took."),
            Option(
                "the codebook only",
                "A lookup passes the gradient to its rows. argmin passes nothing on: move a vector a little and the"
                " id stays the same.",
                right=True,
            ),
        ),
    ),
)
