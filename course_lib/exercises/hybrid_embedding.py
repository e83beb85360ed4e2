"""Lesson 08, HybridEmbedding: a stem and a projection of patches of its map, images -> (B, N, D)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from course_lib.exercises.layers import (
    fill,
    fill_projection,
    receives_gradient,
    refuse_what_is_no_layer,
    refuse_without_gradient,
)
from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise, NotAsked, pixels
from course_lib.patches import channels_last, patchify


class HybridEmbedding(nn.Module):
    def __init__(self, stem, stem_channels, patch_size, embedding_dim):
        super().__init__()
        self.stem = stem
        self.projection = nn.Conv2d(stem_channels, embedding_dim, kernel_size=patch_size, stride=patch_size)

    def forward(self, images):
        return self.projection(self.stem(images)).flatten(2).transpose(1, 2)


def filled_stem(channels: int, width: int, stride: int) -> nn.Module:
    """A stem in float64 with known numbers; its sides shrink by `stride`."""
    layer = nn.Conv2d(channels, width, kernel_size=stride + 1, stride=stride, padding=stride // 2)
    return nn.Sequential(fill(layer, seed=width), nn.ReLU())


def cases() -> list[Case]:
    def case(batch, channels, height, width, stride, stem_channels, patch_size, dimension, only="") -> Case:
        step = stride * patch_size
        return Case(
            f"{batch} image{'s' * (batch > 1)} of {height} × {width}, a stem with {stem_channels} channels and stride"
            f" {stride}, patches of {patch_size} × {patch_size} cells, D = {dimension}",
            (filled_stem(channels, stem_channels, stride), stem_channels, patch_size, dimension),
            "B N D",
            {"B": batch, "H": height, "W": width, "D": dimension, "N": (height // step) * (width // step)},
            only,
            given=(pixels(batch, channels, height, width).double() / 100,),
        )

    return [
        case(2, 2, 12, 16, 2, 3, 2, 5),
        case(4, 3, 8, 24, 4, 5, 1, 7),
        case(2, 4, 12, 18, 2, 5, 3, 9),
        case(1, 2, 8, 12, 2, 3, 2, 7, "a batch of one"),
        case(2, 3, 12, 12, 2, 4, 2, 5, "square images"),
    ]


def use(module: nn.Module, case: Case) -> Any:
    """Result of a learner's module once its projection holds known numbers; the stem keeps those it came with."""
    refuse_what_is_no_layer(module, "HybridEmbedding")
    stem, stem_channels, patch_size, dimension = case.args
    of_stem = {id(parameter) for parameter in stem.parameters()}
    own = [parameter for parameter in module.double().parameters() if id(parameter) not in of_stem]
    fill_projection(own, stem_channels * patch_size**2, dimension)
    result = module(*case.given)
    if not isinstance(result, Tensor):
        return result
    if not of_stem <= {id(parameter) for parameter in module.parameters()}:
        raise NotAsked(_stem_not_held(module, stem))
    right = HybridEmbedding(*case.args).double()
    fill_projection(right.projection.parameters(), stem_channels * patch_size**2, dimension)
    wanted = right(*case.given)
    if not result.requires_grad:
        refuse_without_gradient(result, wanted)
    elif result.shape == wanted.shape and result.dtype == wanted.dtype and torch.allclose(result, wanted):
        _refuse_what_changes_the_stem(module, stem, case.given[0])
    return result


def _stem_not_held(module: nn.Module, stem: nn.Module) -> str:
    """What to say of a layer without the stem that was handed in: whether it holds a copy, or none."""
    held = list(module.parameters())
    copied = all(any(torch.equal(mine, theirs) for mine in held) for theirs in stem.parameters())
    if copied:
        return "the layer holds a copy of the stem, and the stem itself would not be trained: self.stem = stem"
    return (
        "no parameter of the layer is one of the stem, so nothing would train it: keep it in self as it is,"
        " self.stem = stem. A plain list or a name of the notebook hides it"
    )


def _refuse_what_changes_the_stem(module: nn.Module, stem: nn.Module, images: Tensor) -> None:
    """NotAsked where a forward turns the stem's mode, and where a part, or what lies before the layer, cannot learn."""
    for mode in (False, True):
        module.train(mode)
        images = images.detach().clone().requires_grad_()
        result = module(images)
        if stem.training != mode:
            raise NotAsked("forward switches the stem to train() or eval(): leave that to whoever uses the layer")
    for name, parameter in module.named_parameters():
        if not parameter.requires_grad:
            raise NotAsked(f"self.{name} is frozen, so it would never learn: leave requires_grad as a new layer has it")
    learning = [(f"self.stem.{name}", parameter) for name, parameter in stem.named_parameters()]
    for name, tensor in [*learning, ("the images", images)]:
        if not receives_gradient(tensor, result):
            raise NotAsked(
                f"the numbers are right, but no gradient reaches {name}: the stem is trained together with the"
                " projection. Leave out what cuts it off: .data, .detach() or no_grad"
            )


WRONG = mistakes(
    HybridEmbedding,
    r"""
projection missing
    These are the cells of the map as they come from the stem. The hybrid projects patches of them to D numbers.
        self.projection(self.stem(images)) → self.stem(images)

stem missing
    The projection was laid on the image, whose channels it does not fit. First the stem:
    self.projection(self.stem(images)).
        self.projection(self.stem(images)) → self.projection(images)

tokens and numbers swapped
    The tokens stand in the columns: .transpose(1, 2) at the end.
        .transpose(1, 2) →

reshape in place of transpose
    The shape is right, the numbers are not: (B, D, rows, columns) was reshaped to (B, N, D). Flatten, then swap the
    axes: .flatten(2).transpose(1, 2).
        .flatten(2).transpose(1, 2) → .reshape(len(images), -1, self.projection.out_channels)

map not flattened
    This is still a map (B, D, rows, columns): .flatten(2).transpose(1, 2).
        .flatten(2).transpose(1, 2) →

places averaged
    The places were averaged. Every patch of the map keeps a token.
        .transpose(1, 2) → .transpose(1, 2).mean(1)

places averaged to one token
    The places were averaged to one token. Every patch of the map keeps a token.
        .transpose(1, 2) → .transpose(1, 2).mean(1, keepdim=True)

the map flattened to one token
    The whole map became one token. Every patch of it gets a token of its own.
        def forward(self, images):
            row = self.stem(images).flatten(1)
            weight = torch.linspace(-1, 1, self.projection.out_channels * row.shape[1], dtype=row.dtype)
            return (row @ weight.reshape(row.shape[1], -1))[:, None]

patches of one cell
    Every cell became a token. Patches of the map can be larger: kernel and stride are patch_size.
        kernel_size=patch_size, stride=patch_size → kernel_size=1

one cell of each patch
    A kernel of one cell that moves by a whole patch reads one cell of each: kernel_size=patch_size, as the stride.
        kernel_size=patch_size → kernel_size=1

stride forgotten
    The patches move by one cell and overlap: stride = patch_size.
        , stride=patch_size →

order of the patch misread
    The patches were flattened row, column, channel. The contract is channel, row, column.
        def forward(self, images):
            features, side = self.stem(images), self.projection.kernel_size[0]
            rows = channels_last(patchify(features, side), side, features.shape[1])
            return F.linear(rows, self.projection.weight.flatten(1), self.projection.bias)

a ReLU behind the projection
    The projection is the last step. A ReLU behind it throws away every negative number.
        .transpose(1, 2) → .transpose(1, 2).relu()

places and numbers in one row
    flatten(1) lays the numbers of all places into one row. Flatten rows and columns only: .flatten(2), then
    .transpose(1, 2).
        .flatten(2).transpose(1, 2) → .flatten(1)

column by column
    The tokens are counted column by column: transpose(1, 3) put the columns of the map first. Flatten, then swap:
    .flatten(2).transpose(1, 2).
        .flatten(2).transpose(1, 2) → .transpose(1, 3).flatten(1, 2)

no bias
    The bias is missing. nn.Conv2d has one unless it is told bias=False.
        stride=patch_size → stride=patch_size, bias=False

class token in front
    One token too many: a class token. It joins later (lesson 07); here the patches are wanted, and nothing else.
        def __init__(self, stem, stem_channels, patch_size, embedding_dim):
            super().__init__(stem, stem_channels, patch_size, embedding_dim)
            self.class_token = nn.Parameter(torch.zeros(1, 1, embedding_dim))
        def forward(self, images):
            return torch.cat([self.class_token.expand(len(images), -1, -1), super().forward(images)], dim=1)
""",
    channels_last=channels_last,
    patchify=patchify,
)


EXERCISE = Exercise(
    name="HybridEmbedding",
    solution=HybridEmbedding,
    cases=cases,
    result=Tensor,
    use=use,
    slack=1e-9,
    wrong=WRONG,
    hints=(
        "In __init__ keep the stem and make a projection. In forward: one after the other, then bring the"
        " result into the shape (B, N, D).",
        "The projection is lesson 06's, on the map: nn.Conv2d(stem_channels, embedding_dim,"
        " kernel_size=patch_size, stride=patch_size).",
        "self.projection(self.stem(images)).flatten(2).transpose(1, 2)",
    ),
    praise="That is the hybrid of the paper, for any stem.",
)
