"""Looking up is multiplying: equal numbers, equal gradients, and layers that hold the table."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from course_lib import embed, words

FEW = settings(max_examples=40, deadline=None)


def some_table(rows: int, columns: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed)).to(dtype)


@st.composite
def tables_and_ids(draw):
    rows, columns = draw(st.integers(1, 9)), draw(st.integers(1, 6))
    shape = draw(st.lists(st.integers(0, 4), max_size=3))
    count = int(torch.tensor(shape).prod())
    numbers = draw(st.lists(st.integers(0, rows - 1), min_size=count, max_size=count))
    return torch.tensor(numbers, dtype=torch.int64).reshape(shape), some_table(rows, columns, draw(st.integers(0, 99)))


@FEW
@given(tables_and_ids())
def test_product_and_lookup_are_equal_number_for_number(both):
    ids, weight = both
    looked_up = embed.lookup_by_index(ids, weight)
    assert looked_up.shape == (*ids.shape, weight.shape[1])
    assert torch.equal(looked_up, embed.lookup_by_matmul(ids, weight))
    assert torch.equal(looked_up, weight[ids])
    assert torch.equal(looked_up, words.one_hot(ids, len(weight)) @ weight)


@FEW
@given(tables_and_ids())
def test_product_and_lookup_have_equal_gradients(both):
    ids, table = both
    factors = some_table(ids.numel(), table.shape[1], 7).double().reshape(*ids.shape, table.shape[1])
    gradients = []
    for lookup in (embed.lookup_by_index, embed.lookup_by_matmul):
        weight = table.double().requires_grad_()
        gradients.append(torch.autograd.grad((lookup(ids, weight) * factors).sum(), weight)[0])
    assert torch.allclose(*gradients, rtol=1e-12, atol=1e-12)


@FEW
@given(tables_and_ids())
def test_a_row_used_k_times_gets_k_times_the_gradient_and_unused_rows_none(both):
    ids, table = both
    weight = table.clone().requires_grad_()
    gradient = torch.autograd.grad(embed.lookup_by_index(ids, weight).sum(), weight)[0]
    counts = embed.rows_with_gradient(ids, len(weight))
    assert counts.sum() == ids.numel() and counts.dtype == torch.int64
    assert torch.equal(gradient, counts[:, None].expand_as(weight).to(weight.dtype))


def test_rows_with_gradient_counts_by_hand():
    assert embed.rows_with_gradient(torch.tensor([[1, 4, 4], [1, 4, 0]]), 6).tolist() == [1, 2, 0, 0, 3, 0]
    assert embed.rows_with_gradient([], 3).tolist() == [0, 0, 0]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64])
def test_every_dtype_of_a_table_is_kept(dtype):
    weight, ids = some_table(5, 3, dtype=dtype), torch.tensor([4, 0, 4])
    for lookup in (embed.lookup_by_index, embed.lookup_by_matmul):
        assert lookup(ids, weight).dtype == dtype and torch.equal(lookup(ids, weight), weight[ids])


def test_a_table_that_is_not_contiguous_works():
    weight, ids = some_table(3, 5).T, torch.tensor([[4, 0]])
    assert torch.equal(embed.lookup_by_index(ids, weight), embed.lookup_by_matmul(ids, weight))


@pytest.mark.parametrize("lookup", [embed.lookup_by_index, embed.lookup_by_matmul])
def test_bad_ids_and_tables_are_refused_by_name(lookup):
    weight = some_table(6, 3)
    with pytest.raises(ValueError, match=r"^id 6 at position \(1, 0\) is outside 0\.\.5: the table has 6 rows$"):
        lookup(torch.tensor([[0, 1], [6, 2]]), weight)
    with pytest.raises(ValueError, match="id -1 at position 0"):
        lookup([-1], weight)
    with pytest.raises(TypeError, match="whole numbers, got torch.float32"):
        lookup(torch.tensor([1.0]), weight)
    with pytest.raises(TypeError, match="got bool"):
        lookup(torch.tensor([True]), weight)
    with pytest.raises(ValueError, match=r"a table \(V, D\), got \(3,\)"):
        lookup(torch.tensor([1]), weight[0])
    with pytest.raises((TypeError, ValueError), match=r"a table \(V, D\), got list"):
        lookup(torch.tensor([1]), [[1.0]])


@FEW
@given(tables_and_ids())
def test_the_linear_layer_on_one_hot_rows_equals_the_lookup(both):
    ids, table = both
    embedding = nn.Embedding.from_pretrained(table, freeze=False)
    linear = embed.linear_from_embedding(embedding)
    assert torch.equal(linear(words.one_hot(ids, len(table))), embedding(ids))
    assert (linear.in_features, linear.out_features, linear.bias) == (*table.shape, None)


@pytest.mark.parametrize("frozen", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_the_linear_layer_keeps_dtype_and_trainability(frozen, dtype):
    linear = embed.linear_from_embedding(nn.Embedding.from_pretrained(some_table(4, 3, dtype=dtype), freeze=frozen))
    assert linear.weight.dtype == dtype and linear.weight.requires_grad is not frozen
    assert isinstance(linear.weight, nn.Parameter)


def test_the_linear_layer_has_numbers_of_its_own():
    embedding = nn.Embedding.from_pretrained(some_table(4, 3), freeze=False)
    linear = embed.linear_from_embedding(embedding)
    with torch.no_grad():
        embedding.weight.zero_()
    assert linear.weight.abs().sum() > 0


def test_making_the_linear_layer_leaves_the_global_random_stream_alone():
    embedding = nn.Embedding.from_pretrained(some_table(4, 3))
    before = torch.get_rng_state()
    embed.linear_from_embedding(embedding)
    assert torch.equal(torch.get_rng_state(), before)


def test_what_is_no_embedding_or_changes_when_read_is_refused():
    with pytest.raises(TypeError, match="expected an nn.Embedding, got Linear"):
        embed.linear_from_embedding(nn.Linear(2, 3))
    with pytest.raises(ValueError, match="max_norm, so reading rescales its rows"):
        embed.linear_from_embedding(nn.Embedding(4, 3, max_norm=1.0))


def test_torch_agrees_with_the_lookup():
    weight, ids = some_table(6, 4), torch.tensor([[5, 0], [2, 2]])
    assert torch.equal(embed.lookup_by_index(ids, weight), F.embedding(ids, weight))
