"""Benchmark: the three front ends of lesson 10 with several seeds. Run it with `python -m tests.tools.bench_digits`.

Prints held-out accuracy, parameters and seconds of training, and beside them what a nearest neighbour reaches.
"""

from __future__ import annotations

import statistics
import sys

import torch

from course_lib import data, embed, hybrid, vit
from course_lib.reproducible import seeded


def stem_and_projection() -> hybrid.HybridEmbedding:
    return hybrid.HybridEmbedding(hybrid.small_stem(1, (16, 32, 48)), 48, patch_size=1, embedding_dim=64)


FRONTS = {  # name -> front end, epochs: a quarter more than in the lesson, whose cells are to end within 10 s
    "linear": (lambda: embed.LinearPatchEmbedding(1, 7, 64), 30),
    "convolution": (lambda: embed.ConvPatchEmbedding(1, 7, 64), 30),
    "hybrid": (stem_and_projection, 20),
}


def main(seeds: int) -> None:
    digits = data.digits(size=28)
    held_out = (digits.test_images, digits.test_labels)
    for name, (front, epochs) in FRONTS.items():
        shares, seconds = [], []
        for seed in range(seeds):
            with seeded(seed):
                tokens = vit.PatchTokens(front(), num_patches=16, embedding_dim=64)
                model = vit.VisionTransformer(tokens, dimension=64, depth=2, heads=4, hidden=128, classes=10)
            history = vit.train(
                model, digits.train_images, digits.train_labels, epochs=epochs, held_out=held_out, seed=seed
            )
            shares.append(history.accuracies[-1])
            seconds.append(history.seconds)
        count = sum(parameter.numel() for parameter in model.parameters())
        each = " ".join(f"{share:.1%}" for share in shares)
        print(
            f"{name:12} mean {statistics.mean(shares):.2%} ({each}), {count:,} parameters, {epochs} epochs,"
            f" {statistics.median(seconds):.1f} s ({min(seconds):.1f} to {max(seconds):.1f})",
            flush=True,
        )
    distances = torch.cdist(digits.test_images.flatten(1), digits.train_images.flatten(1))
    closest = digits.train_labels[distances.argmin(dim=1)]
    print(f"nearest neighbour {(closest == digits.test_labels).double().mean():.2%}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
