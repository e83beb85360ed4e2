"""Cutting images into patches and putting them together, held against torch, einops and loops."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from course_lib import patches

FEW = settings(max_examples=40, deadline=None)
DTYPES = [
    torch.uint8,
    torch.int8,
    torch.int32,
    torch.int64,
    torch.bool,
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.complex64,
]
SIDE = st.integers(1, 4)


def counting(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    count = int(torch.tensor(shape).prod())
    numbers = torch.arange(count).reshape(shape)
    return (
        (numbers % 3 == 1)
        if dtype == torch.bool
        else numbers.remainder(120).to(dtype)
        if dtype not in (torch.float32, torch.float64, torch.int64)
        else numbers.to(dtype)
    )


def by_loops(images: torch.Tensor, height: int, width: int, down: int, right: int) -> torch.Tensor:
    rows = range(0, images.shape[2] - height + 1, down)
    columns = range(0, images.shape[3] - width + 1, right)
    cut = [images[:, :, y : y + height, x : x + width].flatten(1) for y in rows for x in columns]
    return torch.stack(cut, 1)


@st.composite
def images_and_patches(draw):
    """Images whose sides are multiples of a (rectangular) patch."""
    height, width = draw(SIDE), draw(SIDE)
    shape = (draw(st.integers(0, 3)), draw(SIDE), height * draw(SIDE), width * draw(SIDE))
    return counting(*shape), (height, width)


@st.composite
def overlaps(draw):
    height, width = draw(SIDE), draw(SIDE)
    shape = (
        draw(st.integers(0, 2)),
        draw(st.integers(1, 3)),
        height + draw(st.integers(0, 7)),
        width + draw(st.integers(0, 7)),
    )
    return counting(*shape), (height, width), (draw(SIDE), draw(SIDE))


def test_patchify_by_hand():
    image = torch.arange(8.0).reshape(1, 1, 2, 4)
    assert patches.patchify(image, 2).tolist() == [[[0, 1, 4, 5], [2, 3, 6, 7]]]
    two_channels = torch.arange(8.0).reshape(1, 2, 2, 2)
    assert patches.patchify(two_channels, 2).tolist() == [[[0, 1, 2, 3, 4, 5, 6, 7]]]
    assert patches.patchify(image, (2, 1)).tolist() == [[[0, 4], [1, 5], [2, 6], [3, 7]]]


@FEW
@given(images_and_patches())
def test_the_round_trip_is_exact(both):
    images, size = both
    cut = patches.patchify(images, size)
    assert torch.equal(patches.unpatchify(cut, size, *images.shape[1:]), images)


@FEW
@given(images_and_patches())
def test_patchify_equals_unfold_einops_and_loops(both):
    einops = pytest.importorskip("einops")
    images, (height, width) = both
    cut = patches.patchify(images, (height, width))
    assert torch.equal(cut, einops.rearrange(images, "b c (r p) (k q) -> b (r k) (c p q)", p=height, q=width))
    assert torch.equal(cut, by_loops(images, height, width, height, width))
    if len(images):
        assert torch.equal(cut, F.unfold(images, (height, width), stride=(height, width)).transpose(1, 2))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("batch", [0, 2])
def test_every_dtype_and_an_empty_batch_go_there_and_back(dtype, batch):
    images = counting(batch, 3, 4, 6, dtype=dtype)
    cut = patches.patchify(images, 2)
    assert cut.dtype == dtype and cut.shape == (batch, 6, 12)
    back = patches.unpatchify(cut, 2, 3, 4, 6)
    assert back.dtype == dtype and torch.equal(back, images)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("batch", [0, 2])
def test_padding_goes_there_and_back_in_every_dtype(dtype, batch):
    images = counting(batch, 2, 5, 7, dtype=dtype)
    cut = patches.patchify(images, (3, 4), pad=True)
    assert cut.dtype == dtype and cut.shape == (batch, 4, 24)
    assert torch.equal(patches.unpatchify(cut, (3, 4), 2, 5, 7), images)


@FEW
@given(st.integers(0, 2), SIDE, st.integers(1, 9), st.integers(1, 9), SIDE, SIDE)
def test_padding_adds_zeros_below_and_on_the_right_and_is_cut_off_again(batch, channels, height, width, down, right):
    images = counting(batch, channels, height, width) + 1
    cut = patches.patchify(images, (down, right), pad=True)
    padded = torch.zeros(batch, channels, -(-height // down) * down, -(-width // right) * right)
    padded[:, :, :height, :width] = images
    assert torch.equal(cut, patches.patchify(padded, (down, right)))
    assert torch.equal(patches.unpatchify(cut, (down, right), channels, height, width), images)


def test_padding_changes_nothing_where_sizes_fit():
    images = counting(2, 3, 4, 6)
    assert torch.equal(patches.patchify(images, 2, pad=True), patches.patchify(images, 2))


@pytest.mark.parametrize(("shape", "name"), [((1, 3, 0, 4), "height"), ((1, 3, 4, 0), "width")])
def test_padding_makes_no_image_of_nothing(shape, name):
    with pytest.raises(ValueError, match=f"^{name} must be at least 1, got 0$"):
        patches.patchify(torch.zeros(shape), 4, pad=True)


def test_images_that_are_not_contiguous_are_cut_the_same():
    images = counting(2, 4, 6, 3).permute(0, 3, 1, 2)
    assert not images.is_contiguous()
    assert torch.equal(patches.patchify(images, 2), patches.patchify(images.contiguous(), 2))
    turned = patches.patchify(images, 2).transpose(1, 2).contiguous().transpose(1, 2)
    assert torch.equal(patches.unpatchify(turned, 2, 3, 4, 6), images)


def test_cutting_leaves_the_images_as_they_were_and_passes_the_gradient_on():
    images = counting(2, 3, 4, 6).requires_grad_()
    before = images.detach().clone()
    (patches.patchify(images, 2) * 2).sum().backward()
    assert torch.equal(images.detach(), before) and torch.equal(images.grad, torch.full_like(before, 2))


@pytest.mark.parametrize(
    ("shape", "size", "text"),
    [
        ((1, 3, 220, 224), 16, "image height 220 is not a multiple of patch size 16: use 208 or 224, or pad=True"),
        ((1, 3, 224, 220), 16, "image width 220 is not a multiple of patch size 16: use 208 or 224, or pad=True"),
        (
            (1, 3, 220, 30),
            16,
            "image height 220 is not a multiple of patch size 16: use 208 or 224; "
            "image width 30 is not a multiple of patch size 16: use 16 or 32, or pad=True",
        ),
        ((1, 3, 5, 8), 8, "image height 5 is not a multiple of patch size 8: use 8, or pad=True"),
        ((1, 3, 6, 9), (3, 4), "image width 9 is not a multiple of patch size 4: use 8 or 12, or pad=True"),
    ],
)
def test_sizes_that_do_not_divide_are_named_with_those_that_do(shape, size, text):
    with pytest.raises(ValueError) as caught:
        patches.patchify(torch.zeros(shape), size)
    assert str(caught.value) == text


def test_a_single_image_is_told_how_to_become_a_batch():
    for cut in (lambda x: patches.patchify(x, 2), lambda x: patches.overlapping_patches(x, 2, 1)):
        with pytest.raises(ValueError, match=r"got \(3, 4, 6\): add x\[None\] for a batch of one"):
            cut(torch.zeros(3, 4, 6))
        with pytest.raises(ValueError, match=r"4 axes \(B, C, H, W\), got \(4, 6\)$"):
            cut(torch.zeros(4, 6))
        with pytest.raises(TypeError, match=r"a tensor \(B, C, H, W\), got ndarray"):
            cut(torch.zeros(1, 3, 4, 6).numpy())


@pytest.mark.parametrize(
    ("size", "error", "text"),
    [
        (0, ValueError, "patch_size must be at least 1, got 0"),
        (2.0, TypeError, "patch_size must be a whole number, got 2.0: use 2 or //"),
        (True, TypeError, "patch_size must be a whole number, got True"),
        ((2, 2, 2), ValueError, "patch_size must be one whole number or a pair (height, width), got (2, 2, 2)"),
        ((2, -1), ValueError, "patch_size[1] must be at least 1, got -1"),
    ],
)
def test_patch_sizes_that_are_none_are_named(size, error, text):
    images, cut = torch.zeros(1, 1, 4, 4), torch.zeros(1, 4, 4)
    for call in (
        lambda: patches.patchify(images, size),
        lambda: patches.patchify(images, size, pad=True),
        lambda: patches.unpatchify(cut, size, 1, 4, 4),
        lambda: patches.count_patches(4, 4, size),
        lambda: patches.unread_pixels(4, 4, size),
        lambda: patches.coverage(4, 4, size),
        lambda: patches.overlapping_patches(images, size, 1),
        lambda: patches.channels_last(cut, size, 1),
        lambda: patches.channels_first(cut, size, 1),
    ):
        with pytest.raises(error) as caught:
            call()
        assert str(caught.value) == text


def test_unpatchify_tells_what_would_fit():
    with pytest.raises(
        ValueError,
        match=r"an image of 3 × 4 × 6 with patches of 2 × 2 needs patches of shape "
        r"\(B, 6, 12\), got \(2, 5, 12\)",
    ):
        patches.unpatchify(torch.zeros(2, 5, 12), 2, 3, 4, 6)
    with pytest.raises(ValueError, match=r"got \(6, 12\)"):
        patches.unpatchify(torch.zeros(6, 12), 2, 3, 4, 6)
    with pytest.raises(TypeError, match="channels must be a whole number, got 3.0"):
        patches.unpatchify(torch.zeros(2, 6, 12), 2, 3.0, 4, 6)
    with pytest.raises(ValueError, match="height must be at least 1, got 0"):
        patches.unpatchify(torch.zeros(2, 6, 12), 2, 3, 0, 6)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: patches.unpatchify(x, 2, 3, 4, 6),
        lambda x: patches.channels_last(x, 2, 3),
        lambda x: patches.channels_first(x, 2, 3),
    ],
)
def test_patches_that_are_no_tensor_are_refused_by_name(call):
    with pytest.raises(TypeError, match="patches must be a tensor .*got ndarray"):
        call(torch.zeros(2, 6, 12).numpy())


@pytest.mark.parametrize(
    ("height", "width", "size", "stride", "count"),
    [
        (28, 28, 7, None, 16),
        (28, 28, 7, 4, 36),
        (224, 224, 16, None, 196),
        (72, 72, 6, None, 144),
        (220, 220, 16, None, 169),
        (10, 14, 4, 2, 24),
        (4, 6, (2, 3), None, 4),
        (5, 5, 5, 9, 1),
        (7, 9, (3, 2), (2, 3), 9),
    ],
)
def test_counts_by_hand(height, width, size, stride, count):
    assert patches.count_patches(height, width, size, stride) == count


@FEW
@given(overlaps())
def test_overlapping_patches_equal_unfold_and_loops_in_their_order(three):
    images, size, stride = three
    cut = patches.overlapping_patches(images, size, stride)
    assert torch.equal(cut, by_loops(images, *size, *stride))
    assert cut.shape[1] == patches.count_patches(*images.shape[2:], size, stride)
    if len(images):
        unfolded = F.unfold(images, size, stride=stride)
        assert torch.equal(cut, unfolded.transpose(1, 2))
        assert unfolded.shape[-1] == patches.count_patches(*images.shape[2:], size, stride)


@FEW
@given(images_and_patches())
def test_overlapping_patches_with_stride_equal_to_their_size_are_patchify(both):
    images, size = both
    assert torch.equal(patches.overlapping_patches(images, size, size), patches.patchify(images, size))


@FEW
@given(overlaps())
def test_coverage_sums_to_all_numbers_read_and_equals_the_gradient(three):
    images, (height, width), stride = three
    images = torch.zeros(1, 1, *images.shape[2:], requires_grad=True)
    read = patches.coverage(*images.shape[2:], (height, width), stride)
    patches.overlapping_patches(images, (height, width), stride).sum().backward()
    assert read.dtype == torch.int64 and read.shape == images.shape[2:]
    assert read.sum() == patches.count_patches(*images.shape[2:], (height, width), stride) * height * width
    assert torch.equal(read, images.grad[0, 0].long())


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int64, torch.bool, torch.bfloat16])
@pytest.mark.parametrize("batch", [0, 2])
def test_overlapping_patches_of_every_dtype(dtype, batch):
    images = counting(batch, 2, 5, 6, dtype=dtype)
    assert torch.equal(patches.overlapping_patches(images, 3, 2), by_loops(images, 3, 3, 2, 2))


def test_pixels_that_stride_four_does_not_read():
    assert (patches.coverage(28, 28, 7, 4) == 0).sum() == 55
    assert patches.count_patches(28, 28, 7, 4) == 36
    assert patches.unread_pixels(220, 220, 16) == 5_136


@FEW
@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 6), st.integers(1, 6))
def test_unread_pixels_are_those_that_no_patch_covers(height, width, down, right):
    height, width = max(height, down), max(width, right)
    expected = int((patches.coverage(height, width, (down, right)) == 0).sum())
    assert patches.unread_pixels(height, width, (down, right)) == expected


def test_images_smaller_than_a_patch_are_refused_with_both_sides():
    for call in (patches.count_patches, patches.unread_pixels, patches.coverage):
        with pytest.raises(ValueError) as caught:
            call(5, 6, 7)
        assert str(caught.value) == (
            "image height 5 is smaller than patch size 7 and width 6 is smaller than patch size 7: no patch fits"
        )
    with pytest.raises(ValueError, match="^image width 6 is smaller than patch size 7: no patch fits$"):
        patches.overlapping_patches(torch.zeros(1, 1, 8, 6), 7, 2)


@pytest.mark.parametrize(
    ("stride", "error", "text"),
    [
        (0, ValueError, "stride must be at least 1, got 0"),
        (1.5, TypeError, "stride must be a whole number, got 1.5"),
        (True, TypeError, "stride must be a whole number, got True"),
    ],
)
def test_strides_that_are_none_are_named(stride, error, text):
    for call in (
        lambda: patches.count_patches(8, 8, 2, stride),
        lambda: patches.coverage(8, 8, 2, stride),
        lambda: patches.overlapping_patches(torch.zeros(1, 1, 8, 8), 2, stride),
    ):
        with pytest.raises(error) as caught:
            call()
        assert str(caught.value) == text


@FEW
@given(st.integers(0, 3), st.integers(0, 5), SIDE, SIDE, SIDE)
def test_channel_orders_change_into_each_other(batch, count, channels, height, width):
    cut = counting(batch, count, channels * height * width)
    last = patches.channels_last(cut, (height, width), channels)
    assert torch.equal(patches.channels_first(last, (height, width), channels), cut)
    expected = cut.reshape(batch, count, channels, height * width).transpose(2, 3).reshape(cut.shape)
    assert torch.equal(last, expected)


def test_channel_orders_refuse_another_length():
    for turn in (patches.channels_last, patches.channels_first):
        with pytest.raises(
            ValueError, match=r"shape \(B, N, 12\) for 3 channels and patch size 2 × 2, got \(2, 5, 11\)"
        ):
            turn(torch.zeros(2, 5, 11), 2, 3)
