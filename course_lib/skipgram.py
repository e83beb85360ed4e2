"""Word vectors from neighbours: skip-gram with negative sampling (lesson 03).

After Mikolov et al., "Distributed Representations of Words and Phrases and their Compositionality" (2013).
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn import functional as F

from course_lib.letters import check_sizes, positive_int, whole_number
from course_lib.reproducible import one_thread
from course_lib.words import check_ids, check_table, encode, list_of_tokens, whole_numbers


def corpus_ids(
    token_lists: Sequence[Sequence[str]], *, fewest: int = 1, frequent: float = 1.0, seed: int = 0
) -> tuple[list[list[int]], dict[str, int]]:
    """Sentences as ids, and the sorted vocabulary of words that occur at least `fewest` times.

    A word whose share of the text is above `frequent` is left out at random, the more often the larger its
    share, as word2vec does: "the" says little about its neighbours.
    """
    if isinstance(token_lists, str):
        raise TypeError("corpus_ids expects lists of tokens, got one text: call tokenize on each of its sentences")
    token_lists = [list_of_tokens("each sentence of corpus_ids", tokens) for tokens in token_lists]
    check_sizes(fewest=fewest)
    whole_number("seed", seed, least=0)
    if not frequent > 0:  # so that NaN is refused too
        raise ValueError(f"frequent is a share above 0, got {frequent}")
    counts = Counter(token for tokens in token_lists for token in tokens)
    vocabulary = {word: number for number, word in enumerate(sorted(w for w in counts if counts[w] >= fewest))}
    kept = {word: (frequent * counts.total() / counts[word]) ** 0.5 for word in vocabulary}
    draw = random.Random(seed).random
    ids = [[vocabulary[t] for t in tokens if t in vocabulary and draw() < kept[t]] for tokens in token_lists]
    return ids, vocabulary


def skip_gram_pairs(sentences: Sequence[Sequence[int]], window: int) -> Tensor:
    """(n, 2) int64: each word as the centre with each neighbour at most `window` places away, as the context.

    Places are compared, not words, so a repeated word counts; no pair crosses the border of a sentence.
    """
    window = positive_int("window", window)
    pairs = [
        (centre, sentence[place])
        for sentence in sentences
        for middle, centre in enumerate(sentence)
        for place in range(max(0, middle - window), min(len(sentence), middle + window + 1))
        if place != middle
    ]
    return whole_numbers(pairs).reshape(-1, 2)


def negative_sampling_loss(centre: Tensor, context: Tensor, negatives: Tensor) -> Tensor:
    """Mean over the batch of −log σ(centre·context) − Σ log σ(−centre·negative): (B, D), (B, D), (B, K, D) -> ().

    logsigmoid stays finite where the logarithm of a sigmoid would be −inf (a score of −120, say).
    Raises ValueError where the shapes do not fit or B is 0.
    """
    if centre.ndim != 2 or context.shape != centre.shape or negatives.ndim != 3 or negatives.shape[::2] != centre.shape:
        came = ", ".join(str(tuple(part.shape)) for part in (centre, context, negatives))
        raise ValueError(f"expected centre (B, D), context (B, D) and negatives (B, K, D), got {came}")
    if len(centre) == 0:
        raise ValueError("the mean over a batch needs at least one pair, got none")
    right = (centre * context).sum(-1)
    wrong = torch.einsum("bd,bkd->bk", centre, negatives)
    return -(F.logsigmoid(right) + F.logsigmoid(-wrong).sum(-1)).mean()


def draw_negatives(counts: Tensor, shape: tuple[int, int], generator: torch.Generator) -> Tensor:
    """Ids of the given shape (n, K), each drawn in proportion to its count to the power 3/4."""
    check_sizes(n=shape[0], K=shape[1])
    drawn = torch.multinomial(counts.double() ** 0.75, shape[0] * shape[1], replacement=True, generator=generator)
    return drawn.reshape(shape)


@dataclass
class WordVectors:
    """What training gives: the table of centres (V, D), the table of contexts (V, D), the mean loss of each
    epoch, and copies of the first table at the start and after each epoch."""

    weight: Tensor
    context_weight: Tensor
    losses: list[float] = field(default_factory=list)
    snapshots: list[Tensor] = field(default_factory=list)


def train(
    pairs: Tensor,
    vocabulary_size: int,
    *,
    embedding_dim: int,
    negatives: int = 5,
    epochs: int = 5,
    batch_size: int = 256,
    rate: float = 0.05,
    seed: int = 0,
    tables: int = 2,
    progress: Callable[[int, int], None] | None = None,
) -> WordVectors:
    """Train two tables on pairs (n, 2) by plain gradient descent; `progress(done, all)` is told each batch.

    With `tables=1` centres and contexts share one table, which learns much less.

    The gradient of negative_sampling_loss is short enough to be written out, which makes a step several
    times faster than autograd with an optimiser. The sum over a batch is taken, not the mean, as word2vec does.
    """
    pairs = _checked_pairs(pairs, vocabulary_size)
    check_sizes(embedding_dim=embedding_dim, negatives=negatives, batch_size=batch_size)
    whole_number("epochs", epochs, least=0)
    if positive_int("tables", tables) > 2:
        raise ValueError(f"tables must be 1 or 2, got {tables}")
    if not rate > 0:
        raise ValueError(f"rate must be above 0, got {rate}: a step goes down the slope")
    with one_thread():
        return _train(
            pairs, vocabulary_size, embedding_dim, negatives, epochs, batch_size, rate, seed, tables, progress
        )


def _checked_pairs(given: Tensor | Sequence[tuple[int, int]], vocabulary_size: int) -> Tensor:
    pairs = check_ids(given, vocabulary_size)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or len(pairs) == 0:
        raise ValueError(f"pairs must have the shape (n, 2) with n at least 1, got {tuple(pairs.shape)}")
    return pairs


def _train(
    pairs: Tensor,
    vocabulary_size: int,
    embedding_dim: int,
    negatives: int,
    epochs: int,
    batch_size: int,
    rate: float,
    seed: int,
    tables: int,
    progress: Callable[[int, int], None] | None,
) -> WordVectors:
    generator = torch.Generator().manual_seed(seed)
    start = torch.rand(vocabulary_size, embedding_dim, generator=generator, dtype=torch.float32)
    start = (start - 0.5) / embedding_dim
    weight = start.clone()
    context_weight = torch.zeros_like(weight) if tables == 2 else weight
    vectors = WordVectors(weight, context_weight, snapshots=[start])
    counts = torch.bincount(pairs[:, 1], minlength=vocabulary_size)
    for epoch in range(epochs):
        order = torch.randperm(len(pairs), generator=generator)
        drawn = draw_negatives(counts, (len(pairs), negatives), generator)
        total = 0.0
        for first in range(0, len(pairs), batch_size):
            batch = order[first : first + batch_size]
            total += step(vectors, pairs[batch, 0], torch.cat([pairs[batch, 1:], drawn[batch]], dim=1), rate)
            if progress:
                progress(epoch * len(pairs) + first + len(batch), epochs * len(pairs))
        vectors.losses.append(total / len(pairs))
        vectors.snapshots.append(vectors.weight.clone())
    return vectors


def step(vectors: WordVectors, centres: Tensor, others: Tensor, rate: float) -> float:
    """One step on centres (B,) and others (B, 1 + K), the true context first; the summed loss before it."""
    centre = vectors.weight.index_select(0, centres)
    other = vectors.context_weight.index_select(0, others.flatten()).view(*others.shape, -1)
    scores = torch.einsum("bd,bkd->bk", centre, other)
    # gradient of the loss for each score: σ(score) − 1 for the true context, σ(score) for the others
    error = torch.sigmoid(scores)
    error[:, 0] -= 1
    centre_gradient = torch.einsum("bk,bkd->bd", error, other)
    other_gradient = (error.unsqueeze(-1) * centre.unsqueeze(1)).flatten(0, 1)
    vectors.weight.index_add_(0, centres, centre_gradient, alpha=-rate)
    vectors.context_weight.index_add_(0, others.flatten(), other_gradient, alpha=-rate)
    scores[:, 0] *= -1
    return F.softplus(scores).sum().item()


def nearest(vector: Tensor, weight: Tensor, k: int) -> Tensor:
    """(k,) ids of the rows of weight (V, D) with the largest cosine to vector (D,), best first."""
    check_table(weight)
    if not isinstance(vector, Tensor) or vector.shape != weight.shape[1:]:
        came = tuple(vector.shape) if isinstance(vector, Tensor) else type(vector).__name__
        raise ValueError(f"vector must have the shape ({weight.shape[1]},) of a row of the table, got {came}")
    if positive_int("k", k) > len(weight):
        raise ValueError(f"k must be at most {len(weight)}, the number of rows, got {k}")
    return F.cosine_similarity(weight, vector.unsqueeze(0), dim=1).topk(k).indices


def analogy(a: int, b: int, c: int, weight: Tensor) -> int:
    """The id whose row is nearest by cosine to row b − row a + row c, with a, b and c left out."""
    check_table(weight)
    a, b, c = check_ids([a, b, c], len(weight)).tolist()
    similarity = F.cosine_similarity(weight, (weight[b] - weight[a] + weight[c]).unsqueeze(0), dim=1)
    similarity[[a, b, c]] = -torch.inf
    return int(similarity.argmax())


def analogy_test(weight: Tensor, pairs: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """Questions a → b as c → ? made of every two pairs, nothing left out: share right, share won by a, b or c."""
    check_table(weight)
    checked = _checked_pairs(pairs, len(weight)).tolist()
    if len(checked) < 2:
        raise ValueError("a question is made of two pairs, got one pair")
    a, b, c, d = torch.tensor([(*one, *other) for one, other in itertools.permutations(checked, 2)]).T
    asked = F.normalize(weight[b] - weight[a] + weight[c], dim=1)
    best = (asked @ F.normalize(weight, dim=1).T).argmax(dim=1)  # all questions in one product
    return (best == d).double().mean().item(), ((best == a) | (best == b) | (best == c)).double().mean().item()


def false_negatives(pairs: Tensor, vocabulary_size: int, negatives: int, seed: int = 0) -> float:
    """Share of drawn negatives that are true contexts of their centre somewhere in the corpus."""
    pairs = _checked_pairs(pairs, vocabulary_size)
    true = torch.zeros(vocabulary_size, vocabulary_size, dtype=torch.bool)
    true[pairs[:, 0], pairs[:, 1]] = True
    counts = torch.bincount(pairs[:, 1], minlength=vocabulary_size)
    drawn = draw_negatives(counts, (len(pairs), negatives), torch.Generator().manual_seed(seed))
    return true[pairs[:, :1].expand_as(drawn), drawn].double().mean().item()


def on_a_plane(tables: Sequence[Tensor]) -> list[Tensor]:
    """(V, 2) for each table (V, D): the directions of its rows, seen where those of the last table spread most.

    Rows are brought to length 1, since the cosine compares directions. The plane is that of the first two
    principal components of the last table, with their signs fixed.
    """
    for table in tables:
        check_table(table)
    if not len(tables) or min(tables[-1].shape) < 2 or any(table.shape != tables[-1].shape for table in tables):
        shapes = ", ".join(str(tuple(table.shape)) for table in tables)
        raise ValueError(f"expected tables of one shape (V, D), V and D at least 2, got {shapes or 'none'}")
    tables = [F.normalize(table, dim=1) for table in tables]
    last = tables[-1] - tables[-1].mean(0)
    directions = torch.linalg.svd(last, full_matrices=False).Vh[:2]
    largest = directions.gather(1, directions.abs().argmax(1, keepdim=True))
    return [(table - table.mean(0)) @ (directions * largest.sign()).T for table in tables]


def share_in_group(weight: Tensor, vocabulary: dict[str, int], groups: dict[str, Sequence[str]], k: int = 3) -> float:
    """Share of the k nearest words of each grouped word that belong to its group."""
    positive_int("k", k)
    if not any(groups.values()):
        raise ValueError("groups must have at least one word, got none")
    hits, total = 0, 0
    for members in groups.values():
        ids = set(encode(members, vocabulary).tolist())
        for number in ids:
            found = [other for other in nearest(weight[number], weight, k + 1).tolist() if other != number][:k]
            hits, total = hits + sum(other in ids for other in found), total + k
    return hits / total
