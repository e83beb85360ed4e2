"""Random inputs for every exercise, drawn from its contract alone, and what an answer does with them.

They judge mutants independently of the cases and of the comparison that `check` uses.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from course_lib.patches import patchify


@dataclass(frozen=True)
class Input:
    """Arguments of one call, what a class made from them is then called with, and what the contract says of errors."""

    args: tuple[Any, ...]
    given: tuple[Any, ...] = ()
    refused: tuple[type[Exception], ...] = ()  # one of these has to come
    named: tuple[str, ...] = ()  # and its text has to hold one of these
    unnamed: tuple[str, ...] = ()  # and none of these
    learned: tuple[int, ...] = field(default=())  # arguments that have to receive a gradient


def draw(name: str, seed: int) -> Input:
    """The input of that exercise that belongs to a seed."""
    return INPUTS[name](random.Random(f"{name} {seed}"))


def _numbers(dice: random.Random, *shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(dice.getrandbits(40)), dtype=dtype)


def _ids(dice: random.Random, rows: int, axes: int = 3, empty: bool = True) -> Tensor:
    shape = [dice.randint(1, 4) for _ in range(dice.randint(1, axes))]
    shape = [0] if empty and dice.random() < 0.1 else shape
    return torch.randint(rows, shape, generator=torch.Generator().manual_seed(dice.getrandbits(40)))


def _one_outside(dice: random.Random, ids: Tensor, rows: int) -> int | None:
    """Now and then put an id into the tensor that no row belongs to, at its border or far away, and tell which."""
    if ids.numel() == 0 or dice.random() < 0.5:
        return None
    wrong = dice.choice((-1, -2, -rows, -rows - 1, rows, rows + 1, 3 * rows))
    ids.view(-1)[dice.randrange(ids.numel())] = wrong
    return wrong


def _numbers_in(dice):
    return Input((tuple(dice.randint(0 if dice.random() < 0.1 else 1, 9) for _ in range(dice.randint(1, 5))),))


def _tokenize(dice):
    pieces = ["The", "cat", "ran", "it", "7", "24", "Ωή", "é", "a1", ",", ".", "!", "?", ";", "(", ")", "...", "-"]
    pieces += ["_", "“", "–", "isn't", "half-asleep", "a_b"]
    pieces += [" ", "  ", "\n", "\t"] + [" "] * 8
    return Input(("".join(dice.choices(pieces, k=dice.randint(0, 14))),))


def _build_vocabulary(dice):
    return Input((dice.choices("the a The cat dog sat . , ran".split(), k=dice.randint(0, 10)),))


def _one_hot(dice):
    rows = dice.randint(1, 9)
    ids = _ids(dice, rows)
    wrong = _one_outside(dice, ids, rows)
    return Input((ids, rows), refused=(ValueError, IndexError, RuntimeError) if wrong is not None else ())


def _lookup(dice):
    rows = dice.randint(1, 9)
    ids, weight = _ids(dice, rows), _numbers(dice, rows, dice.randint(1, 6), dtype=torch.float32)
    wrong = _one_outside(dice, ids, rows)
    refused = {} if wrong is None else {"refused": (ValueError, IndexError), "named": (str(wrong),)}
    return Input((ids, weight.requires_grad_()), **refused, learned=(1,))


def _lookup_by_any_error(dice):
    given = _lookup(dice)
    return replace(given, refused=(*given.refused, RuntimeError), named=()) if given.refused else given


def _linear_from_embedding(dice):
    return Input((nn.Embedding.from_pretrained(_numbers(dice, dice.randint(1, 8), dice.randint(1, 8)).float()),))


def _rows_with_gradient(dice):
    rows = dice.randint(1, 9)
    return Input((_ids(dice, rows), rows))


def _skip_gram_pairs(dice):
    sentences = [dice.choices(range(6), k=dice.randint(1, 7)) for _ in range(dice.randint(0, 4))]
    return Input((sentences, dice.randint(1, 5)))


def _negative_sampling_loss(dice):
    batch, negatives, dimension = (dice.randint(1, 5) for _ in range(3))
    scale = dice.choice((1, 1, 1, 20, 60))
    parts = (batch, dimension), (batch, dimension), (batch, negatives, dimension)
    centre, context, others = (scale * _numbers(dice, *shape) for shape in parts)
    return Input((centre.requires_grad_(), context.requires_grad_(), others.requires_grad_()), learned=(0, 1, 2))


def _nearest(dice):
    rows, columns = dice.randint(2, 9), dice.randint(2, 6)
    weight = _numbers(dice, rows, columns) * (0.2 + 5 * _numbers(dice, rows, 1).abs())
    return Input((_numbers(dice, columns), weight, dice.randint(1, rows)))


def _analogy(dice):
    rows, columns = dice.randint(4, 9), dice.randint(2, 6)
    weight = _numbers(dice, rows, columns) * (0.2 + 5 * _numbers(dice, rows, 1).abs())
    return Input((*dice.sample(range(rows), 3), weight))


def _count_patches(dice):
    size = dice.randint(1, 8)
    return Input((size + dice.randint(0, 20), size + dice.randint(0, 20), size, dice.randint(1, size + 1)))


def _image_sizes(dice):
    size = dice.randint(1, 4)
    return dice.randint(1, 4), dice.randint(1, 5), size * dice.randint(1, 4), size * dice.randint(1, 4), size


def _patchify(dice):
    *shape, size = _image_sizes(dice)
    return Input((_numbers(dice, *shape).float(), size))


def _unpatchify(dice):
    *shape, size = _image_sizes(dice)
    return Input((patchify(_numbers(dice, *shape).float(), size), size, *shape[1:]))


def _unread_pixels(dice):
    size = dice.randint(1, 9)
    return Input((dice.randint(size, 40), dice.randint(size, 40), size))


def _project(dice):
    batch, count, length, dimension = (dice.randint(1, 6) for _ in range(4))
    parts = (batch, count, length), (dimension, length), (dimension,)
    patches, weight, bias = (_numbers(dice, *shape) for shape in parts)
    return Input((patches.requires_grad_(), weight.requires_grad_(), bias.requires_grad_()), learned=(0, 1, 2))


def _encoder_parameters(dice):
    return Input(tuple(dice.randint(1, 40) for _ in range(3)))


def _channels_last_weight(dice):
    dimension, channels, size = (dice.randint(1, 5) for _ in range(3))
    return Input((_numbers(dice, dimension, channels * size * size).float(), channels, size))


def _conv_from_linear(dice):
    dimension, channels, size = (dice.randint(1, 5) for _ in range(3))
    linear = nn.Linear(channels * size * size, dimension, dtype=dice.choice((torch.float32, torch.float64)))
    return Input((_filled(dice, linear), channels, size))


def _filled(dice, layer):
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(_numbers(dice, *parameter.shape))
    return layer


def _linear_from_conv(dice):
    channels, dimension, size = 2 * dice.randint(1, 3), 2 * dice.randint(1, 3), dice.randint(1, 4)
    settings, named, unnamed = {"stride": size}, (), ()
    if dice.random() < 0.5:
        name = dice.choice(("stride", "padding", "dilation", "groups"))
        others = {"stride": size + 1, "padding": dice.randint(1, 3), "dilation": dice.randint(2, 4), "groups": 2}
        pairs = {"stride": (size, size + 1), "padding": (1, 0), "dilation": (1, 2)}
        settings[name] = dice.choice((others[name], pairs.get(name, 2)))
        named, unnamed = (name,), tuple({"stride", "padding", "dilation", "groups"} - {name})
    bias = dice.random() < 0.8
    conv = _filled(dice, nn.Conv2d(channels, dimension, size, bias=bias, **settings, dtype=torch.float64))
    return Input((conv,), refused=(ValueError,) if named else (), named=named, unnamed=unnamed)


def _merge_linear_into_conv(dice):
    channels, between, dimension, size = (dice.randint(1, 4) for _ in range(4))
    conv = _filled(dice, nn.Conv2d(channels, between, size, stride=size, dtype=torch.float64))
    return Input((conv, _filled(dice, nn.Linear(between, dimension, dtype=torch.float64))))


def _patch_embedding(dice):
    batch, channels, height, width, size = _image_sizes(dice)
    named, unnamed = (), ()
    if size > 1 and dice.random() < 0.5:
        more = dice.choice(((1, 0), (0, 1), (1, 1)))
        height, width = height + more[0], width + more[1]
        named, unnamed = ("height",) * more[0] + ("width",) * more[1], ("height",) * more[1] + ("width",) * more[0]
        unnamed = unnamed if sum(more) == 1 else ()
    images = _numbers(dice, batch, channels, height, width)
    args = (channels, size, dice.randint(1, 6))
    return Input(args, (images,), refused=(ValueError,) if named else (), named=named, unnamed=unnamed)


def _prepend_class_token(dice):
    batch, count, dimension = (dice.randint(1, 5) for _ in range(3))
    args = (_numbers(dice, batch, count, dimension).requires_grad_(), _numbers(dice, dimension).requires_grad_())
    return Input(args, learned=(0, 1))


def _add_positions(dice):
    batch, count, dimension = (dice.randint(1, 5) for _ in range(3))
    parts = (batch, count + 1, dimension), (count + 1, dimension)
    return Input(tuple(_numbers(dice, *shape).requires_grad_() for shape in parts), learned=(0, 1))


def _resize_positions(dice):
    old, new = ((dice.randint(2, 6), dice.randint(2, 6)) for _ in range(2))
    if dice.random() < 0.2:  # a factor in place of a size loses a row to rounding here
        old, new = (11, old[1]), (15, new[1])
    return Input((_numbers(dice, 1 + old[0] * old[1], dice.randint(1, 5)), old, new))


def _pixelwise_linear(dice):
    batch, channels, height, width, dimension = (dice.randint(1, 5) for _ in range(5))
    parts = (batch, channels, height, width), (dimension, channels), (dimension,)
    features, weight, bias = (_numbers(dice, *shape) for shape in parts)
    return Input((features.requires_grad_(), weight.requires_grad_(), bias.requires_grad_()), learned=(0, 1, 2))


def _hybrid_tokens(dice):
    stride, size = dice.choice((1, 2, 4, 8, 16)), dice.randint(1, 6)
    return Input(((stride * size * dice.randint(1, 9), stride * size * dice.randint(1, 9)), stride, size))


def _hybrid_embedding(dice):
    batch, channels, between, dimension = (dice.randint(1, 4) for _ in range(4))
    stride, size = dice.randint(1, 3), dice.randint(1, 3)
    stem = _filled(dice, nn.Conv2d(channels, between, stride, stride, dtype=torch.float64))
    sides = (stride * size * dice.randint(1, 3), stride * size * dice.randint(1, 3))
    stem = nn.Sequential(stem, nn.ReLU())
    return Input((stem, between, size, dimension), (_numbers(dice, batch, channels, *sides),))


def _receptive_field(dice):
    return Input(([(dice.randint(1, 7), dice.randint(1, 4)) for _ in range(dice.randint(1, 5))],))


def _patches_and_codes(dice):
    batch, count, codes, length = dice.randint(1, 4), dice.randint(1, 6), dice.randint(1, 7), dice.randint(1, 6)
    lengths = 0.3 + 2 * _numbers(dice, codes, 1).abs()
    return Input((_numbers(dice, batch, count, length), _numbers(dice, codes, length) * lengths))


def _patches_and_codes_that_learn(dice):
    return Input(tuple(numbers.requires_grad_() for numbers in _patches_and_codes(dice).args), learned=(0, 1))


def _decode(dice):
    rows = dice.randint(1, 7)
    codebook = _numbers(dice, rows, dice.randint(1, 6)).requires_grad_()
    return Input((_ids(dice, rows, axes=2, empty=False), codebook), learned=(1,))


def _patch_tokens(dice):
    batch, channels, height, width, size = _image_sizes(dice)
    dimension = dice.randint(1, 6)
    front = nn.Sequential(nn.Unfold(size, stride=size), _Turned(channels * size * size, dimension))
    count = (height // size) * (width // size)
    images = _numbers(dice, batch, channels, height, width)
    return Input((_filled(dice, front.double()), count, dimension), (images,))


class _Turned(nn.Linear):
    def forward(self, columns):
        return super().forward(columns.transpose(1, 2))


def _vit_parameters(dice):
    size = dice.randint(1, 16)
    image = size * dice.randint(1, 14)
    return Input((dice.randint(1, 5), size, image, *(dice.randint(1, 90) for _ in range(4))))


INPUTS: dict[str, Callable[[random.Random], Input]] = {
    "numbers_in": _numbers_in,
    "tokenize": _tokenize,
    "build_vocabulary": _build_vocabulary,
    "one_hot": _one_hot,
    "one_hot_bytes": lambda dice: Input((dice.randint(1, 9000),)),
    "lookup_by_matmul": _lookup_by_any_error,
    "lookup_by_index": _lookup,
    "linear_from_embedding": _linear_from_embedding,
    "rows_with_gradient": _rows_with_gradient,
    "skip_gram_pairs": _skip_gram_pairs,
    "negative_sampling_loss": _negative_sampling_loss,
    "nearest": _nearest,
    "analogy": _analogy,
    "count_patches": _count_patches,
    "patchify": _patchify,
    "unpatchify": _unpatchify,
    "unread_pixels": _unread_pixels,
    "project": _project,
    "encoder_parameters": _encoder_parameters,
    "channels_last_weight": _channels_last_weight,
    "conv_from_linear": _conv_from_linear,
    "linear_from_conv": _linear_from_conv,
    "merge_linear_into_conv": _merge_linear_into_conv,
    "PatchEmbedding": _patch_embedding,
    "prepend_class_token": _prepend_class_token,
    "add_positions": _add_positions,
    "resize_positions": _resize_positions,
    "pixelwise_linear": _pixelwise_linear,
    "hybrid_tokens": _hybrid_tokens,
    "HybridEmbedding": _hybrid_embedding,
    "receptive_field": _receptive_field,
    "nearest_code": _patches_and_codes,
    "decode": _decode,
    "quantisation_error": _patches_and_codes_that_learn,
    "PatchTokens": _patch_tokens,
    "vit_parameters": _vit_parameters,
}


# ---------------------------------------------------------------- what an answer does


@dataclass(frozen=True)
class Deed:
    """What came of one call: a value, or an error; gradients; whether an argument was changed."""

    value: Any = None
    error: Exception | None = None
    gradients: tuple[Tensor | None, ...] = ()
    changed: bool = False


def deed(answer: Callable, given: Input, seed: int) -> Deed:
    """Call the answer with a copy of the arguments; a layer or class is called in turn, once it holds known numbers.

    The seed is for what the answer leaves to chance.
    """
    given = copy.deepcopy(given)
    before = copy.deepcopy(_kept(given))
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            value = answer(*given.args)
            value = _called(value, given) if isinstance(value, nn.Module) else value
            gradients = _gradients(value, given) if isinstance(value, Tensor) else ()
    except Exception as error:
        return Deed(error=error)
    value = value.detach() if isinstance(value, Tensor) else value
    return Deed(value, None, gradients, not same(before, _kept(given)))


def _kept(given: Input) -> list:
    return [
        dict(argument.state_dict()) if isinstance(argument, nn.Module) else argument
        for argument in (*given.args, *given.given)
    ]


def _called(layer: nn.Module, given: Input) -> Any:
    """What a layer is and does: its sizes, what it gives for images, what it learns."""
    if given.given:
        owned = {
            id(part) for argument in given.args if isinstance(argument, nn.Module) for part in argument.parameters()
        }
        own = [(name, part) for name, part in layer.double().named_parameters() if id(part) not in owned]
        for name, parameter in own:
            parameter.data = _numbers(random.Random(name), *parameter.shape)
        result = layer(*given.given)
        learned = torch.autograd.grad(result.sum(), list(layer.parameters()), allow_unused=True)
        return [result.detach(), len(list(layer.parameters())), len(own), [part is None for part in learned]]
    weight = layer.weight
    if isinstance(layer, nn.Conv2d):
        side = 3 * max(layer.kernel_size) + 1
        example = _numbers(random.Random(0), 2, layer.in_channels, side, side + 2).to(weight.dtype)
    else:
        example = _numbers(random.Random(0), 2, layer.in_features).to(weight.dtype)
    bias = layer.bias is not None
    return [type(layer).__name__, bias, weight.requires_grad, weight.detach(), layer(example).detach()]


def _gradients(value: Tensor, given: Input) -> tuple[Tensor | None, ...]:
    """What reaches each learned argument from a result whose numbers count differently."""
    learned = [given.args[place] for place in given.learned]
    if not learned or not value.requires_grad:
        return tuple(None for _ in learned)
    weights = _numbers(random.Random(1), *value.shape).to(value.dtype)
    return torch.autograd.grad((value * weights).sum(), learned, allow_unused=True)


def same(one: Any, other: Any) -> bool:
    """Equal in kind and, up to rounding, in every number."""
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        if one.dtype != other.dtype or one.shape != other.shape:
            return False
        if not one.is_floating_point():
            return bool((one == other).all())
        close = 1e-6 * (one.abs().max() if one.numel() else 1) + 1e-12  # a gradient that rounding takes for 0
        return torch.equal(one, other) or bool(((one - other).abs() <= close).all())
    if isinstance(one, (list, tuple)) and type(one) is type(other):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return type(one) is type(other) and one == other


def in_any_order(pairs: list) -> list:
    """The pairs of a list sorted: which one comes first is a matter of taste."""
    return sorted(repr(tuple(pair) if isinstance(pair, list) else pair) for pair in pairs)


def as_good(name: str, given: Input, right: Deed, other: Deed) -> bool:
    """Whether an answer did with an input what the solution did, as far as the contract goes."""
    if other.changed:
        return False
    if given.refused:
        text = str(other.error).lower()
        named = not given.named or any(word in text for word in given.named)
        return isinstance(other.error, given.refused) and named and not any(word in text for word in given.unnamed)
    if other.error is not None:
        return False
    values = (right.value, other.value)
    if name == "skip_gram_pairs" and isinstance(other.value, list):
        values = map(in_any_order, values)
    return same(*values) and same(list(right.gradients), list(other.gradients))
