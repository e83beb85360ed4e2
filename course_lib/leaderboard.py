"""The open task of lesson 10: train a model of one's own on the digits, and compare it with earlier tries."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from course_lib import data, progress, vit
from course_lib.reproducible import whole_or_not_at_all
from course_lib.setup.printable import printable

MINUTE = 60.0  # seconds of training that a try may take
_seconds: WeakKeyDictionary[nn.Module, float] = WeakKeyDictionary()  # that models were trained by earlier tries


@dataclass(frozen=True)
class Try:
    """One training: its name, share of held-out digits right, number of parameters, seconds of training."""

    name: str
    accuracy: float
    parameters: int
    seconds: float

    @property
    def within_the_minute(self) -> bool:
        return self.seconds <= MINUTE


def attempt(
    name: str,
    model: nn.Module,
    *,
    epochs: int,
    batch_size: int = 64,
    rate: float = 2e-3,
    decay: float = 0.05,
    progress_bar: Callable[[int, int], None] | None = None,
) -> Try:
    """Train `model` (images (B, 1, 28, 28) -> scores (B, 10)) on the digits and keep the result in the own record.

    A model that earlier tries have trained goes on from there, and their seconds count.
    Raises ValueError where the name is empty or the model gives no ten scores for each digit.
    """
    if not isinstance(name, str) or not name.strip():
        raise ValueError(f"give the try a name that you will recognise, got {name!r}")
    if not isinstance(model, nn.Module):
        raise TypeError(f"expected a model, a layer of torch that was made by calling its class, got {model!r}")
    if epochs < 1:
        raise ValueError(f"a try needs at least one epoch, got {epochs}")
    digits = data.digits(size=28)
    _refuse_unfit(model, digits.train_images[:2])
    with whole_or_not_at_all(model):  # also where it is stopped after its training: its seconds do not count
        history = vit.train(
            model,
            digits.train_images,
            digits.train_labels,
            epochs=epochs,
            batch_size=batch_size,
            rate=rate,
            decay=decay,
            progress=progress_bar,
        )
        made = Try(
            name.strip()[:40],
            vit.accuracy(model, digits.test_images, digits.test_labels),
            sum(parameter.numel() for parameter in model.parameters()),
            round(_seconds.get(model, 0.0) + history.seconds, 1),
        )
        details = {"accuracy": made.accuracy, "parameters": made.parameters, "seconds": made.seconds}
        progress.record("try", made.name, **details)
        _seconds[model] = made.seconds
    return made


def _refuse_unfit(model: nn.Module, images: Tensor) -> None:
    """Raise ValueError where a model gives no ten scores for each of two digits; it is left in its mode."""
    was_training = model.training
    try:
        with torch.no_grad():
            scores = tuple(model.eval()(images).shape)
    except RuntimeError as error:
        raise ValueError(
            f"the model cannot take images of shape (2, 1, 28, 28): {error}. Do sizes fit one another? Patches of P"
            " pixels make (28 // P) ** 2 tokens, and front, positions and blocks share one dimension."
        ) from error
    finally:
        model.train(was_training)
    if scores != (2, 10):
        raise ValueError(f"expected 10 scores for each of 2 digits, (2, 10), got {scores}: what does the head give?")


class Leaderboard:
    """The own tries, best first; those that took longer than a minute come last and say so.

    `baseline` is the accuracy to beat; a line marks its place.
    """

    def __init__(self, baseline: float | None = None) -> None:
        tries = [made for made in map(_from_event, progress.events()) if made is not None]
        self.tries = sorted(tries, key=lambda made: (not made.within_the_minute, -made.accuracy, made.seconds))
        self.baseline = baseline

    def __repr__(self) -> str:
        lines = [f"{'':3}{'try':<40}{'right':>7}{'parameters':>12}{'seconds':>9}"]
        mark = [] if self.baseline is None else [f"{'':3}{'(the baseline)':<40}{self.baseline:>7.1%}"]
        for place, made in enumerate(self.tries, 1):
            if mark and not (made.within_the_minute and made.accuracy > (self.baseline or 0.0)):
                lines.append(mark.pop())
            late = "" if made.within_the_minute else "  longer than a minute"
            lines.append(
                f"{place:>2} {made.name:<40}{made.accuracy:>7.1%}{made.parameters:>12,}{made.seconds:>9.1f}{late}"
            )
        return "\n".join(lines + mark if self.tries else ["No tries yet: attempt(...) makes one."])

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/html": f"<pre>{escape(repr(self))}</pre>", "text/plain": repr(self)}


def leaderboard(baseline: float | None = None) -> Leaderboard:
    """All tries that the own record holds, and where the accuracy to beat lies among them."""
    return Leaderboard(baseline)


def _from_event(event: dict) -> Try | None:
    """The try that an event holds; None for other events and for what is no number."""
    numbers: list[Any] = [event.get(key) for key in ("accuracy", "parameters", "seconds")]
    if event["kind"] != "try" or not all(isinstance(n, int | float) and math.isfinite(n) for n in numbers):
        return None
    return Try(printable(event["name"]), *numbers)
