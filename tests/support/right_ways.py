"""Right answers of many kinds for every exercise: each of them has to pass its check."""

from __future__ import annotations

import functools
import itertools
import math
import operator
import re
import unicodedata
from collections import OrderedDict, defaultdict

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from course_lib import vit
from course_lib.embed import ConvPatchEmbedding, prepend_class_token
from course_lib.patches import patchify
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
    return re.findall(r"[^\W_]+|[^\w\s]|_", sentence.lower())


def by_split_and_filter(sentence):
    return [piece for piece in re.split(r"([\W_])", sentence.lower()) if piece.strip()]


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
    for mark in {character for character in sentence if not character.isalnum() and not character.isspace()}:
        sentence = sentence.replace(mark, f" {mark} ")
    return sentence.lower().split()


def by_translation_table(sentence):
    marks = {ord(mark): f" {mark} " for mark in sentence if not mark.isalnum()}
    return sentence.lower().translate(marks).split()


def by_categories(sentence):
    spaced = [f" {mark} " if unicodedata.category(mark)[0] in "PS" else mark for mark in sentence.casefold()]
    return "".join(spaced).split()


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
    linear.weight.data = embedding.weight.data.T.clone()
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
    kernels = torch.eye(length, dtype=images.dtype).reshape(length, images.shape[1], patch_size, patch_size)
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


# skip_gram_pairs
def by_slices(sentences, window):
    pairs = []
    for sentence in sentences:
        for i, word in enumerate(sentence):
            neighbours = sentence[max(0, i - window) : i] + sentence[i + 1 : i + 1 + window]
            pairs += [(word, other) for other in neighbours]
    return pairs


def by_every_two_places(sentences, window):
    return [(s[i], s[j]) for s in sentences for i in range(len(s)) for j in range(len(s)) if 0 < abs(i - j) <= window]


def by_distance_first(sentences, window):
    pairs = []
    for step in range(1, window + 1):
        for sentence in sentences:
            for one, other in zip(sentence, sentence[step:], strict=False):
                pairs.extend(([other, one], [one, other]))
    return pairs


def by_permutations(sentences, window):
    return [
        [one, other]
        for sentence in sentences
        for (i, one), (j, other) in itertools.permutations(enumerate(sentence), 2)
        if abs(i - j) <= window
    ]


def by_rows_of_a_tensor(sentences, window):
    pairs = [torch.empty(0, 2, dtype=torch.int64)]
    for sentence in sentences:
        ids, places = torch.tensor(sentence), torch.arange(len(sentence))
        apart = (places[:, None] - places).abs()
        where = ((apart > 0) & (apart <= window)).nonzero()
        pairs.append(ids[where])
    return torch.cat(pairs).tolist()


# negative_sampling_loss
def by_with_logits(centre, context, negatives):
    scores = torch.cat([context.unsqueeze(1), negatives], dim=1) @ centre.unsqueeze(-1)
    targets = torch.zeros_like(scores)
    targets[:, 0] = 1
    return F.binary_cross_entropy_with_logits(scores, targets, reduction="sum") / len(centre)


def by_softplus(centre, context, negatives):
    right = torch.einsum("bd,bd->b", centre, context)
    wrong = torch.einsum("bd,bkd->bk", centre, negatives)
    return (F.softplus(-right) + F.softplus(wrong).sum(1)).mean()


def by_bmm(centre, context, negatives):
    right = torch.bmm(context.unsqueeze(1), centre.unsqueeze(2)).squeeze()
    wrong = torch.bmm(negatives.neg(), centre.unsqueeze(2)).reshape(len(centre), -1)
    return -(F.logsigmoid(right).sum() + F.logsigmoid(wrong).sum()) / centre.shape[0]


def by_logaddexp(centre, context, negatives):
    right, wrong = (centre * context).sum(1), (centre[:, None] * negatives).sum(2)
    return (torch.logaddexp(-right, 0 * right) + torch.logaddexp(wrong, 0 * wrong).sum(1)).mean(0)


def by_loop_over_the_batch(centre, context, negatives):
    losses = []
    for v, u, others in zip(centre, context, negatives, strict=True):
        losses.append(-F.logsigmoid(v @ u) - sum(F.logsigmoid(-(v @ other)) for other in others))
    return torch.stack(losses).mean()


def by_two_means(centre, context, negatives):
    wrong = torch.matmul(negatives, centre[:, :, None])[..., 0]
    return -F.logsigmoid((centre * context).sum(-1)).mean() - wrong.shape[1] * F.logsigmoid(-wrong).mean()


# nearest
def by_unit_rows(vector, weight, k):
    return (F.normalize(weight, dim=1) @ F.normalize(vector, dim=0)).topk(k)[1]


def by_own_cosine(vector, weight, k):
    cosine = weight @ vector / (weight.norm(dim=1) * vector.norm())
    return torch.topk(cosine, k).indices


def by_argsort(vector, weight, k):
    return torch.cosine_similarity(weight, vector).argsort(descending=True)[:k]


def by_sorting_angles(vector, weight, k):
    cosine = (weight * vector).sum(1) / weight.pow(2).sum(1).sqrt()
    return torch.sort(-cosine)[1][:k]


def by_sorting_in_python(vector, weight, k):
    cosine = nn.CosineSimilarity(dim=-1)(vector, weight).tolist()
    return torch.tensor(sorted(range(len(cosine)), key=lambda row: cosine[row], reverse=True)[:k])


# analogy
def by_going_down_the_list(a, b, c, weight):
    ranked = F.cosine_similarity(weight, (weight[b] + weight[c] - weight[a])[None]).argsort(descending=True)
    return next(row for row in ranked.tolist() if row not in (a, b, c))


def by_best_of_four(a, b, c, weight):
    best = (F.normalize(weight, dim=1) @ (weight[b] - weight[a] + weight[c])).topk(4).indices
    return [int(row) for row in best if int(row) not in {a, b, c}][0]


def by_a_mask(a, b, c, weight):
    cosine = weight @ (weight[b] - weight[a] + weight[c]) / weight.norm(dim=1)
    allowed = torch.ones(len(weight), dtype=torch.bool)
    allowed[torch.tensor([a, b, c])] = False
    return int(cosine.masked_fill(~allowed, -torch.inf).argmax())


def by_max_in_python(a, b, c, weight):
    target = weight[b] - weight[a] + weight[c]
    rest = set(range(len(weight))) - {a, b, c}
    return max(rest, key=lambda row: torch.cosine_similarity(weight[row], target, dim=0).item())


# project
def by_linear_function(patches, weight, bias):
    return F.linear(patches, weight, bias)


def by_einsum_and_bias(patches, weight, bias):
    return torch.einsum("bnl,dl->bnd", patches, weight) + bias


def by_column_of_products(patches, weight, bias):
    return (weight @ patches.transpose(1, 2) + bias[:, None]).transpose(1, 2)


def by_a_patch_at_a_time(patches, weight, bias):
    rows = [torch.stack([weight @ patch + bias for patch in image]) for image in patches]
    return torch.stack(rows)


def by_addmm(patches, weight, bias):
    return torch.addmm(bias, patches.flatten(0, 1), weight.t()).unflatten(0, patches.shape[:2])


def by_a_one_in_front(patches, weight, bias):
    ones = torch.ones_like(patches[..., :1])
    return torch.cat([ones, patches], -1) @ torch.cat([bias[:, None], weight], 1).T


# encoder_parameters
def by_one_product(patch_length, tokens, dimension):
    return (patch_length + 1 + tokens) * dimension


def by_counting_parameters(patch_length, tokens, dimension):
    with torch.device("meta"):
        layers = nn.ModuleList([nn.Linear(patch_length, dimension), nn.Embedding(tokens, dimension)])
    return sum(parameter.numel() for parameter in layers.parameters())


def by_shapes(patch_length, tokens, dimension):
    return sum(map(math.prod, [(dimension, patch_length), (dimension,), (tokens, dimension)]))


def by_adding_rows(patch_length, tokens, dimension):
    return sum(dimension for _ in range(patch_length + 1 + tokens))


# channels_last_weight
def by_unflatten_and_movedim(weight, channels, patch_size):
    return weight.unflatten(1, (channels, patch_size, patch_size)).movedim(1, -1).flatten(1)


def by_two_axes(weight, channels, patch_size):
    return weight.reshape(len(weight), channels, -1).transpose(1, 2).reshape(weight.shape)


def by_einops_weight(weight, channels, patch_size):
    from einops import rearrange

    return rearrange(weight, "d (c p q) -> d (p q c)", c=channels, p=patch_size)


def by_a_list_of_places(weight, channels, patch_size):
    places = [
        c * patch_size**2 + row * patch_size + column
        for row in range(patch_size)
        for column in range(patch_size)
        for c in range(channels)
    ]
    return weight[:, places]


def by_every_nth_column(weight, channels, patch_size):
    moved = torch.empty_like(weight)
    for c in range(channels):
        moved[:, c::channels] = weight[:, c * patch_size**2 : (c + 1) * patch_size**2]
    return moved


# conv_from_linear
def conv_by_parameters(linear, channels, patch_size):
    conv = nn.Conv2d(channels, linear.out_features, patch_size, patch_size)
    conv.weight = nn.Parameter(linear.weight.detach().clone().view(-1, channels, patch_size, patch_size))
    conv.bias = nn.Parameter(linear.bias.detach().clone())
    return conv


def conv_by_data(linear, channels, patch_size):
    conv = nn.Conv2d(channels, linear.out_features, (patch_size, patch_size), stride=(patch_size, patch_size))
    conv.weight.data = linear.weight.data.unflatten(1, (channels, patch_size, patch_size)).clone()
    conv.bias.data = linear.bias.data.clone()
    return conv


def conv_by_state_dict(linear, channels, patch_size):
    conv = nn.Conv2d(channels, len(linear.weight), patch_size, stride=patch_size, dtype=linear.weight.dtype)
    weight = linear.weight.reshape(conv.weight.shape)
    conv.load_state_dict({"weight": weight, "bias": linear.bias})
    return conv


def conv_by_kernels(linear, channels, patch_size):
    conv = nn.Conv2d(channels, linear.out_features, patch_size, stride=patch_size).to(linear.weight.dtype)
    with torch.no_grad():
        for number, row in enumerate(linear.weight):
            conv.weight[number] = row.reshape(channels, patch_size, patch_size)
            conv.bias[number] = linear.bias[number]
    return conv


def conv_by_einops(linear, channels, patch_size):
    from einops import rearrange

    conv = nn.Conv2d(channels, linear.out_features, patch_size, stride=patch_size, padding="valid").to(
        linear.weight.dtype
    )
    conv.padding = (0, 0)
    conv.weight.data.copy_(rearrange(linear.weight, "d (c p q) -> d c p q", c=channels, p=patch_size))
    conv.bias.data.copy_(linear.bias)
    return conv


# linear_from_conv
def linear_by_parameters(conv):
    if conv.kernel_size != conv.stride:
        raise ValueError("stride and kernel size have to be equal")
    if any(conv.padding):
        raise ValueError("no padding, please")
    if conv.dilation != (1, 1):
        raise ValueError("dilation has to be 1")
    if conv.groups > 1:
        raise ValueError("one of the groups only, please")
    linear = nn.Linear(conv.weight[0].numel(), conv.out_channels)
    linear.weight = nn.Parameter(conv.weight.detach().flatten(1).clone())
    linear.bias = None if conv.bias is None else nn.Parameter(conv.bias.detach().clone())
    return linear


def linear_by_all_problems(conv):
    side = conv.kernel_size[0]
    problems = {
        "Stride": conv.stride == (side, side),
        "Padding": conv.padding in ((0, 0), "valid"),
        "Dilation": conv.dilation == (1, 1),
        "Groups": conv.groups == 1,
    }
    if not all(problems.values()):
        raise ValueError("broken: " + ", ".join(name for name, fine in problems.items() if not fine))
    biased = conv.bias is not None
    linear = nn.Linear(conv.in_channels * side * side, conv.out_channels, bias=biased, dtype=conv.weight.dtype)
    linear.load_state_dict({**conv.state_dict(), "weight": conv.weight.reshape(conv.out_channels, -1)})
    return linear


def linear_by_data(conv):
    for name in ("padding", "dilation", "groups"):
        value = getattr(conv, name)
        wanted = 0 if name == "padding" else 1
        if set(value if isinstance(value, tuple) else [value]) != {wanted}:
            raise ValueError(f"{name}={value} is not supported, use {wanted}")
    if conv.stride[0] != conv.kernel_size[0] or conv.stride[1] != conv.kernel_size[1]:
        raise ValueError(f"kernel_size {conv.kernel_size} differs from stride {conv.stride}")
    linear = nn.Linear(math.prod(conv.weight.shape[1:]), conv.out_channels, bias=conv.bias is not None)
    linear.weight.data = conv.weight.data.view(conv.out_channels, -1).clone()
    if conv.bias is not None:
        linear.bias.data = conv.bias.data.clone()
    return linear


def linear_by_trying(conv):
    """What the convolution does to each picture of a single 1 is a column of the matrix."""
    wrong = [
        name
        for name, bad in (
            ("stride", conv.stride != conv.kernel_size),
            ("padding", conv.padding != (0, 0)),
            ("dilation", conv.dilation != (1, 1)),
            ("groups", conv.groups != 1),
        )
        if bad
    ]
    if wrong:
        raise ValueError(f"{' and '.join(wrong)} must not be used here")
    length = conv.weight[0].numel()
    linear = nn.Linear(length, conv.out_channels, bias=conv.bias is not None).to(conv.weight.dtype)
    with torch.no_grad():
        ones = torch.eye(length, dtype=conv.weight.dtype).reshape(length, conv.in_channels, *conv.kernel_size)
        nothing = torch.zeros(1, conv.in_channels, *conv.kernel_size, dtype=conv.weight.dtype)
        linear.weight.copy_((conv(ones) - conv(nothing)).flatten(1).T)
        if conv.bias is not None:
            linear.bias.copy_(conv.bias)
    return linear


# merge_linear_into_conv
def merge_by_matmul(conv, linear):
    merged = nn.Conv2d(conv.in_channels, linear.out_features, conv.kernel_size, stride=conv.stride)
    weight = linear.weight @ conv.weight.flatten(1)
    merged.weight = nn.Parameter(weight.detach().reshape(-1, *conv.weight.shape[1:]))
    merged.bias = nn.Parameter((linear.weight @ conv.bias + linear.bias).detach())
    return merged


def merge_by_tensordot(conv, linear):
    merged = nn.Conv2d(conv.in_channels, len(linear.bias), conv.kernel_size, conv.stride, dtype=conv.weight.dtype)
    merged.weight.data = torch.tensordot(linear.weight.data, conv.weight.data, dims=1)
    merged.bias.data = linear(conv.bias).data
    return merged


def merge_by_one_by_one_convolution(conv, linear):
    merged = nn.Conv2d(conv.in_channels, linear.out_features, conv.kernel_size, conv.stride).to(conv.weight.dtype)
    with torch.no_grad():
        turned = conv.weight.transpose(0, 1)
        merged.weight.copy_(F.conv2d(turned, linear.weight[:, :, None, None]).transpose(0, 1))
        merged.bias.copy_(F.linear(conv.bias, linear.weight, linear.bias))
    return merged


def merge_by_loop(conv, linear):
    merged = nn.Conv2d(conv.in_channels, linear.out_features, conv.kernel_size, conv.stride).to(conv.weight.dtype)
    with torch.no_grad():
        for new in range(linear.out_features):
            merged.weight[new] = sum(linear.weight[new, old] * conv.weight[old] for old in range(conv.out_channels))
            merged.bias[new] = linear.weight[new].dot(conv.bias) + linear.bias[new]
    return merged


# PatchEmbedding
class LinearOnPatches(nn.Module):
    def __init__(self, in_channels, patch_size, embedding_dim):
        super().__init__()
        self.size = patch_size
        self.to_tokens = nn.Linear(in_channels * patch_size * patch_size, embedding_dim)

    def forward(self, x):
        return self.to_tokens(patchify(x, self.size))


class ConvAndPermute(nn.Module):
    def __init__(self, in_channels, patch_size, embedding_dim):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, embedding_dim, patch_size, patch_size)
        self.flatten = nn.Flatten(start_dim=2)

    def forward(self, x):
        batch, channels, height, width = x.shape
        side = self.conv.kernel_size[0]
        if height % side != 0:
            raise ValueError(f"height {height} must be a multiple of {side}")
        if width % side != 0:
            raise ValueError(f"width {width} must be a multiple of {side}")
        return self.flatten(self.conv(x)).permute(0, 2, 1)


class EinopsLayer(nn.Module):
    def __init__(self, in_channels, patch_size, embedding_dim):
        from einops.layers.torch import Rearrange

        super().__init__()
        self.p = patch_size
        self.layers = nn.Sequential(
            Rearrange("b c (h p) (w q) -> b (h w) (c p q)", p=patch_size, q=patch_size),
            nn.Linear(in_channels * patch_size**2, embedding_dim),
        )

    def forward(self, images):
        height, width = images.shape[2:]
        if height % self.p:
            raise ValueError("the height does not fit")
        if width % self.p:
            raise ValueError("the width does not fit")
        return self.layers(images)


class UnfoldAndLinear(nn.Module):
    def __init__(self, in_channels, patch_size, embedding_dim):
        super().__init__()
        self.cut = nn.Unfold(patch_size, stride=patch_size)
        self.E = nn.Linear(in_channels * patch_size**2, embedding_dim)

    def forward(self, images):
        for name, axis in {"height": -2, "width": -1}.items():
            if images.size(axis) % self.cut.kernel_size:
                raise ValueError(f"{name} of the images is {images.size(axis)}")
        return self.E(self.cut(images).mT)


class SequentialWithFlatten(nn.Module):
    def __init__(self, in_channels, patch_size, embedding_dim):
        super().__init__()
        self.patch_size = patch_size
        self.body = nn.Sequential(nn.Conv2d(in_channels, embedding_dim, patch_size, patch_size), nn.Flatten(2))

    def forward(self, images):
        h, w = images.shape[-2] % self.patch_size, images.shape[-1] % self.patch_size
        if h or w:
            over = [f"{h} rows of the height"] * bool(h) + [f"{w} columns of the width"] * bool(w)
            raise ValueError(f"left over: {' and '.join(over)}")
        return torch.einsum("bdn->bnd", self.body(images))


class OwnParameters(nn.Module):
    """The matrix E of the paper's formula, one column for each number of a token."""

    def __init__(self, in_channels, patch_size, embedding_dim):
        super().__init__()
        self.patch_size = patch_size
        self.E = nn.Parameter(torch.randn(in_channels * patch_size**2, embedding_dim))
        self.b = nn.Parameter(torch.zeros(embedding_dim))

    def forward(self, images):
        return patchify(images, self.patch_size) @ self.E + self.b


class FunctionalConvolution(nn.Module):
    def __init__(self, in_channels, patch_size, embedding_dim):
        super().__init__()
        self.patch_size = patch_size
        self.register_parameter(
            "kernels", nn.Parameter(torch.empty(embedding_dim, in_channels, patch_size, patch_size))
        )
        self.register_parameter("offset", nn.Parameter(torch.empty(embedding_dim)))
        nn.init.trunc_normal_(self.kernels, std=0.02)

    def forward(self, images):
        patchify(images[:1], self.patch_size)  # refuses what does not fit
        tokens = F.conv2d(images, self.kernels, self.offset, stride=self.patch_size)
        b, d, rows, columns = tokens.shape
        return tokens.permute(0, 2, 3, 1).reshape(b, rows * columns, d)


# prepend_class_token, add_positions, resize_positions


def class_token_by_repeat(tokens, class_token):
    return torch.cat([class_token.repeat(tokens.shape[0], 1).unsqueeze(1), tokens], dim=1)


def class_token_by_filling(tokens, class_token):
    batch, count, dimension = tokens.shape
    result = torch.zeros(batch, count + 1, dimension, dtype=tokens.dtype)
    result[:, 0] = class_token
    result[:, 1:] = tokens
    return result


def class_token_by_padding(tokens, class_token):
    place = torch.zeros(tokens.shape[1] + 1, 1, dtype=tokens.dtype)
    place[0] = 1
    return F.pad(tokens, (0, 0, 1, 0)) + place * class_token


def class_token_by_images(tokens, class_token):
    return torch.stack([torch.vstack([class_token, image]) for image in tokens])


def positions_by_expand(tokens, positions):
    return positions.unsqueeze(0).expand_as(tokens).add(tokens)


def positions_by_token(tokens, positions):
    return torch.stack([tokens[:, place] + positions[place] for place in range(len(positions))], dim=1)


def positions_by_lookup(tokens, positions):
    return tokens + F.embedding(torch.arange(tokens.shape[1]), positions)


def resize_by_permute(positions, old_grid, new_grid):
    image = positions[1:].reshape(*old_grid, -1).permute(2, 0, 1).unsqueeze(0)
    resized = F.interpolate(image, size=new_grid, mode="bicubic")
    return torch.cat([positions[0:1], resized.squeeze(0).permute(1, 2, 0).reshape(-1, positions.shape[1])])


def resize_by_einops(positions, old_grid, new_grid):
    from einops import rearrange

    image = rearrange(positions[1:], "(h w) d -> 1 d h w", h=old_grid[0])
    resized = nn.Upsample(size=new_grid, mode="bicubic", align_corners=False)(image)
    return torch.vstack([positions[:1], rearrange(resized, "1 d h w -> (h w) d")])


def resize_by_number(positions, old_grid, new_grid):
    columns = []
    for column in positions[1:].T:
        image = column.reshape(1, 1, *old_grid)
        columns.append(F.interpolate(image, size=new_grid, mode="bicubic", align_corners=False).flatten())
    return torch.cat([positions[:1], torch.stack(columns, dim=1)])


def places_by_convolution(features, weight, bias):
    return F.conv2d(features, weight[:, :, None, None], bias)


def places_by_einsum(features, weight, bias):
    return torch.einsum("bchw,dc->bdhw", features, weight) + bias[:, None, None]


def places_by_layer(features, weight, bias):
    return F.linear(features.movedim(1, 3), weight, bias).movedim(3, 1)


def places_by_flat_product(features, weight, bias):
    rows = weight @ features.flatten(2) + bias[:, None]
    return rows.unflatten(2, features.shape[2:])


def places_by_loop(features, weight, bias):
    height, width = features.shape[2:]
    rows = [
        torch.stack([weight.mv(m) + bias for m in features[:, :, y, x]]) for y in range(height) for x in range(width)
    ]
    return torch.stack(rows, dim=2).reshape(len(features), len(weight), height, width)


def tokens_by_map(image_size, stem_stride, patch_size):
    rows, columns = (side // stem_stride // patch_size for side in image_size)
    return rows * columns


def tokens_by_area(image_size, stem_stride, patch_size):
    return image_size[0] * image_size[1] // (stem_stride * patch_size) ** 2


def tokens_by_ranges(image_size, stem_stride, patch_size):
    step = stem_stride * patch_size
    return len(range(0, image_size[0], step)) * len(range(0, image_size[1], step))


def tokens_by_layers(image_size, stem_stride, patch_size):
    features = F.avg_pool2d(torch.zeros(1, 1, *image_size), stem_stride)
    return F.avg_pool2d(features, patch_size).numel()


class HybridInSequence(nn.Module):
    def __init__(self, stem, stem_channels, patch_size, embedding_dim):
        super().__init__()
        self.layers = nn.Sequential(
            stem, nn.Conv2d(stem_channels, embedding_dim, patch_size, patch_size), nn.Flatten(2)
        )

    def forward(self, images):
        return self.layers(images).permute(0, 2, 1)


class HybridByPatches(nn.Module):
    def __init__(self, stem, stem_channels, patch_size, embedding_dim):
        super().__init__()
        self.cnn, self.side = stem, patch_size
        self.matrix = nn.Linear(stem_channels * patch_size**2, embedding_dim)

    def forward(self, images):
        return self.matrix(patchify(self.cnn(images), self.side))


class HybridByUnfold(nn.Module):
    def __init__(self, stem, stem_channels, patch_size, embedding_dim):
        super().__init__()
        self.stem = stem
        self.unfold = nn.Unfold(patch_size, stride=patch_size)
        self.weight = nn.Parameter(torch.zeros(stem_channels * patch_size**2, embedding_dim))
        self.bias = nn.Parameter(torch.zeros(embedding_dim))

    def forward(self, images):
        return self.unfold(self.stem(images)).transpose(1, 2) @ self.weight + self.bias


def field_backwards(layers):
    side = 1
    for kernel, stride in reversed(layers):
        side = (side - 1) * stride + kernel
    return side


def field_by_sum(layers):
    return 1 + sum(
        (kernel - 1) * math.prod(stride for _, stride in layers[:place]) for place, (kernel, _) in enumerate(layers)
    )


def field_by_first_and_last(layers):
    first, last, step = 0, 0, 1
    for kernel, stride in layers:
        last, step = last + (kernel - 1) * step, step * stride
    return last - first + 1


def field_by_recursion(layers):
    if not layers:
        return 1
    (kernel, stride), *rest = layers
    return (field_by_recursion(rest) - 1) * stride + kernel


class TokensByPadding(nn.Module):
    def __init__(self, front, num_patches, embedding_dim):
        super().__init__()
        self.patches = front
        self.first = nn.Parameter(torch.randn(1, 1, embedding_dim))
        self.table = nn.Parameter(torch.zeros(1, num_patches + 1, embedding_dim))

    def forward(self, images):
        tokens = self.patches(images)
        return torch.cat((self.first.repeat(tokens.shape[0], 1, 1), tokens), 1) + self.table


class TokensByLibrary(nn.Module):
    def __init__(self, front, num_patches, embedding_dim):
        super().__init__()
        self.front = front
        self.token = nn.Parameter(torch.empty(embedding_dim))
        self.positions = nn.Embedding(num_patches + 1, embedding_dim)

    def forward(self, images):
        tokens = prepend_class_token(self.front(images), self.token)
        return tokens + self.positions(torch.arange(tokens.shape[1]))


class TokensByTurnedTable(nn.Module):
    def __init__(self, front, num_patches, embedding_dim):
        super().__init__()
        self.front = front
        self.first = nn.Embedding(1, embedding_dim)
        self.columns = nn.Parameter(torch.zeros(embedding_dim, num_patches + 1))
        self.places = torch.arange(num_patches + 1)

    def forward(self, images):
        tokens = self.front(images)
        first = self.first(torch.zeros(len(tokens), 1, dtype=torch.int64))
        return torch.cat([first, tokens], dim=1) + self.columns.T[self.places]


class TokensByFilling(nn.Module):
    def __init__(self, front, num_patches, embedding_dim):
        super().__init__()
        self.layers = nn.ModuleDict({"front": front})
        self.rows = nn.ParameterList([torch.zeros(embedding_dim), torch.zeros(num_patches + 1, embedding_dim)])

    def forward(self, images):
        result = self.rows[1].repeat(len(images), 1, 1)
        result[:, 0] += self.rows[0]
        result[:, 1:] += self.layers["front"](images)
        return result


def parameters_by_model(channels, patch_size, image_size, dimension, depth, hidden, classes):
    with torch.device("meta"):
        front = ConvPatchEmbedding(channels, patch_size, dimension)
        tokens = vit.PatchTokens(front, (image_size // patch_size) ** 2, dimension)
        sizes = {"dimension": dimension, "depth": depth, "hidden": hidden, "classes": classes}
        model = vit.VisionTransformer(tokens, heads=1, **sizes)
    return sum(parameter.numel() for parameter in model.parameters())


def parameters_by_layers(channels, patch_size, image_size, dimension, depth, hidden, classes):
    def layer(inputs, outputs):
        return (inputs + 1) * outputs

    tokens = 1 + (image_size // patch_size) ** 2
    block = layer(dimension, 3 * dimension) + layer(dimension, dimension) + 2 * (2 * dimension)
    block += layer(dimension, hidden) + layer(hidden, dimension)
    outside = layer(channels * patch_size * patch_size, dimension) + layer(dimension, classes)
    return outside + depth * block + (1 + tokens + 2) * dimension


def parameters_by_shapes(channels, patch_size, image_size, dimension, depth, hidden, classes):
    d, side = dimension, image_size // patch_size
    shapes = [(d, channels, patch_size, patch_size), (d,), (d,), (side * side + 1, d), (d,), (d,)]
    shapes += [(classes, d), (classes,)]
    block = [(3 * d, d), (3 * d,), (d, d), (d,), (hidden, d), (hidden,), (d, hidden), (d,), *4 * [(d,)]]
    return sum(math.prod(shape) for shape in shapes + depth * block)


# nearest_code, decode, quantisation_error


def nearest_by_broadcasting(patches, codebook):
    return (patches.unsqueeze(-2) - codebook).pow(2).sum(-1).argmin(-1)


def nearest_by_expansion(patches, codebook):
    products = torch.einsum("bnl,kl->bnk", patches, codebook)
    squares = (patches**2).sum(-1, keepdim=True) - 2 * products + (codebook**2).sum(-1)
    return squares.min(dim=-1).indices


def nearest_by_loops(patches, codebook):
    ids = torch.zeros(patches.shape[:2], dtype=torch.int64)
    for image in range(len(patches)):
        for place in range(patches.shape[1]):
            distances = [(patches[image, place] - code).norm().item() for code in codebook]
            ids[image, place] = distances.index(min(distances))
    return ids


def nearest_by_sorting(patches, codebook):
    return torch.cdist(patches, codebook).argsort(dim=-1)[..., 0]


def nearest_by_topk(patches, codebook):
    distances = torch.stack([F.pairwise_distance(patches, code, eps=0) for code in codebook], dim=-1)
    return distances.topk(1, largest=False).indices.squeeze(-1)


def nearest_by_flat_rows(patches, codebook):
    batch, count, length = patches.shape
    return torch.cdist(patches.reshape(-1, length), codebook).argmin(1).view(batch, count)


def decode_by_one_hot(ids, codebook):
    return F.one_hot(ids, num_classes=len(codebook)).to(codebook.dtype) @ codebook


def decode_by_embedding(ids, codebook):
    return F.embedding(ids, codebook)


def decode_by_index_select(ids, codebook):
    return codebook.index_select(0, ids.flatten()).reshape(*ids.shape, -1)


def decode_by_stacking(ids, codebook):
    rows = torch.stack([codebook[number] for number in ids.flatten().tolist()])
    return rows.reshape(*ids.shape, codebook.shape[1])


def decode_by_comparing(ids, codebook):
    chosen = ids.unsqueeze(-1) == torch.arange(len(codebook))
    return torch.einsum("...k,kl->...l", chosen.to(codebook.dtype), codebook)


def error_by_mse_loss(patches, codebook):
    return F.mse_loss(codebook[nearest_by_broadcasting(patches, codebook)], patches)


def error_by_smallest_squares(patches, codebook):
    return (patches.unsqueeze(2) - codebook).square().mean(-1).amin(-1).mean()


def error_by_distances(patches, codebook):
    return torch.cdist(patches, codebook).min(dim=-1).values.pow(2).mean() / patches.shape[-1]


def error_by_loops(patches, codebook):
    total = torch.zeros((), dtype=patches.dtype)
    for patch in patches.flatten(0, 1):
        total += min(((patch - code) ** 2).sum() for code in codebook)
    return total / patches.numel()


def error_by_norm(patches, codebook):
    quantised = decode_by_one_hot(nearest_by_sorting(patches, codebook), codebook)
    return torch.linalg.vector_norm(patches - quantised) ** 2 / patches.numel()


RIGHT_WAYS = {
    "numbers_in": [by_prod, by_reduce, by_size, by_recursion, by_making_one],
    "tokenize": [
        by_findall,
        by_split_and_filter,
        by_characters,
        by_replacing_marks,
        by_translation_table,
        by_categories,
    ],
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
    "skip_gram_pairs": [by_slices, by_every_two_places, by_distance_first, by_permutations, by_rows_of_a_tensor],
    "negative_sampling_loss": [
        by_with_logits,
        by_softplus,
        by_bmm,
        by_logaddexp,
        by_loop_over_the_batch,
        by_two_means,
    ],
    "nearest": [by_unit_rows, by_own_cosine, by_argsort, by_sorting_angles, by_sorting_in_python],
    "analogy": [by_going_down_the_list, by_best_of_four, by_a_mask, by_max_in_python],
    "project": [
        by_linear_function,
        by_einsum_and_bias,
        by_column_of_products,
        by_a_patch_at_a_time,
        by_addmm,
        by_a_one_in_front,
    ],
    "encoder_parameters": [by_one_product, by_counting_parameters, by_shapes, by_adding_rows],
    "channels_last_weight": [
        by_unflatten_and_movedim,
        by_two_axes,
        by_einops_weight,
        by_a_list_of_places,
        by_every_nth_column,
    ],
    "conv_from_linear": [conv_by_parameters, conv_by_data, conv_by_state_dict, conv_by_kernels, conv_by_einops],
    "linear_from_conv": [linear_by_parameters, linear_by_all_problems, linear_by_data, linear_by_trying],
    "merge_linear_into_conv": [merge_by_matmul, merge_by_tensordot, merge_by_one_by_one_convolution, merge_by_loop],
    "prepend_class_token": [
        class_token_by_repeat,
        class_token_by_filling,
        class_token_by_padding,
        class_token_by_images,
    ],
    "add_positions": [positions_by_expand, positions_by_token, positions_by_lookup],
    "resize_positions": [resize_by_permute, resize_by_einops, resize_by_number],
    "pixelwise_linear": [
        places_by_convolution,
        places_by_einsum,
        places_by_layer,
        places_by_flat_product,
        places_by_loop,
    ],
    "hybrid_tokens": [tokens_by_map, tokens_by_area, tokens_by_ranges, tokens_by_layers],
    "HybridEmbedding": [HybridInSequence, HybridByPatches, HybridByUnfold],
    "receptive_field": [field_backwards, field_by_sum, field_by_first_and_last, field_by_recursion],
    "PatchTokens": [TokensByPadding, TokensByLibrary, TokensByFilling, TokensByTurnedTable],
    "vit_parameters": [parameters_by_model, parameters_by_layers, parameters_by_shapes],
    "nearest_code": [
        nearest_by_broadcasting,
        nearest_by_expansion,
        nearest_by_loops,
        nearest_by_sorting,
        nearest_by_topk,
        nearest_by_flat_rows,
    ],
    "decode": [
        decode_by_one_hot,
        decode_by_embedding,
        decode_by_index_select,
        decode_by_stacking,
        decode_by_comparing,
    ],
    "quantisation_error": [
        error_by_mse_loss,
        error_by_smallest_squares,
        error_by_distances,
        error_by_loops,
        error_by_norm,
    ],
    "PatchEmbedding": [
        LinearOnPatches,
        ConvAndPermute,
        EinopsLayer,
        UnfoldAndLinear,
        SequentialWithFlatten,
        OwnParameters,
        FunctionalConvolution,
    ],
}
