"""Word vectors: pairs against a plain loop, the loss against its formula, a step against autograd, what is learned."""

from __future__ import annotations

import functools
import itertools
import math
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from course_lib import data, skipgram, tiny_world, words
from course_lib.skipgram import WordVectors, negative_sampling_loss, skip_gram_pairs

FEW = settings(max_examples=40, deadline=None)
ROOT = Path(__file__).resolve().parent.parent


def numbers(*shape, seed=0, scale=1.0):
    return scale * torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


# ---------------------------------------------------------------- pairs

SENTENCES = st.lists(st.lists(st.integers(0, 4), max_size=7), max_size=4)


def by_distance(sentences, window):
    """Every two places of a sentence, judged by how far they lie apart."""
    found = []
    for sentence in sentences:
        for i in range(len(sentence)):
            for j in range(len(sentence)):
                if 0 < abs(i - j) <= window:
                    found.append((sentence[i], sentence[j]))
    return found


@FEW
@given(SENTENCES, st.integers(1, 9))
def test_pairs_are_those_of_a_loop_over_all_places(sentences, window):
    pairs = skip_gram_pairs(sentences, window)
    assert pairs.dtype == torch.int64 and pairs.shape == (len(pairs), 2)
    assert Counter(map(tuple, pairs.tolist())) == Counter(by_distance(sentences, window))


@FEW
@given(SENTENCES, st.integers(1, 5))
def test_each_pair_comes_as_often_as_its_reverse(sentences, window):
    pairs = skip_gram_pairs(sentences, window)
    assert Counter(map(tuple, pairs.tolist())) == Counter(map(tuple, pairs.flip(1).tolist()))


def test_four_words_and_window_1_give_six_pairs():
    assert skip_gram_pairs([[4, 7, 9, 2]], 1).tolist() == [[4, 7], [7, 4], [7, 9], [9, 7], [9, 2], [2, 9]]


def test_a_repeated_word_counts_by_its_place():
    assert skip_gram_pairs([[5, 5, 8]], 1).tolist() == [[5, 5], [5, 5], [5, 8], [8, 5]]


def test_no_pair_crosses_the_border_of_a_sentence():
    pairs = skip_gram_pairs([[0, 1, 2], [3, 4], [5]], 4).tolist()
    assert all((one < 3) == (other < 3) for one, other in pairs) and len(pairs) == 6 + 2


@pytest.mark.parametrize("sentences", [[], [[]], [[3]], [[3], [1], []]])
def test_where_no_word_has_a_neighbour_there_is_no_pair(sentences):
    pairs = skip_gram_pairs(sentences, 2)
    assert pairs.shape == (0, 2) and pairs.dtype == torch.int64


def test_tensors_of_ids_do_as_well_as_lists():
    assert torch.equal(skip_gram_pairs([torch.tensor([1, 2, 0])], 2), skip_gram_pairs([[1, 2, 0]], 2))


@pytest.mark.parametrize(
    ("window", "error", "says"),
    [
        (0, ValueError, "window must be at least 1, got 0"),
        (-2, ValueError, "window must be at least 1, got -2"),
        (2.0, TypeError, "window must be a whole number, got 2.0: use 2"),
        (True, TypeError, "window must be a whole number, got True"),
        ("2", TypeError, "window must be a whole number, got '2'"),
    ],
)
def test_a_window_that_is_none_is_refused_by_name(window, error, says):
    with pytest.raises(error, match=says):
        skip_gram_pairs([[1, 2]], window)


# ---------------------------------------------------------------- loss


@st.composite
def triples(draw):
    batch, count, dimension, seed = (draw(st.integers(1, most)) for most in (5, 4, 6, 99))
    scale = draw(st.sampled_from([0.1, 1.0, 3.0]))
    return (
        numbers(batch, dimension, seed=seed, scale=scale),
        numbers(batch, dimension, seed=seed + 100, scale=scale),
        numbers(batch, count, dimension, seed=seed + 200, scale=scale),
    )


@FEW
@given(triples())
def test_the_loss_is_the_formula_of_the_paper(three):
    centre, context, negatives = (tensor.tolist() for tensor in three)

    def score(one, other):
        return sum(a * b for a, b in zip(one, other, strict=True))

    def minus_log_sigmoid(x):
        return math.log1p(math.exp(-x)) if x > -30 else -x

    total = sum(
        minus_log_sigmoid(score(v, u)) + sum(minus_log_sigmoid(-score(v, n)) for n in others)
        for v, u, others in zip(centre, context, negatives, strict=True)
    )
    loss = negative_sampling_loss(*three)
    assert loss.shape == () and loss.item() == pytest.approx(total / len(centre), rel=1e-11)


@FEW
@given(triples())
def test_the_gradients_of_the_loss_are_those_written_out(three):
    centre, context, negatives = (tensor.requires_grad_() for tensor in three)
    found = torch.autograd.grad(negative_sampling_loss(centre, context, negatives), (centre, context, negatives))
    with torch.no_grad():
        right = torch.sigmoid((centre * context).sum(-1, keepdim=True)) - 1
        wrong = torch.sigmoid(torch.einsum("bd,bkd->bk", centre, negatives)).unsqueeze(-1)
        expected = (right * context + (wrong * negatives).sum(1), right * centre, wrong * centre.unsqueeze(1))
    for one, other in zip(found, expected, strict=True):
        assert torch.allclose(one, other / len(centre), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("score", [120.0, 1200.0])
def test_the_worst_scores_give_a_finite_loss_and_gradient(score, dtype):
    centre = torch.tensor([[score, 0.0]], dtype=dtype, requires_grad=True)
    context = torch.tensor([[-1.0, 0.5]], dtype=dtype, requires_grad=True)
    negatives = torch.tensor([[[1.0, 0.5], [1.0, -2.0]]], dtype=dtype, requires_grad=True)
    loss = negative_sampling_loss(centre, context, negatives)
    assert loss.item() == pytest.approx(3 * score)
    gradients = torch.autograd.grad(loss, (centre, context, negatives))
    assert all(gradient.isfinite().all() and gradient.abs().sum() > 0 for gradient in gradients)
    # for scores far on the wrong side every sigmoid is 1 or 0
    assert torch.equal(gradients[0], (negatives.sum(1) - context).detach())


@pytest.mark.parametrize("score", [120.0, 1200.0])
def test_the_best_scores_give_a_loss_of_zero(score):
    centre, one = torch.tensor([[score]], requires_grad=True), torch.ones(1, 1)
    loss = negative_sampling_loss(centre, one, -one.unsqueeze(1))
    loss.backward()
    assert loss.item() == 0 and centre.grad.item() == 0


# ---------------------------------------------------------------- negatives


def test_negatives_are_drawn_in_proportion_to_count_to_the_power_three_quarters():
    counts = torch.tensor([0, 1, 16, 81])
    drawn = skipgram.draw_negatives(counts, (40_000, 2), torch.Generator().manual_seed(0))
    assert drawn.shape == (40_000, 2) and drawn.dtype == torch.int64
    share = torch.bincount(drawn.flatten(), minlength=4) / drawn.numel()
    assert share[0] == 0 and torch.allclose(share, torch.tensor([0, 1, 8, 27]) / 36, atol=0.01)


def test_the_same_generator_draws_the_same_and_the_global_one_is_not_touched():
    counts, before = torch.tensor([3, 1, 2]), torch.get_rng_state()
    one, other = (skipgram.draw_negatives(counts, (9, 4), torch.Generator().manual_seed(5)) for _ in range(2))
    assert torch.equal(one, other) and torch.equal(torch.get_rng_state(), before)


@FEW
@given(st.lists(st.lists(st.integers(0, 5), min_size=2, max_size=5), min_size=1, max_size=4), st.integers(0, 9))
def test_false_negatives_are_counted_as_by_hand(sentences, seed):
    pairs = skip_gram_pairs(sentences, 2)
    share = skipgram.false_negatives(pairs, 6, 3, seed)
    true = set(map(tuple, pairs.tolist()))
    counts = torch.bincount(pairs[:, 1], minlength=6)
    drawn = skipgram.draw_negatives(counts, (len(pairs), 3), torch.Generator().manual_seed(seed)).tolist()
    hits = [(centre, other) in true for (centre, _), row in zip(pairs.tolist(), drawn, strict=True) for other in row]
    assert share == pytest.approx(sum(hits) / len(hits)) and 0 <= share <= 1


def test_false_negatives_reach_both_ends():
    # with two words that only meet each other, the other word is a true context and the word itself is not
    assert 0 < skipgram.false_negatives(torch.tensor([[0, 1], [1, 0]] * 50), 2, 5) < 1
    assert skipgram.false_negatives(torch.tensor([[0, 1]] * 9), 2, 5) == 1
    all_meet = torch.cartesian_prod(torch.arange(3), torch.arange(3))
    assert skipgram.false_negatives(all_meet, 3, 5) == 1


# ---------------------------------------------------------------- one step


@st.composite
def batches(draw):
    """Tables, centres (B,) and others (B, 1 + K), small enough that most ids come several times."""
    size, dimension, count, batch = (draw(st.integers(low, 5)) for low in (2, 1, 1, 1))
    seed = draw(st.integers(0, 99))
    ids = torch.randint(0, size, (batch, 2 + count), generator=torch.Generator().manual_seed(seed))
    tables = numbers(size, dimension, seed=seed), numbers(size, dimension, seed=seed + 1)
    return tables, ids[:, 0], ids[:, 1:]


@FEW
@given(batches(), st.sampled_from([0.01, 0.05, 0.5]))
def test_a_step_is_one_of_plain_gradient_descent_on_the_summed_loss(batch, rate):
    (weight, context_weight), centres, others = batch
    tables = [weight.clone().requires_grad_(), context_weight.clone().requires_grad_()]
    loss = len(centres) * negative_sampling_loss(tables[0][centres], tables[1][others[:, 0]], tables[1][others[:, 1:]])
    optimiser = torch.optim.SGD(tables, lr=rate)
    loss.backward()
    optimiser.step()

    vectors = WordVectors(weight.clone(), context_weight.clone())
    told = skipgram.step(vectors, centres, others, rate)
    assert told == pytest.approx(loss.item(), rel=1e-10)
    assert torch.allclose(vectors.weight, tables[0], rtol=1e-10, atol=1e-12)
    assert torch.allclose(vectors.context_weight, tables[1], rtol=1e-10, atol=1e-12)


def test_an_id_that_comes_three_times_is_moved_three_times():
    weight, context_weight = numbers(3, 4, seed=1), numbers(3, 4, seed=2)
    once, thrice = (WordVectors(weight.clone(), context_weight.clone()) for _ in range(2))
    skipgram.step(once, torch.tensor([1]), torch.tensor([[0, 2]]), 0.1)
    skipgram.step(thrice, torch.tensor([1] * 3), torch.tensor([[0, 2]] * 3), 0.1)
    for before, one, three in (
        (weight, once.weight, thrice.weight),
        (context_weight, once.context_weight, thrice.context_weight),
    ):
        assert torch.allclose(three - before, 3 * (one - before), rtol=0, atol=1e-12)
        assert not torch.equal(one, before)


def test_rows_that_a_step_does_not_use_stay():
    vectors = WordVectors(numbers(6, 3, seed=1), numbers(6, 3, seed=2))
    before = [vectors.weight.clone(), vectors.context_weight.clone()]
    skipgram.step(vectors, torch.tensor([4, 1]), torch.tensor([[0, 2], [0, 5]]), 0.1)
    moved = [
        (a != b).any(1).nonzero().flatten().tolist()
        for a, b in zip(before, [vectors.weight, vectors.context_weight], strict=True)
    ]
    assert moved == [[1, 4], [0, 2, 5]]


# ---------------------------------------------------------------- training


@functools.cache
def world():
    """Vocabulary in sorted order, sentences of ids, and pairs with window 3."""
    sentences = [words.tokenize(sentence)[:-1] for sentence in data.tiny_world()]
    vocabulary = words.build_vocabulary(sorted({word for sentence in sentences for word in sentence}))
    return vocabulary, skip_gram_pairs([[vocabulary[word] for word in sentence] for sentence in sentences], 3)


@pytest.fixture(autouse=True)
def one_thread():
    """Several test processes with several threads each would wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_small_world_is_learned(seed):
    vocabulary, pairs = world()
    vectors = skipgram.train(pairs, len(vocabulary), embedding_dim=24, epochs=3, seed=seed)
    tables = (vectors.weight, vectors.context_weight)
    assert all(table.isfinite().all() and table.abs().max() < 10 for table in tables), "diverged"
    start, *losses = 6 * math.log(2), *vectors.losses  # six scores of 0
    assert len(losses) == 3 and start > losses[0] > max(losses[1:])

    before, after = (
        skipgram.share_in_group(table, vocabulary, tiny_world.GROUPS) for table in (vectors.snapshots[0], tables[0])
    )
    assert before < 0.3 and after > 0.9
    man, king, woman = (vocabulary[word] for word in ("man", "king", "woman"))
    assert skipgram.analogy(man, king, woman, tables[0]) == vocabulary["queen"]


def test_snapshots_are_the_start_and_a_copy_after_each_epoch():
    vectors = little(epochs=4)
    assert len(vectors.snapshots) == 1 + 4 and torch.equal(vectors.snapshots[-1], vectors.weight)
    assert vectors.snapshots[0].abs().max() <= 0.5 / 6
    assert len({snapshot.data_ptr() for snapshot in [*vectors.snapshots, vectors.weight]}) == 6
    assert not any(torch.equal(*two) for two in itertools.pairwise(vectors.snapshots))


def little(**options):
    _, pairs = world()
    return skipgram.train(pairs[:3000], len(world()[0]), **{"embedding_dim": 6, "epochs": 2, **options})


def test_the_same_seed_gives_the_same_tables_and_another_seed_others():
    one, again, other = little(), little(), little(seed=1)
    assert torch.equal(one.weight, again.weight) and torch.equal(one.context_weight, again.context_weight)
    assert one.losses == again.losses and not torch.equal(one.weight, other.weight)


def test_training_leaves_the_global_random_stream_and_the_pairs_alone():
    before, pairs = torch.get_rng_state(), world()[1].clone()
    little()
    assert torch.equal(torch.get_rng_state(), before) and torch.equal(pairs, world()[1])


def test_progress_is_told_each_batch_up_to_the_end():
    told = []
    little(batch_size=700, progress=lambda done, every: told.append((done, every)))
    assert told[:5] == [(700, 6000), (1400, 6000), (2100, 6000), (2800, 6000), (3000, 6000)]
    assert told[-1] == (6000, 6000) and len(told) == 10


def test_no_epochs_leave_the_start():
    vectors = little(epochs=0)
    assert vectors.losses == [] and torch.equal(vectors.weight, vectors.snapshots[0])
    assert not vectors.context_weight.any()


def test_dimension_and_negatives_can_be_chosen():
    vectors = little(embedding_dim=3, negatives=1)
    assert vectors.weight.shape == vectors.context_weight.shape == (len(world()[0]), 3)
    assert little(negatives=2).losses[0] > vectors.losses[0]  # a sum of three terms against one of two


def test_ids_outside_the_vocabulary_are_refused_before_training():
    with pytest.raises(ValueError, match=r"id 7 at position \(1, 0\) is outside 0\.\.6"):
        skipgram.train(torch.tensor([[0, 1], [7, 2]]), 7, embedding_dim=2)
    with pytest.raises(TypeError, match="whole numbers"):
        skipgram.train(torch.tensor([[0.0, 1.0]]), 7, embedding_dim=2)


@pytest.mark.parametrize("pairs", [torch.zeros(4, 3), torch.zeros(4), torch.zeros(0, 2)], ids=["3", "flat", "empty"])
def test_what_is_no_list_of_pairs_is_refused_before_training(pairs):
    with pytest.raises(
        ValueError,
        match=rf"pairs must have the shape \(n, 2\) with n at least 1, got {re.escape(str(tuple(pairs.shape)))}",
    ):
        skipgram.train(pairs.long(), 7, embedding_dim=2)


@pytest.mark.parametrize("name", ["embedding_dim", "negatives", "batch_size"])
def test_sizes_of_training_are_at_least_one(name):
    with pytest.raises(ValueError, match=f"{name} must be at least 1, got 0"):
        skipgram.train(torch.tensor([[0, 1]]), 7, **{"embedding_dim": 2, name: 0})


HASHED = """
import hashlib
from course_lib import data, skipgram, words
sentences = [words.tokenize(sentence)[:-1] for sentence in data.tiny_world()[:300]]
vocabulary = words.build_vocabulary(sorted({word for sentence in sentences for word in sentence}))
pairs = skipgram.skip_gram_pairs([[vocabulary[word] for word in sentence] for sentence in sentences], 2)
vectors = skipgram.train(pairs, len(vocabulary), embedding_dim=4, epochs=1)
unsorted = ",".join({word for sentence in sentences for word in sentence})
print(unsorted, hashlib.sha256(vectors.weight.numpy().tobytes()).hexdigest())
"""


def test_two_hash_seeds_give_the_same_table():
    said = []
    for seed in ("1", "2"):
        environ = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        run = subprocess.run([sys.executable, "-c", HASHED], env=environ, capture_output=True, text=True, check=True)
        said.append(run.stdout.split())
    (order, table), (other_order, other_table) = said
    assert order != other_order, "the hash seed changes the order of a set"
    assert table == other_table


# ---------------------------------------------------------------- neighbours and analogies


@st.composite
def vectors_and_tables(draw):
    rows, columns, seed = draw(st.integers(4, 9)), draw(st.integers(2, 5)), draw(st.integers(0, 99))
    return numbers(columns, seed=seed), numbers(rows, columns, seed=seed + 1), draw(st.integers(1, rows))


def cosine(one, other):
    return sum(a * b for a, b in zip(one, other, strict=True)) / (math.hypot(*one) * math.hypot(*other))


@FEW
@given(vectors_and_tables())
def test_nearest_are_the_rows_of_largest_cosine_best_first(three):
    vector, weight, k = three
    by_hand = sorted(range(len(weight)), key=lambda row: -cosine(weight[row].tolist(), vector.tolist()))
    assert skipgram.nearest(vector, weight, k).tolist() == by_hand[:k]


@FEW
@given(vectors_and_tables(), st.floats(0.01, 100))
def test_the_length_of_the_vector_does_not_matter(three, factor):
    vector, weight, k = three
    assert torch.equal(skipgram.nearest(vector * factor, weight, k), skipgram.nearest(vector, weight, k))


def test_a_row_of_the_table_is_nearest_to_itself():
    weight = numbers(7, 3)
    assert [skipgram.nearest(row, weight, 1).item() for row in weight] == list(range(7))


@FEW
@given(vectors_and_tables(), st.integers(0, 99))
def test_an_analogy_is_the_best_row_but_for_the_three(three, seed):
    _, weight, _ = three
    a, b, c = torch.randperm(len(weight), generator=torch.Generator().manual_seed(seed))[:3].tolist()
    target = (weight[b] - weight[a] + weight[c]).tolist()
    rest = [row for row in range(len(weight)) if row not in (a, b, c)]
    found = skipgram.analogy(a, b, c, weight)
    assert type(found) is int and found == max(rest, key=lambda row: cosine(weight[row].tolist(), target))


def test_an_analogy_does_not_change_the_table():
    weight = numbers(6, 3)
    before = weight.clone()
    skipgram.analogy(0, 1, 2, weight)
    assert torch.equal(weight, before)


def test_the_share_in_the_group_is_counted_by_hand():
    vocabulary = {"a": 0, "b": 1, "c": 2, "x": 3, "y": 4, "z": 5, "the": 6}
    angles = torch.tensor([0.0, 0.1, 0.2, 1.5, 1.6, 0.25, 3.0])
    weight = torch.stack([angles.cos(), angles.sin()], 1)
    groups = {"first": ("a", "b", "c"), "last": ("x", "y", "z")}
    # a: b c, b: a c, c: z b; x: y z, y: x z, z: c b
    assert skipgram.share_in_group(weight, vocabulary, groups, k=2) == pytest.approx((2 + 2 + 1 + 2 + 2 + 0) / 12)
    assert skipgram.share_in_group(weight, vocabulary, {"first": ("a", "x")}, k=1) == 0


@pytest.mark.parametrize(
    ("k", "error", "says"),
    [
        (8, ValueError, "k must be at most 7, the number of rows, got 8"),
        (0, ValueError, "k must be at least 1, got 0"),
        (2.0, TypeError, "k must be a whole number, got 2.0: use 2"),
    ],
)
def test_more_neighbours_than_rows_or_none_are_refused(k, error, says):
    with pytest.raises(error, match=says):
        skipgram.nearest(torch.ones(3), torch.ones(7, 3), k)


@pytest.mark.parametrize("vector", [torch.ones(4), torch.ones(1), torch.ones(1, 3), torch.tensor(2), 2])
def test_a_vector_that_is_no_row_is_refused(vector):
    with pytest.raises(ValueError, match=r"vector must have the shape \(3,\) of a row of the table, got "):
        skipgram.nearest(vector, torch.ones(7, 3), 2)


@pytest.mark.parametrize("bad", [7, 99, -1])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_an_id_outside_the_table_is_refused_by_an_analogy(bad, place):
    ids = [0, 1, 2]
    ids[place] = bad
    with pytest.raises(ValueError, match=rf"id {bad} at position {place} is outside 0\.\.6"):
        skipgram.analogy(*ids, torch.ones(7, 3))


def test_the_pure_cosine_is_that_of_torch():
    weight, vector = numbers(5, 3), numbers(3, seed=9)
    best = F.cosine_similarity(weight, vector[None]).argmax()
    assert skipgram.nearest(vector, weight, 1) == best


def test_with_one_table_centres_and_contexts_are_the_same_and_groups_are_found_less():
    vocabulary, pairs = world()
    single = skipgram.train(pairs, len(vocabulary), embedding_dim=24, tables=1)
    assert single.weight is single.context_weight
    assert skipgram.share_in_group(single.weight, vocabulary, tiny_world.GROUPS) < 0.8


def test_steps_of_the_small_world_mostly_stand_with_nothing_left_out():
    vocabulary, pairs = world()
    weight = skipgram.train(pairs, len(vocabulary), embedding_dim=24).weight
    people, animals = ([vocabulary[word] for word in tiny_world.GROUPS[name]] for name in ("people", "animals"))
    steps = {
        "one to many": zip(animals[::2], animals[1::2], strict=True),
        "to royalty": zip(people[:4], people[4:], strict=True),
        "he to she": zip(people[::2], people[1::2], strict=True),
        "old to young": zip(people[:2] + people[4:6], people[2:4] + people[6:], strict=True),
    }
    right = {name: skipgram.analogy_test(weight, list(step))[0] for name, step in steps.items()}
    assert min(right.values()) > 0.5, right


def test_analogy_test_counts_right_answers_and_those_that_repeat_the_question():
    # words 0, 1 and 2, 3 differ by the same step: every question is right
    steps = torch.tensor([[1.0, 0.0], [1.0, 1.0], [5.0, 0.2], [5.0, 1.2]])
    assert skipgram.analogy_test(steps, [(0, 1), (2, 3)]) == (1.0, 0.0)
    tables = torch.eye(4)
    assert skipgram.analogy_test(tables, [(0, 1), (2, 3)]) == (0.0, 1.0)


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize("texts", [["the cat sat"], "the cat sat", [["the"], "cat sat"], [b"the cat"]])
def test_texts_in_place_of_lists_of_tokens_are_refused_with_what_to_do(texts):
    with pytest.raises(TypeError, match="got one text: call tokenize"):
        skipgram.corpus_ids(texts)


def test_sentences_may_come_one_after_the_other_from_a_generator():
    sentences = [["b", "a"], ["a"]]
    assert skipgram.corpus_ids(iter(tokens) for tokens in sentences) == skipgram.corpus_ids(sentences)
    assert skipgram.corpus_ids(sentences) == ([[1, 0], [0]], {"a": 0, "b": 1})


TABLE = torch.eye(3)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: skipgram.corpus_ids([["a"]], fewest=1.5), TypeError, "fewest must be a whole number, got 1.5"),
        (lambda: skipgram.corpus_ids([["a"]], frequent=0.0), ValueError, "frequent is a share above 0, got 0.0"),
        (lambda: skipgram.corpus_ids([["a"]], frequent=-1.0), ValueError, "frequent is a share above 0, got -1.0"),
        (lambda: skipgram.corpus_ids([["a"]], frequent=math.nan), ValueError, "a share above 0, got nan"),
        (lambda: skipgram.corpus_ids([["a"]], seed=None), TypeError, "seed must be a whole number, got None"),
        (lambda: skip_gram_pairs([[0.5, 1.5]], 1), TypeError, "ids are whole numbers, got torch.float"),
        (lambda: skip_gram_pairs([torch.tensor([0.5, 1.5])], 1), TypeError, "ids are whole numbers, got torch.float32"),
        (lambda: skip_gram_pairs([[True, False]], 1), TypeError, "ids are whole numbers, got bool"),
        (lambda: skip_gram_pairs(["the"], 1), TypeError, "ids are whole numbers in a tensor"),
        (lambda: little(tables=3), ValueError, "tables must be 1 or 2, got 3"),
        (lambda: little(tables=True), TypeError, "tables must be a whole number, got True"),
        (lambda: little(epochs=-1), ValueError, "epochs must be at least 0, got -1"),
        (lambda: little(epochs=True), TypeError, "epochs must be a whole number, got True"),
        (lambda: little(rate=-0.1), ValueError, "rate must be above 0, got -0.1"),
        (lambda: little(rate=math.nan), ValueError, "rate must be above 0, got nan"),
        (lambda: skipgram.analogy_test(TABLE, [(0, -1), (1, 2)]), ValueError, "id -1 at position (0, 1) is outside"),
        (lambda: skipgram.analogy_test(TABLE, [(0, 1)]), ValueError, "a question is made of two pairs, got one"),
        (lambda: skipgram.analogy_test(TABLE, []), ValueError, "the shape (n, 2) with n at least 1, got (0,)"),
        (lambda: skipgram.analogy(0, 1, True, [1.0]), ValueError, "weight must be a table (V, D), got list"),
        (lambda: skipgram.nearest(TABLE[0], TABLE[0], 1), ValueError, "weight must be a table (V, D), got (3,)"),
        (
            lambda: skipgram.false_negatives(torch.tensor([[0, -1]]), 3, 2),
            ValueError,
            "id -1 at position (0, 1) is outside 0..2",
        ),
        (lambda: skipgram.on_a_plane([]), ValueError, "V and D at least 2, got none"),
        (lambda: skipgram.on_a_plane([torch.ones(4, 1)]), ValueError, "V and D at least 2, got (4, 1)"),
        (lambda: skipgram.on_a_plane([TABLE[:2], TABLE]), ValueError, "tables of one shape (V, D), V and D at least 2"),
        (lambda: skipgram.share_in_group(TABLE, {"a": 0}, {}), ValueError, "groups must have at least one word"),
        (lambda: skipgram.share_in_group(TABLE, {"a": 0}, {"x": ["b"]}), ValueError, "token 'b' at position 0 is not"),
        (lambda: skipgram.share_in_group(TABLE, {"a": 0}, {"x": "a"}), TypeError, "list of tokens, got one text"),
        (lambda: skipgram.share_in_group(TABLE, {"a": 0}, {"x": ["a"]}, k=True), TypeError, "k must be a whole number"),
        (
            lambda: skipgram.draw_negatives(torch.ones(3), (0, 2), torch.Generator()),
            ValueError,
            "n must be at least 1, got 0",
        ),
    ],
)
def test_what_would_give_a_wrong_result_without_a_word_is_named(call, error, text):
    with pytest.raises(error, match=re.escape(text)):
        call()


@pytest.mark.parametrize(
    "shapes",
    [[(4, 3), (1, 3), (4, 2, 3)], [(4, 3), (3,), (4, 2, 3)], [(4, 3), (4, 3), (1, 2, 3)], [(3,), (3,), (4, 2, 3)]],
)
def test_the_loss_names_shapes_that_a_product_would_stretch(shapes):
    with pytest.raises(ValueError, match=re.escape(f"negatives (B, K, D), got {', '.join(map(str, shapes))}")):
        negative_sampling_loss(*map(torch.ones, shapes))


def test_the_loss_of_no_pairs_is_refused():
    with pytest.raises(ValueError, match="needs at least one pair, got none"):
        negative_sampling_loss(torch.ones(0, 3), torch.ones(0, 3), torch.ones(0, 2, 3))


def test_tables_are_float32_whatever_the_default_dtype_is():
    expected = little()
    try:
        torch.set_default_dtype(torch.float64)
        vectors = little()
    finally:
        torch.set_default_dtype(torch.float32)
    assert vectors.weight.dtype == vectors.context_weight.dtype == torch.float32
    assert torch.equal(vectors.weight, expected.weight)
