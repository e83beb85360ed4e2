"""Benchmark against other libraries, as ratios. Run it on a quiet machine with `python -m tests.peers.bench`.

All ways of one row run in turn in one process; a figure is the ratio of two medians of 30. Words behind the command
choose parts: patches, split, lookup, words, digits. Needs tests/peers/requirements.txt.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from functools import partial

import gensim
import timm
import torch
import transformers
import vit_pytorch
from einops import rearrange
from torch import Tensor, nn

from course_lib import data, embed, hybrid, patches, skipgram, tiny_world, vit, words
from course_lib.measure import seconds
from course_lib.reproducible import one_thread, seeded

RUNS = 30
SHAPES = {  # images, patch size, embedding dimension
    "1 × 3 × 224 × 224, P 16, D 768": ((1, 3, 224, 224), 16, 768),
    "32 × 3 × 224 × 224, P 16, D 768": ((32, 3, 224, 224), 16, 768),
    "64 × 1 × 28 × 28, P 7, D 64": ((64, 1, 28, 28), 7, 64),
    "64 × 3 × 72 × 72, P 6, D 64": ((64, 3, 72, 72), 6, 64),
    "map 32 × 1024 × 14 × 14, P 1, D 768": ((32, 1024, 14, 14), 1, 768),
}


def medians(ways: dict[str, Callable[[], object]], runs: int = RUNS) -> dict[str, float]:
    """Median seconds of each way, all run in turn."""
    return {name: statistics.median(taken) for name, taken in seconds(ways, runs).items()}


def layers(shape: tuple[int, ...], patch: int, dimension: int) -> dict[str, nn.Module]:
    """Ours and theirs for images of this shape; the peers' layers without norms, which only vit-pytorch has."""
    channels, sides = shape[1], shape[2:]
    config = transformers.ViTConfig(
        image_size=sides, patch_size=patch, num_channels=channels, hidden_size=dimension, num_attention_heads=1
    )
    model = vit_pytorch.ViT(
        image_size=sides, patch_size=patch, channels=channels, dim=dimension, num_classes=2, depth=1, heads=1, mlp_dim=4
    )
    cut, _, projection, _ = model.to_patch_embedding
    return {
        "ours, linear": embed.LinearPatchEmbedding(channels, patch, dimension),
        "ours, conv": embed.ConvPatchEmbedding(channels, patch, dimension),
        "timm": timm.layers.PatchEmbed(sides, patch, channels, dimension),
        "transformers": transformers.models.vit.modeling_vit.ViTPatchEmbeddings(config),
        "vit-pytorch": nn.Sequential(cut, projection),
    }


def bench_patches() -> None:
    print(f"patch embeddings, {torch.get_num_threads()} threads: seconds as ratio to the fastest peer")
    for label, (shape, patch, dimension) in SHAPES.items():
        images, made = torch.rand(shape), layers(shape, patch, dimension)
        for kind, run in (("forward", forward), ("forward and backward", backward)):
            middle = medians({name: partial(run, layer, images) for name, layer in made.items()})
            fastest = min(taken for name, taken in middle.items() if not name.startswith("ours"))
            told = ", ".join(f"{name} {taken / fastest:.2f}" for name, taken in middle.items())
            print(f"  {label}, {kind} ({fastest * 1e3:.2f} ms): {told}", flush=True)


@torch.no_grad()
def forward(layer: nn.Module, images: Tensor) -> None:
    layer(images)


def backward(layer: nn.Module, images: Tensor) -> None:
    layer.zero_grad()
    layer(images).sum().backward()


def unfold(images: Tensor, patch: int) -> Tensor:
    return nn.functional.unfold(images, patch, stride=patch).transpose(1, 2).contiguous()


def bench_split() -> None:
    print("cutting into patches, 1 thread: seconds as ratio to a copy of the same bytes")
    order = "b c (h p) (w q) -> b (h w) (c p q)"
    with one_thread():
        for label, (shape, patch, _) in SHAPES.items():
            images = torch.rand(shape)
            ways = {
                "copy": images.clone,
                "patchify": partial(patches.patchify, images, patch),
                "einops": partial(rearrange, images, order, p=patch, q=patch),
                "unfold": partial(unfold, images, patch),
            }
            tell(label, medians(ways), "copy")


def bench_lookup() -> None:
    print("looking up 256 tokens, 1 thread: seconds as ratio to torch.nn.functional.embedding")
    looks = {
        "F.embedding": nn.functional.embedding,
        "by index": embed.lookup_by_index,
        "by matmul": embed.lookup_by_matmul,
    }
    with one_thread():
        for vocabulary, dimension in ((100, 64), (5_000, 64), (50_000, 64)):
            weight, ids = torch.randn(vocabulary, dimension), torch.randint(vocabulary, (256,))
            ways = {name: partial(look, ids, weight) for name, look in looks.items()}
            tell(f"{vocabulary:,} words, {dimension} numbers", medians(ways, runs=10), "F.embedding")


def tell(label: str, middle: dict[str, float], first: str) -> None:
    print(
        f"  {label}: {', '.join(f'{name} {taken / middle[first]:.2f}' for name, taken in middle.items())}", flush=True
    )


def bench_words() -> None:
    """Tokens a second and the share of the three nearest that are of the same kind, on the small world."""
    sentences = [words.tokenize(sentence)[:-1] for sentence in data.tiny_world()]
    vocabulary = words.build_vocabulary(sorted({word for sentence in sentences for word in sentence}))
    groups = tiny_world.GROUPS
    tokens, epochs = sum(map(len, sentences)), 5
    with one_thread():
        start = time.perf_counter()
        pairs = skipgram.skip_gram_pairs([[vocabulary[word] for word in sentence] for sentence in sentences], window=3)
        learned = skipgram.train(pairs, len(vocabulary), embedding_dim=24, epochs=epochs)
        own = time.perf_counter() - start
    start = time.perf_counter()
    model = gensim.models.Word2Vec(
        sentences, vector_size=24, window=3, negative=5, sg=1, epochs=epochs, workers=1, min_count=1, sample=0, seed=1
    )
    theirs = time.perf_counter() - start
    table = torch.tensor(model.wv[list(vocabulary)])
    print(f"skip-gram on the small world, {tokens:,} tokens, {epochs} epochs, 24 numbers, window 3")
    for name, weight, took in (("ours", learned.weight, own), ("gensim", table, theirs)):
        share = skipgram.share_in_group(weight, vocabulary, groups)
        speed = epochs * tokens / took
        print(f"  {name}: {speed:,.0f} tokens a second ({theirs / took:.2f} of gensim), {share:.1%} of the nearest")


def bench_digits() -> None:
    """Seconds until 95 % of the held-out digits are right, all trained alike by vit.train."""
    print("digits, 28 × 28, P 7, dimension 64, depth 2: seconds to 95 % held out, three seeds; best within 30 epochs")
    digits = data.digits(size=28)
    sizes = {"dimension": 64, "depth": 2, "heads": 4, "hidden": 128, "classes": 10}
    stem = lambda: hybrid.HybridEmbedding(hybrid.small_stem(1, (16, 32, 48)), 48, 1, 64)  # noqa: E731
    fronts = {"ours, linear": lambda: embed.LinearPatchEmbedding(1, 7, 64), "ours, hybrid": stem}
    makers = {
        name: lambda front=front: vit.VisionTransformer(vit.PatchTokens(front(), 16, 64), **sizes)
        for name, front in fronts.items()
    }
    makers["timm"] = lambda: timm.models.VisionTransformer(
        img_size=28, patch_size=7, in_chans=1, num_classes=10, embed_dim=64, depth=2, num_heads=4, mlp_ratio=2
    )
    makers["vit-pytorch"] = lambda: vit_pytorch.ViT(
        image_size=28, patch_size=7, channels=1, num_classes=10, dim=64, depth=2, heads=4, dim_head=16, mlp_dim=128
    )
    held_out = (digits.test_images, digits.test_labels)
    for name, make in makers.items():
        reached, best = [], []
        for seed in range(3):
            with seeded(seed):
                model = make()
            history = vit.train(
                model, digits.train_images, digits.train_labels, epochs=30, held_out=held_out, seed=seed
            )
            first = next((epoch for epoch, share in enumerate(history.accuracies, 1) if share >= 0.95), None)
            reached.append(f"{first / 30 * history.seconds:.1f}" if first else "never")
            best.append(max(history.accuracies))
        print(f"  {name}: {', '.join(reached)} s; best {', '.join(f'{share:.1%}' for share in best)}", flush=True)


PARTS = {
    "patches": bench_patches,
    "split": bench_split,
    "lookup": bench_lookup,
    "words": bench_words,
    "digits": bench_digits,
}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
