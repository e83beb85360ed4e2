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
    assert torch.allclose(front(images)[:, 1], by_hand(first), rtol=0, atol=1e-12)


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
    assert torch.allclose(hybrid.pixelwise_linear(features, weight, bias), wanted, rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match=re.escape("5 channels needs a weight (D, 5) and a bias (D,), got (5, 7)")):
        hybrid.pixelwise_linear(features, weight.T, bias)


# ---------------------------------------------------------------- what separates it from one strided convolution


def affine(front, seed=5):
    a, b, c = rand(3, 1, 3, 16, 24, seed=seed)
    return torch.allclose(front(a + b - c), front(a) + front(b) - front(c), rtol=0, atol=1e-9)


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


COUNTED = {
    "average pooling": [nn.AvgPool2d(3, 2, 1)],
    "a pooling whose stride is left out": [nn.AvgPool2d(2), nn.MaxPool2d(3)],
    "convolution and average pooling": [nn.Conv2d(1, 1, 5, 1, 2), nn.AvgPool2d(4, 2)],
    "dilation": [nn.Conv2d(1, 1, 3, 1, 2, dilation=2), nn.Conv2d(1, 1, (3, 3), dilation=(3, 3))],
    "dilated maximum": [nn.MaxPool2d(3, 2, 1, dilation=2), nn.AvgPool2d(2)],
    "padding by word": [nn.Conv2d(1, 1, 4, padding="same", dilation=2), nn.Conv2d(1, 1, 3, padding="valid")],
    "rounding up": [nn.MaxPool2d(3, 2, ceil_mode=True), nn.AvgPool2d(3, 2, ceil_mode=True)],
    "one pooling used twice": 2 * [nn.AvgPool2d(3, 2)],
    "layers of one cell": [nn.Conv2d(1, 1, 3, 2), nn.BatchNorm2d(1), nn.GELU(), nn.Dropout(0.5), nn.Identity()],
    "nested": [nn.Sequential(nn.Conv2d(1, 1, 3, 2), nn.Sequential()), nn.Sequential(nn.AvgPool2d(3))],
}


@pytest.mark.parametrize("kind", COUNTED)
def test_windows_count_what_the_gradient_sees(kind):
    module, size = nn.Sequential(*COUNTED[kind]).double().eval(), 41
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.fill_(1.0)
    images = rand(300, 1, size, size)  # so many that each pixel of a window is the largest in some image
    side = module(images[:1]).shape[-1]
    first, last = hybrid.seen(hybrid.windows(module), side // 2)
    assert hybrid.box(hybrid.gradient_reach(module, images, side // 2 * side + side // 2)) == (first, last) * 2


def test_a_pooling_on_the_way_is_counted_with_its_stride():
    module = nn.Sequential(nn.Conv2d(1, 1, 5, padding=2), nn.AvgPool2d(4, 2))
    layers = [layer[:2] for layer in hybrid.windows(module)]
    assert layers == [(5, 1), (4, 2)] and hybrid.receptive_field(layers) == 8


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 1, 3, 2, 1)
        self.downsample = nn.Sequential(nn.Conv2d(1, 1, 1, 2), nn.BatchNorm2d(1))

    def forward(self, images):
        return self.conv(images) + self.downsample(images)


def test_downsample_is_left_out_beside_other_layers_and_counted_on_the_way():
    assert hybrid.windows(Residual()) == hybrid.windows(nn.Sequential(Residual()))
    assert hybrid.windows(Residual()) == [(3, 2, 1)]
    on_the_way = nn.Sequential()
    on_the_way.add_module("downsample", nn.Conv2d(1, 1, 3, 2, 1))
    on_the_way.add_module("no_downsample", nn.Conv2d(1, 1, 5))
    assert hybrid.windows(on_the_way) == [(3, 2, 1), (5, 1, 0)]


@pytest.mark.parametrize(
    "layer",
    [
        nn.ConvTranspose2d(1, 1, 3),
        nn.Upsample(scale_factor=2),
        nn.PixelShuffle(2),
        nn.AdaptiveAvgPool2d(2),
        nn.LPPool2d(2, 3),
        nn.ZeroPad2d(1),
        nn.Flatten(),
        nn.Linear(4, 4),
        nn.Softmax(dim=-1),
        nn.GroupNorm(1, 1),
        nn.LayerNorm(4),
        nn.InstanceNorm2d(1),
        nn.Conv1d(1, 1, 3),
        nn.MultiheadAttention(4, 1),
    ],
    ids=lambda layer: type(layer).__name__,
)
def test_a_layer_whose_reach_is_not_known_is_named(layer):
    with pytest.raises(ValueError, match=r"what a cell of 1\S* sees is not known: windows counts Conv2d, .*, got "):
        hybrid.windows(nn.Sequential(nn.Conv2d(1, 1, 3), layer))


@pytest.mark.parametrize(
    "layer",
    [
        nn.Conv2d(1, 1, (3, 7)),
        nn.Conv2d(1, 1, 3, stride=(1, 2)),
        nn.Conv2d(1, 1, 3, padding=(1, 0)),
        nn.Conv2d(1, 1, 3, dilation=(1, 2)),
        nn.AvgPool2d((2, 1)),
        nn.Conv2d(1, 1, 3, padding=1, padding_mode="circular"),
    ],
    ids=str,
)
def test_a_window_that_is_not_square_is_named(layer):
    with pytest.raises(ValueError, match=re.escape(f"1 has no square window with zeros around the image: {layer}")):
        hybrid.windows(nn.Sequential(nn.Conv2d(1, 1, 3), layer))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: hybrid.seen([(3, 2, -1)], 0), ValueError, "padding must be at least 0, got -1"),
        (lambda: hybrid.seen([(3, 2, 0.5)], 0), TypeError, "padding must be a whole number, got 0.5"),
        (lambda: hybrid.seen([(3, 2, 1)], -1), ValueError, "cell must be at least 0, got -1"),
        (lambda: hybrid.seen([(3, 2, 1)], 1.5), TypeError, "cell must be a whole number, got 1.5"),
        (
            lambda: hybrid.pixelwise_linear(rand(1, 2, 1, 1), [[1.0, 2.0]], rand(1)),
            TypeError,
            "weight must be a tensor (D, C), got list",
        ),
        (lambda: hybrid.resnet_stage(True), TypeError, "stage must be a whole number, got True"),
        (lambda: hybrid.small_stem(3, [8, 0]), ValueError, "number of channels must be at least 1, got 0"),
        (lambda: hybrid.box(torch.ones(1, 2, 3)), ValueError, "strength must have the shape (H, W), got (1, 2, 3)"),
    ],
)
def test_what_is_no_size_place_or_map_is_named(call, error, text):
    with pytest.raises(error, match=re.escape(text)):
        call()


@pytest.mark.parametrize(
    ("token", "error", "text"),
    [
        (-1, ValueError, "token must be at least 0, got -1"),
        (True, TypeError, "token must be a whole number, got True"),
        (16, IndexError, "token 16 is outside 0..15: there are 16 tokens"),
    ],
)
def test_a_token_that_is_none_is_named(token, error, text):
    with pytest.raises(error, match=re.escape(text)):
        hybrid.gradient_reach(nn.AvgPool2d(2), rand(1, 1, 8, 8), token)


def test_what_gives_neither_tokens_nor_a_map_is_named():
    with pytest.raises(ValueError, match=re.escape("tokens (B, N, D) or a map (B, D, h, w), got (1, 64)")):
        hybrid.gradient_reach(nn.Flatten(), rand(1, 1, 8, 8), 0)


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
