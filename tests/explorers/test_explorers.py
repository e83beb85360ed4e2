"""The numbers that the pictures of lessons 05 and 06 tell are those that the layers compute."""

from __future__ import annotations

import re

import pytest
import torch
from torch.nn import functional as F

from course_lib import embed, figures, patches
from course_lib.explorers.patches import draw_one_matrix, draw_two_readings, one_matrix, two_readings


def numbers(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


# ---------------------------------------------------------------- one matrix, two patches


def layer_and_image(channels=1):
    layer = embed.LinearPatchEmbedding(channels, 4, 6)
    with torch.no_grad():
        layer.projection.weight.copy_(numbers(6, channels * 16, seed=1))
        layer.projection.bias.copy_(numbers(6, seed=2))
    image = torch.rand(1, channels, 8, 12, generator=torch.Generator().manual_seed(3))
    return layer, image


def told(layer, image, first, second):
    weight, bias = layer.projection.weight.detach(), layer.projection.bias.detach()
    return draw_one_matrix(image, 4, weight, bias, first, second)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize(("first", "second"), [(0, 1), (5, 2), (3, 3)])
def test_the_distance_that_is_told_is_that_of_the_tokens(channels, first, second):
    layer, image = layer_and_image(channels)
    tokens = layer(image)[0].detach()
    distance = (tokens[first] - tokens[second]).norm().item()
    differ = int((tokens[first] != tokens[second]).sum())
    text = told(layer, image, first, second).text
    assert f"number {first} and number {second}" in text and "6 numbers as bars" in text
    assert f"{differ} of their numbers differ, and their distance is {distance:.2f}." in text
    assert (distance == 0) == (first == second)


def test_equal_patches_give_equal_tokens_and_the_picture_says_so():
    layer, image = layer_and_image()
    image[..., 4:, 8:] = image[..., :4, :4]  # patch 5 is patch 0
    assert "0 of their numbers differ, and their distance is 0.00." in told(layer, image, 0, 5).text
    assert "6 of their numbers differ" in told(layer, image, 0, 4).text


@pytest.mark.parametrize("number", [0, 5])
def test_one_row_of_the_matrix_makes_one_number_of_both_tokens(number):
    layer, image = layer_and_image(channels=3)
    weight, bias = layer.projection.weight.detach(), layer.projection.bias.detach()
    drawing = draw_one_matrix(image, 4, weight, bias, 1, 4, number)
    tokens = layer(image)[0].detach()
    told = [f"{tokens[patch, number].item():.2f}" for patch in (1, 4)]
    assert f"row {number} of the matrix as 3 small squares of 4 × 4 weights" in drawing.text
    assert f"number {number} is {told[0]} for the first and {told[1]} for the second patch." in drawing.text
    assert f"patch 4: 48 products and bias {bias[number]:.2f} sum to {told[1]}" in drawing.svg()
    lit = [panel for panel, name, *_ in drawing.spots if name == f"number {number}"]
    assert sorted(lit) == ["row"] * 3 + ["tokens"] * 2


def test_rows_and_columns_of_both_patches_are_labelled():
    layer, image = layer_and_image()
    svg = told(layer, image, 2, 4).svg()
    assert "patch 2: row 0, column 2" in svg and "patch 4: row 1, column 1" in svg


def test_the_live_picture_of_one_matrix_draws_what_is_asked():
    layer, image = layer_and_image()
    weight, bias = layer.projection.weight.detach(), layer.projection.bias.detach()
    live = one_matrix(image, patch_size=4, weight=weight, bias=bias, first=0, second=1)
    assert live.show(first=3, second=5).text == told(layer, image, 3, 5).text
    assert live.show().text == told(layer, image, 0, 1).text


# ---------------------------------------------------------------- two readings of one number


def small_image_and_kernels():
    image = torch.randint(0, 10, (1, 1, 6, 9), generator=torch.Generator().manual_seed(0)).float()
    return image, (numbers(4, 1, 3, 3) * 10).round() / 10


@pytest.mark.parametrize("token", range(6))
@pytest.mark.parametrize("number", [0, 3])
def test_both_sums_are_equal_and_those_of_both_layers(token, number):
    image, weight = small_image_and_kernels()
    conv = embed.ConvPatchEmbedding(1, 3, 4)
    with torch.no_grad():
        conv.projection.weight.copy_(weight)
        conv.projection.bias.zero_()
        by_conv = conv(image)[0, token, number].item()
        by_linear = embed.linear_from_conv(conv.projection)(patches.patchify(image, 3))[0, token, number].item()
    assert by_conv == pytest.approx(by_linear, abs=1e-4)
    drawing = draw_two_readings(image, weight, token, number)
    sums = re.findall(r"sum of products (-?\d+\.\d\d)", drawing.svg())
    assert len(sums) >= 2 and len(set(sums)) == 1
    assert float(sums[0]) == pytest.approx(by_conv, abs=0.0051)
    assert f"Both sums are {sums[0]} and {sums[0]}." in drawing.text


def test_the_products_that_are_shown_are_pixel_times_weight():
    image, weight = small_image_and_kernels()
    svg = draw_two_readings(image, weight, 4, 1).svg()
    patch = image[0, 0, 3:6, 3:6].flatten()
    for product in (patch * weight[1].flatten()).tolist():
        assert f">{product:.1f}<" in svg
    assert all(f"× {value:.1f}" in svg for value in weight[1].flatten().tolist())


def test_the_live_picture_of_two_readings_draws_what_is_asked():
    image, weight = small_image_and_kernels()
    assert two_readings(image, weight).show(token=5, number=2).text == draw_two_readings(image, weight, 5, 2).text


# ---------------------------------------------------------------- pick or mix


@pytest.mark.parametrize("row", [0, 2, 3])
def test_a_one_hot_row_picks_a_row_and_a_patch_mixes_all(row):
    word, patch, matrix = torch.eye(4)[row], torch.tensor([0.5, 0.0, 0.2, 1.0]), numbers(4, 3)
    text = figures.pick_or_mix(word, patch, matrix).text

    def one_decimal(values):
        return ", ".join(f"{value:.1f}" for value in values.tolist())

    assert "a matrix of 4 rows and 3 columns" in text.replace("the same matrix", "a matrix")
    assert f"only row {row} is framed, and it comes out unchanged, {one_decimal(matrix[row])}." in text
    assert "a patch with the numbers 0.5, 0.0, 0.2, 1.0: every row with a weight above 0 is framed" in text
    assert text.endswith(f"their sum comes out, {one_decimal(patch @ matrix)}.")
    assert torch.equal(F.embedding(torch.tensor(row), matrix), word @ matrix)
