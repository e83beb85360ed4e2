"""Right answers of many kinds for every exercise: each of them has to pass its check."""

from __future__ import annotations

import functools
import math
import operator
import re
import string
from collections import OrderedDict, defaultdict

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from course_lib.words import check_ids


# numbers_in
def by_prod(shape):
    return math.prod(shape)


def by_reduce(shape):
    return functools.reduce(operator.mul, shape, 1)


def by_size(shape):
    return torch.Size(shape).numel()


def by_recursion(shape):
    return 1 if not shape else shape[0] * by_recursion(shape[1:])


def by_making_one(shape):
    return torch.empty(shape, device="meta").numel()


# tokenize
def by_findall(sentence):
    return re.findall(r"\w+|[^\w\s]", sentence.lower())


def by_split_and_filter(sentence):
    return [piece for piece in re.split(r"(\W)", sentence.lower()) if piece.strip()]


def by_characters(sentence):
    tokens, word = [], ""
    for character in sentence.lower() + " ":
        if character.isalnum():
            word += character
            continue
        if word:
            tokens.append(word)
        if not character.isspace():
            tokens.append(character)
        word = ""
    return tokens


def by_replacing_marks(sentence):
    for mark in string.punctuation:
        sentence = sentence.replace(mark, f" {mark} ")
    return sentence.lower().split()


def by_translation_table(sentence):
    return sentence.lower().translate({ord(mark): f" {mark} " for mark in string.punctuation}).split()


# build_vocabulary
def by_fromkeys(tokens):
    return {token: number for number, token in enumerate(dict.fromkeys(tokens))}


def by_setdefault(tokens):
    vocabulary = {}
    for token in tokens:
        vocabulary.setdefault(token, len(vocabulary))
    return vocabulary


def by_default_dict(tokens):
    vocabulary = defaultdict()
    vocabulary.default_factory = vocabulary.__len__
    for token in tokens:
        vocabulary[token]
    return vocabulary


def by_list_of_words(tokens):
    words = []
    for token in tokens:
        if token not in words:
            words.append(token)
    return OrderedDict((word, words.index(word)) for word in words)


def by_sorted_places(tokens):
    return {token: number for number, token in enumerate(sorted(set(tokens), key=tokens.index))}


# one_hot
def by_eye(ids, vocabulary_size):
    return torch.eye(vocabulary_size)[check_ids(ids, vocabulary_size)]


def by_comparison(ids, vocabulary_size):
    check_ids(ids, vocabulary_size)
    return (ids.unsqueeze(-1) == torch.arange(vocabulary_size)).float()


def by_scatter(ids, vocabulary_size):
    rows = torch.zeros(*ids.shape, vocabulary_size)
    return rows.scatter(-1, check_ids(ids, vocabulary_size).unsqueeze(-1), 1.0)


def by_loop_over_flat(ids, vocabulary_size):
    rows = torch.zeros(ids.numel(), vocabulary_size)
    for place, number in enumerate(ids.flatten().tolist()):
        if not 0 <= number < vocabulary_size:
            raise IndexError(f"no word has the id {number}")
        rows[place, number] = 1
    return rows.reshape(*ids.shape, vocabulary_size)


def by_numpy_and_back(ids, vocabulary_size):
    check_ids(ids, vocabulary_size)
    return torch.from_numpy(np.eye(vocabulary_size, dtype=np.float32)[ids.numpy()])


def by_torch(ids, vocabulary_size):
    return F.one_hot(ids, vocabulary_size).to(torch.float32)


# one_hot_bytes
def by_power(vocabulary_size):
    return 4 * vocabulary_size**2


def by_element_size(vocabulary_size):
    return vocabulary_size * vocabulary_size * torch.tensor(0.0).element_size()


def by_table_on_meta(vocabulary_size):
    return torch.empty(vocabulary_size, vocabulary_size, device="meta").nbytes


def by_bits(vocabulary_size):
    return vocabulary_size * vocabulary_size * 32 // 8


# lookups
def own_error(ids, weight):
    for position, number in enumerate(ids.flatten().tolist()):
        if not 0 <= number < len(weight):
            place = tuple(int(axis) for axis in np.unravel_index(position, tuple(ids.shape)))
            raise ValueError(f"id {number} at {place} is outside 0..{len(weight) - 1}")
    return weight[ids]


def own_error_with_rows(ids, weight):
    bad = (ids < 0) | (ids >= weight.shape[0])
    if bad.any():
        place = bad.nonzero()[0].tolist()
        raise IndexError(f"ids{place} = {ids[tuple(place)].item()}, but 0 <= id < {weight.shape[0]} is needed")
    return weight.index_select(0, ids.flatten()).reshape(*ids.shape, weight.shape[1])


def by_index_select(ids, weight):
    return weight.index_select(0, check_ids(ids, len(weight)).flatten()).unflatten(0, ids.shape)


def by_embedding(ids, weight):
    return F.embedding(check_ids(ids, len(weight)), weight)


def by_gather(ids, weight):
    flat = check_ids(ids, len(weight)).flatten()[:, None].expand(-1, weight.shape[1])
    return weight.gather(0, flat).reshape(*ids.shape, -1) if ids.numel() else weight[ids]


def by_row_list(ids, weight):
    rows = [weight[number] for number in check_ids(ids, len(weight)).flatten()]
    return torch.stack(rows).reshape(*ids.shape, weight.shape[1]) if rows else weight[:0]


def by_einsum(ids, weight):
    rows = F.one_hot(check_ids(ids, len(weight)), len(weight)).to(weight.dtype)
    return torch.einsum("...v,vd->...d", rows, weight)


def by_eye_product(ids, weight):
    check_ids(ids, len(weight))
    return torch.matmul(torch.eye(len(weight), dtype=weight.dtype)[ids], weight)


def by_linear(ids, weight):
    rows = F.one_hot(check_ids(ids, len(weight)), len(weight)).float()
    return F.linear(rows, weight.T)


def by_sum_of_products(ids, weight):
    rows = F.one_hot(check_ids(ids, len(weight)), len(weight)).float()
    return (rows.unsqueeze(-1) * weight).sum(-2)


def by_turned_product(ids, weight):
    rows = F.one_hot(check_ids(ids, len(weight)), len(weight)).float()
    return (weight.T @ rows.transpose(-1, -2)).transpose(-1, -2)


# linear_from_embedding
def by_new_parameter(embedding):
    linear = nn.Linear(embedding.num_embeddings, embedding.embedding_dim, bias=False)
    linear.weight = nn.Parameter(embedding.weight.detach().T.clone())
    return linear


def by_data(embedding):
    linear = nn.Linear(*embedding.weight.shape, bias=False)
    linear.weight.data = embedding.weight.data.T
    return linear


def by_state_dict(embedding):
    linear = nn.Linear(embedding.num_embeddings, embedding.embedding_dim, bias=False)
    linear.load_state_dict({"weight": embedding.weight.T})
    return linear


def by_rows(embedding):
    size, dimension = embedding.weight.shape
    linear = nn.Linear(size, dimension, bias=False)
    with torch.no_grad():
        for number in range(size):
            linear.weight[:, number] = embedding.weight[number]
    return linear


def by_layer_without_numbers(embedding):
    linear = nn.Linear(1, 1, bias=False)
    linear.in_features, linear.out_features = embedding.weight.shape
    linear.weight = nn.Parameter(embedding.weight.detach().t().contiguous())
    return linear


# rows_with_gradient
def by_bincount(ids, vocabulary_size):
    return torch.bincount(ids.flatten(), minlength=vocabulary_size)


def by_one_hot_sum(ids, vocabulary_size):
    return F.one_hot(ids.flatten(), vocabulary_size).sum(0)


def by_index_add(ids, vocabulary_size):
    flat = ids.flatten()
    return torch.zeros(vocabulary_size, dtype=torch.int64).index_add(0, flat, torch.ones_like(flat))


def by_comparing(ids, vocabulary_size):
    return torch.tensor([int((ids == number).sum()) for number in range(vocabulary_size)])


def by_real_gradient(ids, vocabulary_size):
    weight = torch.zeros(vocabulary_size, 1, requires_grad=True)
    weight[ids].sum().backward()
    return weight.grad[:, 0].long()


# count_patches
def by_ranges(height, width, patch_size, stride):
    return len(range(0, height - patch_size + 1, stride)) * len(range(0, width - patch_size + 1, stride))


def by_trying_starts(height, width, patch_size, stride):
    return sum(
        1
        for y in range(0, height, stride)
        for x in range(0, width, stride)
        if y + patch_size <= height and x + patch_size <= width
    )


def by_unfold(height, width, patch_size, stride):
    return F.unfold(torch.zeros(1, 1, height, width), patch_size, stride=stride).shape[-1]


def by_rounding_up(height, width, patch_size, stride):
    return math.ceil((height - patch_size + 1) / stride) * math.ceil((width - patch_size + 1) / stride)


def by_convolution_shape(height, width, patch_size, stride):
    return F.conv2d(torch.zeros(1, 1, height, width), torch.zeros(1, 1, patch_size, patch_size), stride=stride).numel()


# patchify
def by_reshape_permute(images, patch_size):
    b, c, h, w = images.shape
    x = images.reshape(b, c, h // patch_size, patch_size, w // patch_size, patch_size)
    return x.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)


def by_two_transposes(images, patch_size):
    rows = images.unflatten(2, (-1, patch_size)).unflatten(4, (-1, patch_size))
    return rows.transpose(1, 2).transpose(2, 4).transpose(3, 4).flatten(1, 2).flatten(2)


def by_torch_unfold(images, patch_size):
    return F.unfold(images, patch_size, stride=patch_size).transpose(1, 2)


def by_module_unfold(images, patch_size):
    return nn.Unfold(kernel_size=patch_size, stride=patch_size)(images).permute(0, 2, 1)


def by_einops(images, patch_size):
    from einops import rearrange

    return rearrange(images, "b c (r p) (k q) -> b (r k) (c p q)", p=patch_size, q=patch_size)


def by_loops(images, patch_size):
    cut = []
    for y in range(0, images.shape[2], patch_size):
        for x in range(0, images.shape[3], patch_size):
            cut.append(images[:, :, y : y + patch_size, x : x + patch_size].flatten(1))
    return torch.stack(cut, dim=1)


def by_filling(images, patch_size):
    b, c, h, w = images.shape
    columns = w // patch_size
    result = torch.empty(b, (h // patch_size) * columns, c * patch_size * patch_size, dtype=images.dtype)
    for number in range(result.shape[1]):
        y, x = number // columns * patch_size, number % columns * patch_size
        result[:, number] = images[:, :, y : y + patch_size, x : x + patch_size].reshape(b, -1)
    return result


def by_tensor_unfold(images, patch_size):
    windows = images.unfold(2, patch_size, patch_size).unfold(3, patch_size, patch_size)
    return windows.permute(0, 2, 3, 1, 4, 5).reshape(len(images), -1, images.shape[1] * patch_size**2)


def by_as_strided(images, patch_size):
    images = images.contiguous()
    b, c, h, w = images.shape
    sb, sc, sh, sw = images.stride()
    shape = (b, h // patch_size, w // patch_size, c, patch_size, patch_size)
    return images.as_strided(shape, (sb, sh * patch_size, sw * patch_size, sc, sh, sw)).reshape(
        b, -1, c * patch_size * patch_size
    )


def by_convolution(images, patch_size):
    length = images.shape[1] * patch_size * patch_size
    kernels = torch.eye(length).reshape(length, images.shape[1], patch_size, patch_size)
    return F.conv2d(images, kernels, stride=patch_size).flatten(2).transpose(1, 2)


def by_chunks(images, patch_size):
    bands = images.split(patch_size, dim=2)
    return torch.stack([tile.flatten(1) for band in bands for tile in band.split(patch_size, dim=3)], 1)


def by_numpy(images, patch_size):
    b, c, h, w = images.shape
    x = images.numpy().reshape(b, c, h // patch_size, patch_size, w // patch_size, patch_size)
    return torch.from_numpy(x.transpose(0, 2, 4, 1, 3, 5).reshape(b, -1, c * patch_size**2).copy())


# unpatchify
def back_by_permute(patches, patch_size, channels, height, width):
    x = patches.unflatten(1, (height // patch_size, -1)).unflatten(3, (channels, patch_size, patch_size))
    return x.permute(0, 3, 1, 4, 2, 5).flatten(4).flatten(2, 3)


def back_by_fold(patches, patch_size, channels, height, width):
    return F.fold(patches.transpose(1, 2), (height, width), patch_size, stride=patch_size)


def back_by_einops(patches, patch_size, channels, height, width):
    from einops import rearrange

    return rearrange(patches, "b (r k) (c p q) -> b c (r p) (k q)", r=height // patch_size, c=channels, p=patch_size)


def back_by_loops(patches, patch_size, channels, height, width):
    images = torch.zeros(len(patches), channels, height, width, dtype=patches.dtype)
    columns = width // patch_size
    for number in range(patches.shape[1]):
        y, x = number // columns * patch_size, number % columns * patch_size
        images[:, :, y : y + patch_size, x : x + patch_size] = patches[:, number].reshape(
            -1, channels, patch_size, patch_size
        )
    return images


def back_by_joining(patches, patch_size, channels, height, width):
    tiles = patches.reshape(len(patches), -1, channels, patch_size, patch_size).unbind(1)
    columns = width // patch_size
    bands = [torch.cat(tiles[start : start + columns], dim=3) for start in range(0, len(tiles), columns)]
    return torch.cat(bands, dim=2)


# unread_pixels
def by_strips(height, width, patch_size):
    below, right = height % patch_size, width % patch_size
    return below * width + right * height - below * right


def by_counting_pixels(height, width, patch_size):
    read = torch.zeros(height, width, dtype=torch.bool)
    read[: height - height % patch_size, : width - width % patch_size] = True
    return int((~read).sum())


def by_patches(height, width, patch_size):
    return height * width - (height // patch_size) * (width // patch_size) * patch_size**2


def by_three_parts(height, width, patch_size):
    below, right = height % patch_size, width % patch_size
    return below * (width - right) + right * (height - below) + below * right


RIGHT_WAYS = {
    "numbers_in": [by_prod, by_reduce, by_size, by_recursion, by_making_one],
    "tokenize": [by_findall, by_split_and_filter, by_characters, by_replacing_marks, by_translation_table],
    "build_vocabulary": [by_fromkeys, by_setdefault, by_default_dict, by_list_of_words, by_sorted_places],
    "one_hot": [by_eye, by_comparison, by_scatter, by_loop_over_flat, by_numpy_and_back, by_torch],
    "one_hot_bytes": [by_power, by_element_size, by_table_on_meta, by_bits],
    "lookup_by_matmul": [by_einsum, by_eye_product, by_linear, by_sum_of_products, by_turned_product],
    "lookup_by_index": [
        own_error,
        own_error_with_rows,
        by_index_select,
        by_embedding,
        by_gather,
        by_row_list,
        by_einsum,
    ],
    "linear_from_embedding": [by_new_parameter, by_data, by_state_dict, by_rows, by_layer_without_numbers],
    "rows_with_gradient": [by_bincount, by_one_hot_sum, by_index_add, by_comparing, by_real_gradient],
    "count_patches": [by_ranges, by_trying_starts, by_unfold, by_rounding_up, by_convolution_shape],
    "patchify": [
        by_reshape_permute,
        by_two_transposes,
        by_torch_unfold,
        by_module_unfold,
        by_einops,
        by_loops,
        by_filling,
        by_tensor_unfold,
        by_as_strided,
        by_convolution,
        by_chunks,
        by_numpy,
    ],
    "unpatchify": [back_by_permute, back_by_fold, back_by_einops, back_by_loops, back_by_joining],
    "unread_pixels": [by_strips, by_counting_pixels, by_patches, by_three_parts],
}
