"""What an exercise and a quiz question are made of."""

from __future__ import annotations

import inspect
import math
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from course_lib.exercises.lessons import LESSONS


class NotAsked(TypeError):
    """What a check finds in a class that runs and is not what was asked for; its text is told as it is."""


@dataclass(frozen=True)
class Case:
    """One call that a check makes: arguments, the sizes behind the letters, and what has to come of it.

    `axes` are the letters of a tensor result, as in "B N C·P·P". `only` names a coincidence that this case
    has on purpose ("square images"); every other case keeps the letters apart. With `raises` the call has
    to stop with one of these errors, and the error's text has to name one number or word of each group in
    `mentions`, and no word of `unmentioned`: those are not what is wrong. `given` is what a class that was
    built from `args` is then called with. Each tensor of `args` that requires a gradient has to receive the right one.
    """

    label: str
    args: tuple[Any, ...]
    axes: str = ""
    letters: dict[str, int] = field(default_factory=dict)
    only: str = ""
    raises: tuple[type[Exception], ...] = ()
    mentions: tuple[tuple[int | str, ...], ...] = ()
    unmentioned: tuple[str, ...] = ()
    given: tuple[Any, ...] = ()


@dataclass(frozen=True)
class WrongAnswer:
    """A mistake that learners make: a name, code that makes it, and the explanation they get."""

    name: str
    answer: Callable[..., Any]
    because: str


@dataclass(frozen=True)
class Exercise:
    """A task with its solution, the cases that test an answer, the known wrong answers and the hints.

    `read` turns a result that
    cannot be compared as it is (a layer) into a dict of values; `use` calls what a class made. `slack` is how
    far a number may be from the right one, relative to the largest: 0 where numbers are only moved. `picture`
    explains a wrong result of a case in a few lines of text. `quantities` are whole numbers that one counts on the
    way to a number, by name: a wrong result is told in them.
    """

    name: str
    solution: Callable[..., Any]
    cases: Callable[[], list[Case]]
    result: type
    wrong: tuple[WrongAnswer, ...]
    hints: tuple[str, ...]
    praise: str
    read: Callable[[Any], dict[str, Any]] | None = None
    picture: Callable[[Case, Any], str] | None = None
    use: Callable[[Any, Case], Any] | None = None
    slack: float = 0.0
    quantities: Callable[..., dict[str, int]] | None = None

    @property
    def lesson(self) -> str:
        """The number of the lesson that has it."""
        return next(lesson.number for lesson in LESSONS if self.name in lesson.exercises)

    @property
    def solution_source(self) -> str:
        """The solution as it may stand in a cell."""
        return textwrap.dedent(inspect.getsource(self.solution)).strip()

    def named(self, case: Case) -> list[tuple[str, Any]]:
        """Each argument of a case with its name; of a class, those of __init__ and those of forward."""
        names = list(inspect.signature(self.solution).parameters)
        if case.given:
            layer: Any = self.solution
            names += list(inspect.signature(layer.forward).parameters)[1:]
        return list(zip(names, (*case.args, *case.given), strict=True))


@dataclass(frozen=True)
class Option:
    """One answer that a quiz offers, with the explanation that choosing it brings."""

    text: str
    because: str
    right: bool = False


@dataclass(frozen=True)
class Question:
    """A quiz question with its options, exactly one of them right."""

    name: str
    lesson: str
    text: str
    options: tuple[Option, ...]


def pixels(*shape: int, start: int = 0) -> Tensor:
    """Images (B, C, H, W) whose numbers count up, so that each pixel can be told from each other."""
    return torch.arange(start, start + math.prod(shape), dtype=torch.float32).reshape(shape)


def table(rows: int, columns: int, seed: int = 0) -> Tensor:
    """A random table (V, D) from a generator of its own, ready to receive a gradient."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(rows, columns, generator=generator).requires_grad_()


def from_a_layer(numbers: Tensor) -> Tensor:
    """Numbers as a layer that learns gives them: a gradient is wanted, and writing into them is no error of torch's."""
    return numbers.requires_grad_().clone()


def in_dtype(case: Case, dtype: torch.dtype) -> Case:
    """The case with its tensors and layers in another dtype: a result has the one that came in, whichever that is."""

    def converted(argument: Any) -> Any:
        if isinstance(argument, nn.Module):
            return argument.to(dtype)
        if not isinstance(argument, Tensor) or not argument.is_floating_point():
            return argument
        numbers = argument.detach().to(dtype)
        if not argument.requires_grad:
            return numbers
        return numbers.requires_grad_() if argument.is_leaf else from_a_layer(numbers)

    name = str(dtype).removeprefix("torch.")
    return replace(case, label=f"{case.label}, in {name}", args=tuple(map(converted, case.args)))


def random_numbers(*shape: int, seed: int) -> Tensor:
    """Numbers in float64 from a generator of their own, so that no global random stream decides on an answer."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
