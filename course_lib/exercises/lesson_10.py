"""Lesson 10: a small vision transformer from the learner's own parts."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from course_lib.exercises.model import Case, Exercise, NotAsked, Option, Question, WrongAnswer, pixels, random_numbers


class PatchTokens(nn.Module):
    def __init__(self, front, num_patches, embedding_dim):
        super().__init__()
        self.front = front
        self.class_token = nn.Parameter(torch.zeros(embedding_dim))
        self.positions = nn.Parameter(torch.zeros(num_patches + 1, embedding_dim))

    def forward(self, images):
        tokens = self.front(images)
        first = self.class_token.expand(len(tokens), 1, -1)
        return torch.cat([first, tokens], dim=1) + self.positions


def vit_parameters(channels, patch_size, image_size, dimension, depth, hidden, classes):
    num_patches = (image_size // patch_size) ** 2
    projection = channels * patch_size**2 * dimension + dimension
    class_token_and_positions = dimension + (num_patches + 1) * dimension
    attention = 4 * (dimension * dimension + dimension)
    network = dimension * hidden + hidden + hidden * dimension + dimension
    norms = 2 * (2 * dimension)
    last_norm_and_head = 2 * dimension + dimension * classes + classes
    return projection + class_token_and_positions + depth * (attention + network + norms) + last_norm_and_head


def _parts(channels, patch_size, image_size, dimension, depth, hidden, classes):
    """What each part of the model learns, and the number of patches."""
    num_patches = (image_size // patch_size) ** 2
    return {
        "number of patches": num_patches,
        "number of tokens": num_patches + 1,
        "length of a patch": channels * patch_size**2,
        "numbers of the projection": channels * patch_size**2 * dimension + dimension,
        "class token and positions": (num_patches + 2) * dimension,
        "attention of a block": 4 * (dimension * dimension + dimension),
        "feed-forward network of a block": 2 * dimension * hidden + hidden + dimension,
        "two norms of a block": 4 * dimension,
        "last norm and head": 2 * dimension + dimension * classes + classes,
    }


class _Front(nn.Module):
    """A front end with known numbers: a strided convolution whose map is flattened."""

    def __init__(self, channels: int, patch_size: int, dimension: int) -> None:
        super().__init__()
        self.projection = nn.Conv2d(channels, dimension, patch_size, stride=patch_size).double()
        with torch.no_grad():
            for seed, parameter in enumerate(self.parameters()):
                parameter.copy_(random_numbers(parameter.numel(), seed=seed).reshape(parameter.shape))

    def forward(self, images: Tensor) -> Tensor:
        return self.projection(images).flatten(2).transpose(1, 2)


def _token_cases() -> list[Case]:
    def case(batch, channels, height, width, patch_size, dimension, only="") -> Case:
        count = (height // patch_size) * (width // patch_size)
        return Case(
            f"{batch} image{'s' * (batch > 1)} of {height} × {width}, N = {count}, D = {dimension}",
            (_Front(channels, patch_size, dimension), count, dimension),
            "B N+1 D",
            {"B": batch, "H": height, "W": width, "D": dimension, "N": count},
            only,
            given=(pixels(batch, channels, height, width).double() / 100,),
        )

    return [
        case(2, 2, 6, 9, 3, 5),
        case(4, 3, 8, 4, 2, 6),
        case(3, 4, 4, 6, 2, 9),
        case(1, 2, 6, 9, 3, 4, "a batch of one"),
        case(2, 3, 6, 6, 3, 7, "square images"),
    ]


def _use(module: nn.Module, case: Case) -> Any:
    """Result of a learner's module whose class token is all 9s and whose positions are known."""
    if not isinstance(module, nn.Module):
        raise NotAsked("what came is no layer of torch: begin with class PatchTokens(nn.Module)")
    front, count, dimension = case.args
    class_token = torch.full((dimension,), 9.0, dtype=torch.float64)
    positions = random_numbers((count + 1) * dimension, seed=count).reshape(count + 1, dimension)
    _refuse_plain_tensors(module, {dimension, count * dimension, (count + 1) * dimension})
    of_front = {id(parameter) for parameter in front.parameters()}
    with torch.no_grad():
        for parameter in module.double().parameters():
            if id(parameter) not in of_front:
                # What fits nowhere gets known numbers too, so that a wrong answer is wrong in the same way each time.
                values = {dimension: class_token, positions.numel(): positions}.get(
                    parameter.numel(), torch.linspace(-1, 1, parameter.numel(), dtype=torch.float64)
                )
                turned = tuple(size for size in parameter.shape if size > 1) == (dimension, count + 1)
                parameter.copy_((values.T if turned else values).reshape(parameter.shape))
    result = module(*case.given)
    if isinstance(result, Tensor):
        if not of_front <= {id(parameter) for parameter in module.parameters()}:
            raise NotAsked("the layer does not hold the front end, so nothing would train it: self.front = front")
        tokens = front(*case.given)
        wanted = torch.cat([class_token.expand(len(tokens), 1, -1), tokens], dim=1) + positions
        if result.shape == wanted.shape and result.dtype == wanted.dtype and torch.allclose(result, wanted):
            _refuse_what_never_learns(module, result, {dimension, positions.numel()}, of_front)
    return result


def _refuse_plain_tensors(module: nn.Module, sizes: set[int]) -> None:
    """A tensor of the size of a class token or of positions, kept as an attribute or a buffer, is learned by nobody."""
    for kind, kept in (("plain tensor", vars(module)), ("buffer", dict(module.named_buffers(recurse=False)))):
        for name, tensor in kept.items():
            if isinstance(tensor, Tensor) and tensor.is_floating_point() and tensor.numel() in sizes:
                raise NotAsked(
                    f"self.{name} is a {kind}, which nothing trains. Put nn.Parameter(...) around the whole of it:"
                    f" self.{name} = nn.Parameter(...)"
                )


def _refuse_what_never_learns(module: nn.Module, result: Tensor, sizes: set[int], of_front: set[int]) -> None:
    """Right numbers are not enough: the front end, class token and positions have to receive a gradient."""
    for name, parameter in module.named_parameters():
        if parameter.numel() not in sizes and id(parameter) not in of_front:
            continue
        reached = result.requires_grad and parameter.requires_grad
        if reached:
            reached = torch.autograd.grad(result.sum(), parameter, allow_unused=True, retain_graph=True)[0] is not None
        if not reached:
            raise NotAsked(
                f"the numbers are right, but no gradient reaches self.{name}: it would never learn. Leave out what cuts"
                " it off: .data, .detach(), no_grad or requires_grad=False"
            )


class _Wrong(PatchTokens):
    """The right parts; `forward` is what a learner made of them."""

    def joined(self, images):
        tokens = self.front(images)
        return torch.cat([self.class_token.expand(len(tokens), 1, -1), tokens], dim=1)


class _NoClassToken(_Wrong):
    def forward(self, images):
        return self.front(images) + self.positions[1:]


class _NoClassTokenOwnRows(PatchTokens):
    def __init__(self, front, num_patches, embedding_dim):
        super().__init__(front, num_patches, embedding_dim)
        self.positions = nn.Parameter(torch.zeros(num_patches, embedding_dim))

    def forward(self, images):
        return self.front(images) + self.positions


class _NoPositions(_Wrong):
    def forward(self, images):
        return self.joined(images)


class _Appended(_Wrong):
    def forward(self, images):
        tokens = self.front(images)
        return torch.cat([tokens, self.class_token.expand(len(tokens), 1, -1)], dim=1) + self.positions


class _AddedFirst(_Wrong):
    def forward(self, images):
        tokens = self.front(images) + self.positions[1:]
        return torch.cat([self.class_token.expand(len(tokens), 1, -1), tokens], dim=1)


class _AddedFirstOwnRows(_NoClassTokenOwnRows):
    def forward(self, images):
        tokens = super().forward(images)
        return torch.cat([self.class_token.expand(len(tokens), 1, -1), tokens], dim=1)


class _AddedToFirstRows(_Wrong):
    def forward(self, images):
        tokens = self.front(images) + self.positions[:-1]
        return torch.cat([self.class_token.expand(len(tokens), 1, -1), tokens], dim=1)


class _Multiplied(_Wrong):
    def forward(self, images):
        return self.joined(images) * self.positions


class _ClassTokenAdded(_Wrong):
    def forward(self, images):
        return self.front(images) + self.class_token + self.positions[1:]


class _ClassTokenTwice(_Wrong):
    def forward(self, images):
        return self.joined(images) + self.positions + self.class_token


class _PlainClassToken(_Wrong):
    def forward(self, images):
        tokens = self.front(images)
        zeros = torch.zeros(len(tokens), 1, tokens.shape[2])
        return torch.cat([zeros, tokens], dim=1) + self.positions


class _KeptPlainTensor(_Wrong):
    def __init__(self, front, num_patches, embedding_dim):
        super().__init__(front, num_patches, embedding_dim)
        del self.positions
        self.positions = torch.zeros(num_patches + 1, embedding_dim)

    def forward(self, images):
        return self.joined(images) + self.positions


class _CutOff(_Wrong):
    def forward(self, images):
        return self.joined(images) + self.positions.data


class _TooFewRows(_NoClassTokenOwnRows):
    def forward(self, images):
        tokens = self.front(images)
        return torch.cat([self.class_token.expand(len(tokens), 1, -1), tokens], dim=1) + self.positions


class _FrontAlone(_Wrong):
    def forward(self, images):
        return self.front(images)


class _JoinedAcrossImages(_Wrong):
    def forward(self, images):
        tokens = self.front(images)
        return torch.cat([self.class_token.expand(len(tokens), 1, -1), tokens], dim=0) + self.positions


class _JoinedInsideTokens(_Wrong):
    def forward(self, images):
        tokens = self.front(images)
        return torch.cat([self.class_token.expand(len(tokens), 1, -1), tokens], dim=2) + self.positions


class _LayerNormBehind(_Wrong):
    def __init__(self, front, num_patches, embedding_dim):
        super().__init__(front, num_patches, embedding_dim)
        self.norm = nn.LayerNorm(embedding_dim)

    def forward(self, images):
        return self.norm(self.joined(images) + self.positions)


class _LinearBehindFront(_Wrong):
    def __init__(self, front, num_patches, embedding_dim):
        super().__init__(front, num_patches, embedding_dim)
        self.projection = nn.Linear(embedding_dim, embedding_dim)

    def forward(self, images):
        tokens = self.projection(self.front(images))
        return torch.cat([self.class_token.expand(len(tokens), 1, -1), tokens], dim=1) + self.positions


class _OneNumberForEachPlace(_Wrong):
    def __init__(self, front, num_patches, embedding_dim):
        super().__init__(front, num_patches, embedding_dim)
        self.positions = nn.Parameter(torch.zeros(num_patches + 1, 1))

    def forward(self, images):
        return self.joined(images) + self.positions


class _ClassTokenOfOneNumber(_Wrong):
    def __init__(self, front, num_patches, embedding_dim):
        super().__init__(front, num_patches, embedding_dim)
        self.class_token = nn.Parameter(torch.zeros(1))

    def forward(self, images):
        tokens = self.front(images)
        first = self.class_token.expand(len(tokens), 1, tokens.shape[2])
        return torch.cat([first, tokens], dim=1) + self.positions


class _OnePosition(_Wrong):
    def __init__(self, front, num_patches, embedding_dim):
        super().__init__(front, num_patches, embedding_dim)
        self.positions = nn.Parameter(torch.zeros(1, embedding_dim))

    def forward(self, images):
        return self.joined(images) + self.positions


class _Swapped(_Wrong):
    def forward(self, images):
        return (self.joined(images) + self.positions).transpose(1, 2)


class _Averaged(_Wrong):
    def forward(self, images):
        return (self.joined(images) + self.positions).mean(1)


class _TokenOnly(_Wrong):
    def forward(self, images):
        return (self.joined(images) + self.positions)[:, 0]


def _count(**parts):
    """The solution with some of its parts changed: each is a function of the sizes, or a number."""

    def wrong(channels, patch_size, image_size, dimension, depth, hidden, classes):
        d, n = dimension, (image_size // patch_size) ** 2
        values = {
            "projection": channels * patch_size**2 * d + d,
            "class_token": d,
            "positions": (n + 1) * d,
            "attention": 4 * (d * d + d),
            "network": d * hidden + hidden + hidden * d + d,
            "norms": 4 * d,
            "depth": depth,
            "last_norm": 2 * d,
            "head": d * classes + classes,
        }
        sizes = {"d": d, "n": n, "c": channels, "p": patch_size, "hidden": hidden, "classes": classes}
        values |= {name: part(**sizes) if callable(part) else part for name, part in parts.items()}
        block = values["attention"] + values["network"] + values["norms"]
        ends = ("projection", "class_token", "positions", "last_norm", "head")
        return sum(values[name] for name in ends) + values["depth"] * block

    return wrong


def _side_not_squared(channels, patch_size, image_size, dimension, depth, hidden, classes):
    right = vit_parameters(channels, patch_size, image_size, dimension, depth, hidden, classes)
    side = image_size // patch_size
    return right - (side**2 - side) * dimension


def _brackets_missing(channels, patch_size, image_size, dimension, depth, hidden, classes):
    once = vit_parameters(channels, patch_size, image_size, dimension, 1, hidden, classes)
    return once + (depth - 1) * 4 * (dimension * dimension + dimension)


def _head_in_each_block(channels, patch_size, image_size, dimension, depth, hidden, classes):
    right = vit_parameters(channels, patch_size, image_size, dimension, depth, hidden, classes)
    return right + (depth - 1) * (2 * dimension + dimension * classes + classes)


def _count_cases() -> list[Case]:
    def case(channels, patch_size, image_size, dimension, depth, hidden, classes, only="", label="") -> Case:
        sizes = (channels, patch_size, image_size, dimension, depth, hidden, classes)
        told = ", ".join(f"{name} {size}" for name, size in zip(_NAMES, sizes, strict=True))
        letters = {"L": channels * patch_size**2, "D": dimension}
        return Case(label or told, sizes, letters=letters, only=only)

    return [
        case(2, 7, 28, 64, 3, 136, 10),
        case(4, 8, 40, 96, 6, 200, 12),
        case(5, 4, 24, 48, 2, 100, 7),
        case(3, 16, 224, 768, 12, 3072, 1000, "C·P·P = D", "ViT-B/16"),
        case(3, 8, 32, 192, 4, 384, 5, "C·P·P = D"),
        case(2, 1, 6, 20, 3, 36, 4, "patches of one pixel"),
    ]


_NAMES = ("channels", "patch_size", "image_size", "dimension", "depth", "hidden", "classes")

EXERCISES = (
    Exercise(
        name="PatchTokens",
        lesson="10",
        solution=PatchTokens,
        cases=_token_cases,
        result=Tensor,
        use=_use,
        slack=1e-9,
        wrong=(
            WrongAnswer(
                "class token missing",
                _NoClassToken,
                "There is no class token: N tokens came, N + 1 are wanted. It stands in front, at index 0.",
            ),
            WrongAnswer(
                "class token missing, N rows of positions",
                _NoClassTokenOwnRows,
                "There is no class token: N tokens came, N + 1 are wanted, and as many rows of positions.",
            ),
            WrongAnswer(
                "positions missing",
                _NoPositions,
                "No learned positions were added. (Zeros made in forward add nothing and are never learned.) Add all"
                " N + 1 rows of the table.",
            ),
            WrongAnswer("class token last", _Appended, "The 9s of the class token came last. It stands in front."),
            WrongAnswer(
                "class token without position",
                _AddedFirst,
                "Positions were added before the class token joined, so token 0 got none. Join first, then add all"
                " N + 1 rows.",
            ),
            WrongAnswer(
                "N rows of positions",
                _AddedFirstOwnRows,
                "The table has one row for each patch and none for the class token: num_patches + 1 rows, added"
                " after joining.",
            ),
            WrongAnswer(
                "positions shifted by one",
                _AddedToFirstRows,
                "The patches got the rows 0 to N − 1. Row 0 belongs to the class token: join first, then add.",
            ),
            WrongAnswer("positions multiplied", _Multiplied, "Positions are added, not multiplied."),
            WrongAnswer(
                "class token added to the patches",
                _ClassTokenAdded,
                "The class token was added to every patch. It is a token of its own: N + 1 in all.",
            ),
            WrongAnswer(
                "class token joined and added",
                _ClassTokenTwice,
                "The class token stands in front, and was added to every token as well. Joining is enough.",
            ),
            WrongAnswer(
                "class token is no parameter",
                _PlainClassToken,
                "Token 0 holds its position and nothing else. The class token is a row of its own that is learned, made"
                " in __init__: nn.Parameter(torch.zeros(embedding_dim)). Zeros made in forward stay zeros.",
            ),
            WrongAnswer(
                "a plain tensor",
                _KeptPlainTensor,
                "An optimiser trains what model.parameters() lists, and only an nn.Parameter is listed there.",
            ),
            WrongAnswer(
                "cut off from training",
                _CutOff,
                "What gets no gradient keeps the numbers that it began with.",
            ),
            WrongAnswer(
                "N rows of positions for N + 1 tokens",
                _TooFewRows,
                "With the class token there are N + 1 tokens, and the table has N rows: num_patches + 1.",
            ),
            WrongAnswer(
                "front end alone",
                _FrontAlone,
                "These are the tokens of the front end. Now join the class token, then add the positions.",
            ),
            WrongAnswer(
                "joined across images",
                _JoinedAcrossImages,
                "Without dim=1 the images are put one after the other, axis 0. The tokens lie along axis 1.",
            ),
            WrongAnswer(
                "joined inside the tokens",
                _JoinedInsideTokens,
                "The last axis holds the D numbers of a token. The tokens lie along axis 1: dim=1.",
            ),
            WrongAnswer(
                "LayerNorm behind",
                _LayerNormBehind,
                "There is a LayerNorm too many. The first one stands inside the first block, not here.",
            ),
            WrongAnswer(
                "another Linear",
                _LinearBehindFront,
                "There is a Linear too many: what the front end gives are tokens of D numbers already.",
            ),
            WrongAnswer(
                "one number for each place",
                _OneNumberForEachPlace,
                "Each place got one number. A position is a row of D numbers: (num_patches + 1, embedding_dim).",
            ),
            WrongAnswer(
                "class token of one number",
                _ClassTokenOfOneNumber,
                "The class token has one number, repeated. It is a row of D numbers: torch.zeros(embedding_dim).",
            ),
            WrongAnswer(
                "one position for all",
                _OnePosition,
                "All tokens got the same row, so positions tell nothing: num_patches + 1 rows.",
            ),
            WrongAnswer(
                "tokens and numbers swapped", _Swapped, "The tokens stand in the columns: leave out the last transpose."
            ),
            WrongAnswer("tokens averaged", _Averaged, "The tokens were averaged. The transformer wants all N + 1."),
            WrongAnswer(
                "class token alone", _TokenOnly, "Only token 0 was returned. That comes last, behind the blocks."
            ),
        ),
        hints=(
            "Three things to keep in __init__: the front end, one row for the class token, and a table of positions.",
            "self.class_token = nn.Parameter(torch.zeros(embedding_dim)), and positions with num_patches + 1 rows. In"
            " forward: front end, join, add.",
            "torch.cat([self.class_token.expand(len(tokens), 1, -1), tokens], dim=1) + self.positions",
        ),
        praise="Lessons 04 to 08 in one class, and the transformer below can use it.",
    ),
    Exercise(
        name="vit_parameters",
        lesson="10",
        solution=vit_parameters,
        cases=_count_cases,
        result=int,
        quantities=_parts,
        wrong=(
            WrongAnswer(
                "D numbers too few",
                _count(class_token=0),
                "Exactly D are missing. Which is it: the class token, its row of positions, or the bias of the"
                " projection?",
            ),
            WrongAnswer(
                "2 · D numbers too few",
                _count(last_norm=0),
                "Exactly 2 · D are missing. Which is it: the LayerNorm before the head, or class token and its row of"
                " positions?",
            ),
            WrongAnswer(
                "D numbers too few in each block",
                _count(network=lambda d, hidden, **_: 2 * d * hidden + hidden),
                "Exactly D are missing in each block. Which is it: the bias of the second layer of the small network,"
                " or one of the four of attention?",
            ),
            WrongAnswer(
                "2 · D numbers too few in each block",
                _count(norms=lambda d, **_: 2 * d),
                "Exactly 2 · D are missing in each block: there are two LayerNorms, with 2 · D numbers each.",
            ),
            WrongAnswer(
                "3 · D numbers too few in each block",
                _count(attention=lambda d, **_: 4 * d * d + d),
                "Exactly 3 · D are missing in each block. Each of the four matrices of attention has its own bias.",
            ),
            WrongAnswer(
                "4 · D numbers too few in each block",
                _count(norms=0),
                "Exactly 4 · D are missing in each block. Which is it: its two LayerNorms, or the biases of attention?",
            ),
            WrongAnswer("positions forgotten", _count(positions=0), "The positions are missing: (N + 1) · D."),
            WrongAnswer(
                "class token and positions forgotten",
                _count(class_token=0, positions=0),
                "What belongs to no layer is missing: class token and positions, D + (N + 1) · D.",
            ),
            WrongAnswer(
                "class token of one number",
                _count(class_token=1),
                "The class token was counted as one number. It is a row of D.",
            ),
            WrongAnswer(
                "one number for each place",
                _count(positions=lambda n, **_: n + 1),
                "A position is a row of D numbers: (N + 1) · D.",
            ),
            WrongAnswer(
                "a position for each pixel",
                _count(positions=lambda n, p, d, **_: (n * p * p + 1) * d),
                "Each pixel got a position. Patches get one: N is (image_size // patch_size) ** 2.",
            ),
            WrongAnswer(
                "area over side",
                _count(positions=lambda n, p, d, **_: (n * p + 1) * d),
                "image_size ** 2 // patch_size is too many. Divide first, then square: (image_size // patch_size)"
                " ** 2.",
            ),
            WrongAnswer(
                "patch side not squared",
                _count(projection=lambda c, p, d, **_: c * p * d + d),
                "A patch has C · P · P numbers: P was counted once.",
            ),
            WrongAnswer(
                "projection for each patch",
                _count(projection=lambda c, p, d, n, **_: n * (c * p * p * d + d)),
                "The projection was counted for each patch. All patches share it.",
            ),
            WrongAnswer(
                "channels forgotten",
                _count(projection=lambda p, d, **_: p * p * d + d),
                "A patch has C · P · P numbers: the channels are missing.",
            ),
            WrongAnswer(
                "three matrices in attention",
                _count(attention=lambda d, **_: 3 * (d * d + d)),
                "Query, key and value make three matrices. A fourth one follows, at the output of attention.",
            ),
            WrongAnswer(
                "biases of the network forgotten",
                _count(network=lambda d, hidden, **_: 2 * d * hidden),
                "Both layers of the small network have a bias: hidden + D in each block.",
            ),
            WrongAnswer(
                "first bias of the network forgotten",
                _count(network=lambda d, hidden, **_: 2 * d * hidden + d),
                "The first layer of the small network has a bias too: `hidden` numbers in each block.",
            ),
            WrongAnswer(
                "both biases of the network with hidden numbers",
                _count(network=lambda d, hidden, **_: 2 * (d * hidden + hidden)),
                "A bias has one number for each number that comes out: hidden in the first layer, D in the second.",
            ),
            WrongAnswer(
                "both biases of the network with D numbers",
                _count(network=lambda d, hidden, **_: 2 * (d * hidden + d)),
                "A bias has one number for each number that comes out: hidden in the first layer, D in the second.",
            ),
            WrongAnswer(
                "hidden taken as 4 · D",
                _count(network=lambda d, **_: 8 * d * d + 5 * d),
                "The hidden layer was taken as 4 · D. That fits ViT-B/16; here its size is given: `hidden`.",
            ),
            WrongAnswer(
                "no bias in the blocks",
                _count(attention=lambda d, **_: 4 * d * d, network=lambda d, hidden, **_: 2 * d * hidden),
                "The blocks have no biases: 4 · D of attention and hidden + D of the small network, in each block.",
            ),
            WrongAnswer(
                "no bias at all",
                _count(
                    projection=lambda c, p, d, **_: c * p * p * d,
                    attention=lambda d, **_: 4 * d * d,
                    network=lambda d, hidden, **_: 2 * d * hidden,
                    head=lambda d, classes, **_: d * classes,
                ),
                "The biases are missing, everywhere: each matrix has one, as long as what comes out of it.",
            ),
            WrongAnswer(
                "one matrix in attention",
                _count(attention=lambda d, **_: d * d + d),
                "One matrix was counted in attention. There are four: query, key, value and output.",
            ),
            WrongAnswer(
                "one layer in the network",
                _count(network=lambda d, hidden, **_: d * hidden + hidden),
                "The small network has two layers: to `hidden` numbers, and back to D.",
            ),
            WrongAnswer(
                "shift of the norms forgotten",
                _count(norms=lambda d, **_: 2 * d, last_norm=lambda d, **_: d),
                "A LayerNorm learns two numbers for each of D: a factor and a shift.",
            ),
            WrongAnswer(
                "all norms forgotten",
                _count(norms=0, last_norm=0),
                "The LayerNorms are missing: two in each block and one before the head, 2 · D each.",
            ),
            WrongAnswer(
                "everything behind the blocks forgotten",
                _count(last_norm=0, head=0),
                "What follows the blocks is missing: 2 · D of the LayerNorm, D · classes + classes of the head.",
            ),
            WrongAnswer("head forgotten", _count(head=0), "The head is missing: D · classes + classes."),
            WrongAnswer(
                "bias of the head forgotten",
                _count(head=lambda d, classes, **_: d * classes),
                "The head has a bias: one number for each class.",
            ),
            WrongAnswer(
                "blocks times attention only",
                _brackets_missing,
                "Only attention was multiplied by `depth`. Put brackets around the whole block.",
            ),
            WrongAnswer(
                "all times depth",
                lambda *sizes: sizes[4] * vit_parameters(*sizes[:4], 1, *sizes[5:]),
                "All was multiplied by `depth`. Projection, positions, last LayerNorm and head are there once.",
            ),
            WrongAnswer(
                "head in each block",
                _head_in_each_block,
                "The last LayerNorm and the head were counted in each block. They follow the blocks, once.",
            ),
            WrongAnswer("one block", _count(depth=1), "One block was counted. There are `depth` of them."),
            WrongAnswer(
                "side of the grid not squared",
                _side_not_squared,
                "The grid has rows and columns: N is (image_size // patch_size) squared.",
            ),
        ),
        hints=(
            "Count part by part: projection, class token and positions, one block, what follows the blocks.",
            "A block: four D × D matrices with biases, two layers D → hidden → D with biases, two LayerNorms with 2 · D"
            " each. Behind the blocks: one LayerNorm and the head.",
            "depth * (4 * (d * d + d) + (d * hidden + hidden + hidden * d + d) + 4 * d), and the parts outside of it",
        ),
        praise="86,567,656 for ViT-B/16, to the last number.",
    ),
)

QUESTIONS = (
    Question(
        name="same_curve",
        lesson="10",
        text=(
            "Two transformers differ only in front: one has nn.Linear on patches, the other nn.Conv2d with the same"
            " numbers. Both are trained on the same batches. What do their losses do?"
        ),
        options=(
            Option(
                "the convolution learns faster",
                "That would take another gradient. Lesson 06 found the same one for both.",
            ),
            Option(
                "they part slowly",
                "In float32 they may, since rounding differs and training amplifies it. In float64 nothing shows.",
            ),
            Option(
                "they stay the same, step by step",
                "Same map, same gradient, same step: nothing that could part them but rounding.",
                right=True,
            ),
            Option("the linear one ends lower", "Both end at the same loss: they are the same map."),
        ),
    ),
    Question(
        name="front_share",
        lesson="10",
        text="ViT-B/16 has 86.6 million parameters. How many of them lie before the first block?",
        options=(
            Option(
                "about half",
                "The blocks have far more: each holds 7.1 million, and there are twelve of them.",
            ),
            Option(
                "about a tenth",
                "The projection has 590,592, class token and positions 152,064: compare that with 86.6 million.",
            ),
            Option(
                "less than a hundredth",
                "742,656 of 86,567,656. What this course is about is a small part of the model, and the one that"
                " decides what it gets to see.",
                right=True,
            ),
        ),
    ),
    Question(
        name="small_data",
        lesson="10",
        text=(
            "A nearest neighbour answers with the label of the training image whose pixels are closest. It learns"
            " nothing. How does it do on these digits?"
        ),
        options=(
            Option(
                "hopeless, near 10 %",
                "Digits of one kind look alike, pixel by pixel, when they are centred and small. The table tells.",
            ),
            Option(
                "about as well as the transformers",
                "1,437 examples cover these small pictures well. On such data a transformer's strength does not show.",
                right=True,
            ),
            Option(
                "about 80 %",
                "It does better: a fifth of the digits wrong would be far too many for pictures that are so alike.",
            ),
        ),
    ),
)
