"""The hybrid: its tokens, what one of them sees by formula and by gradient, and ResNet-50's stages."""

from __future__ import annotations

import re

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from course_lib import embed, hybrid
from course_lib.explorers.reach import draw_reach, reach_of_a_token
from course_lib.reproducible import seeded


def rand(*shape, seed=0):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def stem(channels=3, widths=(5, 6), seed=0):
    with seeded(seed):
        return hybrid.small_stem(channels, widths).double().eval()


# ---------------------------------------------------------------- tokens


@pytest.mark.parametrize(("patch_size", "tokens"), [(1, 24), (2, 6)])
def test_tokens_are_the_projected_patches_of_the_map(patch_size, tokens):
    front = hybrid.HybridEmbedding(stem(), 6, patch_size, 7).double()
    images = rand(2, 3, 16, 24)
    assert front(images).shape == (2, tokens, 7)
    assert hybrid.hybrid_tokens((16, 24), 4, patch_size) == tokens
    by_hand = embed.linear_from_conv(front.projection.projection)
    features = front.stem(images)
    first = features[:, :, :patch_size, patch_size : 2 * patch_size].flatten(1)  # patch 1: row 0, column 1
    assert torch.allclose(front(images)[:, 1], by_hand(first))


def test_a_map_that_does_not_divide_and_other_channels_are_refused():
    with pytest.raises(ValueError, match="image height 4 is not a multiple of patch size 3"):
        hybrid.HybridEmbedding(stem(), 6, 3, 7).double()(rand(1, 3, 16, 24))
    with pytest.raises(ValueError, match="reads images with 5 channels, got 6"):
        hybrid.HybridEmbedding(stem(), 5, 1, 7).double()(rand(1, 3, 16, 24))
    told = "height 20 is not a multiple of 32 pixels, 2 cells of 16 pixels: use 32; image width 40 .* use 32 or 64"
    with pytest.raises(ValueError, match=told):
        hybrid.hybrid_tokens((20, 40), 16, 2)
    with pytest.raises(ValueError, match="stem_stride must be at least 1, got 0"):
        hybrid.hybrid_tokens(64, 0, 2)


def test_a_linear_layer_at_every_place_is_a_1_by_1_convolution():
    features, weight, bias = rand(2, 5, 3, 4), rand(7, 5, seed=1), rand(7, seed=2)
    wanted = F.conv2d(features, weight[:, :, None, None], bias)
    assert torch.allclose(hybrid.pixelwise_linear(features, weight, bias), wanted, rtol=1e-12)
    with pytest.raises(ValueError, match=re.escape("5 channels needs a weight (D, 5) and a bias (D,), got (5, 7)")):
        hybrid.pixelwise_linear(features, weight.T, bias)


# ---------------------------------------------------------------- what separates it from one strided convolution


def affine(front, seed=5):
    a, b, c = rand(3, 1, 3, 16, 24, seed=seed)
    return torch.allclose(front(a + b - c), front(a) + front(b) - front(c), atol=1e-9)


def test_one_strided_convolution_is_affine_and_a_stem_is_not():
    assert affine(embed.ConvPatchEmbedding(3, 4, 7).double())
    assert not affine(hybrid.HybridEmbedding(stem(), 6, 1, 7).double())


def test_a_token_of_a_strided_convolution_sees_its_patch_and_one_of_a_stem_more():
    images = rand(1, 3, 16, 24)
    conv = embed.ConvPatchEmbedding(3, 4, 7).double()
    assert hybrid.box(hybrid.gradient_reach(conv, images, 8)) == (4, 7, 8, 11)
    front = hybrid.HybridEmbedding(stem(), 6, 1, 7).double()
    assert hybrid.box(hybrid.gradient_reach(front, images, 8)) == (1, 7, 5, 11)


# ---------------------------------------------------------------- what a cell sees


def random_layers(seed):
    draw = torch.Generator().manual_seed(seed)
    kernels = torch.randint(1, 6, (3,), generator=draw).tolist()
    strides = torch.randint(1, 4, (3,), generator=draw).tolist()
    return [(kernel, stride, kernel // 2) for kernel, stride in zip(kernels, strides, strict=True)]


@pytest.mark.parametrize("seed", range(12))
def test_the_formula_says_what_the_gradient_says(seed):
    layers = random_layers(seed)
    parts = []
    for kernel, stride, padding in layers:
        layer = nn.Conv2d(1, 1, kernel, stride, padding).double()
        with torch.no_grad():
            layer.weight.fill_(1.0)
        parts.append(layer)
    module, size = nn.Sequential(*parts), 91
    assert hybrid.windows(module) == layers
    side = module(torch.zeros(1, 1, size, size).double()).shape[-1]
    cell = side // 2
    first, last = hybrid.seen(layers, cell)
    assert last - first + 1 == hybrid.receptive_field([layer[:2] for layer in layers])
    seen = hybrid.box(hybrid.gradient_reach(module, rand(1, 1, size, size), cell * side + cell))
    assert seen == (max(first, 0), min(last, size - 1)) * 2


def test_a_cell_that_sees_nothing_is_told():
    with pytest.raises(ValueError, match="no pixel changes this token"):
        hybrid.box(torch.zeros(3, 4))


@pytest.mark.parametrize(("stage", "stride", "channels", "reach"), [(3, 16, 1024, 267), (4, 32, 2048, 427)])
def test_resnet_50_by_formula_and_by_gradient(stage, stride, channels, reach):
    module, size = hybrid.resnet_stage(stage), 480
    layers = hybrid.windows(module)
    assert hybrid.receptive_field([layer[:2] for layer in layers]) == reach
    with torch.no_grad():
        assert module(torch.zeros(1, 3, 224, 224)).shape == (1, channels, 224 // stride, 224 // stride)
    side = size // stride
    images = torch.rand(1, 3, size, size, generator=torch.Generator().manual_seed(0))
    top, bottom, left, right = hybrid.box(hybrid.gradient_reach(module, images, side // 2 * side + side // 2))
    assert (top, bottom) == (left, right) == hybrid.seen(layers, side // 2)
    assert bottom - top + 1 == reach


def test_the_projection_of_stage_3_has_787_200_parameters():
    projection = embed.ConvPatchEmbedding(1024, 1, 768)
    assert sum(parameter.numel() for parameter in projection.parameters()) == 787_200


def test_a_stage_is_the_same_each_time_and_leaves_the_random_stream_alone():
    before = torch.get_rng_state()
    one, two = hybrid.resnet_stage(1), hybrid.resnet_stage(1)
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))
    assert not one.training
    with pytest.raises(ValueError, match="the stages 1 to 4, got 5"):
        hybrid.resnet_stage(5)


def test_trained_weights_are_read_where_torchvision_keeps_them(tmp_path, monkeypatch):
    from torchvision.models import ResNet50_Weights, resnet50

    # A checkpoint of our own in the cache, under the name that torchvision looks for: nothing is downloaded.
    model = resnet50()
    with torch.no_grad():
        model.conv1.weight.fill_(0.25)
        model.bn1.running_mean.fill_(0.5)
    checkpoint = tmp_path / "checkpoints" / ResNet50_Weights.DEFAULT.url.rsplit("/", 1)[1]
    checkpoint.parent.mkdir()
    torch.save(model.state_dict(), checkpoint)
    monkeypatch.setattr(torch.hub, "get_dir", lambda: str(tmp_path))
    loaded = hybrid.resnet_stage(2, trained=True)
    assert (loaded[0].weight == 0.25).all() and (loaded[1].running_mean == 0.5).all()
    images = torch.rand(1, 3, 64, 64)
    with torch.no_grad():
        model.eval()
        wanted = model.layer2(model.layer1(model.maxpool(model.relu(model.bn1(model.conv1(images))))))
        assert torch.equal(loaded(images), wanted)


# ---------------------------------------------------------------- live picture


def test_the_live_picture_tells_what_the_formula_says():
    layers = [(3, 2, 1)] * 4
    text = draw_reach(torch.rand(1, 3, 224, 224), "a stem", layers, 6, 13).text
    first, last = hybrid.seen(layers, 6)
    assert f"sees 31 × 31 pixels: rows {first} to {last} and columns {hybrid.seen(layers, 13)[0]} to 223" in text


def test_a_place_is_found_on_every_map():
    fronts = {"conv": [(16, 16, 0)], "coarse": [(32, 32, 0)], "fine": [(4, 4, 0)]}
    live = reach_of_a_token(torch.rand(1, 1, 224, 224), fronts, "conv")
    assert "the cell in row 6, column 6 filled" in live.show().text
    assert "the cell in row 6, column 0 filled" in live.show(front="coarse", row=13, column=1).text
    assert "the cell in row 52, column 4 filled" in live.show(front="fine", row=13, column=1).text
    assert "rows 208 to 211 and columns 16 to 19" in live.show(front="fine", row=13, column=1).text
