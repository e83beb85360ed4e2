"""Lesson 10, PatchTokens: a front end, a class token and positions in one layer, images -> (B, N + 1, D)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from course_lib.exercises.layers import fill, receives_gradient, refuse_what_is_no_layer
from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise, NotAsked, pixels, random_numbers
from course_lib.exercises.patch_embedding import PatchEmbedding


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


def cases() -> list[Case]:
    def case(batch, channels, height, width, patch_size, dimension, only="") -> Case:
        count = (height // patch_size) * (width // patch_size)
        return Case(
            f"{batch} image{'s' * (batch > 1)} of {height} × {width}, N = {count}, D = {dimension}",
            (fill(PatchEmbedding(channels, patch_size, dimension), seed=dimension), count, dimension),
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
        case(1, 1, 1, 1, 1, 1, "trivial"),
    ]


def use(module: nn.Module, case: Case) -> Any:
    """Result of a learner's module whose class token is all 9s and whose positions are known."""
    refuse_what_is_no_layer(module, "PatchTokens")
    front, count, dimension = case.args
    class_token = torch.full((dimension,), 9.0, dtype=torch.float64)
    positions = random_numbers((count + 1) * dimension, seed=count).reshape(count + 1, dimension)
    refuse_plain_tensors(module, {dimension, count * dimension, (count + 1) * dimension})
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
            refuse_what_never_learns(module, result, {dimension, positions.numel()}, of_front)
    return result


def refuse_plain_tensors(module: nn.Module, sizes: set[int]) -> None:
    """A tensor of the size of a class token or of positions, kept as an attribute or a buffer, is learned by nobody."""
    for kind, kept in (("plain tensor", vars(module)), ("buffer", dict(module.named_buffers(recurse=False)))):
        for name, tensor in kept.items():
            if isinstance(tensor, Tensor) and tensor.is_floating_point() and tensor.numel() in sizes:
                raise NotAsked(
                    f"self.{name} is a {kind}, which nothing trains. Put nn.Parameter(...) around the whole of it:"
                    f" self.{name} = nn.Parameter(...)"
                )


def refuse_what_never_learns(module: nn.Module, result: Tensor, sizes: set[int], of_front: set[int]) -> None:
    """Right numbers are not enough: the front end, class token and positions have to receive a gradient."""
    for name, parameter in module.named_parameters():
        if parameter.numel() not in sizes and id(parameter) not in of_front:
            continue
        if not receives_gradient(parameter, result):
            raise NotAsked(
                f"the numbers are right, but no gradient reaches self.{name}: it would never learn. Leave out what cuts"
                " it off: .data, .detach(), no_grad or requires_grad=False"
            )


WRONG = mistakes(
    PatchTokens,
    r"""
class token missing
    There is no class token: N tokens came, N + 1 are wanted. It stands in front, at index 0.
        return … → return tokens + self.positions[1:]

class token missing, N rows of positions
    There is no class token: N tokens came, N + 1 are wanted, and as many rows of positions.
        torch.zeros(num_patches + 1, embedding_dim) → torch.zeros(num_patches, embedding_dim)
        return … → return tokens + self.positions

positions missing
    No learned positions were added. (Zeros made in forward add nothing and are never learned.) Add all N + 1 rows
    of the table.
        return … → return torch.cat([first, tokens], dim=1)

class token last
    The 9s of the class token came last. It stands in front.
        [first, tokens] → [tokens, first]

class token without position
    Positions were added before the class token joined, so token 0 got none. Join first, then add all N + 1 rows.
        return … → return torch.cat([first, tokens + self.positions[1:]], dim=1)

N rows of positions
    The table has one row for each patch and none for the class token: num_patches + 1 rows, added after joining.
        torch.zeros(num_patches + 1, embedding_dim) → torch.zeros(num_patches, embedding_dim)
        return … → return torch.cat([first, tokens + self.positions], dim=1)

positions shifted by one
    The patches got the rows 0 to N − 1. Row 0 belongs to the class token: join first, then add.
        return … → return torch.cat([first, tokens + self.positions[:-1]], dim=1)

positions multiplied
    Positions are added, not multiplied.
        + self.positions → * self.positions

class token added to the patches
    The class token was added to every patch. It is a token of its own: N + 1 in all.
        return … → return tokens + self.class_token + self.positions[1:]

class token joined and added
    The class token stands in front, and was added to every token as well. Joining is enough.
        + self.positions → + self.positions + self.class_token

class token is no parameter
    Token 0 holds its position and nothing else: no parameter of the layer is its class token. It is made in
    __init__ and kept in self, as it is: self.class_token = nn.Parameter(torch.zeros(embedding_dim)). What forward
    makes, or a plain list holds, is not learned.
        self.class_token.expand(len(tokens), 1, -1) → torch.zeros(len(tokens), 1, tokens.shape[2])

a plain tensor
    An optimiser trains what model.parameters() lists, and only an nn.Parameter is listed there.
        nn.Parameter(torch.zeros(num_patches + 1, embedding_dim)) → torch.zeros(num_patches + 1, embedding_dim)

cut off from training
    What gets no gradient keeps the numbers that it began with.
        + self.positions → + self.positions.data

N rows of positions for N + 1 tokens
    With the class token there are N + 1 tokens, and the table has N rows: num_patches + 1.
        torch.zeros(num_patches + 1, embedding_dim) → torch.zeros(num_patches, embedding_dim)

front end alone
    These are the tokens of the front end. Now join the class token, then add the positions.
        return … → return tokens

joined across images
    Without dim=1 the images are put one after the other, axis 0. The tokens lie along axis 1.
        dim=1 → dim=0

joined inside the tokens
    The last axis holds the D numbers of a token. The tokens lie along axis 1: dim=1.
        dim=1 → dim=2

LayerNorm behind
    There is a LayerNorm too many. The first one stands inside the first block, not here.
        self.front = front → self.front, self.norm = front, nn.LayerNorm(embedding_dim)
        return … → return self.norm(torch.cat([first, tokens], dim=1) + self.positions)

another Linear
    There is a Linear too many: what the front end gives are tokens of D numbers already.
        self.front = front → self.front, self.projection = front, nn.Linear(embedding_dim, embedding_dim)
        self.front(images) → self.projection(self.front(images))

one number for each place
    Each place got one number. A position is a row of D numbers: (num_patches + 1, embedding_dim).
        torch.zeros(num_patches + 1, embedding_dim) → torch.zeros(num_patches + 1, 1)

class token of one number
    The class token has one number, repeated. It is a row of D numbers: torch.zeros(embedding_dim).
        torch.zeros(embedding_dim) → torch.zeros(1)
        expand(len(tokens), 1, -1) → expand(len(tokens), 1, tokens.shape[2])

one position for all
    All tokens got the same row, so positions tell nothing: num_patches + 1 rows.
        num_patches + 1 → 1

tokens and numbers swapped
    The tokens stand in the columns: leave out the last transpose.
        return … → return (torch.cat([first, tokens], dim=1) + self.positions).transpose(1, 2)

tokens averaged
    The tokens were averaged. The transformer wants all N + 1.
        return … → return (torch.cat([first, tokens], dim=1) + self.positions).mean(1)

class token alone
    Only token 0 was returned. That comes last, behind the blocks.
        return … → return (torch.cat([first, tokens], dim=1) + self.positions)[:, 0]

class token in place of the first patch
    The class token took the place of patch 0. It is one more token, in front of all N.
        return … → return torch.cat([first, tokens[:, 1:]], dim=1) + self.positions[1:]

mean as class token
    The mean of the patches stands in front. The class token is a row of its own that is learned.
        self.class_token.expand(len(tokens), 1, -1) → tokens.mean(1, keepdim=True)

positions joined
    The positions were joined to the numbers of each token. They are added to them.
        return … → return torch.cat([torch.cat([first, tokens], dim=1), self.positions.expand(len(tokens), -1, -1)], 2)
""",
)


EXERCISE = Exercise(
    name="PatchTokens",
    solution=PatchTokens,
    cases=cases,
    result=Tensor,
    use=use,
    slack=1e-9,
    wrong=WRONG,
    hints=(
        "Three things to keep in __init__: the front end, one row for the class token, and a table of positions.",
        "self.class_token = nn.Parameter(torch.zeros(embedding_dim)), and positions with num_patches + 1 rows. In"
        " forward: front end, join, add.",
        "torch.cat([self.class_token.expand(len(tokens), 1, -1), tokens], dim=1) + self.positions",
    ),
    praise="Lessons 04 to 08 in one class, and the transformer below can use it.",
)
