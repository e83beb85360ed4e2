"""Layers of torch in exercises: with known numbers in them, and what is read off a learner's layer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from course_lib.exercises.model import Case, NotAsked, random_numbers


def fill(layer: nn.Module, seed: int) -> Any:
    """The layer in float64, its numbers from a generator of their own: no rounding and no global random stream
    decides whether an answer is right."""
    generator = torch.Generator().manual_seed(seed)
    layer = layer.double()
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
    return layer


def refuse_what_is_no_layer(made: Any, name: str) -> None:
    """Raise NotAsked where a learner's class of that name is not derived from nn.Module."""
    if not isinstance(made, nn.Module):
        raise NotAsked(f"what came is no layer of torch: begin with class {name}(nn.Module)")


def read_conv(conv: nn.Conv2d) -> dict[str, Any]:
    """What makes one convolution equal to another."""
    if conv.weight.ndim == 4 and conv.groups == 1:
        held = {
            "in_channels": conv.weight.shape[1],
            "out_channels": len(conv.weight),
            "kernel_size": tuple(conv.weight.shape[2:]),
        }
        refuse_other_sizes({name: getattr(conv, name) for name in held}, held)
    return {
        "kernel_size": conv.kernel_size,
        "stride": conv.stride,
        "padding": conv.padding,
        "dilation": conv.dilation,
        "groups": conv.groups,
        "trainable": trainable(conv),
        "bias": "none" if conv.bias is None else conv.bias.detach(),
        "weight": conv.weight.detach(),
    }


def trainable(layer: nn.Module) -> bool:
    """Whether all parameters of a layer learn."""
    return all(parameter.requires_grad for parameter in layer.parameters())


def refuse_shared_numbers(made: Any, case: Case) -> Any:
    """What was made, where it has numbers of its own; raises NotAsked where training it would move a layer given."""
    given = [part for part in case.args if isinstance(part, nn.Module)]
    theirs = {parameter.untyped_storage().data_ptr() for layer in given for parameter in layer.parameters()}
    for name, parameter in made.named_parameters() if isinstance(made, nn.Module) else ():
        if parameter.untyped_storage().data_ptr() in theirs:
            raise NotAsked(
                f"the {name} of your layer lies in the memory of the layer that it was made from: a step of one would"
                " move the other too. Copy the numbers: copy_(...) under no_grad, or nn.Parameter(….detach().clone())"
            )
    return made


def refuse_other_sizes(told: dict[str, Any], held: dict[str, Any]) -> None:
    """Raise NotAsked where what a layer says of its sizes is not what its weight has."""
    wrong = [name for name in told if told[name] != held[name]]
    if wrong:
        says = ", ".join(f"{name}={told[name]}" for name in wrong)
        fits = ", ".join(f"{name}={held[name]}" for name in wrong)
        raise NotAsked(
            f"the layer says {says}, but the weight that was put into it has {fits}: either the layer was made with"
            " other sizes, or the weight is turned"
        )


def fill_projection(parameters: Iterable[Tensor], length: int, dimension: int) -> None:
    """Give a projection of patches, whatever its layers are called, known numbers: `length` -> `dimension`.

    What fits nowhere gets known numbers too, so that a wrong answer is wrong in the same way each time.
    """
    weight, bias = random_numbers(dimension, length, seed=dimension), random_numbers(dimension, seed=length)
    with torch.no_grad():
        for parameter in parameters:
            if parameter.shape == (length, dimension):  # the matrix E of the paper stands turned
                parameter.copy_(weight.T)
                continue
            fitting = [values for values in (weight, bias) if values.numel() == parameter.numel()]
            values = fitting[0] if fitting else torch.linspace(-1, 1, parameter.numel(), dtype=torch.float64)
            parameter.copy_(values.reshape(parameter.shape))


def refuse_without_gradient(result: Tensor, right: Tensor) -> None:
    """Raise NotAsked where the right numbers came without a gradient: the layer would never learn."""
    if result.shape == right.shape and result.dtype == right.dtype and torch.allclose(result, right):
        raise NotAsked(
            "the numbers are right, but no gradient reaches the layer: it would never learn. Leave out what cuts it"
            " off: .data, .detach() or no_grad"
        )


def receives_gradient(tensor: Tensor, result: Tensor) -> bool:
    """Whether a gradient of the result arrives at a tensor that learns."""
    if not (result.requires_grad and tensor.requires_grad):
        return False
    return torch.autograd.grad(result.sum(), tensor, retain_graph=True, allow_unused=True)[0] is not None
