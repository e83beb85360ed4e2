"""What every function of the subject promises: a result in memory of its own, in the dtype that came in."""

from __future__ import annotations

import inspect

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from course_lib import codebook, data, embed, hybrid, patches, skipgram, vit, words

MODULES = (codebook, data, embed, hybrid, patches, skipgram, vit, words)
FEW = settings(max_examples=40, deadline=None)


def numbers(*shape, dtype=torch.float64):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(sum(shape)), dtype=dtype)


def ids(*numbers):
    return torch.tensor(numbers)


def torchvision_model():
    from torchvision.models import VisionTransformer

    return VisionTransformer(
        image_size=4, patch_size=2, num_layers=1, num_heads=1, hidden_dim=4, mlp_dim=3, num_classes=2
    ).double()


# Sizes of 1 and whole images on purpose: with them a reshape has nothing to move and may hand back a view.
CALLS = {
    "encode": lambda: (words.encode, [["a"], {"a": 0}]),
    "one_hot": lambda: (words.one_hot, [ids(0), 1]),
    "skip_gram_pairs": lambda: (skipgram.skip_gram_pairs, [[[0, 1]], 1]),
    "negative_sampling_loss": lambda: (
        skipgram.negative_sampling_loss,
        [numbers(1, 1), numbers(1, 1), numbers(1, 1, 1)],
    ),
    "draw_negatives": lambda: (skipgram.draw_negatives, [numbers(1), (1, 1), torch.Generator()]),
    "train": lambda: (
        lambda pairs: vars(skipgram.train(pairs, 2, embedding_dim=1, epochs=0)),
        [torch.tensor([[0, 1]])],
    ),
    "nearest": lambda: (skipgram.nearest, [numbers(1), numbers(1, 1), 1]),
    "on_a_plane": lambda: (skipgram.on_a_plane, [[torch.eye(2, dtype=torch.float64)]]),
    "patchify": lambda: (patches.patchify, [numbers(2, 1, 5, 3), 1]),
    "patchify, one patch": lambda: (patches.patchify, [numbers(2, 3, 5, 3), (5, 3)]),
    "patchify, padded by nothing": lambda: (lambda x: patches.patchify(x, 1, pad=True), [numbers(2, 1, 5, 3)]),
    "unpatchify": lambda: (patches.unpatchify, [numbers(2, 15, 1), 1, 1, 5, 3]),
    "unpatchify, one patch": lambda: (patches.unpatchify, [numbers(2, 1, 45), (5, 3), 3, 5, 3]),
    "unpatchify, cut off": lambda: (patches.unpatchify, [numbers(1, 1, 4), 2, 1, 1, 1]),
    "overlapping_patches": lambda: (patches.overlapping_patches, [numbers(1, 1, 5, 3), 3, 1]),
    "overlapping_patches, pixels": lambda: (patches.overlapping_patches, [numbers(1, 1, 5, 3), 1, 1]),
    "coverage": lambda: (patches.coverage, [1, 1, 1]),
    "channels_last": lambda: (patches.channels_last, [numbers(1, 2, 4), 2, 1]),
    "channels_last, pixels": lambda: (patches.channels_last, [numbers(1, 2, 4), 1, 4]),
    "channels_first": lambda: (patches.channels_first, [numbers(1, 2, 4), 2, 1]),
    "lookup_by_index": lambda: (embed.lookup_by_index, [ids(0), numbers(1, 1)]),
    "lookup_by_matmul": lambda: (embed.lookup_by_matmul, [ids(0), numbers(1, 1)]),
    "rows_with_gradient": lambda: (embed.rows_with_gradient, [ids(0), 1]),
    "linear_from_embedding": lambda: (embed.linear_from_embedding, [nn.Embedding(1, 1).double()]),
    "conv_from_linear": lambda: (embed.conv_from_linear, [nn.Linear(1, 1).double(), 1, 1]),
    "linear_from_conv": lambda: (embed.linear_from_conv, [nn.Conv2d(1, 1, 1).double()]),
    "merge_linear_into_conv": lambda: (
        embed.merge_linear_into_conv,
        [nn.Conv2d(1, 1, 1).double(), nn.Linear(1, 1).double()],
    ),
    "channels_last_weight": lambda: (embed.channels_last_weight, [numbers(2, 3), 3, 1]),
    "prepend_class_token": lambda: (embed.prepend_class_token, [numbers(1, 0, 3), numbers(3)]),
    "add_positions": lambda: (embed.add_positions, [numbers(1, 2, 3), numbers(2, 3)]),
    "resize_positions": lambda: (embed.resize_positions, [numbers(3, 2), (1, 2), (2, 1)]),
    "resize_positions, equal grids": lambda: (embed.resize_positions, [numbers(3, 2), (1, 2), (1, 2)]),
    "pixelwise_linear": lambda: (hybrid.pixelwise_linear, [numbers(1, 1, 1, 1), numbers(1, 1), numbers(1)]),
    "gradient_reach": lambda: (hybrid.gradient_reach, [lambda images: images, numbers(1, 1, 1, 1), 0]),
    "kmeans": lambda: (lambda rows: codebook.kmeans(rows, codes=1, steps=1), [numbers(1, 1)]),
    "nearest_code": lambda: (codebook.nearest_code, [numbers(1, 1), numbers(1, 1)]),
    "decode": lambda: (codebook.decode, [ids(0), numbers(1, 1)]),
    "quantisation_error": lambda: (codebook.quantisation_error, [numbers(1, 1), numbers(1, 1)]),
    "straight_through": lambda: (codebook.straight_through, [numbers(1, 1), numbers(1, 1)]),
    "from_torchvision": lambda: (vit.from_torchvision, [torchvision_model()]),
}
NOTHING_TO_SHARE = {"photo", "digits", "small_stem", "resnet_stage"}  # no tensor goes in
HANDS_BACK = {"check_ids", "whole_numbers"}  # checks, which say that they hand back what they checked


def tensors(value):
    """Every tensor in an argument or a result."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, nn.Module):
        return list(value.state_dict().values())
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [tensor for part in parts for tensor in tensors(part)]


def memory(value):
    return {tensor.untyped_storage().data_ptr() for tensor in tensors(value) if tensor.numel()}


def test_every_function_that_gives_a_tensor_or_a_layer_is_among_them():
    found = {
        name
        for module in MODULES
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_")
        if any(kind in function.__annotations__["return"] for kind in ("Tensor", "nn.", "Vectors", "Vision", "Digits"))
    }
    assert found == {name.split(",")[0] for name in CALLS} | NOTHING_TO_SHARE | HANDS_BACK


@pytest.mark.parametrize("name", CALLS)
def test_a_result_shares_no_memory_with_what_came_in(name):
    function, arguments = CALLS[name]()
    before = [tensor.clone() for tensor in tensors(arguments)]
    result = function(*arguments)
    assert tensors(result)
    assert not memory(result) & memory(arguments)
    assert all(torch.equal(one, other) for one, other in zip(before, tensors(arguments), strict=True))


@pytest.mark.parametrize("name", sorted(set(CALLS) - {"train", "one_hot"}))
def test_float64_stays_float64(name):
    function, arguments = CALLS[name]()
    found = {tensor.dtype for tensor in tensors(function(*arguments))}
    assert found <= {torch.float64, torch.int64}


@FEW
@given(st.integers(1, 2), st.integers(1, 2), st.integers(1, 3), st.integers(1, 3), st.integers(1, 2), st.integers(1, 2))
def test_no_cut_of_an_image_is_a_view_of_it_and_each_is_laid_out_in_order(batch, channels, down, right, rows, columns):
    images, size = numbers(batch, channels, down * rows, right * columns), (down, right)
    cut = patches.patchify(images, size)
    others = [patches.overlapping_patches(images, size, 1), patches.unpatchify(cut, size, *images.shape[1:])]
    others += [patches.channels_last(cut, size, channels), patches.channels_first(cut, size, channels)]
    assert not memory(others[1:]) & memory(cut)
    assert not memory([cut, *others]) & memory(images)
    assert all(result.is_contiguous() for result in (cut, *others))


@pytest.mark.parametrize("size", [1, 2, (4, 6)])
def test_cutting_copies_once_and_no_more(size):
    images = numbers(1, 3, 4, 6)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        patches.patchify(images, size)
    assert sum(event.count for event in profile.key_averages() if event.key == "aten::copy_") == 1


@pytest.mark.parametrize("size", [1, 2, (4, 6)])
def test_a_change_in_place_of_the_patches_leaves_the_image_and_its_gradient_alone(size):
    images = numbers(1, 3, 4, 6).requires_grad_()
    before = images.detach().clone()
    cut = patches.patchify(images, size)
    cut *= 3
    cut.sum().backward()
    assert torch.equal(images.detach(), before)
    assert torch.equal(images.grad, torch.full_like(before, 3))
