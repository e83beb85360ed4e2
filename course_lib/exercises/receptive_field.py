"""Lesson 08, receptive_field: how many pixels of a side a cell sees behind layers of (kernel, stride)."""

from __future__ import annotations

import math

from course_lib.exercises.mistakes import mistakes
from course_lib.exercises.model import Case, Exercise


def receptive_field(layers):
    side, step = 1, 1
    for kernel, stride in layers:
        side += (kernel - 1) * step
        step *= stride
    return side


def cases() -> list[Case]:
    def case(*layers: tuple[int, int]) -> Case:
        return Case(", then ".join(f"kernel {k} stride {s}" for k, s in layers), (list(layers),))

    return [
        case((7, 2), (3, 2)),
        case((3, 2), (3, 2), (5, 1)),
        case((5, 1), (3, 3), (4, 2), (3, 1)),
        case((2, 2), (3, 1), (3, 2), (7, 1)),
        case((16, 16)),
    ]


WRONG = mistakes(
    receptive_field,
    r"""
kernel 3 and stride 2 throughout
    That holds for layers of kernel 3 and stride 2, as in the table of the lesson. Take kernel and stride of each layer.
        return 2 ** (len(layers) + 1) - 1

kernel 3 throughout
    Every kernel was taken for one of 3. A kernel of k adds k − 1 steps.
        (kernel - 1) → 2

kernel halved
    Both halves of a kernel were added, k // 2 each: right for odd kernels only. A kernel of k adds k − 1 steps.
        (kernel - 1) → 2 * (kernel // 2)

strides ignored
    This would hold if every layer had stride 1. Behind a stride of 2, one step on the map is two pixels.
        step *= stride →

own stride counted too early
    A layer's own stride moves its kernel, it does not spread it. Only the strides of the layers before it count.
        (kernel - 1) * step → (kernel - 1) * step * stride

strides added
    Strides were added. Two layers of stride 2 make a step of 4 pixels, three one of 8: multiply.
        step *= stride → step += stride

only the last stride counts
    The step was set to the stride of the layer before. All strides before it count, multiplied.
        step *= stride → step = stride

started at 0
    One too few: without any layer a cell sees one pixel, itself.
        side, step = 1, 1 → side, step = 0, 1

kernel in place of kernel − 1
    A kernel of k adds k − 1 steps: one of its cells was counted already.
        (kernel - 1) → kernel

kernel in place of kernel − 1, started at 0
    A kernel of k adds k − 1 steps: one of its cells was counted already. And the first cell counts 1.
        side, step = 1, 1 → side, step = 0, 1
        (kernel - 1) → kernel

kernel + 1
    A kernel of k was counted with k + 1 steps. From the first of its cells to the last it is k − 1.
        (kernel - 1) → (kernel + 1)

kernel − 2
    A kernel of k was counted with k − 2 steps. From the first of its cells to the last it is k − 1.
        (kernel - 1) → (kernel - 2)

one step for each layer
    Each layer added a single step, whatever its kernel. A kernel of k adds k − 1 of them.
        (kernel - 1) * step → step

step added
    The step was added to kernel − 1. Each of these k − 1 cells lies a whole step further: multiply.
        (kernel - 1) * step → kernel - 1 + step

taken away
    The steps were taken away. A cell of a later layer sees more, not less: add them.
        side += → side -=

side multiplied
    The side was multiplied by the steps of each layer. A layer ADDS its steps.
        side += → side *=

half the kernel
    A kernel reaches to both sides of its middle: k − 1 steps in all.
        (kernel - 1) → kernel // 2

effective stride
    These are the strides multiplied: how far apart two cells are, not how much one sees.
        return side → return step

kernels multiplied
    Kernels were multiplied, or the step was, which comes to the same. Each layer ADDS its reach, and the step grows
    by the stride.
        side += … → side *= kernel

layers in reverse
    The layers were read from the last to the first.
        in layers → in reversed(layers)

last layer only
    Only the last layer was counted.
        in layers → in layers[-1:]

last layer left out
    The last layer was left out.
        in layers → in layers[:-1]

first layer left out
    The first layer was left out.
        in layers → in layers[1:]

last kernel times the step
    The last kernel was spread by the step, but its cells see more than a step each. Add layer by layer.
        return side → return kernel * step // stride

kernels added
    The kernels were added up. They overlap, so each layer adds kernel − 1, and these count in steps, which grow
    with every stride before.
        return sum(kernel for kernel, _ in layers)

first layer only
    Only the first layer was counted. Does `return` stand inside the loop?
        step *= stride → return side

first layer twice
    The first layer was counted twice: if side and step begin with it, the loop begins with the second.
        side, step = 1, 1 → side, step = layers[0]

kernel and stride swapped
    Each pair is (kernel, stride). They were read the other way round.
        for kernel, stride in → for stride, kernel in

side replaced
    Each layer replaced what was seen before, and only the last one was left: += in place of =.
        side += → side =

brackets missing
    kernel - 1 * step takes away 1 * step: a product comes before a difference. Put brackets around kernel - 1.
        (kernel - 1) * step → kernel - 1 * step

own stride only
    Each layer was counted with its own stride. What counts is how far apart its cells lie: all strides BEFORE it,
    multiplied.
        (kernel - 1) * step → (kernel - 1) * stride

last step for every layer
    Every layer was counted with the step after the last one. Each has a step of its own: the strides before it.
        step = math.prod(stride for _, stride in layers)
        return 1 + sum((kernel - 1) * step for kernel, _ in layers)

every stride taken for 2
    The step was doubled by every layer. It grows by the stride of that layer, which need not be 2.
        step *= stride → step *= 2

from the end, kernel in place of kernel − stride
    Going back from the end, side cells of a map cover (side − 1) * stride + kernel cells of the one before: the 1
    is missing.
        in layers → in reversed(layers)
        side += … → side = side * stride + kernel

area
    This is how many pixels the cell sees. Wanted is the side of that square.
        return side → return side**2

side and step together
    The first of the two is the answer: return the side alone.
        return side → return side, step
""",
)


EXERCISE = Exercise(
    name="receptive_field",
    solution=receptive_field,
    cases=cases,
    result=int,
    quantities=lambda layers: {
        "number of layers": len(layers),
        "sum of the kernels": sum(kernel for kernel, _ in layers),
        "product of the strides": math.prod(stride for _, stride in layers),
    },
    wrong=WRONG,
    hints=(
        "Keep two numbers while you go through the layers: how much a cell sees, and how many pixels one step is.",
        "Both begin at 1. A layer adds (kernel − 1) steps to the first; then the step grows by its stride.",
        "side += (kernel - 1) * step, and after it step *= stride",
    ),
    praise="And the gradient agrees with you, pixel by pixel.",
)
