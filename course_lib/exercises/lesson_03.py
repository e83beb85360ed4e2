"""Lesson 03: learning word vectors."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from course_lib.exercises.model import Case, Exercise, Option, Question, WrongAnswer, random_numbers


def skip_gram_pairs(sentences, window):
    pairs = []
    for sentence in sentences:
        for middle in range(len(sentence)):
            for place in range(middle - window, middle + window + 1):
                if place != middle and 0 <= place < len(sentence):
                    pairs.append((sentence[middle], sentence[place]))
    return pairs


def negative_sampling_loss(centre, context, negatives):
    right = (centre * context).sum(-1)
    wrong = (negatives @ centre.unsqueeze(-1)).squeeze(-1)
    return -(F.logsigmoid(right) + F.logsigmoid(-wrong).sum(-1)).mean()


def nearest(vector, weight, k):
    similarity = F.cosine_similarity(weight, vector.unsqueeze(0), dim=1)
    return similarity.topk(k).indices


def analogy(a, b, c, weight):
    target = weight[b] - weight[a] + weight[c]
    similarity = F.cosine_similarity(weight, target.unsqueeze(0), dim=1)
    similarity[[a, b, c]] = -torch.inf
    return similarity.argmax().item()


# ---------------------------------------------------------------- pairs


def _pair_cases() -> list[Case]:
    def case(sentences: list[list[int]], window: int, only: str = "") -> Case:
        return Case(f"the sentences {sentences} and window {window}", (sentences, window), only=only)

    return [
        case([[4, 7, 9, 2]], 1),
        case([[5, 5, 8], [3, 6]], 1),
        case([[1, 2, 3, 1, 4], [6, 2], [9]], 2),
        case([], 2, "trivial"),
        case([[3, 1, 2, 7]], 9),
        case([[8, 1, 6, 3, 5, 2]], 3),
    ]


def _read_pairs(pairs: list) -> dict[str, list]:
    """Pairs in any order: which one comes first is a matter of taste."""
    return {"pairs": sorted((tuple(p) if isinstance(p, (list, tuple)) else p for p in pairs), key=repr)}


def _pairs(
    left=True, right=True, by_word=False, itself=False, glued=False, once=False, reach=0, whole=False, reach_left=0
):
    def wrong(sentences, window):
        parts = [[word for sentence in sentences for word in sentence]] if glued else sentences
        found = []
        for sentence in parts:
            for i, centre in enumerate(sentence):
                low, high = i - window - reach_left if left else i, i + window + 1 + reach if right else i
                low, high = (0, len(sentence)) if whole else (low, high)
                for j in range(max(0, low), min(len(sentence), high)):
                    skip = sentence[j] == centre if by_word else j == i and not itself
                    if not skip:
                        found.append((centre, sentence[j]))
        return list(dict.fromkeys(found)) if once else found

    return wrong


def _negative_slice(sentences, window):
    return [
        (sentence[i], word)
        for sentence in sentences
        for i in range(len(sentence))
        for word in sentence[i - window : i] + sentence[i + 1 : i + window + 1]
    ]


def _in_one_slice(sentence, middle, window, keep):
    """Pairs from sentence[middle − window : middle + window + 1]; keep(place, word) says which words of it count."""
    near = sentence[middle - window : middle + window + 1]
    return [(sentence[middle], word) for place, word in enumerate(near) if keep(place, word)]


def _any_place(sentence, middle, window, end):
    """Pairs with all places from middle − window on, as long as they are below end."""
    places = range(middle - window, min(end, middle + window + 1))
    return [(sentence[middle], sentence[place]) for place in places if place != middle]


def _first_places(sentences, window, by_word=False):
    pairs = []
    for sentence in sentences:
        for word in sentence:
            middle = sentence.index(word)
            near = [sentence[place] for place in _around(sentence, middle, window)]
            pairs += [(word, other) for other in near if not by_word or other != word]
    return pairs


def _last_round(sentences, window):
    for sentence in sentences:
        pairs = skip_gram_pairs([sentence], window)
    return pairs


def _last_word(sentences, window):
    for sentence in sentences:
        for middle, word in enumerate(sentence):
            pairs = [(word, sentence[place]) for place in _around(sentence, middle, window)]
    return pairs


def _around(sentence, middle, window):
    return [j for j in range(max(0, middle - window), min(len(sentence), middle + window + 1)) if j != middle]


def _each_place(pair):
    """Pairs made by pair(sentence, middle, window), which gives the list for one place."""

    def wrong(sentences, window):
        return [
            found
            for sentence in sentences
            for middle in range(len(sentence))
            for found in pair(sentence, middle, window)
        ]

    return wrong


def _stops_at_a_border(sentence, middle, window):
    found = []
    for place in range(middle - window, middle + window + 1):
        if not 0 <= place < len(sentence):
            break
        if place != middle:
            found.append((sentence[middle], sentence[place]))
    return found


MORE_PAIRS = (
    WrongAnswer(
        "places in place of words",
        _each_place(lambda s, i, w: [(i, j) for j in _around(s, i, w)]),
        "These are the places. The words that stand there are wanted: sentence[middle], sentence[place].",
    ),
    WrongAnswer(
        "words at the border left out",
        _each_place(lambda s, i, w: [(s[i], s[j]) for j in _around(s, i, w)] if w <= i < len(s) - w else []),
        "Only words with a whole window around them became centres. At the border of a sentence the window is"
        " shorter, the word still counts.",
    ),
    WrongAnswer(
        "negative places wrap",
        _each_place(
            lambda s, i, w: [(s[i], s[j]) for j in range(i - w, min(len(s), i + w + 1)) if j != i and j >= -len(s)]
        ),
        "A negative place counts from the end: the first word met the last one. Only places from 0 on are inside.",
    ),
    WrongAnswer(
        "no lower bound",
        _each_place(lambda s, i, w: _any_place(s, i, w, len(s))),
        "Place −1 is the last word of the sentence, so its first words met its last ones. Only places from 0 on are"
        " inside: the test needs a lower bound as well.",
    ),
    WrongAnswer(
        "no bound",
        _each_place(lambda s, i, w: _any_place(s, i, w, i + w + 1)),
        "A list was asked for a place that it does not have. Before the first word and behind the last one of a"
        " sentence nothing stands: leave out places below 0 and from len(sentence) on.",
    ),
    WrongAnswer(
        "one slice, begun below zero",
        _each_place(lambda s, i, w: _in_one_slice(s, i, w, lambda place, word: True)),
        "sentence[middle − window : …] with a negative start counts from the end, so the first words got no"
        " neighbours or wrong ones. The centre itself stands in the slice, too. Go by places, from"
        " max(0, middle − window), and leave out the place of the centre.",
    ),
    WrongAnswer(
        "one slice, begun below zero, words compared",
        lambda sentences, window: [
            pair
            for sentence in sentences
            for i in range(len(sentence))
            for pair in _in_one_slice(sentence, i, window, lambda place, word, centre=sentence[i]: word != centre)
        ],
        "sentence[middle − window : …] with a negative start counts from the end, so the first words got no"
        " neighbours or wrong ones: max(0, middle − window). And a repeated word was taken for the centre itself:"
        " compare places, not words.",
    ),
    WrongAnswer(
        "one slice, begun below zero, place in the slice compared",
        _each_place(lambda s, i, w: _in_one_slice(s, i, w, lambda place, word: place != w)),
        "sentence[middle − window : …] with a negative start counts from the end, so the first words got no"
        " neighbours or wrong ones. Let the places begin at max(0, middle − window).",
    ),
    WrongAnswer(
        "place in the slice",
        _each_place(
            lambda s, i, w: [
                (s[i], s[j]) for j in range(max(0, i - w), min(len(s), i + w + 1)) if j - max(0, i - w) != w
            ]
        ),
        "Near the beginning of a sentence the slice is shorter, and the centre does not stand at place `window` of"
        " it. Compare places in the sentence.",
    ),
    WrongAnswer(
        "first place of the word",
        _first_places,
        "index() finds the first place of a word only, so a repeated word got the neighbours of its first place."
        " enumerate(sentence) gives place and word.",
    ),
    WrongAnswer(
        "first place of the word, words compared",
        lambda sentences, window: _first_places(sentences, window, by_word=True),
        "index() finds the first place of a word only: enumerate(sentence) gives place and word. And a repeated word"
        " was taken for the centre itself: compare places, not words.",
    ),
    WrongAnswer(
        "last sentence only",
        _last_round,
        "Only the pairs of the last sentence are left. `pairs = []` inside the loop begins anew for each sentence:"
        " put it in front of the loop.",
    ),
    WrongAnswer(
        "last sentence only, and a list before",
        lambda sentences, window: skip_gram_pairs(sentences[-1:], window),
        "Only the pairs of the last sentence are left. Does something inside the loop empty the list, such as"
        " `pairs = []`, or put a new one in its place?",
    ),
    WrongAnswer(
        "last word only",
        _last_word,
        "Only the pairs of the last word are left. `pairs = []` inside the loop begins anew for each word: put it in"
        " front of all loops.",
    ),
    WrongAnswer(
        "farthest missing on both sides",
        lambda sentences, window: skip_gram_pairs(sentences, window - 1),
        "The farthest neighbours are missing on both sides. A word exactly `window` places away counts: a comparison"
        " takes <=, not <, and a range stops before its end.",
    ),
    WrongAnswer(
        "farthest missing on the left",
        _pairs(reach_left=-1),
        "The farthest neighbour on the left is missing: the places begin at middle − window.",
    ),
    WrongAnswer(
        "first sentence only",
        lambda sentences, window: skip_gram_pairs(sentences[:1], window),
        "Only the first sentence was read. Does `return` stand inside the loop?",
    ),
    WrongAnswer(
        "return inside the loop over sentences",
        lambda sentences, window: skip_gram_pairs(sentences[:1], window) if sentences else None,
        "Only the first sentence was read. A `return` inside the loop ends the function in the first round: move it to"
        " the left.",
    ),
    WrongAnswer(
        "return inside the loop over words",
        lambda sentences, window: (
            [(sentences[0][0], sentences[0][place]) for place in _around(sentences[0], 0, window)]
            if sentences
            else None
        ),
        "Only the first word of the first sentence was a centre. A `return` inside the loop ends the function in the"
        " first round: move it to the left.",
    ),
    WrongAnswer(
        "last word left out",
        _each_place(lambda s, i, w: [(s[i], s[j]) for j in _around(s, i, w)] if i < len(s) - 1 else []),
        "The last word of a sentence was never a centre: range(len(sentence)) goes up to it.",
    ),
    WrongAnswer(
        "only the farthest",
        _each_place(lambda s, i, w: [(s[i], s[j]) for j in (i - w, i + w) if 0 <= j < len(s)]),
        "Only words exactly `window` places away were taken: all nearer ones count as well.",
    ),
    WrongAnswer(
        "neighbours in one list",
        _each_place(lambda s, i, w: [(s[i], [s[j] for j in _around(s, i, w)])]),
        "A centre with the list of its neighbours is one entry. Each neighbour makes a pair of its own.",
    ),
    WrongAnswer(
        "ids without pairs",
        _each_place(lambda s, i, w: [word for j in _around(s, i, w) for word in (s[i], s[j])]),
        "The ids stand one after another. Append each pair as one entry: pairs.append((centre, context)).",
    ),
    WrongAnswer(
        "stopped at the border",
        _each_place(_stops_at_a_border),
        "A place outside the sentence ended the loop. Skip that place and go on: `continue`, not `break`.",
    ),
    WrongAnswer(
        "window halved",
        lambda sentences, window: skip_gram_pairs(sentences, window // 2),
        "The window was halved. It counts the places to each side, not both together.",
    ),
    WrongAnswer(
        "window always 2",
        lambda sentences, window: skip_gram_pairs(sentences, 2),
        "The window was 2 whatever was asked: use the argument.",
    ),
)


# ---------------------------------------------------------------- loss


def _numbers(*shape: int, seed: int, scale: float = 1.0) -> Tensor:
    return scale * random_numbers(*shape, seed=seed)


def _loss_cases() -> list[Case]:
    def case(batch: int, negatives: int, dimension: int, scale: float = 1.0, only: str = "") -> Case:
        args = (
            _numbers(batch, dimension, seed=1, scale=scale).requires_grad_(),
            _numbers(batch, dimension, seed=2, scale=scale),
            _numbers(batch, negatives, dimension, seed=3, scale=scale),
        )
        return Case(
            f"B = {batch}, K = {negatives}, D = {dimension}",
            args,
            "",
            {"B": batch, "K": negatives, "D": dimension},
            only,
        )

    far = (
        torch.full((2, 3), 10.0, dtype=torch.float64).requires_grad_(),
        torch.full((2, 3), -40.0, dtype=torch.float64),
        torch.full((2, 4, 3), 40.0, dtype=torch.float64),
    )
    return [
        case(4, 5, 3),
        case(3, 2, 6),
        case(5, 1, 4, only="one negative"),
        case(1, 3, 5, only="a batch of one"),
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


def _score_of(score):
    """The loss with another score for the true pair."""
    return lambda centre, context, others: (
        -(
            F.logsigmoid(score(centre, context)) + F.logsigmoid(-(others @ centre.unsqueeze(-1)).squeeze(-1)).sum(-1)
        ).mean()
    )


def _squeezed(centre, context, others):
    right, wrong = (centre * context).sum(-1), (others @ centre.unsqueeze(-1)).squeeze()
    return -(F.logsigmoid(right) + F.logsigmoid(-wrong).sum(-1)).mean()


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


_NO_AXIS = (
    "centre is (B, D) and negatives are (B, K, D). A product with * matches axes from the last one on, so K met B."
    " centre needs an axis of size 1 where negatives have K."
)
_MATRIX_PRODUCT = (
    "Between (B, D) and (B, K, D) a product with @ does not know which axes are the same B. Multiply number by number"
    " and sum over D, as for the true pair; centre needs an axis of size 1 where negatives have K."
)
_AXES_OF_A_PRODUCT = (
    "With @ the last axis of the left side is summed with the last but one of the right side: D has to stand there."
    " centre[:, None] is (B, 1, D), which goes with * and .sum(-1)."
)
_BARE = (
    "Bare scores were added up, without a logarithm of the sigmoid. Such a loss has no lower end: longer vectors make"
    " it ever smaller. F.logsigmoid comes before the sum."
)

MORE_LOSSES = (
    WrongAnswer("centre without an axis", _with_scores(lambda c, n: (c * n).sum(-1)), _NO_AXIS),
    WrongAnswer("centre without an axis, products not added up", _with_scores(lambda c, n: c * n), _NO_AXIS),
    WrongAnswer(
        "K not summed",
        _with_scores(lambda c, n: n @ c.unsqueeze(-1)),
        "The axis K is still there where one number a pair is wanted, (B,). If your scores come from a product with @,"
        " they are (B, K, 1), and .sum(-1) summed over the 1: take that axis away first, .squeeze(-1). If not, the sum"
        " over K is missing.",
    ),
    WrongAnswer(
        "K not summed, no mean",
        _of_scores(lambda right, wrong: -F.logsigmoid(right) - F.logsigmoid(-wrong)),
        "The true pairs give one number each, (B,), the negatives K, (B, K). Sum those over K first; at the end one"
        " number is wanted, the mean over the batch.",
    ),
    WrongAnswer(
        "K in front of B",
        _with_scores(lambda c, n: (n @ c.unsqueeze(-1)).squeeze(-1).T),
        "Your scores of the negatives are (K, B), so .sum(-1) summed over the batch. torch.stack puts its new axis"
        " first unless told: dim=1 gives (B, K).",
    ),
    WrongAnswer(
        "K summed in place of D",
        _with_scores(lambda c, n: (c.unsqueeze(1) * n).sum(1)),
        "The products were summed over K, axis 1. A score is the sum over D, the last axis.",
    ),
    WrongAnswer(
        "centre @ context",
        lambda centre, context, others: _loss()(centre, centre @ context, others),
        "Two tables (B, D) do not fit with @. Row b belongs to row b: multiply number by number, then sum over D.",
    ),
    WrongAnswer(
        "products of the negatives not added up",
        _with_scores(lambda c, n: c.unsqueeze(1) * n),
        "A score is the sum of D products, one number for two vectors. For the negatives (B, K) is wanted, and yours"
        " are still (B, K, D): .sum(-1) before the logarithm.",
    ),
    WrongAnswer(
        "each negative with every centre",
        _with_scores(lambda c, n: n @ c.T),
        "negatives @ centre.T gives the score of each negative with EVERY centre, (B, K, B). Pair b has its own centre"
        " and its own K negatives: (B, K) is wanted.",
    ),
    WrongAnswer(
        "each negative with every centre, added up",
        _with_scores(lambda c, n: (n @ c.T).sum(-1)),
        "negatives @ centre.T gives the score of each negative with EVERY centre, (B, K, B). Pair b has its own centre"
        " and its own K negatives: (B, K) is wanted.",
    ),
    WrongAnswer("negatives @ centre", _with_scores(lambda c, n: n @ c), _MATRIX_PRODUCT),
    WrongAnswer("centre @ negatives", _with_scores(lambda c, n: c @ n), _MATRIX_PRODUCT),
    WrongAnswer("negatives @ centre[:, None]", _with_scores(lambda c, n: n @ c[:, None]), _AXES_OF_A_PRODUCT),
    WrongAnswer("centre[:, None] @ negatives", _with_scores(lambda c, n: c[:, None] @ n), _AXES_OF_A_PRODUCT),
    WrongAnswer(
        "all scores in one sum",
        _with_scores(lambda c, n: (c.unsqueeze(1) * n).sum()),
        "The scores of all negatives of all pairs went into one sum: .sum() without an axis leaves a single number."
        " .sum(-1) sums over D alone and leaves (B, K).",
    ),
    WrongAnswer(
        "one score for everything",
        lambda c, u, n: -F.logsigmoid((c * u).sum()) - F.logsigmoid(-(c.unsqueeze(1) * n).sum()),
        "All products of the batch went into one sum: .sum() without an axis leaves a single number. Each pair has"
        " scores of its own: .sum(-1) sums over D alone.",
    ),
    WrongAnswer(
        "negatives of all pairs summed",
        _of_scores(lambda right, wrong: -(F.logsigmoid(right) + F.logsigmoid(-wrong).sum()).mean()),
        "The part of the negatives was summed over the whole batch: .sum() without an axis sums over K and B."
        " .sum(-1) sums over K alone, and the batch is averaged.",
    ),
    WrongAnswer("bare scores", _of_scores(lambda right, wrong: (-right + wrong.sum(-1)).mean()), _BARE),
    WrongAnswer(
        "bare scores, negatives averaged", _of_scores(lambda right, wrong: (-right + wrong.mean(-1)).mean()), _BARE
    ),
    WrongAnswer(
        "bare scores, K not summed",
        _of_scores(lambda right, wrong: (-right + wrong).mean()),
        "The true pairs have one score each, (B,), the negatives K, (B, K). And these are bare scores: F.logsigmoid"
        " comes first, then the sum over K.",
    ),
    WrongAnswer(
        "minus outside the logarithm",
        _of_scores(lambda right, wrong: -(F.logsigmoid(right) - F.logsigmoid(wrong).sum(-1)).mean()),
        "The minus belongs to the score, inside: logsigmoid(−score). −logsigmoid(score) has no lower end.",
    ),
    WrongAnswer(
        "negatives added up before the logarithm",
        _of_scores(lambda right, wrong: -(F.logsigmoid(right) + F.logsigmoid(-wrong.sum(-1))).mean()),
        "The scores of the negatives were added up first. Each has a logsigmoid of its own, and those are summed.",
    ),
    WrongAnswer(
        "mean over everything",
        _of_scores(lambda right, wrong: -F.logsigmoid(torch.cat([right.unsqueeze(1), -wrong], dim=1)).mean()),
        "The mean was taken over all 1 + K scores of a pair too. They are summed; only the batch is averaged.",
    ),
    WrongAnswer(
        "negatives against the context",
        lambda centre, context, others: (
            _loss()(centre, context, others)
            + F.logsigmoid(-(others @ centre.unsqueeze(-1))).sum(1).mean()
            - F.logsigmoid(-(others @ context.unsqueeze(-1))).sum(1).mean()
        ),
        "The negatives met the context. They stand in its place, so they meet the centre.",
    ),
    WrongAnswer(
        "each centre with every context",
        lambda centre, context, others: (
            -(F.logsigmoid(centre @ context.T) + F.logsigmoid(-(others @ centre.unsqueeze(-1))).sum(1)).mean()
        ),
        "centre @ context.T gives the score of every centre with every context, (B, B). Row b belongs to row b:"
        " (centre * context).sum(-1).",
    ),
    WrongAnswer(
        "products not added up",
        lambda centre, context, others: (
            -(F.logsigmoid(centre * context) + F.logsigmoid(-others * centre.unsqueeze(1)).sum(1)).mean()
        ),
        "A score is the sum of D products, one number for two vectors: .sum(-1) before the logarithm.",
    ),
    WrongAnswer(
        "first negative only",
        lambda centre, context, others: _loss()(centre, context, others[:, :1]),
        "Only the first negative of each pair was used. All K of them are summed.",
    ),
    WrongAnswer(
        "products averaged",
        _score_of(lambda centre, context: (centre * context).mean(-1)),
        "The score of the true pair is the mean of the D products. A dot product is their sum: .sum(-1).",
    ),
    WrongAnswer(
        "centre and context added",
        _score_of(lambda centre, context: (centre + context).sum(-1)),
        "The numbers of centre and context were added. A score is a dot product: multiply number by number, then sum.",
    ),
    WrongAnswer(
        "context with itself",
        _score_of(lambda centre, context: (context * context).sum(-1)),
        "The true pair was scored by the context times itself. A score compares two vectors: centre and context.",
    ),
    WrongAnswer(
        "two parts subtracted",
        _of_scores(lambda right, wrong: -(F.logsigmoid(right) - F.logsigmoid(-wrong).sum(-1)).mean()),
        "The part of the negatives was subtracted. Both parts should become large, so they are added.",
    ),
    WrongAnswer(
        "two parts multiplied",
        _of_scores(lambda right, wrong: -(F.logsigmoid(right) * F.logsigmoid(-wrong).sum(-1)).mean()),
        "The two parts were multiplied. They are logarithms of probabilities: add them.",
    ),
    WrongAnswer(
        "sigmoid without log for the true pair",
        _of_scores(lambda right, wrong: -(torch.sigmoid(right) + F.logsigmoid(-wrong).sum(-1)).mean()),
        "The logarithm is missing in the part of the true pair: F.logsigmoid there as well.",
    ),
    WrongAnswer(
        "sigmoid without log for the negatives",
        _of_scores(lambda right, wrong: -(F.logsigmoid(right) + torch.sigmoid(-wrong).sum(-1)).mean()),
        "The logarithm is missing in the part of the negatives: F.logsigmoid there as well.",
    ),
    WrongAnswer(
        "all axes of one squeezed",
        _squeezed,
        "squeeze() without an axis takes away EVERY axis of size 1, also that of a batch of one or of one negative:"
        " name the axis, .squeeze(-1).",
    ),
    WrongAnswer(
        "softmax over the scores",
        _of_scores(_softmax_loss),
        "That is a softmax, in which the 1 + K words compete. Here each score is a yes or no of its own: sigmoid.",
    ),
    WrongAnswer(
        "cross entropy of sigmoids",
        _of_scores(_cross_entropy_of_sigmoids),
        "binary_cross_entropy cuts each logarithm off at −100, so a score of −1,200 counts too little and gives no"
        " gradient. binary_cross_entropy_with_logits takes the scores themselves.",
    ),
    *(
        WrongAnswer(
            f"{small} added to the sigmoid",
            _plus(float(small)),
            "A small number in the logarithm hides the infinity: the loss of a score of −1,200 comes out far too"
            " small, and no gradient is left there. F.logsigmoid needs no such help.",
        )
        for small in ("1e-12", "1e-10", "1e-9", "1e-8", "1e-7", "1e-6", "1e-5")
    ),
)


# ---------------------------------------------------------------- nearest


def _table(rows: int, columns: int, seed: int) -> Tensor:
    """Rows of very different length, so that a dot product and a cosine disagree."""
    lengths = torch.linspace(0.2, 6.0, rows, dtype=torch.float64)[
        torch.randperm(rows, generator=torch.Generator().manual_seed(seed))
    ]
    return F.normalize(_numbers(rows, columns, seed=seed), dim=1) * lengths.unsqueeze(1)


def _nearest_cases() -> list[Case]:
    def case(rows: int, columns: int, k: int, row: int, only: str = "") -> Case:
        weight = _table(rows, columns, seed=rows)
        vector = weight[row] + 0.3 * _numbers(columns, seed=k)
        return Case(
            f"a table ({rows}, {columns}) and k = {k}",
            (vector, weight, k),
            "k",
            {"k": k, "V": rows, "D": columns},
            only,
        )

    return [
        case(9, 4, 3, 2),
        case(12, 5, 4, 7),
        case(7, 3, 2, 0),
        case(5, 5, 3, 1, "square tables"),
        case(8, 3, 1, 4, "k = 1"),
    ]


def _by(score, largest=True):
    def wrong(vector, weight, k):
        return score(vector, weight).topk(k, largest=largest).indices

    return wrong


def _cosine(vector, weight):
    return F.cosine_similarity(weight, vector.unsqueeze(0), dim=1)


MORE_NEAREST = (
    WrongAnswer(
        "rows in place of ids",
        lambda v, w, k: w[_cosine(v, w).topk(k).indices],
        "These are the rows themselves. Their ids are wanted, (k,).",
    ),
    WrongAnswer(
        "sign of the cosine lost",
        _by(lambda v, w: _cosine(v, w).abs()),
        "The opposite direction counted as near: a cosine of −1 is as far as it gets, so no abs().",
    ),
    WrongAnswer("one too many", lambda v, w, k: _cosine(v, w).topk(k + 1).indices, "k ids are wanted, not k + 1."),
    WrongAnswer(
        "all of them",
        lambda v, w, k: _cosine(v, w).argsort(descending=True),
        "All ids came, in the right order. The first k are wanted.",
    ),
    WrongAnswer(
        "only the best",
        lambda v, w, k: _cosine(v, w).argmax(),
        "That is the best one alone. The k best are wanted, as a tensor (k,).",
    ),
    WrongAnswer(
        "first place cut off",
        lambda v, w, k: _cosine(v, w).topk(k).indices[1:],
        "One is missing: the best was cut off. Here the vector need not be a row of the table, so it stays.",
    ),
    WrongAnswer(
        "divided by the square of the length",
        _by(lambda v, w: w @ v / w.square().sum(1)),
        "The dot product was divided by the squared length: now short rows win. .norm(dim=1) is the length.",
    ),
    WrongAnswer(
        "columns compared",
        lambda v, w, k: F.cosine_similarity(w, v.unsqueeze(0), dim=0).topk(k).indices,
        "The cosine was taken along the columns, dim=0. A word is a row: dim=1 gives one number for each row.",
    ),
    WrongAnswer(
        "lengths of the columns",
        lambda v, w, k: (w @ v / w.norm(dim=0)).topk(k).indices,
        "weight.norm(dim=0) is the length of each column. A word is a row: dim=1.",
    ),
    WrongAnswer(
        "columns scaled, not rows",
        _by(lambda v, w: F.normalize(w, dim=0) @ v),
        "The columns were brought to length 1. A word is a row: dim=1.",
    ),
)


# ---------------------------------------------------------------- analogy


def _analogy_cases() -> list[Case]:
    # Seeds by which each of the three words, the lengths and the signs decide about the winner somewhere.
    cases = []
    for rows, columns, seed in ((12, 5, 28), (10, 6, 6), (8, 3, 32), (9, 4, 1), (11, 4, 6), (8, 5, 23)):
        weight = _table(rows, columns, seed)
        cases.append(
            Case(
                f"a = 1, b = 4, c = 6 and a table ({rows}, {columns})",
                (1, 4, 6, weight),
                letters={"V": rows, "D": columns},
            )
        )
    weight = _table(10, 6, 18)
    label = "a = 2, b = 7, c = 5 and a table (10, 6)"
    cases.append(Case(label, (2, 7, 5, weight), letters={"V": 10, "D": 6}))
    return cases


def _analogy(signs=(-1, 1, 1), left_out=(0, 1, 2), score=_cosine, best=True):
    def wrong(a, b, c, weight):
        target = signs[0] * weight[a] + signs[1] * weight[b] + signs[2] * weight[c]
        similarity = score(target, weight)
        for place in left_out:
            similarity[(a, b, c)[place]] = -torch.inf if best else torch.inf
        return (similarity.argmax() if best else similarity.argmin()).item()

    return wrong


def _among_the_rest(a, b, c, weight):
    rest = [row for row in range(len(weight)) if row not in (a, b, c)]
    return _cosine(weight[b] - weight[a] + weight[c], weight[rest]).argmax().item()


def _other_target(a, b, c, weight, target):
    similarity = _cosine(target, weight)
    similarity[[a, b, c]] = -torch.inf
    return similarity.argmax().item()


def _set_to_zero(a, b, c, weight):
    similarity = _cosine(weight[b] - weight[a] + weight[c], weight)
    similarity[[a, b, c]] = 0
    return similarity.argmax().item()


def _ranked(place):
    return lambda a, b, c, w: _cosine(w[b] - w[a] + w[c], w).argsort(descending=True)[place].item()


def _first_of(count):
    """The nearest row that is no word of the question, sought among so many; None where there is none."""

    def wrong(a, b, c, weight):
        nearest_rows = _cosine(weight[b] - weight[a] + weight[c], weight).topk(count).indices.tolist()
        return next((row for row in nearest_rows if row not in (a, b, c)), None)

    return wrong


MORE_ANALOGIES = (
    *(
        WrongAnswer(
            name,
            _first_of(count),
            "Now and then the nearest rows are all words of the question, and then nothing is left to return. Three"
            " words can be in the way: ask for the four nearest.",
        )
        for name, count in (("too few asked for", 2), ("three asked for", 3))
    ),
    WrongAnswer(
        "three asked for, the first of those left",
        lambda a, b, c, weight: [
            row
            for row in _cosine(weight[b] - weight[a] + weight[c], weight).topk(3).indices.tolist()
            if row not in (a, b, c)
        ][0],
        "A list had no such entry. If you took the nearest rows and left out the words of the question: of three rows"
        " none may be left. Ask for the four nearest.",
    ),
    WrongAnswer("a not left out", _analogy(left_out=(1, 2)), "a is a word of the question as well: it must not win."),
    WrongAnswer(
        "left out with a 0",
        _set_to_zero,
        "0 is no small cosine: where all others are negative, 0 wins. Use −infinity.",
    ),
    WrongAnswer(
        "ids of a shorter table",
        _among_the_rest,
        "The three rows were taken out of the table, so the ids behind them moved up. Keep the table, and give"
        " their similarities −infinity.",
    ),
    WrongAnswer(
        "b − a − c",
        _analogy(signs=(-1, 1, -1)),
        "c was subtracted. The step b − a starts from c: b − a + c.",
    ),
    WrongAnswer(
        "b forgotten",
        _analogy(signs=(1, 0, 1)),
        "b has no part in this: it is the nearest to a + c. The step goes from a to b: b − a + c.",
    ),
    WrongAnswer(
        "step from b",
        lambda a, b, c, weight: _other_target(a, b, c, weight, 2 * weight[b] - weight[a]),
        "The step b − a was taken from b once more. It starts from c: b − a + c.",
    ),
    WrongAnswer(
        "step from a to c",
        lambda a, b, c, weight: _other_target(a, b, c, weight, 2 * weight[c] - weight[a]),
        "The step was taken from a to c. It goes from a to b, and then on from c: b − a + c.",
    ),
    WrongAnswer(
        "step multiplied",
        lambda a, b, c, weight: _other_target(a, b, c, weight, (weight[b] - weight[a]) * weight[c]),
        "The step b − a was multiplied with c. It is added to it: b − a + c.",
    ),
    WrongAnswer("b − a alone", _analogy(signs=(-1, 1, 0)), "b − a is the step. It starts from c: b − a + c."),
    WrongAnswer("nearest to c", _analogy(signs=(0, 0, 1)), "That is the nearest to c. The step b − a is missing."),
    WrongAnswer(
        "second place",
        _ranked(1),
        "The best was skipped, whichever it was. Leave out a, b and c by their ids, then take the best.",
    ),
    WrongAnswer(
        "fourth place",
        _ranked(3),
        "The three best were skipped, whichever they were. Leave out a, b and c by their ids.",
    ),
    WrongAnswer(
        "distance",
        _analogy(score=lambda v, w: -(w - v).norm(dim=1)),
        "That is the distance between the points. Compare directions, by cosine.",
    ),
)


EXERCISES = (
    Exercise(
        name="skip_gram_pairs",
        lesson="03",
        solution=skip_gram_pairs,
        cases=_pair_cases,
        result=list,
        read=_read_pairs,
        wrong=(
            WrongAnswer(
                "right-hand neighbours missing",
                _pairs(right=False),
                "Only words on the left became neighbours. A slice or "
                "range ends one before its end: go up to middle + window + 1.",
            ),
            WrongAnswer(
                "left-hand neighbours missing", _pairs(left=False), "Only words on the right became neighbours."
            ),
            WrongAnswer(
                "last neighbour missing",
                _pairs(reach=-1),
                "The farthest neighbour on the right is missing: range stops before "
                "its end, so it has to be middle + window + 1.",
            ),
            WrongAnswer(
                "words compared, not positions",
                _pairs(by_word=True),
                "A repeated word was taken for the centre itself. Compare places, not words.",
            ),
            WrongAnswer(
                "paired with itself",
                _pairs(itself=True),
                "Each word was paired with itself. Leave out the place of the centre.",
            ),
            WrongAnswer(
                "pairs across sentences",
                _pairs(glued=True),
                "The last word of a sentence met the first of the next. Go through the sentences one by one.",
            ),
            WrongAnswer(
                "repeated pairs dropped",
                _pairs(once=True),
                "A pair that occurs twice counts twice: that is how often the two words meet.",
            ),
            WrongAnswer(
                "window ignored",
                _pairs(whole=True),
                "All words of the sentence were paired: only those at most `window` places away are neighbours.",
            ),
            WrongAnswer(
                "window too wide",
                _pairs(reach=1),
                "One neighbour too many on the right: up to middle + window, both included.",
            ),
            WrongAnswer(
                "slice begins below zero",
                _negative_slice,
                "sentence[middle − window : middle] with a negative start counts "
                "from the end. Use max(0, middle − window).",
            ),
            *MORE_PAIRS,
        ),
        hints=(
            "Three loops: over sentences, over the place of the centre, over the places around it.",
            (
                "The places run from middle − window to middle + window, both included. Leave out those outside"
                " the sentence, and the centre's own place."
            ),
            (
                "for place in range(middle - window, middle + window + 1): if place != middle and 0 <= place <"
                " len(sentence): pairs.append((sentence[middle], sentence[place]))"
            ),
        ),
        praise="Places, not words; both sides; and no pair across a full stop.",
    ),
    Exercise(
        name="negative_sampling_loss",
        lesson="03",
        solution=negative_sampling_loss,
        cases=_loss_cases,
        result=Tensor,
        gradient=0,
        slack=1e-7,
        wrong=(
            WrongAnswer(
                "sign of the negatives wrong",
                _loss(sign=1.0),
                "The negatives were treated as true neighbours: their score has to "
                "go down, so it enters as logsigmoid(−score).",
            ),
            WrongAnswer(
                "negatives averaged",
                _loss(negatives="mean"),
                "The K negatives of a pair were averaged. The formula sums them; only the batch is averaged.",
            ),
            WrongAnswer(
                "negatives left out",
                _loss(negatives="none"),
                "The negatives have no influence. Without them, making all vectors "
                "equal and long would be the best answer.",
            ),
            WrongAnswer("batch summed", _loss(batch="sum"), "The batch was summed. The mean over the batch is wanted."),
            WrongAnswer(
                "one number a pair",
                _loss(batch="none"),
                "There is still one number for each pair: take the mean over the batch.",
            ),
            WrongAnswer(
                "minus sign missing",
                _loss(minus=False),
                "This is what should become large. A loss should become small: put a minus in front.",
            ),
            WrongAnswer(
                "log of a sigmoid",
                _loss(log=_log_of_sigmoid),
                "log(sigmoid(score)) is −infinity for a score of −1,200, since the "
                "sigmoid is rounded to 0 first. F.logsigmoid gives −1,200.",
            ),
            WrongAnswer(
                "sigmoid without log",
                _loss(log=torch.sigmoid),
                "The logarithm is missing: F.logsigmoid in place of sigmoid.",
            ),
            WrongAnswer(
                "positive counted K times",
                lambda u, v, n: _loss(positive=float(n.shape[1]))(u, v, n),
                "The true pair was counted once for each negative. It counts once.",
            ),
            *MORE_LOSSES,
        ),
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
    ),
    Exercise(
        name="nearest",
        lesson="03",
        solution=nearest,
        cases=_nearest_cases,
        result=Tensor,
        slack=1e-6,  # for cosines that come in place of ids
        wrong=(
            WrongAnswer(
                "dot product",
                _by(lambda v, w: w @ v),
                "That is the order of the dot products: long rows win, whatever their direction. Divide by the "
                "length of each row, the root of the sum of its squares. weight.norm(dim=1) gives one for each row; "
                "len(...) counts entries, and weight.norm() without dim is a single number for the whole table.",
            ),
            WrongAnswer(
                "worst first",
                _by(_cosine, largest=False),
                "The least similar came first. The cosine is 1 for the same direction, so the largest is wanted.",
            ),
            WrongAnswer(
                "distance",
                _by(lambda v, w: -(w - v).norm(dim=1)),
                "That is the distance between the points. The cosine compares directions only.",
            ),
            WrongAnswer("farthest", _by(lambda v, w: (w - v).norm(dim=1)), "The farthest rows came first."),
            WrongAnswer(
                "best left out",
                lambda v, w, k: _cosine(v, w).topk(k + 1).indices[1:],
                "The best one was left out. That is "
                "sensible where the vector is itself a row of the table, but here it is any vector.",
            ),
            WrongAnswer(
                "best last",
                lambda v, w, k: _cosine(v, w).topk(k).indices.flip(0),
                "The right ids, worst first. Best first is wanted.",
            ),
            WrongAnswer(
                "similarities in place of ids",
                lambda v, w, k: _cosine(v, w).topk(k).values,
                "These are the cosines. The ids of the rows are wanted: .indices of topk or sort.",
            ),
            WrongAnswer(
                "similarities through a list",
                lambda v, w, k: torch.tensor(sorted(_cosine(v, w).tolist(), reverse=True)[:k]),
                "These are the cosines. The ids of the rows are wanted: .indices of topk, or range(len(weight)) sorted"
                " by the cosine of each row.",
            ),
            *MORE_NEAREST,
        ),
        hints=(
            (
                "The cosine is the dot product of two vectors divided by both lengths. The length of a vector here is"
                " the root of the sum of its squares, v.norm(), not len(v). F.cosine_similarity does all of that for"
                " a whole table."
            ),
            "F.cosine_similarity(weight, vector.unsqueeze(0), dim=1) gives one number for each row.",
            ".topk(k).indices gives the ids of the k largest, best first.",
        ),
        praise="Directions count, lengths do not.",
    ),
    Exercise(
        name="analogy",
        lesson="03",
        solution=analogy,
        cases=_analogy_cases,
        result=int,
        wrong=(
            WrongAnswer(
                "ids calculated",
                lambda a, b, c, weight: b - a + c,
                "You calculated with the ids. Ids are only names: take the "
                "rows, weight[b] − weight[a] + weight[c], and look for the nearest row.",
            ),
            WrongAnswer(
                "question words not left out",
                _analogy(left_out=()),
                "One of the three words of the question won. They are often the nearest, so they are left out.",
            ),
            WrongAnswer(
                "b not left out",
                _analogy(left_out=(2,)),
                "All three words of the question are left out, b as well.",
            ),
            WrongAnswer("a − b + c", _analogy(signs=(1, -1, 1)), "The step goes from a to b: b − a, then on from c."),
            WrongAnswer("a + b − c", _analogy(signs=(1, 1, -1)), "The step goes from a to b: b − a, then on from c."),
            WrongAnswer(
                "all added", _analogy(signs=(1, 1, 1)), "The three rows were added. a is subtracted: b − a + c."
            ),
            WrongAnswer(
                "dot product",
                _analogy(score=lambda v, w: w @ v),
                "That is the dot product: long rows win. Compare by cosine.",
            ),
            WrongAnswer("least similar", _analogy(best=False), "The least similar row won: argmax, not argmin."),
            *MORE_ANALOGIES,
        ),
        hints=(
            "king − man + woman: what is b, what is a, what is c here?",
            "target = weight[b] - weight[a] + weight[c]. Then as in nearest, but a, b and c must not win.",
            "similarity[[a, b, c]] = -torch.inf, then similarity.argmax().item().",
        ),
        praise="Three words were left out: the lesson counts how much that rule does.",
    ),
)

QUESTIONS = (
    Question(
        name="neighbours",
        lesson="03",
        text=(
            "'kittens' and 'puppies' never stand in the same sentence of a text. Can a model that only sees neighbours"
            " give them similar vectors?"
        ),
        options=(
            Option(
                "no: it only learns from words that meet",
                "The words need not meet each other. What counts is whether they meet the same third words.",
            ),
            Option(
                "yes, if they have the same neighbours",
                "Both have to predict 'little', 'run', 'these'. The easiest way to do that is with similar vectors.",
                right=True,
            ),
            Option("yes, because they are spelt alike", "The spelling is gone: the model sees ids."),
            Option("only if somebody labels them", "Nobody labels anything here. The text itself is the teacher."),
        ),
    ),
    Question(
        name="two_tables",
        lesson="03",
        text=("Skip-gram keeps two tables, one for words as centres, one for words as contexts. Why does one not do?"),
        options=(
            Option("two tables hold more words", "Both hold a row for each of the same words."),
            Option("it trains faster", "It has twice as many numbers to train."),
            Option(
                "a word hardly ever stands beside itself",
                "With one table the score of a word beside itself is u·u, never negative: the "
                "model could not say that this is unlikely.",
                right=True,
            ),
            Option("one is a copy for safety", "They are different, and both are trained."),
        ),
    ),
)
