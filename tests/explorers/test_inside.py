"""The pictures of lessons 08 and 10 tell the numbers that the model gives."""

from __future__ import annotations

import re

import pytest
import torch

from course_lib import model_figures, vit
from course_lib.embed import ConvPatchEmbedding
from course_lib.explorers.attention import class_token_attention, draw_attention
from course_lib.reproducible import one_thread, seeded


def model_and_images():
    with seeded(3):
        tokens = vit.PatchTokens(ConvPatchEmbedding(1, 4, 12), 6, 12)
        model = vit.VisionTransformer(tokens, dimension=12, depth=3, heads=2, hidden=20, classes=10)
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.5)
    return model, torch.rand(4, 1, 8, 12, generator=torch.Generator().manual_seed(1))


# ---------------------------------------------------------------- attention of the class token


@pytest.mark.parametrize(("layer", "head"), [(1, 1), (3, 2), (2, "mean of all")])
def test_the_shares_are_row_0_of_the_attention_weights(layer, head):
    model, images = model_and_images()
    weights = model.attention_weights(images)[layer - 1, 2]
    row = weights.mean(dim=0)[0] if head == "mean of all" else weights[head - 1, 0]
    live = class_token_attention(model, images, torch.tensor([7, 1, 4, 0]), grid=(2, 3))
    text = live.show(digit=2, layer=layer, head=head).text
    assert text.startswith("A handwritten 4 under a grid of 2 × 3 patches.")
    assert f"{row[1:].min().item():.0%} to {row[1:].max().item():.0%}, and {row[0].item():.0%} on itself" in text
    assert f"Patch {int(row[1:].argmax())} has most" in text
    with torch.no_grad():
        chances = model(images)[2].softmax(dim=0)
    assert f"the model answers {int(chances.argmax())}, with {chances.max().item():.0%}." in text


def test_every_share_is_written_into_its_patch():
    row = torch.tensor([0.10, 0.05, 0.40, 0.15, 0.30])
    svg = draw_attention(torch.rand(8, 8), row, (2, 2), torch.full((10,), 0.1), 3, "layer 1, head 1").svg()
    assert re.findall(r">(\d+%)<", svg)[:4] == ["5%", "40%", "15%", "30%"]
    assert "and 10% on itself" in svg and "it is a 3" in svg


# ---------------------------------------------------------------- still pictures


def test_the_confusion_matrix_counts_and_names_what_was_taken_for_what():
    counts = torch.diag(torch.arange(1, 11))
    counts[3, 8], counts[5, 9] = 2, 1
    text = model_figures.confusion_matrix(counts).text
    assert "55 of 58 lie on the diagonal. Framed, off the diagonal: 2 × 3 taken for 8, 1 × 5 taken for 9." in text
    assert "off the diagonal: none." in model_figures.confusion_matrix(torch.diag(torch.arange(1, 11))).text


def test_the_pictures_say_what_they_hold():
    patches = torch.randn(8, 5, 5, generator=torch.Generator().manual_seed(0))
    text = model_figures.filters(first_weights=patches, later=3 * patches[:4]).text
    assert text.startswith("Rows of small squares of 5 × 5 cells: first weights, 8 squares; later, 4 squares.")
    assert "2 × 3 small maps" in model_figures.position_similarity(torch.randn(6, 4), (2, 3)).text
    curves = model_figures.learning_curves(linear=[0.2, 0.7, 0.9], hybrid=[0.8, 0.95]).text
    assert "linear 3 epochs; hybrid 2 epochs" in curves
    assert (
        "in a row, each with a line below it: 5, taken for 9."
        in model_figures.captioned_digits(torch.rand(1, 1, 8, 8), ["5, taken for 9"]).text
    )
    maps = model_figures.feature_maps(torch.rand(1, 8, 8), layer_1=torch.rand(3, 4, 4), layer_2=torch.rand(5, 2, 2))
    assert "layer 1: 3 maps of 4 × 4 cells; layer 2: 5 maps of 2 × 2 cells." in maps.text


def test_the_reach_is_where_the_gradient_is_not_0():
    strength = torch.zeros(8, 12)
    strength[2:5, 3:9] = 0.1
    text = model_figures.reach(torch.rand(3, 8, 12), one_front=strength, other=torch.ones(8, 12)).text
    assert "one front: rows 2 to 4, columns 3 to 8; other: rows 0 to 7, columns 0 to 11." in text


def test_filters_are_compared_by_their_pattern_not_their_size():
    patches = torch.randn(2, 3, 3, generator=torch.Generator().manual_seed(0))
    assert model_figures.filters(a=patches).png == model_figures.filters(a=100 * patches).png
    assert model_figures.filters(a=patches).png != model_figures.filters(a=-patches).png


# ---------------------------------------------------------------- the same numbers each time


@pytest.mark.parametrize("seed", [0.5, True, None])
def test_what_is_no_seed_is_named(seed):
    with pytest.raises(TypeError, match=f"seed must be a whole number, got {seed}"), seeded(seed):
        pass


def test_seeded_draws_the_same_and_leaves_the_stream_where_it_was():
    before = torch.get_rng_state()
    with seeded(4):
        one = torch.rand(3)
    with seeded(4):
        other = torch.rand(3)
    with seeded(5):
        third = torch.rand(3)
    assert torch.equal(one, other) and not torch.equal(one, third)
    assert torch.equal(torch.get_rng_state(), before)


def test_one_thread_is_given_back_even_after_an_error():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with pytest.raises(KeyError), one_thread():
            assert torch.get_num_threads() == 1
            raise KeyError
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
