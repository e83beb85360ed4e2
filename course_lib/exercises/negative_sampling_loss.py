"""Lesson 03, negative_sampling_loss: true pairs should score high, drawn ones low; one number for the batch."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise, WrongAnswer, from_a_layer, in_dtype
from course_lib.exercises.vector_tables import numbers


def negative_sampling_loss(centre, context, negatives):
    right = (centre * context).sum(-1)
    wrong = (negatives @ centre.unsqueeze(-1)).squeeze(-1)
    return -(F.logsigmoid(right) + F.logsigmoid(-wrong).sum(-1)).mean()


def cases() -> list[Case]:
    def case(batch: int, negatives: int, dimension: int, scale: float = 1.0, only: str = "") -> Case:
        args = (
            from_a_layer(numbers(batch, dimension, seed=1, scale=scale)),
            from_a_layer(numbers(batch, dimension, seed=2, scale=scale)),
            from_a_layer(numbers(batch, negatives, dimension, seed=3, scale=scale)),
        )
        return Case(
            f"B = {batch}, K = {negatives}, D = {dimension}",
            args,
            "",
            {"B": batch, "K": negatives, "D": dimension},
            only,
        )

    far = tuple(
        from_a_layer(torch.full(shape, value, dtype=torch.float64))
        for shape, value in (((2, 3), 10.0), ((2, 3), -40.0), ((2, 4, 3), 40.0))
    )
    return [
        case(4, 5, 3),
        case(3, 2, 6),
        in_dtype(case(2, 4, 5), torch.float32),
        case(5, 1, 4, only="one negative"),
        case(1, 3, 5, only="a batch of one"),
        case(1, 1, 1, only="trivial"),
        Case("scores of −1,200 and 1,200", far, "", {"B": 2, "K": 4, "D": 3}),
    ]


def _loss(sign=-1.0, negatives="sum", batch="mean", log=F.logsigmoid, positive=1.0, minus=True):
    def wrong(centre, context, others):
        right = (centre * context).sum(-1)
        bad = (others @ centre.unsqueeze(-1)).squeeze(-1)
        each = {"sum": lambda x: x.sum(-1), "mean": lambda x: x.mean(-1), "none": lambda x: 0 * x.sum(-1)}[negatives](
            log(sign * bad)
        )
        total = positive * log(right) + each
        total = -total if minus else total
        return total.mean() if batch == "mean" else total.sum() if batch == "sum" else total

    return wrong


def _log_of_sigmoid(x):
    return torch.log(torch.sigmoid(x))


def _of_scores(loss):
    def wrong(centre, context, others):
        return loss((centre * context).sum(-1), (others @ centre.unsqueeze(-1)).squeeze(-1))

    return wrong


def _plus(small):
    return _loss(log=lambda x: torch.log(torch.sigmoid(x) + small))


def _cross_entropy_of_sigmoids(right, wrong):
    scores = torch.cat([right.unsqueeze(1), wrong], dim=1)
    targets = torch.zeros_like(scores)
    targets[:, 0] = 1
    return F.binary_cross_entropy(torch.sigmoid(scores), targets, reduction="sum") / len(scores)


def _softmax_loss(right, wrong):
    return F.cross_entropy(torch.cat([right.unsqueeze(1), wrong], dim=1), torch.zeros(len(right), dtype=torch.int64))


def _with_scores(score, end=None):
    """The loss with another line for the scores of the negatives, and perhaps another end."""

    def wrong(centre, context, others):
        right, bad = (centre * context).sum(-1), score(centre, others)
        return end(right, bad) if end else -(F.logsigmoid(right) + F.logsigmoid(-bad).sum(-1)).mean()

    return wrong


WRONG = mistakes(
    negative_sampling_loss,
    r"""
sign of the negatives wrong
    The negatives were treated as true neighbours: their score has to go down, so it enters as logsigmoid(−score).
        -wrong → wrong

negatives averaged
    The K negatives of a pair were averaged. The formula sums them; only the batch is averaged.
        F.logsigmoid(-wrong).sum → F.logsigmoid(-wrong).mean

negatives left out
    The negatives have no influence. Without them, making all vectors equal and long would be the best answer.
        F.logsigmoid(right) + F.logsigmoid(-wrong).sum(-1) → F.logsigmoid(right)

batch summed
    The batch was summed. The mean over the batch is wanted.
        F.logsigmoid(right) + F.logsigmoid(-wrong).sum(-1) → (F.logsigmoid(right) + F.logsigmoid(-wrong).sum(-1)).sum()

one number a pair
    There is still one number for each pair: take the mean over the batch.
        return _loss(batch="none")(centre, context, negatives)

minus sign missing
    This is what should become large. A loss should become small: put a minus in front.
        return -( → return (

log of a sigmoid
    log(sigmoid(score)) is −infinity for a score of −1,200, since the sigmoid is rounded to 0 first. F.logsigmoid
    gives −1,200.
        return _loss(log=_log_of_sigmoid)(centre, context, negatives)

log of 1 minus a sigmoid
    log(1 − σ(x)) is log σ(−x), but σ(1,200) is 1 to the computer, and the logarithm of 0 is −∞. F.logsigmoid(−x) stays
    finite.
        F.logsigmoid(-wrong) → torch.log(1 - torch.sigmoid(wrong))

sigmoid without log
    The logarithm is missing: F.logsigmoid in place of sigmoid.
        return _loss(log=torch.sigmoid)(centre, context, negatives)

positive counted K times
    The true pair was counted once for each negative. It counts once.
        return _loss(positive=float(negatives.shape[1]))(centre, context, negatives)

centre without an axis
    centre is (B, D) and negatives are (B, K, D). A product with * matches axes from the last one on, so K met B.
    centre needs an axis of size 1 where negatives have K.
        return _with_scores(lambda c, n: (c * n).sum(-1))(centre, context, negatives)

centre without an axis, products not added up
    centre is (B, D) and negatives are (B, K, D). A product with * matches axes from the last one on, so K met B.
    centre needs an axis of size 1 where negatives have K.
        return _with_scores(lambda c, n: c * n)(centre, context, negatives)

K not summed
    The axis K is still there where one number a pair is wanted, (B,). If your scores come from a product with @,
    they are (B, K, 1), and .sum(-1) summed over the 1: take that axis away first, .squeeze(-1). If not, the sum
    over K is missing.
        F.logsigmoid(-wrong).sum(-1) → F.logsigmoid(-wrong)

K not summed, no mean
    The true pairs give one number each, (B,), the negatives K, (B, K). Sum those over K first; at the end one
    number is wanted, the mean over the batch.
        return _of_scores(lambda right, wrong: -F.logsigmoid(right) - F.logsigmoid(-wrong))(centre, context, negatives)

K in front of B
    Your scores of the negatives are (K, B), so .sum(-1) summed over the batch. torch.stack puts its new axis first
    unless told: dim=1 gives (B, K).
        return _with_scores(lambda c, n: (n @ c.unsqueeze(-1)).squeeze(-1).T)(centre, context, negatives)

K summed in place of D
    The products were summed over K, axis 1. A score is the sum over D, the last axis.
        return _with_scores(lambda c, n: (c.unsqueeze(1) * n).sum(1))(centre, context, negatives)

centre @ context
    Two tables (B, D) do not fit with @. Row b belongs to row b: multiply number by number, then sum over D.
        centre * context → centre @ context

products of the negatives not added up
    A score is the sum of D products, one number for two vectors. For the negatives (B, K) is wanted, and yours are
    still (B, K, D): .sum(-1) before the logarithm.
        return _with_scores(lambda c, n: c.unsqueeze(1) * n)(centre, context, negatives)

each negative with every centre
    negatives @ centre.T gives the score of each negative with EVERY centre, (B, K, B). Pair b has its own centre
    and its own K negatives: (B, K) is wanted.
        return _with_scores(lambda c, n: n @ c.T)(centre, context, negatives)

each negative with every centre, added up
    negatives @ centre.T gives the score of each negative with EVERY centre, (B, K, B). Pair b has its own centre
    and its own K negatives: (B, K) is wanted.
        return _with_scores(lambda c, n: (n @ c.T).sum(-1))(centre, context, negatives)

negatives @ centre
    Between (B, D) and (B, K, D) a product with @ does not know which axes are the same B. Multiply number by number
    and sum over D, as for the true pair; centre needs an axis of size 1 where negatives have K.
        centre.unsqueeze(-1) → centre

centre @ negatives
    Between (B, D) and (B, K, D) a product with @ does not know which axes are the same B. Multiply number by number
    and sum over D, as for the true pair; centre needs an axis of size 1 where negatives have K.
        return _with_scores(lambda c, n: c @ n)(centre, context, negatives)

negatives @ centre[:, None]
    With @ the last axis of the left side is summed with the last but one of the right side: D has to stand there.
    centre[:, None] is (B, 1, D), which goes with * and .sum(-1).
        centre.unsqueeze(-1) → centre.unsqueeze(1)

centre[:, None] @ negatives
    With @ the last axis of the left side is summed with the last but one of the right side: D has to stand there.
    centre[:, None] is (B, 1, D), which goes with * and .sum(-1).
        return _with_scores(lambda c, n: c[:, None] @ n)(centre, context, negatives)

all scores in one sum
    The scores of all negatives of all pairs went into one sum: .sum() without an axis leaves a single number.
    .sum(-1) sums over D alone and leaves (B, K).
        -wrong → -wrong.sum()

one score for everything
    All products of the batch went into one sum: .sum() without an axis leaves a single number. Each pair has scores
    of its own: .sum(-1) sums over D alone.
        return -F.logsigmoid((centre * context).sum()) - F.logsigmoid(-(centre.unsqueeze(1) * negatives).sum())

negatives of all pairs summed
    The part of the negatives was summed over the whole batch: .sum() without an axis sums over K and B. .sum(-1)
    sums over K alone, and the batch is averaged.
        return _of_scores(lambda right, wrong: -(F.logsigmoid(right) + F.logsigmoid(-wrong).sum()).mean())(
            centre, context, negatives
        )

bare scores
    Bare scores were added up, without a logarithm of the sigmoid. Such a loss has no lower end: longer vectors make
    it ever smaller. F.logsigmoid comes before the sum.
        return _of_scores(lambda right, wrong: (-right + wrong.sum(-1)).mean())(centre, context, negatives)

bare scores, negatives averaged
    Bare scores were added up, without a logarithm of the sigmoid. Such a loss has no lower end: longer vectors make
    it ever smaller. F.logsigmoid comes before the sum.
        return _of_scores(lambda right, wrong: (-right + wrong.mean(-1)).mean())(centre, context, negatives)

bare scores, K not summed
    The true pairs have one score each, (B,), the negatives K, (B, K). And these are bare scores: F.logsigmoid comes
    first, then the sum over K.
        return _of_scores(lambda right, wrong: (-right + wrong).mean())(centre, context, negatives)

minus outside the logarithm
    The minus belongs to the score, inside: logsigmoid(−score). −logsigmoid(score) has no lower end.
        return _of_scores(lambda right, wrong: -(F.logsigmoid(right) - F.logsigmoid(wrong).sum(-1)).mean())(
            centre, context, negatives
        )

negatives added up before the logarithm
    The scores of the negatives were added up first. Each has a logsigmoid of its own, and those are summed.
        return _of_scores(lambda right, wrong: -(F.logsigmoid(right) + F.logsigmoid(-wrong.sum(-1))).mean())(
            centre, context, negatives
        )

mean over everything
    The mean was taken over all 1 + K scores of a pair too. They are summed; only the batch is averaged.
        return _of_scores(lambda right, wrong: -F.logsigmoid(torch.cat([right.unsqueeze(1), -wrong], dim=1)).mean())(
            centre, context, negatives
        )

negatives against the context
    The negatives met the context. They stand in its place, so they meet the centre.
        centre.unsqueeze → context.unsqueeze

each centre with every context
    centre @ context.T gives the score of every centre with every context, (B, B). Row b belongs to row b: (centre *
    context).sum(-1).
        return -(F.logsigmoid(centre @ context.T) + F.logsigmoid(-(negatives @ centre.unsqueeze(-1))).sum(1)).mean()

products not added up
    A score is the sum of D products, one number for two vectors: .sum(-1) before the logarithm.
        return -(F.logsigmoid(centre * context) + F.logsigmoid(-negatives * centre.unsqueeze(1)).sum(1)).mean()

first negative only
    Only the first negative of each pair was used. All K of them are summed.
        return _loss()(centre, context, negatives[:, :1])

products averaged
    The score of the true pair is the mean of the D products. A dot product is their sum: .sum(-1).
        (centre * context).sum → (centre * context).mean

centre and context added
    The numbers of centre and context were added. A score is a dot product: multiply number by number, then sum.
        centre * context → centre + context

context with itself
    The true pair was scored by the context times itself. A score compares two vectors: centre and context.
        centre * context → context * context

two parts subtracted
    The part of the negatives was subtracted. Both parts should become large, so they are added.
        F.logsigmoid(right) + F.logsigmoid(-wrong).sum(-1) → F.logsigmoid(right) - F.logsigmoid(-wrong).sum(-1)

two parts multiplied
    The two parts were multiplied. They are logarithms of probabilities: add them.
        F.logsigmoid(right) + F.logsigmoid(-wrong).sum(-1) → F.logsigmoid(right) * F.logsigmoid(-wrong).sum(-1)

sigmoid without log for the true pair
    The logarithm is missing in the part of the true pair: F.logsigmoid there as well.
        F.logsigmoid(right) → F.sigmoid(right)

sigmoid without log for the negatives
    The logarithm is missing in the part of the negatives: F.logsigmoid there as well.
        F.logsigmoid(-wrong) → F.sigmoid(-wrong)

all axes of one squeezed
    squeeze() without an axis takes away EVERY axis of size 1, also that of a batch of one or of one negative: name
    the axis, .squeeze(-1).
        right, wrong = ((centre * context).sum(-1), (negatives @ centre.unsqueeze(-1)).squeeze())
        return -(F.logsigmoid(right) + F.logsigmoid(-wrong).sum(-1)).mean()

softmax over the scores
    That is a softmax, in which the 1 + K words compete. Here each score is a yes or no of its own: sigmoid.
        return _of_scores(_softmax_loss)(centre, context, negatives)

cross entropy of sigmoids
    binary_cross_entropy cuts each logarithm off at −100, so a score of −1,200 counts too little and gives no
    gradient. binary_cross_entropy_with_logits takes the scores themselves.
        return _of_scores(_cross_entropy_of_sigmoids)(centre, context, negatives)

log held back
    A logarithm held at a least value stays finite, and is wrong below it: a score of −1,200 costs 1,200.
    F.logsigmoid is right for every score.
        return _loss(log=lambda x: torch.log(torch.sigmoid(x).clamp(min=1e-8)))(centre, context, negatives)

cosines in place of dots
    The dot product is not divided by the lengths here: the loss makes vectors longer too.
        return _of_scores(lambda right, wrong: -(F.logsigmoid(right) + F.logsigmoid(-wrong).sum(-1)).mean())(
            F.normalize(centre, dim=-1), F.normalize(context, dim=-1), F.normalize(negatives, dim=-1)
        )
""",
)


FAMILIES = tuple(
    WrongAnswer(
        f"{small} added to the sigmoid",
        _plus(float(small)),
        "A small number in the logarithm hides the infinity: the loss of a score of −1,200 comes out far too"
        " small, and no gradient is left there. F.logsigmoid needs no such help.",
    )
    for small in ("1e-12", "1e-10", "1e-9", "1e-8", "1e-7", "1e-6", "1e-5")
)


EXERCISE = Exercise(
    name="negative_sampling_loss",
    solution=negative_sampling_loss,
    cases=cases,
    result=Tensor,
    slack=1e-7,
    wrong=WRONG + FAMILIES,
    hints=(
        (
            "Scores first. right = (centre * context).sum(-1) gives (B,), one for each pair. The negatives need"
            " wrong, (B, K): the same product of the centre with each of its K negatives, negatives[:, k]."
        ),
        (
            "For all K at once: wrong = (centre[:, None] * negatives).sum(-1). [:, None] puts an axis of size 1"
            " at place 1, so centre is (B, 1, D); in a product with (B, K, D) that one row meets all K."
        ),
        (
            "Large for the true pair, small for the negatives: F.logsigmoid(right), (B,), and"
            " F.logsigmoid(-wrong), (B, K). Sum the second over K, .sum(-1), and add the two."
        ),
        "return -(F.logsigmoid(right) + F.logsigmoid(-wrong).sum(-1)).mean()",
    ),
    praise="Finite even where the model is badly wrong, which is where it has to learn most.",
)
