"""With the same weights the course's layers give the numbers of timm, vit-pytorch and transformers.

Sizes are drawn from a seed, orders are converted, and everything is computed in float64 where the peer allows it.
Needs tests/peers/requirements.txt.
"""

from __future__ import annotations

import random

import pytest
import torch
from torch import nn

from course_lib import embed, hybrid, patches, vit
from course_lib.reproducible import seeded

NEEDED = "is not installed: python -m pip install -r tests/peers/requirements.txt"
timm = pytest.importorskip("timm", reason=f"timm {NEEDED}")
vit_pytorch = pytest.importorskip("vit_pytorch", reason=f"vit-pytorch {NEEDED}")
transformers = pytest.importorskip("transformers", reason=f"transformers {NEEDED}")

SEEDS = pytest.mark.parametrize("seed", range(8))


def sizes(seed: int) -> dict[str, int]:
    """Sizes drawn from a seed; no two of them are equal by construction only."""
    draw = random.Random(seed)
    return {
        "channels": draw.choice([1, 2, 3, 5]),
        "patch": draw.choice([1, 2, 3, 4, 7]),
        "rows": draw.randint(2, 5),
        "columns": draw.randint(2, 5),
        "dimension": 4 * draw.randint(2, 9),
        "batch": draw.randint(1, 3),
    }


def images(size: dict[str, int], seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    shape = size["batch"], size["channels"], size["rows"] * size["patch"], size["columns"] * size["patch"]
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def same(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and torch.allclose(one, other, rtol=1e-10, atol=1e-10)


def ours(size: dict[str, int], seed: int) -> embed.LinearPatchEmbedding:
    with seeded(seed):
        return embed.LinearPatchEmbedding(size["channels"], size["patch"], size["dimension"]).double()


# ---------------------------------------------------------------- patch embeddings and conversions


@SEEDS
def test_patch_embedding_gives_the_numbers_of_timm(seed):
    size, linear = sizes(seed), ours(sizes(seed), seed)
    batch = images(size, seed)
    theirs = timm.layers.PatchEmbed(batch.shape[2:], size["patch"], size["channels"], size["dimension"]).double()
    conv = embed.conv_from_linear(linear.projection, size["channels"], size["patch"])
    theirs.proj.load_state_dict(conv.state_dict())
    assert same(theirs(batch), linear(batch))
    back = embed.linear_from_conv(theirs.proj)
    assert torch.equal(back.weight, linear.projection.weight) and torch.equal(back.bias, linear.projection.bias)


@SEEDS
def test_patch_embedding_gives_the_numbers_of_transformers(seed):
    size, linear = sizes(seed), ours(sizes(seed), seed)
    batch = images(size, seed)
    config = transformers.ViTConfig(
        image_size=tuple(batch.shape[2:]),
        patch_size=size["patch"],
        num_channels=size["channels"],
        hidden_size=size["dimension"],
        num_attention_heads=1,
    )
    theirs = transformers.models.vit.modeling_vit.ViTPatchEmbeddings(config).double()
    conv = embed.conv_from_linear(linear.projection, size["channels"], size["patch"])
    theirs.projection.load_state_dict(conv.state_dict())
    assert same(theirs(batch), linear(batch))


@SEEDS
def test_patch_embedding_gives_the_numbers_of_vit_pytorch_whose_rows_end_with_the_channel(seed):
    size, linear = sizes(seed), ours(sizes(seed), seed)
    batch = images(size, seed)
    model = vit_pytorch.ViT(
        image_size=tuple(batch.shape[2:]), patch_size=size["patch"], channels=size["channels"],
        dim=size["dimension"], num_classes=2, depth=1, heads=1, mlp_dim=4,
    )  # fmt: skip
    cut, _, projection, _ = model.double().to_patch_embedding
    rows = patches.patchify(batch, size["patch"])
    assert torch.equal(cut(batch), patches.channels_last(rows, size["patch"], size["channels"]))
    turned = embed.channels_last_weight(linear.projection.weight, size["channels"], size["patch"])
    projection.load_state_dict({"weight": turned, "bias": linear.projection.bias})
    assert same(projection(cut(batch)), linear(batch))


# ---------------------------------------------------------------- positions


@SEEDS
def test_positions_are_resized_as_timm_does_without_antialias(seed):
    draw = random.Random(seed)
    old, new = ((draw.randint(2, 9), draw.randint(2, 9)) for _ in range(2))
    table = torch.randn(1 + old[0] * old[1], 12, generator=torch.Generator().manual_seed(seed))
    resized = timm.layers.resample_abs_pos_embed(table[None], list(new), list(old), antialias=False)[0]
    assert torch.allclose(embed.resize_positions(table, old, new), resized, atol=1e-6)


@SEEDS
def test_positions_are_resized_as_transformers_does(seed):
    draw = random.Random(seed)
    side, patch, new = draw.randint(2, 7), 4, (draw.randint(2, 9), draw.randint(2, 9))
    config = transformers.ViTConfig(image_size=side * patch, patch_size=patch, hidden_size=12, num_attention_heads=1)
    theirs = transformers.models.vit.modeling_vit.ViTEmbeddings(config)
    nn.init.normal_(theirs.position_embeddings)
    given = torch.zeros(1, 1 + new[0] * new[1], 12)
    resized = theirs.interpolate_pos_encoding(given, new[0] * patch, new[1] * patch)[0]
    table = theirs.position_embeddings[0]
    assert torch.allclose(embed.resize_positions(table, (side, side), new), resized, atol=1e-6)


# ---------------------------------------------------------------- the hybrid


@SEEDS
def test_the_hybrid_gives_the_numbers_of_timm(seed):
    draw = random.Random(seed)
    patch, channels, dimension = draw.choice([1, 2]), draw.choice([1, 3]), draw.randint(5, 20)
    side = 4 * patch * draw.randint(1, 3)
    with seeded(seed):
        stem = hybrid.small_stem(channels, (8, 12)).eval()
        theirs = timm.layers.HybridEmbed(stem, side, patch, in_chans=channels, embed_dim=dimension).eval().double()
        mine = hybrid.HybridEmbedding(stem, 12, patch, dimension).eval().double()
    theirs.proj.load_state_dict(mine.projection.projection.state_dict())
    batch = torch.randn(2, channels, side, side, generator=torch.Generator().manual_seed(seed)).double()
    assert same(theirs(batch), mine(batch))
    assert mine(batch).shape[1] == hybrid.hybrid_tokens(side, 4, patch) == theirs.num_patches


# ---------------------------------------------------------------- the small transformer


def small(seed: int, *, query_bias: bool) -> tuple[vit.VisionTransformer, dict[str, int], torch.Tensor]:
    """Our transformer with random weights, its sizes, and images for it."""
    draw = random.Random(seed)
    size = {**sizes(seed), "depth": draw.randint(1, 3), "heads": draw.choice([1, 2, 4]), "hidden": draw.randint(5, 40)}
    size["rows"] = size["columns"]
    with seeded(seed):
        front = embed.ConvPatchEmbedding(size["channels"], size["patch"], size["dimension"])
        tokens = vit.PatchTokens(front, size["rows"] ** 2, size["dimension"])
        model = vit.VisionTransformer(
            tokens, dimension=size["dimension"], depth=size["depth"], heads=size["heads"], hidden=size["hidden"],
            classes=7,
        )  # fmt: skip
        for parameter in model.parameters():
            nn.init.normal_(parameter, std=0.3)
    for block in model.blocks:
        if not query_bias:
            nn.init.zeros_(block.attention.to_qkv.bias)
    return model.double().eval(), size, images(size, seed)


@SEEDS
def test_the_small_transformer_gives_the_numbers_of_timm(seed):
    model, size, batch = small(seed, query_bias=True)
    theirs = timm.models.VisionTransformer(
        img_size=batch.shape[2], patch_size=size["patch"], in_chans=size["channels"], num_classes=7,
        embed_dim=size["dimension"], depth=size["depth"], num_heads=size["heads"],
        mlp_ratio=size["hidden"] / size["dimension"],
    ).double().eval()  # fmt: skip
    names = {
        "embedding.front.projection": "patch_embed.proj", "embedding.class_token": "cls_token",
        "embedding.positions": "pos_embed", "attention.to_qkv": "attn.qkv", "attention.out": "attn.proj",
        "mlp.0": "mlp.fc1", "mlp.2": "mlp.fc2",
    }  # fmt: skip
    theirs.load_state_dict(renamed(model, names, theirs))
    assert same(theirs(batch), model(batch))


@SEEDS
def test_the_small_transformer_gives_the_numbers_of_vit_pytorch(seed):
    model, size, batch = small(seed, query_bias=False)  # theirs has none
    theirs = vit_pytorch.ViT(
        image_size=batch.shape[2], patch_size=size["patch"], channels=size["channels"], num_classes=7,
        dim=size["dimension"], depth=size["depth"], heads=size["heads"], mlp_dim=size["hidden"],
        dim_head=size["dimension"] // size["heads"],
    )  # fmt: skip
    cut, _, projection, _ = theirs.to_patch_embedding
    theirs.to_patch_embedding = nn.Sequential(cut, projection)  # without the norms that the paper has not
    for attention, _ in theirs.transformer.layers:  # with one head they leave out the last projection
        attention.to_out = nn.Sequential(nn.Linear(size["dimension"], size["dimension"]), nn.Identity())
    for norm in (part for part in theirs.modules() if isinstance(part, nn.LayerNorm)):
        norm.eps = 1e-6
    theirs = theirs.double().eval()
    conv = model.embedding.front.projection
    by_pixel = embed.channels_last_weight(conv.weight.flatten(1), size["channels"], size["patch"])
    pairs = [(projection, {"weight": by_pixel, "bias": conv.bias}), (theirs.transformer.norm, model.norm.state_dict())]
    pairs.append((theirs.mlp_head, model.head.state_dict()))
    for (attention, network), block in zip(theirs.transformer.layers, model.blocks, strict=True):
        pairs += [(attention.norm, block.norm1.state_dict()), (network.net[0], block.norm2.state_dict())]
        pairs += [(attention.to_qkv, {"weight": block.attention.to_qkv.weight})]
        pairs += [(attention.to_out[0], block.attention.out.state_dict())]
        pairs += [(network.net[1], block.mlp[0].state_dict()), (network.net[4], block.mlp[2].state_dict())]
    for part, state in pairs:
        part.load_state_dict(state)
    with torch.no_grad():
        theirs.cls_token.copy_(model.embedding.class_token)
        theirs.pos_embedding.copy_(model.embedding.positions)
    assert same(theirs(batch), model(batch))


def renamed(model: nn.Module, names: dict[str, str], other: nn.Module) -> dict[str, torch.Tensor]:
    """The numbers of `model` under the names of `other`, in its shapes."""
    state = {}
    for name, numbers in model.state_dict().items():
        for mine, theirs in names.items():
            name = name.replace(mine, theirs)
        state[name] = numbers.reshape(other.state_dict()[name].shape)
    return state
