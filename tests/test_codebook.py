"""The dictionary of patches: the nearest code, k-means, the way back, the error, gradients, and the live picture."""

from __future__ import annotations

import math
import re

import pytest
import torch
from torch.nn import functional as F

from course_lib import codebook, data, figures, patches
from course_lib.explorers.dictionary import CODES, SIDES, STEP, draw_dictionary, patch_dictionary


def numbers(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def squares(patches, book):
    """(N, K): the squared distance of each pair, number by number."""
    return torch.stack([((patches - code) ** 2).sum(-1) for code in book], dim=-1)


# ---------------------------------------------------------------- nearest code and decode


@pytest.mark.parametrize("shape", [(40, 6), (3, 11, 6), (2, 3, 4, 6), (6,)])
def test_the_nearest_code_is_the_one_with_the_smallest_distance(shape):
    some, book = numbers(*shape), numbers(9, 6, seed=1)
    ids = codebook.nearest_code(some, book)
    assert ids.shape == shape[:-1] and ids.dtype == torch.int64
    assert torch.equal(ids, squares(some, book).argmin(dim=-1))


def test_codes_are_their_own_nearest_and_come_back_exactly():
    book = numbers(30, 7)
    ids = codebook.nearest_code(book, book)
    assert ids.tolist() == list(range(30))
    assert torch.equal(codebook.decode(ids, book), book)
    assert codebook.quantisation_error(book, book).item() == 0


def test_a_long_code_is_not_preferred():
    book = torch.tensor([[0.1, 0.1], [9.0, 9.0]])
    assert codebook.nearest_code(torch.tensor([[0.5, 0.5]]), book).tolist() == [0]


def test_decode_is_the_product_with_one_hot_rows_and_so_is_its_gradient():
    book, ids = numbers(5, 4).requires_grad_(), torch.tensor([[0, 3, 3], [1, 0, 3]])
    looked_up, product = codebook.decode(ids, book), F.one_hot(ids, 5).double() @ book
    assert torch.equal(looked_up, product)
    goal = numbers(2, 3, 4, seed=2)
    one, other = (torch.autograd.grad(F.mse_loss(made, goal), book)[0] for made in (looked_up, product))
    assert torch.allclose(one, other, rtol=0, atol=1e-12) and not one[[2, 4]].any() and one[[0, 1, 3]].any(dim=1).all()


def test_the_error_is_the_mean_of_the_smallest_squares():
    some, book = numbers(3, 10, 6), numbers(4, 6, seed=1)
    wanted = squares(some, book).amin(-1).sum() / some.numel()
    assert codebook.quantisation_error(some, book).item() == pytest.approx(wanted.item(), rel=1e-12)


# ---------------------------------------------------------------- k-means


@pytest.fixture(scope="module")
def portrait_rows():
    return patches.patchify(data.photo(size=72).double(), 6)[0]


@pytest.mark.parametrize("codes", [2, 5, 40])
def test_the_error_never_rises_from_step_to_step(portrait_rows, codes):
    books = [codebook.kmeans(portrait_rows, codes=codes, steps=steps) for steps in range(1, 12)]
    errors = [codebook.quantisation_error(portrait_rows, book).item() for book in books]
    assert all(later <= earlier * (1 + 1e-12) for earlier, later in zip(errors, errors[1:], strict=False))
    assert errors[-1] < errors[0]


def test_where_nothing_moves_each_code_is_the_mean_of_its_patches(portrait_rows):
    book = codebook.kmeans(portrait_rows, codes=6, steps=60)
    ids = codebook.nearest_code(portrait_rows, book)
    means = torch.stack([portrait_rows[ids == code].mean(0) for code in range(6)])
    assert torch.equal(book, means)


def test_one_code_is_the_mean_of_all_and_as_many_codes_as_patches_lose_nothing(portrait_rows):
    assert torch.allclose(codebook.kmeans(portrait_rows, codes=1)[0], portrait_rows.mean(0), rtol=0, atol=1e-12)
    everything = codebook.kmeans(portrait_rows, codes=len(portrait_rows), steps=2)
    assert codebook.quantisation_error(portrait_rows, everything).item() == 0


def test_the_same_seed_gives_the_same_codebook_and_the_global_stream_is_left_alone(portrait_rows):
    before = torch.get_rng_state()
    one, again, other = (codebook.kmeans(portrait_rows, codes=8, seed=seed) for seed in (3, 3, 4))
    assert torch.equal(one, again) and not torch.equal(one, other)
    assert torch.equal(torch.get_rng_state(), before)


def test_vectors_that_learn_give_a_codebook_that_is_cut_off_from_them():
    assert not codebook.kmeans(numbers(20, 3).requires_grad_(), codes=4).requires_grad


def test_patches_are_not_changed_and_a_code_that_nobody_takes_stays(portrait_rows):
    before = portrait_rows.clone()
    codebook.kmeans(portrait_rows, codes=12)
    assert torch.equal(portrait_rows, before)
    twins = torch.tensor([[1.0, 2.0]]).repeat(4, 1)  # three of four equal codes are never taken
    assert torch.equal(codebook.kmeans(twins, codes=4), twins)


def test_one_gradient_step_of_half_the_mean_is_a_step_of_kmeans(portrait_rows):
    start = portrait_rows[::12].clone().requires_grad_()
    ids = codebook.nearest_code(portrait_rows, start)
    gradient = torch.autograd.grad((portrait_rows - start[ids]).square().sum(), start)[0]
    uses = ids.bincount(minlength=len(start))
    means = torch.stack([portrait_rows[ids == code].mean(0) for code in range(len(start))])
    assert torch.allclose(start - gradient / (2 * uses[:, None]), means, rtol=0, atol=1e-12)


def test_two_dtypes_are_named():
    with pytest.raises(TypeError, match="need the same dtype, got torch.float32 and torch.float64"):
        codebook.nearest_code(torch.zeros(2, 3), torch.zeros(4, 3, dtype=torch.float64))


def test_the_mean_error_of_no_patches_is_refused():
    with pytest.raises(ValueError, match=re.escape("the mean needs at least one patch, got (2, 0, 3)")):
        codebook.quantisation_error(torch.zeros(2, 0, 3), torch.zeros(4, 3))


@pytest.mark.parametrize("value", [[1.0], torch.tensor([1])])
def test_straight_through_names_what_is_no_tensor_of_floats(value):
    with pytest.raises(TypeError, match="vectors must be a tensor of floats, got"):
        codebook.straight_through(value, torch.zeros(1))
    with pytest.raises(TypeError, match="quantised must be a tensor of floats, got"):
        codebook.straight_through(torch.zeros(1), value)


# ---------------------------------------------------------------- gradients and bits


def test_straight_through_has_the_values_of_the_code_and_the_gradient_of_the_vector():
    vectors, book = numbers(7, 3).requires_grad_(), numbers(4, 3, seed=1).requires_grad_()
    quantised = codebook.decode(codebook.nearest_code(vectors, book), book)
    handed_on = codebook.straight_through(vectors, quantised)
    assert torch.allclose(handed_on, quantised, rtol=1e-12, atol=1e-12)
    weights = numbers(7, 3, seed=2)
    to_vectors, to_book = torch.autograd.grad((handed_on * weights).sum(), (vectors, book), allow_unused=True)
    assert torch.equal(to_vectors, weights) and to_book is None


def test_without_it_only_the_codebook_gets_a_gradient():
    vectors, book = numbers(7, 3).requires_grad_(), numbers(4, 3, seed=1).requires_grad_()
    quantised = codebook.decode(codebook.nearest_code(vectors, book), book)
    to_vectors, to_book = torch.autograd.grad(quantised.square().sum(), (vectors, book), allow_unused=True)
    assert to_vectors is None and to_book.any()


@pytest.mark.parametrize("codes", [1, 2, 3, 4, 5, 63, 64, 65, 256, 8192])
def test_the_bits_are_just_enough(codes):
    bits = codebook.code_bits(codes)
    assert 2**bits >= codes and (bits == 0 or 2 ** (bits - 1) < codes)
    assert bits == math.ceil(math.log2(codes))


# ---------------------------------------------------------------- what is refused


def zeros(*shape):
    return torch.zeros(shape)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: codebook.nearest_code(zeros(2, 3), zeros(4, 5)), ValueError, "same L, got (2, 3) and (4, 5)"),
        (lambda: codebook.nearest_code(zeros(2, 3), zeros(3)), ValueError, "a table (K, L) of at least one"),
        (lambda: codebook.nearest_code(zeros(2, 3), zeros(0, 3)), ValueError, "got (0, 3)"),
        (lambda: codebook.nearest_code(zeros(2, 3).long(), zeros(4, 3)), TypeError, "floats, got torch.int64"),
        (lambda: codebook.nearest_code([[0.0]], zeros(4, 1)), TypeError, "must be a tensor of floats, got list"),
        (lambda: codebook.decode(torch.tensor([0, 4]), zeros(4, 3)), ValueError, "id 4 at position 1 is outside 0..3"),
        (lambda: codebook.decode(torch.tensor([-1]), zeros(4, 3)), ValueError, "id -1 at position 0"),
        (lambda: codebook.decode(torch.tensor([0.0]), zeros(4, 3)), TypeError, "ids are whole numbers"),
        (lambda: codebook.kmeans(zeros(3, 2), codes=4), ValueError, "at least 4 for 4 codes, got (3, 2)"),
        (lambda: codebook.kmeans(zeros(1, 9, 2), codes=4), ValueError, "expected patches (N, L)"),
        (lambda: codebook.kmeans(zeros(9, 2), codes=0), ValueError, "codes must be at least 1"),
        (lambda: codebook.kmeans(zeros(9, 2), codes=2.0), TypeError, "codes must be a whole number"),
        (lambda: codebook.straight_through(zeros(2, 3), zeros(3)), ValueError, "two equal shapes"),
        (lambda: codebook.code_bits(0), ValueError, "codes must be at least 1"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_what_came(call, error, says):
    with pytest.raises(error, match=re.escape(says)):
        call()


# ---------------------------------------------------------------- the pictures


@pytest.mark.parametrize(("codes", "side"), [(1, 6), (4, 8), (16, 6), (64, 4), (256, 8)])
def test_the_numbers_of_the_picture_are_those_of_the_library(codes, side):
    portrait = data.photo(size=144).double()
    rows = patches.patchify(portrait, side)
    book = codebook.kmeans(rows[0], codes=codes)
    ids = codebook.nearest_code(rows[0], book)
    live = patch_dictionary(portrait, codes=16, patch_size=6, across=0, down=0)
    text = live.show(codes=codes, patch_size=side, across=100, down=60).text
    number = 60 // side * (144 // side) + 100 // side
    uses = ids.bincount(minlength=codes)
    assert f"painted from K = {codes} codes of {side} × {side} pixels" in text
    assert f"Patch {number} in row {60 // side}, column {100 // side}" in text
    assert f"code {ids[number]}, used by {uses[ids[number]]} of {len(ids)} patches" in text
    more = uses[ids[number]] < uses.max()
    assert (f"most used is code {uses.argmax()}, by {uses.max()} patches" if more else "no code is used more") in text
    assert f"error {codebook.quantisation_error(rows, book):.4f}" in text
    assert f"{codebook.code_bits(codes)} bits a patch in place of {8 * 3 * side**2}" in text


def test_every_patch_of_every_size_can_be_pointed_at_and_every_k_can_be_learned():
    for side in SIDES:
        places = {at // side for at in range(0, 144, STEP)}
        assert places == set(range(144 // side))
        assert (144 // side) ** 2 >= max(CODES)


def test_a_grey_picture_is_painted_too():
    digit = F.interpolate(data.digits().train_images[:1], size=(48, 48), mode="bilinear").double()
    book = codebook.kmeans(patches.patchify(digit, 8)[0], codes=2)
    drawing = draw_dictionary(digit, book, 8, 5, 5)
    assert "1 bit a patch in place of 512" in drawing.text and drawing.svg().startswith("<svg")


def test_a_picture_that_the_patches_do_not_fit_is_refused():
    with pytest.raises(ValueError, match=re.escape("a multiple of 24, got (1, 3, 72, 48)")):
        patch_dictionary(torch.zeros(1, 3, 72, 48), codes=4, patch_size=6, across=0, down=0)


def test_the_bars_of_errors_are_told_with_their_numbers():
    picture = figures.error_by_codes((1, 4), known=[0.5, 0.25], new_ones=[0.5, 0.375])
    assert "K = 1, 4" in picture.text
    assert "known: 0.5000, 0.2500; new ones: 0.5000, 0.3750" in picture.text
