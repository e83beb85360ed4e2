"""Looking up is multiplying, a convolution can be a projection: equal numbers, equal gradients, refusals by name."""

from __future__ import annotations

import copy

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from course_lib import embed, patches, words

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


# ---------------------------------------------------------------- one matrix, two layers

BOTH = pytest.mark.parametrize("layer", [embed.LinearPatchEmbedding, embed.ConvPatchEmbedding])


@st.composite
def sizes(draw):
    """Channels, patch size, rows, columns, D and batch."""
    return tuple(draw(st.integers(1, most)) for most in (5, 6, 4, 4, 9, 3))


def images_and_layers(channels, patch_size, rows, columns, dimension, batch, dtype=torch.float64):
    """Images, a linear layer of known numbers and the convolution made from it."""
    images = some_table(batch, channels * rows * columns * patch_size**2, 1).to(dtype)
    linear = filled(nn.Linear(channels * patch_size**2, dimension, dtype=dtype))
    conv = embed.conv_from_linear(linear, channels, patch_size)
    return images.reshape(batch, channels, rows * patch_size, columns * patch_size), linear, conv


def filled(layer, seed=0):
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    return layer


def tokens_of(conv, images):
    return conv(images).flatten(2).transpose(1, 2)


def with_same_numbers(channels, patch_size, dimension, dtype):
    """Both patch embeddings of the course; the second gets the numbers of the first."""
    one = filled(embed.LinearPatchEmbedding(channels, patch_size, dimension)).to(dtype)
    other = embed.ConvPatchEmbedding(channels, patch_size, dimension).to(dtype)
    other.projection = embed.conv_from_linear(one.projection, channels, patch_size)
    return one, other


@FEW
@given(sizes())
def test_both_layers_give_the_same_tokens_in_float64(size):
    channels, patch_size, rows, columns, dimension, batch = size
    images, _, _ = images_and_layers(*size)
    one, other = with_same_numbers(channels, patch_size, dimension, torch.float64)
    tokens = one(images)
    assert tokens.shape == other(images).shape == (batch, rows * columns, dimension)
    assert torch.allclose(tokens, other(images), rtol=1e-12, atol=1e-12)


@FEW
@given(sizes())
def test_both_layers_agree_in_float32_up_to_the_rounding_of_their_sums(size):
    channels, patch_size, _, _, dimension, _ = size
    images, _, _ = images_and_layers(*size, dtype=torch.float32)
    one, other = with_same_numbers(channels, patch_size, dimension, torch.float32)
    length = channels * patch_size**2
    # a sum of n products may be off by n roundings of the sum of their sizes, in either layer
    room = (patches.patchify(images, patch_size).abs() @ one.projection.weight.abs().T + 4) * length * 2**-23
    assert ((one(images) - other(images)).abs() <= 2 * room).all()


@FEW
@given(sizes())
def test_each_token_is_the_formula_of_the_paper(size):
    channels, patch_size, _, columns, dimension, batch = size
    images, linear, conv = images_and_layers(*size)
    tokens = tokens_of(conv, images)
    for number in (0, tokens.shape[1] - 1):
        y, x = number // columns * patch_size, number % columns * patch_size
        patch = images[:, :, y : y + patch_size, x : x + patch_size].reshape(batch, -1)
        expected = (patch[:, None, :] * linear.weight).sum(-1) + linear.bias
        assert torch.allclose(tokens[:, number], expected, rtol=1e-12, atol=1e-12)


@FEW
@given(sizes(), st.booleans())
def test_conversions_there_and_back_give_every_number_back(size, bias):
    channels, patch_size, _, _, dimension, _ = size
    linear = filled(nn.Linear(channels * patch_size**2, dimension, bias=bias))
    conv = embed.conv_from_linear(linear, channels, patch_size)
    again = embed.linear_from_conv(conv)
    assert torch.equal(again.weight, linear.weight) and torch.equal(conv.weight.flatten(1), linear.weight)
    assert (again.in_features, again.out_features) == (linear.in_features, linear.out_features)
    assert (conv.bias is not None) == (again.bias is not None) == bias
    if bias:
        assert torch.equal(conv.bias, linear.bias) and torch.equal(again.bias, linear.bias)
    assert (conv.kernel_size, conv.stride, conv.padding, conv.dilation, conv.groups) == (
        (patch_size, patch_size),
        (patch_size, patch_size),
        (0, 0),
        (1, 1),
        1,
    )


@FEW
@given(sizes())
def test_one_step_gives_both_layers_the_same_gradient(size):
    images, linear, conv = images_and_layers(*size)
    target = some_table(1, size[4], 5).double()
    (tokens_of(conv, images) - target).square().sum().backward()
    (linear(patches.patchify(images, size[1])) - target).square().sum().backward()
    assert torch.allclose(conv.weight.grad.flatten(1), linear.weight.grad, rtol=1e-10, atol=1e-10)
    assert torch.allclose(conv.bias.grad, linear.bias.grad, rtol=1e-10, atol=1e-10)


def test_twenty_steps_of_training_keep_both_layers_equal():
    images, linear, conv = images_and_layers(3, 4, 2, 3, 10, 5)
    start, target = linear.weight.detach().clone(), some_table(6, 10, 5).double()
    for layer, forward in (
        (linear, lambda: linear(patches.patchify(images, 4))),
        (conv, lambda: tokens_of(conv, images)),
    ):
        optimiser = torch.optim.SGD(layer.parameters(), lr=0.05, momentum=0.9)
        for _ in range(20):
            optimiser.zero_grad()
            (forward() - target).square().mean().backward()
            optimiser.step()
    assert (linear.weight - start).abs().max() > 0.1
    assert torch.allclose(conv.weight.flatten(1), linear.weight, rtol=1e-11, atol=1e-11)
    assert torch.allclose(conv.bias, linear.bias, rtol=1e-11, atol=1e-11)


# ---------------------------------------------------------------- conversions

CONVERSIONS = {
    "conv_from_linear": (lambda **how: nn.Linear(12, 5, **how), lambda layer: embed.conv_from_linear(layer, 3, 2)),
    "linear_from_conv": (lambda **how: nn.Conv2d(3, 5, 2, 2, **how), embed.linear_from_conv),
    "merge_linear_into_conv": (
        lambda **how: nn.Conv2d(3, 5, 2, 2, **how),
        lambda layer: embed.merge_linear_into_conv(layer, nn.Linear(5, 4).to(layer.weight.dtype)),
    ),
}
EACH = pytest.mark.parametrize("name", CONVERSIONS)
COPIES = pytest.mark.parametrize("name", ["conv_from_linear", "linear_from_conv"])


@EACH
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_a_conversion_keeps_the_dtype_and_gives_contiguous_parameters(name, dtype):
    make, convert = CONVERSIONS[name]
    new = convert(make(dtype=dtype))
    for parameter in (new.weight, new.bias):
        assert isinstance(parameter, nn.Parameter) and parameter.dtype == dtype and parameter.is_contiguous()


@EACH
def test_a_conversion_works_on_weights_that_are_not_contiguous(name):
    make, convert = CONVERSIONS[name]
    layer = filled(make())
    turned = copy.deepcopy(layer)
    if isinstance(layer, nn.Conv2d):
        turned = turned.to(memory_format=torch.channels_last)
    else:
        turned.weight = nn.Parameter(layer.weight.detach().T.contiguous().T)
    assert not turned.weight.is_contiguous()
    with torch.random.fork_rng():
        torch.manual_seed(0)
        one = convert(layer)
        torch.manual_seed(0)
        other = convert(turned)
    assert other.weight.is_contiguous()
    assert torch.allclose(one.weight, other.weight, rtol=1e-6, atol=1e-6)


@COPIES
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("frozen", [("weight",), ("bias",), ("weight", "bias"), ()])
def test_what_is_frozen_stays_frozen(name, frozen, bias):
    make, convert = CONVERSIONS[name]
    layer = make(bias=bias)
    for part in frozen:
        if getattr(layer, part) is not None:
            getattr(layer, part).requires_grad_(False)
    new = convert(layer)
    assert new.weight.requires_grad == ("weight" not in frozen)
    assert (new.bias is None) == (not bias) and (not bias or new.bias.requires_grad == ("bias" not in frozen))


@COPIES
def test_a_conversion_copies_its_numbers(name):
    make, convert = CONVERSIONS[name]
    layer = filled(make())
    new = convert(layer)
    before = new.weight.detach().clone()
    with torch.no_grad():
        layer.weight.zero_()
        layer.bias.zero_()
    assert torch.equal(new.weight, before) and new.bias.any()


@COPIES
def test_a_conversion_leaves_the_global_random_stream_alone(name):
    make, convert = CONVERSIONS[name]
    layer, before = make(), torch.get_rng_state()
    convert(layer)
    assert torch.equal(torch.get_rng_state(), before)


def test_merging_leaves_the_global_random_stream_and_both_layers_alone():
    conv, linear, before = filled(nn.Conv2d(3, 5, 2)), filled(nn.Linear(5, 4)), torch.get_rng_state()
    numbers = [parameter.clone() for layer in (conv, linear) for parameter in layer.parameters()]
    embed.merge_linear_into_conv(conv, linear)
    assert torch.equal(before, torch.get_rng_state())
    assert all(map(torch.equal, numbers, [*conv.parameters(), *linear.parameters()]))


@pytest.mark.parametrize("name", CONVERSIONS)
def test_a_conversion_stays_on_its_device(name):
    make, convert = CONVERSIONS[name]
    if name == "merge_linear_into_conv":
        new = embed.merge_linear_into_conv(make(device="meta"), nn.Linear(5, 4, device="meta"))
    else:
        new = convert(make(device="meta"))
    assert {new.weight.device.type, new.bias.device.type} == {"meta"}


BROKEN = {"stride": {"stride": 3}, "padding": {"padding": 1}, "dilation": {"dilation": 2}, "groups": {"groups": 2}}


@pytest.mark.parametrize(
    "chosen", [*[(name,) for name in BROKEN], ("stride", "padding"), ("padding", "groups"), (*BROKEN,)]
)
def test_every_broken_condition_is_named_and_no_other(chosen):
    settings = {"stride": 4}
    for name in chosen:
        settings |= BROKEN[name]
    with pytest.raises(ValueError, match="^this convolution is no projection of patches: ") as caught:
        embed.linear_from_conv(nn.Conv2d(2, 6, 4, **settings))
    assert [name for name in BROKEN if f"{name} is " in str(caught.value)] == list(chosen)
    assert str(caught.value).count("has to be") == len(chosen)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"kernel_size": 4, "stride": 4, "padding": (0, 1)}, r"padding is \(0, 1\), but has to be \(0, 0\)$"),
        ({"kernel_size": 4, "stride": (4, 2)}, r"stride is \(4, 2\), but has to be \(4, 4\)$"),
        ({"kernel_size": (2, 3), "stride": 3}, r"stride is \(3, 3\), but has to be \(2, 3\)$"),
        ({"kernel_size": (2, 3), "stride": (3, 2)}, r"stride is \(3, 2\), but has to be \(2, 3\)$"),
        ({"kernel_size": 3, "padding": "same"}, r"stride is \(1, 1\), .*padding is same, but has to be \(0, 0\)$"),
        ({"kernel_size": 4, "stride": 4, "dilation": (1, 2)}, r"dilation is \(1, 2\), but has to be \(1, 1\)$"),
    ],
)
def test_a_condition_that_is_broken_along_one_side_is_refused(settings, says):
    with pytest.raises(ValueError, match=says):
        embed.linear_from_conv(nn.Conv2d(2, 6, **settings))


@pytest.mark.parametrize("settings", [{"padding": "valid"}, {"padding": (0, 0)}, {"padding_mode": "reflect"}])
def test_no_padding_under_another_name_is_a_projection(settings):
    conv = filled(nn.Conv2d(2, 6, 4, stride=4, **settings).double())
    images = some_table(2, 2 * 8 * 12).double().reshape(2, 2, 8, 12)
    linear = embed.linear_from_conv(conv)
    assert torch.allclose(linear(patches.patchify(images, 4)), tokens_of(conv, images), rtol=1e-12, atol=1e-12)


def test_a_projection_of_oblong_patches_is_one():
    conv = filled(nn.Conv2d(2, 5, (2, 3), stride=(2, 3)).double())
    images = some_table(2, 2 * 4 * 9).double().reshape(2, 2, 4, 9)
    linear = embed.linear_from_conv(conv)
    assert torch.allclose(linear(patches.patchify(images, (2, 3))), tokens_of(conv, images), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("settings", [{"stride": 3}, {"stride": 4, "padding": 1}])
def test_a_broken_condition_can_keep_the_number_of_tokens(settings):
    whole = filled(nn.Conv2d(2, 5, 4, stride=4))
    broken = filled(nn.Conv2d(2, 5, 4, **settings))
    images = some_table(1, 2 * 8 * 8).reshape(1, 2, 8, 8)
    assert torch.equal(broken.weight, whole.weight) and broken(images).shape == whole(images).shape
    assert not torch.allclose(broken(images), whole(images))


@pytest.mark.parametrize("layer", [nn.Linear(2, 3), nn.Conv1d(2, 3, 2), nn.ConvTranspose2d(2, 3, 2, 2), "conv"])
def test_what_is_no_convolution_of_images_is_refused(layer):
    with pytest.raises(TypeError, match=f"expected an nn.Conv2d, got {type(layer).__name__}"):
        embed.linear_from_conv(layer)


def test_what_is_no_linear_layer_is_refused():
    with pytest.raises(TypeError, match="expected an nn.Linear, got Conv2d"):
        embed.conv_from_linear(nn.Conv2d(1, 1, 2), 1, 2)


def test_a_patch_size_that_is_none_is_refused():
    with pytest.raises(TypeError, match="patch_size must be a whole number, got 2.0: use 2"):
        embed.conv_from_linear(nn.Linear(12, 4), 3, 2.0)
    with pytest.raises(ValueError, match="channels must be at least 1, got 0"):
        embed.conv_from_linear(nn.Linear(12, 4), 0, 2)


def test_a_linear_layer_of_another_length_is_refused_with_both_numbers():
    with pytest.raises(ValueError, match="3 channels and 3 × 3 pixels has 27 numbers, but the linear layer takes 12"):
        embed.conv_from_linear(nn.Linear(12, 4), 3, 3)


# ---------------------------------------------------------------- two layers merged


@FEW
@given(
    sizes(),
    st.integers(1, 6),
    st.booleans(),
    st.booleans(),
    st.sampled_from([{}, {"stride": 1}, {"padding": 1}, {"dilation": 2}, {"padding": (0, 2)}]),
)
def test_the_merged_convolution_does_what_both_layers_do(size, between, bias, second_bias, settings):
    channels, patch_size, _, _, dimension, batch = size
    conv = nn.Conv2d(channels, between, patch_size, bias=bias, **{"stride": patch_size, **settings}).double()
    linear = nn.Linear(between, dimension, bias=second_bias).double()
    filled(conv), filled(linear, 1)
    images = some_table(batch, channels * 14 * 17).double().reshape(batch, channels, 14, 17)
    merged = embed.merge_linear_into_conv(conv, linear)
    assert torch.allclose(tokens_of(merged, images), linear(tokens_of(conv, images)), rtol=1e-11, atol=1e-11)
    assert (merged.bias is not None) == (bias or second_bias)
    for part in ("kernel_size", "stride", "padding", "dilation", "padding_mode"):
        assert getattr(merged, part) == getattr(conv, part)


def test_merging_keeps_padding_by_name():
    conv, linear = filled(nn.Conv2d(2, 3, 3, padding="same").double()), filled(nn.Linear(3, 4).double())
    images = some_table(1, 2 * 5 * 6).double().reshape(1, 2, 5, 6)
    merged = embed.merge_linear_into_conv(conv, linear)
    assert merged.padding == "same"
    assert torch.allclose(tokens_of(merged, images), linear(tokens_of(conv, images)), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_merging_keeps_the_way_of_padding(mode):
    conv, linear = filled(nn.Conv2d(2, 3, 3, padding=1, padding_mode=mode)), filled(nn.Linear(3, 4))
    images = some_table(1, 2 * 5 * 6).reshape(1, 2, 5, 6)
    merged = embed.merge_linear_into_conv(conv, linear)
    assert torch.allclose(tokens_of(merged, images), linear(tokens_of(conv, images)), atol=1e-4)


def test_a_merge_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="gives 3 numbers at each place, but the linear layer takes 4"):
        embed.merge_linear_into_conv(nn.Conv2d(1, 3, 2), nn.Linear(4, 2))
    with pytest.raises(ValueError, match="groups is 2, but has to be 1"):
        embed.merge_linear_into_conv(nn.Conv2d(2, 4, 2, groups=2), nn.Linear(4, 2))


def test_a_merge_of_other_layers_is_refused():
    for one, other in (
        (nn.ConvTranspose2d(3, 3, 2), nn.Linear(3, 4)),
        (nn.Linear(3, 4), nn.Conv2d(1, 3, 2)),
        (nn.Conv2d(1, 3, 2), nn.Conv2d(3, 4, 1)),
    ):
        with pytest.raises(TypeError, match="expected an nn.Conv2d and an nn.Linear, got "):
            embed.merge_linear_into_conv(one, other)


@pytest.mark.parametrize(("first", "second"), [(True, True), (True, False), (False, True), (False, False)])
def test_a_merged_convolution_trains_where_one_of_both_layers_does(first, second):
    conv, linear = nn.Conv2d(1, 3, 2).requires_grad_(first), nn.Linear(3, 4).requires_grad_(second)
    merged = embed.merge_linear_into_conv(conv, linear)
    assert {merged.weight.requires_grad, merged.bias.requires_grad} == {first or second}


def test_a_nonlinearity_between_the_layers_is_not_merged_away():
    conv, linear = filled(nn.Conv2d(2, 3, 2, 2).double()), filled(nn.Linear(3, 4).double())
    images = some_table(1, 2 * 4 * 6).double().reshape(1, 2, 4, 6)
    merged = embed.merge_linear_into_conv(conv, linear)
    assert not torch.allclose(linear(tokens_of(conv, images).relu()), tokens_of(merged, images))


# ---------------------------------------------------------------- bad images


BAD_IMAGES = {
    "five axes": ((1, 2, 3, 8, 12), r"images must have 4 axes \(B, C, H, W\), got \(1, 2, 3, 8, 12\)"),
    "no batch axis": ((3, 8, 12), r"images must have 4 axes \(B, C, H, W\), got \(3, 8, 12\): add x\[None\]"),
    "other channels": ((2, 1, 8, 12), r"reads images with 3 channels, got 1: \(2, 1, 8, 12\)"),
    "height": ((2, 3, 7, 12), "^image height 7 is not a multiple of patch size 4: use 4 or 8"),
    "width": ((2, 3, 8, 13), "^image width 13 is not a multiple of patch size 4: use 12 or 16"),
    "both sides": ((2, 3, 7, 13), "image height 7 is not .*; image width 13 is not"),
    "too small": ((2, 3, 3, 4), "image height 3 is not a multiple of patch size 4: use 4"),
    "no rows": ((2, 3, 0, 4), "image height 0 is not a multiple of patch size 4: use 4"),
}


@BOTH
@pytest.mark.parametrize("kind", BAD_IMAGES)
def test_bad_images_are_refused_by_both_layers_alike(layer, kind):
    shape, says = BAD_IMAGES[kind]
    with pytest.raises(ValueError, match=says):
        layer(3, 4, 5)(torch.zeros(shape))


@BOTH
def test_what_is_no_tensor_is_refused_by_both_layers_alike(layer):
    for images in ([[1.0]], torch.zeros(1, 3, 4, 4).numpy()):
        with pytest.raises(TypeError, match=r"images must be a tensor \(B, C, H, W\), got "):
            layer(3, 4, 5)(images)


@BOTH
@pytest.mark.parametrize(
    ("sizes", "error", "says"),
    [
        ((0, 4, 5), ValueError, "in_channels must be at least 1, got 0"),
        ((3, -4, 5), ValueError, "patch_size must be at least 1, got -4"),
        ((3, 4, 0), ValueError, "embedding_dim must be at least 1, got 0"),
        ((3, 4.0, 5), TypeError, "patch_size must be a whole number, got 4.0: use 4"),
        ((3, (2, 3), 5), TypeError, r"patch_size must be a whole number, got \(2, 3\)"),
    ],
)
def test_sizes_that_are_none_are_refused_by_both_layers_alike(layer, sizes, error, says):
    with pytest.raises(error, match=says):
        layer(*sizes)


@BOTH
def test_an_empty_batch_and_a_grid_of_one_are_fine(layer):
    module = layer(3, 4, 5)
    assert module(torch.zeros(0, 3, 8, 12)).shape == (0, 6, 5) and module(torch.zeros(2, 3, 4, 4)).shape == (2, 1, 5)


@BOTH
def test_one_layer_reads_every_grid_and_batch(layer):
    module = layer(3, 6, 64)
    shapes = [tuple(module(torch.zeros(b, 3, h, w)).shape) for b, h, w in ((1, 72, 72), (2, 12, 30), (4, 6, 6))]
    assert shapes == [(1, 144, 64), (2, 10, 64), (4, 1, 64)]
    assert sum(parameter.numel() for parameter in module.parameters()) == 108 * 64 + 64


# ---------------------------------------------------------------- counting, other orders, torchvision


@BOTH
def test_16192_numbers_and_what_depends_on_the_number_of_patches(layer):
    projection = sum(parameter.numel() for parameter in layer(3, 6, 64).parameters())
    assert projection == 6_912 + 64 and embed.encoder_parameters(108, 144, 64) == 16_192 == projection + 144 * 64
    counts = [embed.encoder_parameters(108, tokens, 64) for tokens in (1, 2, 3, 144)]
    assert [count - tokens * 64 for count, tokens in zip(counts, (1, 2, 3, 144), strict=True)] == [projection] * 4


@FEW
@given(sizes())
def test_the_weight_in_the_other_order_does_the_same_on_patches_in_the_other_order(size):
    channels, patch_size, _, _, dimension, _ = size
    images, linear, _ = images_and_layers(*size)
    rows, weight = patches.patchify(images, patch_size), linear.weight.detach()
    moved = embed.channels_last_weight(weight, channels, patch_size)
    assert moved.shape == weight.shape and torch.equal(moved.sort(1).values, weight.sort(1).values)
    assert torch.allclose(
        F.linear(patches.channels_last(rows, patch_size, channels), moved),
        F.linear(rows, weight),
        rtol=1e-12,
        atol=1e-12,
    )


def test_with_one_channel_or_one_pixel_both_orders_are_the_same():
    weight = some_table(5, 12)
    assert torch.equal(embed.channels_last_weight(some_table(5, 9), 1, 3), some_table(5, 9))
    assert torch.equal(embed.channels_last_weight(weight, 12, 1), weight)
    assert not torch.equal(embed.channels_last_weight(weight, 3, 2), weight)


@pytest.mark.parametrize("weight", [some_table(5, 12), some_table(1, 27)[0], [[1.0] * 27]])
def test_a_weight_of_another_shape_is_refused_as_a_weight(weight):
    with pytest.raises(ValueError, match=r"weight must have the shape \(D, 27\) for 3 channels and patch size 3"):
        embed.channels_last_weight(weight, 3, 3)


def test_the_projection_of_torchvision_is_ours():
    models = pytest.importorskip("torchvision").models
    with torch.device("meta"):
        conv = models.vit_b_16().conv_proj
    assert sum(parameter.numel() for parameter in conv.parameters()) == 590_592
    conv = filled(conv.to_empty(device="cpu"))
    images = some_table(2, 3 * 32 * 48).reshape(2, 3, 32, 48)
    linear = embed.linear_from_conv(conv)
    assert (linear.in_features, linear.out_features) == (768, 768)
    assert torch.allclose(linear(patches.patchify(images, 16)), tokens_of(conv, images), rtol=1e-4, atol=1e-3)
    exact = embed.linear_from_conv(conv.double())(patches.patchify(images.double(), 16))
    assert torch.allclose(exact, tokens_of(conv, images.double()), rtol=1e-11, atol=1e-11)
