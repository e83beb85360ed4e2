"""From ids and patches to vectors: the lookup and its product (lesson 02), the projection of patches as a linear
layer and as a convolution (lessons 05 and 06)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.letters import both_sides, check_sizes
from course_lib.patches import channels_last, check_images, check_multiples, check_tensor, patchify
from course_lib.words import check_ids, check_table, one_hot


def lookup_by_index(ids: Any, weight: Tensor) -> Tensor:
    """Rows of the table: ids (…), weight (V, D) -> (…, D). Raises as words.check_ids does."""
    check_table(weight)
    return F.embedding(check_ids(ids, len(weight)), weight)


def lookup_by_matmul(ids: Any, weight: Tensor) -> Tensor:
    """The same rows by one-hot rows times the table: ids (…), weight (V, D) -> (…, D), number for number."""
    check_table(weight)
    return one_hot(ids, len(weight)).to(weight.dtype) @ weight


def rows_with_gradient(ids: Any, vocabulary_size: int) -> Tensor:
    """(V,) int64: how many times each row of the table is used, so how many times its gradient is added."""
    return torch.bincount(check_ids(ids, vocabulary_size).flatten(), minlength=vocabulary_size)


def linear_from_embedding(embedding: nn.Embedding) -> nn.Linear:
    """A linear layer without bias that maps one-hot rows to the rows of the embedding's table.

    nn.Embedding stores (V, D), nn.Linear stores (out, in) = (D, V): the weight is turned. Dtype, device
    and requires_grad are carried over. An embedding with max_norm is refused: it changes when it is read.
    """
    if not isinstance(embedding, nn.Embedding):
        raise TypeError(f"expected an nn.Embedding, got {type(embedding).__name__}")
    if embedding.max_norm is not None:
        raise ValueError("this embedding has max_norm, so reading rescales its rows; a linear layer cannot do that")
    table = embedding.weight
    # skip_init: the values are replaced at once, and the global random stream stays where it is
    linear = nn.utils.skip_init(nn.Linear, *table.shape, bias=False, device=table.device, dtype=table.dtype)
    with torch.no_grad():
        linear.weight.copy_(table.T)
    linear.weight.requires_grad_(table.requires_grad)
    return linear


class LinearPatchEmbedding(nn.Module):
    """Cut images into patches and multiply each by one matrix: (B, C, H, W) -> (B, N, D) (lesson 05).

    Raises as patches.patchify does, and a ValueError for another number of channels or sizes below 1.
    """

    def __init__(self, in_channels: int, patch_size: int, embedding_dim: int) -> None:
        super().__init__()
        self.in_channels, self.patch_size = in_channels, patch_size
        check_sizes(in_channels=in_channels, patch_size=patch_size, embedding_dim=embedding_dim)
        self.projection = nn.Linear(in_channels * patch_size**2, embedding_dim)

    def forward(self, images: Tensor) -> Tensor:
        _check_channels(images, self.in_channels)
        return self.projection(patchify(images, self.patch_size))


class ConvPatchEmbedding(nn.Module):
    """The same map as a convolution with kernel = stride = P: (B, C, H, W) -> (B, N, D) (lesson 06).

    Raises as LinearPatchEmbedding does; a bare convolution would drop what does not fit.
    """

    def __init__(self, in_channels: int, patch_size: int, embedding_dim: int) -> None:
        super().__init__()
        self.in_channels, self.patch_size = in_channels, patch_size
        check_sizes(in_channels=in_channels, patch_size=patch_size, embedding_dim=embedding_dim)
        self.projection = nn.Conv2d(in_channels, embedding_dim, kernel_size=patch_size, stride=patch_size)

    def forward(self, images: Tensor) -> Tensor:
        _check_channels(images, self.in_channels)
        height, width = images.shape[-2:]
        check_multiples(height, width, self.patch_size)
        return self.projection(images).flatten(2).transpose(1, 2)


def conv_from_linear(linear: nn.Linear, channels: int, patch_size: int) -> nn.Conv2d:
    """The convolution that does to images what `linear` does to their flattened patches (C, P, P).

    Weights are copied and contiguous; dtype, device, requires_grad and bias or none are carried over.
    Raises ValueError where linear.in_features is not C·P·P.
    """
    if not isinstance(linear, nn.Linear):
        raise TypeError(f"expected an nn.Linear, got {type(linear).__name__}")
    check_sizes(channels=channels, patch_size=patch_size)
    length = channels * patch_size**2
    if linear.in_features != length:
        raise ValueError(
            f"a patch of {channels} channels and {patch_size} × {patch_size} pixels has {length} numbers, "
            f"but the linear layer takes {linear.in_features}"
        )
    conv = nn.utils.skip_init(
        nn.Conv2d,
        channels,
        linear.out_features,
        patch_size,
        stride=patch_size,
        bias=linear.bias is not None,
        device=linear.weight.device,
        dtype=linear.weight.dtype,
    )
    return _copied(conv, linear)


def linear_from_conv(conv: nn.Conv2d) -> nn.Linear:
    """The linear layer that does to flattened patches (C, P, P) what `conv` does to images.

    Carries over what conv_from_linear does. A ValueError names each condition by which the convolution is
    no projection of side-by-side patches: kernel and stride, padding, dilation, groups.
    """
    if not isinstance(conv, nn.Conv2d):
        raise TypeError(f"expected an nn.Conv2d, got {type(conv).__name__}")
    problems = [
        f"{name} is {found}, but has to be {wanted}"
        for name, found, wanted in (
            ("stride", conv.stride, conv.kernel_size),
            ("padding", conv.padding, (0, 0)),
            ("dilation", conv.dilation, (1, 1)),
            ("groups", conv.groups, 1),
        )
        if found != wanted and (name, found) != ("padding", "valid")
    ]
    if problems:
        raise ValueError(f"this convolution is no projection of patches: {'; '.join(problems)}")
    linear = nn.utils.skip_init(
        nn.Linear,
        conv.weight[0].numel(),
        conv.out_channels,
        bias=conv.bias is not None,
        device=conv.weight.device,
        dtype=conv.weight.dtype,
    )
    return _copied(linear, conv)


def merge_linear_into_conv(conv: nn.Conv2d, linear: nn.Linear) -> nn.Conv2d:
    """One convolution that does what `conv`, and then `linear` on the numbers of each place, do.

    Two affine maps in a row are one: weight A·W, bias A·b + c. Kernel, stride, padding and dilation stay, and
    the result trains where one of the two does. Raises TypeError for other layers, ValueError where sizes do
    not meet or where `conv` has groups.
    """
    if not (isinstance(conv, nn.Conv2d) and isinstance(linear, nn.Linear)):
        came = f"{type(conv).__name__} and {type(linear).__name__}"
        raise TypeError(f"expected an nn.Conv2d and an nn.Linear, got {came}")
    if linear.in_features != conv.out_channels:
        raise ValueError(
            f"the convolution gives {conv.out_channels} numbers at each place, but the linear layer takes "
            f"{linear.in_features}"
        )
    if conv.groups != 1:
        raise ValueError(f"a convolution with groups cannot be merged: groups is {conv.groups}, but has to be 1")
    merged = nn.utils.skip_init(
        nn.Conv2d,
        conv.in_channels,
        linear.out_features,
        conv.kernel_size,
        conv.stride,
        conv.padding,
        conv.dilation,
        bias=conv.bias is not None or linear.bias is not None,
        padding_mode=conv.padding_mode,
        device=conv.weight.device,
        dtype=conv.weight.dtype,
    )
    with torch.no_grad():
        merged.weight.copy_(torch.einsum("od,dcpq->ocpq", linear.weight, conv.weight))
        if merged.bias is not None:
            merged.bias.zero_()
            merged.bias += linear.bias if linear.bias is not None else 0
            merged.bias += linear.weight @ conv.bias if conv.bias is not None else 0
    trains = any(parameter.requires_grad for layer in (conv, linear) for parameter in layer.parameters())
    return merged.requires_grad_(trains)


def channels_last_weight(weight: Tensor, channels: int, patch_size: int) -> Tensor:
    """The weight (D, P·P·C) for patches flattened row, column, channel that does what weight (D, C·P·P) does."""
    check_sizes(channels=channels, patch_size=patch_size)
    length = channels * patch_size**2
    shape = tuple(weight.shape) if isinstance(weight, Tensor) else type(weight).__name__
    if shape[1:] != (length,):
        raise ValueError(
            f"weight must have the shape (D, {length}) for {channels} channels and patch size {patch_size}, got {shape}"
        )
    return channels_last(weight.unsqueeze(0), patch_size, channels).squeeze(0)


def encoder_parameters(patch_length: int, tokens: int, dimension: int) -> int:
    """Numbers learned by a projection with bias and one position row for each token."""
    check_sizes(patch_length=patch_length, tokens=tokens, dimension=dimension)
    return patch_length * dimension + dimension + tokens * dimension


def _copied(new: nn.Conv2d | nn.Linear, old: nn.Conv2d | nn.Linear) -> Any:
    """`new` with the numbers of `old`, in the shape of `new`; whether they train is carried over."""
    with torch.no_grad():
        new.weight.copy_(old.weight.reshape(new.weight.shape))
        new.weight.requires_grad_(old.weight.requires_grad)
        if old.bias is not None and new.bias is not None:
            new.bias.copy_(old.bias)
            new.bias.requires_grad_(old.bias.requires_grad)
    return new


def _check_channels(images: Tensor, channels: int) -> None:
    check_images(images)
    if images.shape[1] != channels:
        raise ValueError(
            f"this layer reads images with {channels} channels, got {images.shape[1]}: {tuple(images.shape)}"
        )


def prepend_class_token(tokens: Tensor, class_token: Tensor) -> Tensor:
    """tokens (B, N, D), class_token (D,) -> (B, N + 1, D): the class token at index 0 of every image."""
    check_tensor("tokens", tokens, "(B, N, D)")
    check_tensor("class_token", class_token, "(D,)")
    if tokens.ndim != 3 or class_token.shape != tokens.shape[-1:]:
        raise ValueError(
            f"expected tokens (B, N, D) and a class token (D,), got {tuple(tokens.shape)} and"
            f" {tuple(class_token.shape)}"
        )
    return torch.cat([class_token.expand(len(tokens), 1, -1), tokens], dim=1)


def add_positions(tokens: Tensor, positions: Tensor) -> Tensor:
    """tokens (B, 1 + N, D) plus one row of positions (1 + N, D) for each. A ValueError tells when they do not fit."""
    check_tensor("tokens", tokens, "(B, 1 + N, D)")
    if tokens.ndim != 3 or tokens.shape[1:] != positions.shape:  # a sum would stretch an axis of length 1
        needed = ", ".join(map(str, ("B", *positions.shape)))
        raise ValueError(f"positions {tuple(positions.shape)} need tokens ({needed}), got {tuple(tokens.shape)}")
    return tokens + positions


def resize_positions(positions: Tensor, old_grid: tuple[int, int], new_grid: tuple[int, int]) -> Tensor:
    """positions (1 + N, D) learned for old_grid (rows, columns) -> (1 + N', D) for new_grid.

    The class row 0 is kept; the grid is resized as an image, bicubic with align_corners=False. Equal grids give
    a copy. ValueError where the table does not have 1 + rows · columns rows.
    """
    rows, columns = both_sides("old_grid", old_grid)
    new_rows, new_columns = both_sides("new_grid", new_grid)
    check_tensor("positions", positions, "(1 + N, D)")
    if positions.ndim != 2 or len(positions) != 1 + rows * columns:
        raise ValueError(
            f"a table for a {rows} × {columns} grid has 1 + {rows * columns} rows, got {tuple(positions.shape)}"
        )
    if (rows, columns) == (new_rows, new_columns):
        return positions.clone()
    image = positions[1:].T.reshape(1, -1, rows, columns)
    # size, not scale_factor: a rounded factor loses a row for some sizes
    resized = F.interpolate(image, size=(new_rows, new_columns), mode="bicubic", align_corners=False)
    return torch.cat([positions[:1], resized[0].flatten(1).T])


class Positions(nn.Module):
    """A learned row for the class token and for each place of a grid; the table carries its grid (lesson 07).

    Call it with tokens (B, 1 + N, D) and the grid (rows, columns) they come from. A ValueError refuses another
    grid, also one with as many places: 7 × 28 is not 14 × 14.
    """

    def __init__(self, grid: tuple[int, int], embedding_dim: int) -> None:
        super().__init__()
        self.grid = both_sides("grid", grid)
        check_sizes(embedding_dim=embedding_dim)
        self.table = nn.Parameter(0.02 * torch.randn(1 + self.grid[0] * self.grid[1], embedding_dim))

    def forward(self, tokens: Tensor, grid: tuple[int, int]) -> Tensor:
        if both_sides("grid", grid) != self.grid:
            raise ValueError(
                f"positions are for a {self.grid[0]} × {self.grid[1]} grid, the image gives {grid[0]} × {grid[1]}:"
                f" use positions.resized({grid})"
            )
        return add_positions(tokens, self.table)

    def resized(self, grid: tuple[int, int]) -> Positions:
        """New positions for another grid, interpolated from these."""
        new = Positions(grid, self.table.shape[1])
        with torch.no_grad():
            new.table.copy_(resize_positions(self.table, self.grid, new.grid))
        return new
