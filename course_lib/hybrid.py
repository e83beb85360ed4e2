"""The hybrid: a CNN first, then the projection of patches of its feature map (lesson 08).

After Dosovitskiy et al., "An Image is Worth 16x16 Words" (2021), section 3.1, and He et al., "Deep Residual
Learning for Image Recognition" (2016).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from course_lib.embed import ConvPatchEmbedding
from course_lib.letters import both_sides, positive_int, whole_number
from course_lib.patches import check_images, check_tensor
from course_lib.reproducible import seeded


class HybridEmbedding(nn.Module):
    """images (B, C, H, W) -> stem -> map (B, M, h, w) -> projection of its patches -> tokens (B, N, D).

    `patch_size` counts cells of the map, not pixels. Raises ValueError where the map has another number of
    channels than `stem_channels`, or sides that are no multiple of the patch size.
    """

    def __init__(self, stem: nn.Module, stem_channels: int, patch_size: int, embedding_dim: int) -> None:
        super().__init__()
        self.stem = stem
        self.projection = ConvPatchEmbedding(stem_channels, patch_size, embedding_dim)

    def forward(self, images: Tensor) -> Tensor:
        check_images(images)
        return self.projection(self.stem(images))


def hybrid_tokens(image_size: int | tuple[int, int], stem_stride: int, patch_size: int) -> int:
    """Number of tokens: image_size is a side or (height, width) in pixels, patch_size counts cells of the map.

    Raises ValueError where a side is no multiple of stem_stride · patch_size pixels.
    """
    height, width = both_sides("image_size", image_size)
    step = positive_int("stem_stride", stem_stride) * positive_int("patch_size", patch_size)
    told = [
        f"image {name} {side} is not a multiple of {step} pixels, {patch_size} cells of {stem_stride} pixels: use"
        f" {f'{side // step * step} or ' * (side >= step)}{(side // step + 1) * step}"
        for name, side in (("height", height), ("width", width))
        if side % step
    ]
    if told:
        raise ValueError("; ".join(told))
    return (height // step) * (width // step)


def pixelwise_linear(features: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """One linear layer at every place of a map: (B, C, H, W), (D, C), (D,) -> (B, D, H, W), as a 1 × 1 convolution."""
    check_images(features)
    check_tensor("weight", weight, "(D, C)")
    check_tensor("bias", bias, "(D,)")
    if weight.ndim != 2 or weight.shape[1] != features.shape[1] or bias.shape != weight.shape[:1]:
        raise ValueError(
            f"a map of {features.shape[1]} channels needs a weight (D, {features.shape[1]}) and a bias (D,), got"
            f" {tuple(weight.shape)} and {tuple(bias.shape)}"
        )
    return (features.movedim(1, -1) @ weight.T + bias).movedim(-1, 1)


def receptive_field(layers: Sequence[tuple[int, int]]) -> int:
    """Side in pixels of what one cell sees after layers of (kernel, stride), the first layer first.

    A kernel of k cells adds k − 1 steps, and a step is as many pixels as all strides before it multiplied.
    """
    side, step = 1, 1
    for kernel, stride in layers:
        side += (positive_int("kernel", kernel) - 1) * step
        step *= positive_int("stride", stride)
    return side


ONE_CELL: tuple[type[nn.Module], ...]
ONE_CELL = (nn.Identity, nn.Sequential, nn.BatchNorm2d, nn.LocalResponseNorm, nn.Dropout, nn.Dropout2d)
ONE_CELL += (nn.ReLU, nn.ReLU6, nn.LeakyReLU, nn.PReLU, nn.ELU, nn.GELU, nn.SiLU, nn.Hardswish, nn.Sigmoid, nn.Tanh)


def windows(module: nn.Module) -> list[tuple[int, int, int]]:
    """(kernel, stride, padding) of the convolutions and poolings on the longest way through a CNN.

    With a dilation the kernel is what it spans. Layers have to stand in the order of their use; a part named
    downsample inside a block, as in a ResNet, is the shorter way and is left out; what a forward does by functions,
    without a layer, is not seen. Batch norm counts as in evaluation. A ValueError names a layer that has no square
    window, or of which it is not known what a cell sees.
    """
    parts = dict(module.named_modules(remove_duplicate=False))
    blocks = [name for name, part in parts.items() if not isinstance(part, nn.Sequential)]
    beside = tuple(f"{name}.downsample.".lstrip(".") for name in blocks)
    found = []
    for name, layer in parts.items():
        if f"{name}.".startswith(beside):
            continue
        if isinstance(layer, nn.Conv2d | nn.MaxPool2d | nn.AvgPool2d):
            found.append(_window(name, layer))
        elif not (isinstance(layer, ONE_CELL) or list(layer.children())):
            raise ValueError(
                f"what a cell of {name or 'the layer'} sees is not known: windows counts Conv2d, MaxPool2d, AvgPool2d"
                f" and layers that work on each cell alone, got {layer}"
            )
    return found


def _window(name: str, layer: Any) -> tuple[int, int, int]:
    def pair(value: int | Sequence[int]) -> tuple[int, ...]:
        return (value, value) if isinstance(value, int) else tuple(value)

    dilations = pair(getattr(layer, "dilation", 1))
    spans = [dilation * (side - 1) + 1 for dilation, side in zip(dilations, pair(layer.kernel_size), strict=True)]
    by_word = {"valid": (0, 0), "same": [(span - 1) // 2 for span in spans]}
    paddings = by_word[layer.padding] if isinstance(layer.padding, str) else pair(layer.padding)
    sides = set(zip(spans, pair(layer.stride), paddings, strict=True))
    if len(sides) > 1 or getattr(layer, "padding_mode", "zeros") != "zeros":
        raise ValueError(f"{name or 'the layer'} has no square window with zeros around the image: {layer}")
    return sides.pop()


def seen(layers: Sequence[tuple[int, int, int]], cell: int) -> tuple[int, int]:
    """First and last pixel along one side that a cell of the map sees; outside the image both can lie."""
    side = receptive_field([layer[:2] for layer in layers])
    first, step = 0, 1
    for _, stride, padding in layers:
        first, step = first - whole_number("padding", padding, least=0) * step, step * stride
    first += whole_number("cell", cell, least=0) * step
    return first, first + side - 1


def gradient_reach(front: Callable[[Tensor], Tensor], images: Tensor, token: int) -> Tensor:
    """(H, W): how strongly each pixel can change one token, measured by gradient; 0 where it cannot.

    `front` gives tokens (B, N, D) or a map (B, D, h, w), whose cells are counted row by row. A ValueError tells
    where it gives neither, an IndexError where there is no such token.
    """
    check_images(images)
    token = whole_number("token", token, least=0)
    images = images.detach().clone().requires_grad_()
    result = front(images)
    if result.ndim not in (3, 4):
        raise ValueError(f"front must give tokens (B, N, D) or a map (B, D, h, w), got {tuple(result.shape)}")
    tokens = result.flatten(2).transpose(1, 2) if result.ndim == 4 else result
    if token >= tokens.shape[1]:
        raise IndexError(f"token {token} is outside 0..{tokens.shape[1] - 1}: there are {tokens.shape[1]} tokens")
    (gradient,) = torch.autograd.grad(tokens[:, token].abs().sum(), images)
    return gradient.abs().sum(dim=(0, 1))


def box(strength: Tensor) -> tuple[int, int, int, int]:
    """First row, last row, first column, last column of what is not 0 in (H, W)."""
    if strength.ndim != 2:
        raise ValueError(f"strength must have the shape (H, W), got {tuple(strength.shape)}")
    rows, columns = (strength.amax(dim=axis).nonzero().flatten().tolist() for axis in (1, 0))
    if not rows:
        raise ValueError("nothing but zeros: no pixel changes this token")
    return rows[0], rows[-1], columns[0], columns[-1]


def small_stem(in_channels: int, widths: Sequence[int]) -> nn.Sequential:
    """A small CNN: for each width a 3 × 3 convolution with stride 2, batch norm and ReLU; each halves the sides."""
    for size in (in_channels, *widths):
        positive_int("number of channels", size)
    layers: list[nn.Module] = []
    for before, after in zip((in_channels, *widths), widths, strict=False):
        convolution = nn.Conv2d(before, after, kernel_size=3, stride=2, padding=1, bias=False)
        layers += [convolution, nn.BatchNorm2d(after), nn.ReLU()]
    return nn.Sequential(*layers)


def resnet_stage(stage: int, *, trained: bool = False, seed: int = 0) -> nn.Sequential:
    """torchvision's ResNet-50 up to the end of a stage, 1 to 4, for evaluation.

    Weights are drawn at random from `seed`; with `trained`, torchvision's own are read, from its cache or, the
    first time, from the network (98 MB).
    """
    from torchvision.models import ResNet50_Weights, resnet50

    if positive_int("stage", stage) > 4:
        raise ValueError(f"ResNet-50 has the stages 1 to 4, got {stage}")
    with seeded(seed):
        model = resnet50(weights=ResNet50_Weights.DEFAULT if trained else None)
    stages = (model.layer1, model.layer2, model.layer3, model.layer4)[:stage]
    return nn.Sequential(model.conv1, model.bn1, model.relu, model.maxpool, *stages).eval()
