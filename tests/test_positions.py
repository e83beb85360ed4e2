"""Class token and positions: places, grids that travel with their table, and interpolation as models do it."""

import re

import pytest
import torch
from torch.nn import functional as F

from course_lib import embed
from course_lib.explorers.shuffle import shuffled_patches, swapped


def numbers(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_the_class_token_is_index_0_of_every_image_and_gets_its_gradient():
    tokens, class_token = numbers(3, 5, 4), torch.full((4,), 9.0, dtype=torch.float64).requires_grad_()
    joined = embed.prepend_class_token(tokens, class_token)
    assert joined.shape == (3, 6, 4)
    assert (joined[:, 0] == 9).all() and torch.equal(joined[:, 1:], tokens)
    joined.sum().backward()
    assert class_token.grad.tolist() == [3.0] * 4


@pytest.mark.parametrize("token", [torch.zeros(3), torch.zeros(1, 4)])
def test_a_class_token_of_another_shape_is_refused(token):
    with pytest.raises(ValueError, match=r"class token \(D,\), got \(2, 5, 4\) and"):
        embed.prepend_class_token(torch.zeros(2, 5, 4), token)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: embed.prepend_class_token([[[1.0]]], torch.zeros(1)), "tokens must be a tensor (B, N, D), got list"),
        (lambda: embed.prepend_class_token(torch.zeros(1, 1, 1), [1.0]), "class_token must be a tensor (D,), got list"),
        (lambda: embed.resize_positions([[1.0]], (1, 1), (2, 2)), "positions must be a tensor (1 + N, D), got list"),
        (lambda: embed.Positions((2, 2), 4.0), "embedding_dim must be a whole number, got 4.0: use 4 or //"),
        (lambda: embed.encoder_parameters(4, True, 3), "tokens must be a whole number, got True"),
        (lambda: embed.encoder_parameters(4.5, 2, 3), "patch_length must be a whole number, got 4.5"),
        (lambda: embed.channels_last_weight(torch.zeros(2, 4), True, 2), "channels must be a whole number, got True"),
    ],
)
def test_what_is_no_tensor_or_no_size_is_named(call, text):
    with pytest.raises(TypeError, match=re.escape(text)):
        call()


def test_equal_grids_give_the_same_numbers_in_memory_of_their_own():
    table = numbers(13, 5).requires_grad_()
    same = embed.resize_positions(table, (3, 4), (3, 4))
    assert torch.equal(same, table)
    assert same.data_ptr() != table.data_ptr()
    (gradient,) = torch.autograd.grad((2 * same).sum(), table)
    assert torch.equal(gradient, torch.full_like(table, 2))


@pytest.mark.parametrize("shape", [(2, 1, 4), (2, 12, 4), (2, 13, 1), (13, 4)])
def test_positions_refuse_tokens_that_a_sum_would_stretch(shape):
    with pytest.raises(ValueError, match=re.escape(f"positions (13, 4) need tokens (B, 13, 4), got {shape}")):
        embed.Positions((3, 4), 4)(torch.zeros(shape), (3, 4))


@pytest.mark.parametrize("new_grid", [(5, 7), (2, 3), (3, 9), (24, 24)])
def test_the_class_row_is_kept_and_the_grid_resized_as_an_image(new_grid):
    table = numbers(1 + 3 * 4, 5)
    resized = embed.resize_positions(table, (3, 4), new_grid)
    assert resized.shape == (1 + new_grid[0] * new_grid[1], 5)
    assert torch.equal(resized[0], table[0])
    for number in range(5):
        image = table[1:, number].reshape(1, 1, 3, 4)
        wanted = F.interpolate(image, size=new_grid, mode="bicubic", align_corners=False)[0, 0]
        assert torch.allclose(resized[1:, number].reshape(new_grid), wanted, rtol=1e-12, atol=1e-12)


def test_every_grid_up_to_128_gets_all_its_rows():
    table = numbers(1 + 37, 2)
    assert all(len(embed.resize_positions(table, (1, 37), (1, size))) == 1 + size for size in range(1, 129))


def test_it_agrees_with_torchvision():
    from torchvision.models.vision_transformer import interpolate_embeddings

    table = torch.randn(1, 1 + 14 * 14, 6, generator=torch.Generator().manual_seed(3))
    state = interpolate_embeddings(384, 16, {"encoder.pos_embedding": table.clone()}, interpolation_mode="bicubic")
    theirs = state["encoder.pos_embedding"][0]
    aligned = F.interpolate(table[0, 1:].T.reshape(1, 6, 14, 14), size=24, mode="bicubic", align_corners=True)
    assert theirs.shape == embed.resize_positions(table[0], (14, 14), (24, 24)).shape == (577, 6)
    # torchvision aligns corners, this course does not: the same grid and class row, another convention inside
    assert torch.allclose(theirs[1:], aligned[0].flatten(1).T, atol=1e-5)
    assert not torch.allclose(theirs[1:], embed.resize_positions(table[0], (14, 14), (24, 24))[1:], atol=1e-2)


def test_a_table_that_does_not_fit_its_grid_is_refused():
    with pytest.raises(ValueError, match=re.escape("a table for a 3 × 4 grid has 1 + 12 rows, got (12, 5)")):
        embed.resize_positions(torch.zeros(12, 5), (3, 4), (6, 8))


def test_positions_refuse_another_grid_of_the_same_size():
    positions = embed.Positions((14, 14), 4)
    tokens = torch.zeros(2, 197, 4)
    assert torch.equal(positions(tokens, (14, 14)), positions.table.expand(2, -1, -1))
    with pytest.raises(ValueError, match=re.escape("for a 14 × 14 grid, the image gives 7 × 28")):
        positions(tokens, (7, 28))
    assert positions.resized((7, 28)).grid == (7, 28)
    assert torch.equal(positions.resized((14, 14)).table, positions.table)


def test_shuffling_swaps_two_places_at_a_time_and_keeps_every_patch():
    orders = [swapped(16, count) for count in range(6)]
    assert orders[0].tolist() == list(range(16))
    for before, after in zip(orders, orders[1:], strict=False):
        assert sorted(after.tolist()) == list(range(16)) and int((before != after).sum()) == 2


def test_the_picture_of_shuffled_patches_says_what_attention_does():
    image, weight = torch.rand(1, 1, 8, 8, generator=torch.Generator().manual_seed(1)).double(), numbers(6, 4)
    live = shuffled_patches(
        image, patch_size=2, weight=weight, positions=numbers(16, 6, seed=2),
        attend=lambda tokens: F.scaled_dot_product_attention(tokens, tokens, tokens),
    )  # fmt: skip
    assert "Without positions at most 0.00, with positions up to 0.00" in live.show(swaps=0).text
    shuffled = re.search(r"Without positions at most 0.00, with positions up to (\d+\.\d+)", live.show(swaps=9).text)
    assert float(shuffled[1]) > 0.05
