"""A vision transformer, small enough to be read in one sitting (lesson 10).

Pre-norm encoder after Dosovitskiy et al., "An Image is Worth 16x16 Words" (2021). With the weights of
torchvision.models.VisionTransformer copied in, it gives the same numbers.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.embed import ConvPatchEmbedding, add_positions, prepend_class_token
from course_lib.letters import check_sizes
from course_lib.reproducible import one_thread, whole_or_not_at_all


class Attention(nn.Module):
    """Multi-head self-attention: (B, T, D) -> (B, T, D). Each head works on D / heads numbers of a token.

    Written out as lesson 07 has it, which for a few short sequences is no slower than torch's fused kernel.
    """

    def __init__(self, dimension: int, heads: int) -> None:
        super().__init__()
        check_sizes(dimension=dimension, heads=heads)
        if dimension % heads:
            raise ValueError(f"dimension {dimension} is not a multiple of the number of heads {heads}")
        self.heads = heads
        self.to_qkv = nn.Linear(dimension, 3 * dimension)
        self.out = nn.Linear(dimension, dimension)

    def split(self, tokens: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Query, key and value, each (B, heads, T, D / heads)."""
        return self.to_qkv(tokens).unflatten(2, (3, self.heads, -1)).permute(2, 0, 3, 1, 4).unbind(0)

    def weights(self, query: Tensor, key: Tensor) -> Tensor:
        """(B, heads, T, T): how much each token (row) takes of each other (column); rows sum to 1."""
        return (query @ key.transpose(2, 3) / query.shape[-1] ** 0.5).softmax(dim=-1)

    def forward(self, tokens: Tensor) -> Tensor:
        query, key, value = self.split(tokens)
        mixed = self.weights(query, key) @ value
        return self.out(mixed.transpose(1, 2).flatten(2))


class Block(nn.Module):
    """One layer of the encoder: attention, then a small network for each token; each added to what comes in."""

    def __init__(self, dimension: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dimension, eps=1e-6), nn.LayerNorm(dimension, eps=1e-6)
        self.attention = Attention(dimension, heads)
        self.mlp = nn.Sequential(nn.Linear(dimension, hidden), nn.GELU(), nn.Linear(hidden, dimension))

    def forward(self, tokens: Tensor) -> Tensor:
        tokens = tokens + self.attention(self.norm1(tokens))
        return tokens + self.mlp(self.norm2(tokens))


class PatchTokens(nn.Module):
    """images -> front end (B, N, D) -> class token in front, positions added: (B, N + 1, D).

    `front` is any module that makes `num_patches` tokens of `embedding_dim` numbers: linear, convolution or hybrid.
    """

    def __init__(self, front: nn.Module, num_patches: int, embedding_dim: int) -> None:
        super().__init__()
        check_sizes(num_patches=num_patches, embedding_dim=embedding_dim)
        self.front = front
        self.class_token = nn.Parameter(torch.zeros(embedding_dim))
        self.positions = nn.Parameter(0.02 * torch.randn(num_patches + 1, embedding_dim))

    def forward(self, images: Tensor) -> Tensor:
        return add_positions(prepend_class_token(self.front(images), self.class_token), self.positions)


class VisionTransformer(nn.Module):
    """images -> tokens (B, N + 1, D) -> blocks -> scores (B, classes), read off token 0.

    `embedding` is any module that makes the tokens, the class token at index 0: PatchTokens, or a learner's own.
    """

    def __init__(
        self, embedding: nn.Module, *, dimension: int, depth: int, heads: int, hidden: int, classes: int
    ) -> None:
        super().__init__()
        check_sizes(dimension=dimension, depth=depth, heads=heads, hidden=hidden, classes=classes)
        self.embedding = embedding
        # Any: to a type checker each part of a module may be a tensor.
        self.blocks: Any = nn.Sequential(*(Block(dimension, heads, hidden) for _ in range(depth)))
        self.norm = nn.LayerNorm(dimension, eps=1e-6)
        self.head = nn.Linear(dimension, classes)

    def forward(self, images: Tensor) -> Tensor:
        return self.head(self.norm(self.blocks(self.embedding(images)))[:, 0])

    @torch.no_grad()
    def attention_weights(self, images: Tensor) -> Tensor:
        """(depth, B, heads, N + 1, N + 1): the attention of every layer."""
        tokens, weights = self.embedding(images), []
        for block in self.blocks:
            query, key, _ = block.attention.split(block.norm1(tokens))
            weights.append(block.attention.weights(query, key))
            tokens = block(tokens)
        return torch.stack(weights)


def from_torchvision(model: nn.Module) -> VisionTransformer:
    """Our transformer with the numbers of a torchvision.models.VisionTransformer, in its dtype, on its device.

    A ValueError names what ours has no counterpart for. Dropout does nothing in evaluation and is left out.
    """
    _refuse_what_ours_lacks(model)
    theirs: Any = model
    conv, layers = theirs.conv_proj, theirs.encoder.layers
    with torch.device("meta"):  # shapes only: every number is replaced, and no random number is drawn
        front = ConvPatchEmbedding(conv.in_channels, theirs.patch_size, theirs.hidden_dim)
        embedding = PatchTokens(front, theirs.seq_length - 1, theirs.hidden_dim)
        ours = VisionTransformer(
            embedding,
            dimension=theirs.hidden_dim,
            depth=len(layers),
            heads=layers[0].num_heads,
            hidden=theirs.mlp_dim,
            classes=theirs.heads.head.out_features,
        )
    ours = ours.to(conv.weight.dtype).to_empty(device=conv.weight.device)
    pairs = [(front.projection, conv), (ours.norm, theirs.encoder.ln), (ours.head, theirs.heads.head)]
    for block, layer in zip(ours.blocks, layers, strict=True):
        pairs += [(block.norm1, layer.ln_1), (block.attention.out, layer.self_attention.out_proj)]
        pairs += [(block.norm2, layer.ln_2), (block.mlp[0], layer.mlp[0]), (block.mlp[2], layer.mlp[3])]
    with torch.no_grad():
        for our, their in pairs:
            our.load_state_dict(their.state_dict())
            if isinstance(our, nn.LayerNorm):
                our.eps = their.eps
        for block, layer in zip(ours.blocks, layers, strict=True):
            block.attention.to_qkv.weight.copy_(layer.self_attention.in_proj_weight)
            block.attention.to_qkv.bias.copy_(layer.self_attention.in_proj_bias)
        embedding.class_token.copy_(theirs.class_token[0, 0])
        embedding.positions.copy_(theirs.encoder.pos_embedding[0])
    return ours.train(model.training)


def _refuse_what_ours_lacks(model: nn.Module) -> None:
    from torchvision.models import VisionTransformer as Theirs

    if not isinstance(model, Theirs):
        raise TypeError(f"expected a torchvision.models.VisionTransformer, got {type(model).__name__}")
    lacking = {
        "a stem of several convolutions": not isinstance(model.conv_proj, nn.Conv2d),
        "a head of several layers": len(model.heads) != 1,
        "norms other than LayerNorm": not isinstance(model.encoder.ln, nn.LayerNorm),
        "dropout in training (call eval() on it first)": model.training and model.dropout + model.attention_dropout,
    }
    named = [name for name, there in lacking.items() if there]
    if named:
        raise ValueError(f"this model has {' and '.join(named)}, which ours has not: its scores would differ")


def vit_parameters(
    *, channels: int, patch_size: int, image_size: int, dimension: int, depth: int, hidden: int, classes: int
) -> int:
    """How many numbers a vision transformer learns, counted part by part."""
    check_sizes(channels=channels, patch_size=patch_size, image_size=image_size, dimension=dimension)
    check_sizes(depth=depth, hidden=hidden, classes=classes)
    if image_size % patch_size:
        raise ValueError(f"image size {image_size} is not a multiple of patch size {patch_size}")
    tokens = (image_size // patch_size) ** 2
    front = channels * patch_size**2 * dimension + dimension
    places = dimension + (tokens + 1) * dimension  # class token, positions
    attention = 4 * (dimension * dimension + dimension)  # query, key, value, output
    network = dimension * hidden + hidden + hidden * dimension + dimension
    norms = 2 * 2 * dimension
    head = 2 * dimension + dimension * classes + classes  # last norm, scores
    return front + places + depth * (attention + network + norms) + head


@dataclass
class History:
    """What a training tells: mean loss and held-out accuracy of each epoch, and seconds in all."""

    losses: list[float] = field(default_factory=list)
    accuracies: list[float] = field(default_factory=list)
    seconds: float = 0.0


def _check_labels(images: Tensor, labels: Tensor) -> None:
    # A comparison would stretch labels (n, 1) to n × n answers, and a training leave surplus labels out.
    if len(images) == 0 or labels.shape != (len(images),):
        raise ValueError(
            f"expected one label for each image and at least one image, got labels {tuple(labels.shape)} for"
            f" {len(images)} images"
        )


def accuracy(model: nn.Module, images: Tensor, labels: Tensor) -> float:
    """Share of images whose largest score is that of their label; ValueError where there is not one label for each."""
    _check_labels(images, labels)
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            return (model(images).argmax(dim=1) == labels).double().mean().item()
    finally:
        model.train(was_training)


@one_thread()
def train(
    model: nn.Module,
    images: Tensor,
    labels: Tensor,
    *,
    epochs: int,
    held_out: tuple[Tensor, Tensor] | None = None,
    batch_size: int = 64,
    rate: float = 2e-3,
    decay: float = 0.05,
    seed: int = 0,
    device: str = "cpu",
    progress: Callable[[int, int], None] | None = None,
) -> History:
    """Train by AdamW with a rate that rises for a tenth of the steps and then falls to 0; returns the history.

    `progress(done, all)` is told each step. The order of the images comes from `seed`. Interrupted, it leaves the
    model as it was.
    """
    check_sizes(epochs=epochs, batch_size=batch_size)
    _check_labels(images, labels)
    if held_out is not None:
        _check_labels(*held_out)
    model.to(device)
    images, labels = images.to(device), labels.to(device)
    steps = epochs * -(-len(images) // batch_size)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=decay, fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=rate, total_steps=steps, pct_start=0.1)
    generator, history, start, done = torch.Generator().manual_seed(seed), History(), time.perf_counter(), 0
    with whole_or_not_at_all(model):
        model.train()
        for _ in range(epochs):
            total = 0.0
            for batch in torch.randperm(len(images), generator=generator).split(batch_size):
                loss = F.cross_entropy(model(images[batch]), labels[batch], label_smoothing=0.1)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                schedule.step()
                total, done = total + loss.item() * len(batch), done + 1
                if progress:
                    progress(done, steps)
            history.losses.append(total / len(images))
            if held_out is not None:
                history.accuracies.append(accuracy(model, held_out[0].to(device), held_out[1].to(device)))
    history.seconds = time.perf_counter() - start
    return history
