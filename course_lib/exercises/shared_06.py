"""What several exercises of lesson 06 share."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from course_lib.exercises.model import NotAsked


# Layers are filled with numbers from a generator of their own and compared in float64, so that no rounding and
# no global random stream decides whether an answer is right.
def _fill(layer: nn.Module, seed: int) -> Any:
    generator = torch.Generator().manual_seed(seed)
    layer = layer.double()
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
    return layer


def _refuse_other_sizes(told: dict[str, Any], held: dict[str, Any]) -> None:
    """Raise NotAsked where what a layer says of its sizes is not what its weight has."""
    wrong = [name for name in told if told[name] != held[name]]
    if wrong:
        says = ", ".join(f"{name}={told[name]}" for name in wrong)
        fits = ", ".join(f"{name}={held[name]}" for name in wrong)
        raise NotAsked(
            f"the layer says {says}, but the weight that was put into it needs {fits}: make the layer with the right"
            " sizes at once"
        )


def _read_conv(conv: nn.Conv2d) -> dict[str, Any]:
    if conv.weight.ndim == 4 and conv.groups == 1:
        held = {
            "in_channels": conv.weight.shape[1],
            "out_channels": len(conv.weight),
            "kernel_size": tuple(conv.weight.shape[2:]),
        }
        _refuse_other_sizes({name: getattr(conv, name) for name in held}, held)
    return {
        "kernel_size": conv.kernel_size,
        "stride": conv.stride,
        "padding": conv.padding,
        "dilation": conv.dilation,
        "groups": conv.groups,
        "bias": "none" if conv.bias is None else conv.bias.detach(),
        "weight": conv.weight.detach(),
    }


def _conv(channels: int, dimension: int, kernel: Any, **settings: Any) -> nn.Conv2d:
    return _fill(nn.Conv2d(channels, dimension, kernel, **settings), seed=dimension)


def _changed_after(right, change):
    """The right answer, then changed by change(layer)."""

    def wrong(*args):
        layer = right(*args)
        with torch.no_grad():
            change(layer)
        return layer

    return wrong


def _without_bias(layer):
    layer.bias = None
