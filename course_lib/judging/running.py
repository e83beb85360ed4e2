"""Running an answer on the cases of its exercise, and comparing what came of it."""

from __future__ import annotations

import copy
import linecache
import re
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from course_lib.exercises.model import Case, Exercise, NotAsked
from course_lib.judging.timelimit import OutOfTime, Stopped, TimeLimit

ROUNDING = 1e-5  # how far numbers in float32 may be apart where they are computed and not only moved
MOST_STEPS = 5_000  # lines run while the one is sought that changes an input


@dataclass
class Outcome:
    """What came of one case: a value or an error, and what happened on the way."""

    case: Case
    value: Any = None
    error: BaseException | None = None
    line: int | None = None  # of the learner's code, where the error or the change came from
    source: str = ""
    changed: bool = False  # an argument was changed in place
    gradients: tuple[Tensor | None, ...] = ()  # for each argument that learns, None where none arrives
    slack: float = 0.0  # how far numbers may be apart, relative to the largest

    @property
    def where(self) -> str:
        """The learner's line in words, with a space before it; nothing where it is not known."""
        return f" on line {self.line}, `{self.source}`" if self.line else ""


def run(exercise: Exercise, answer: Callable, limit: TimeLimit | None = None, backwards: bool = False) -> list[Outcome]:
    """Call the answer on every case, in order or `backwards`; the case on which the time ends is the last that is run.

    The outcomes stand in the order of the cases. Raises Stopped where the learner stops the check.
    """
    outcomes: list[Outcome] = []
    for case in exercise.cases()[:: -1 if backwards else 1]:
        outcomes.append(call(exercise, answer, case, limit))
        if timed_out(outcomes[-1]):
            break
    return outcomes[:: -1 if backwards else 1]


def timed_out(outcome: Outcome) -> bool:
    """Whether the time ended on this case."""
    return isinstance(outcome.error, OutOfTime)


def right(got: Outcome, expected: Outcome) -> bool:
    """Whether an answer did on this case what the exercise asks for."""
    if got.changed:
        return False
    if expected.case.raises:
        return isinstance(got.error, expected.case.raises) and names_enough(got)
    return got.error is None and alike(got, expected)


def alike(one: Outcome, other: Outcome) -> bool:
    """Whether two answers did the same on this case, right or wrong."""
    if one.error is not None or other.error is not None:
        return _kind_of_end(one) == _kind_of_end(other)
    if not equal(one.value, other.value, other.slack):
        return False
    return all(map(same_gradient, one.gradients, other.gradients))


def same_gradient(one: Tensor | None, other: Tensor | None) -> bool:
    """Whether two gradients of one argument agree; None is that of an argument which none reaches."""
    if one is None or other is None:
        return one is other
    return torch.allclose(one, other, rtol=1e-4, atol=1e-6, equal_nan=True)


def learning(case: Case) -> list[Tensor]:
    """The arguments of a case that have to receive a gradient: those that require one."""
    return [argument for argument in case.args if isinstance(argument, Tensor) and argument.requires_grad]


def _kind_of_end(outcome: Outcome) -> tuple[Any, ...]:
    """What tells one error from another: a refusal counts as such, other errors by class and text.

    An allowed input that the code refuses itself, by a raise of its own, is refused in whatever words.
    """
    if isinstance(outcome.error, outcome.case.raises or ()):
        return ("refused", names_enough(outcome))
    if re.match(r"(if .*: *)?raise\b", outcome.source) and not isinstance(outcome.error, NotAsked):
        return ("refused what is allowed",)
    return (type(outcome.error), str(outcome.error))


def near(one: Tensor, other: Tensor, slack: float) -> Tensor:
    """Which numbers of two tensors of one shape agree, up to `slack` times the largest of the second."""
    if slack == 0.0 or other.numel() == 0 or not other.is_floating_point():
        return one == other
    if other.dtype == torch.float32:
        slack = max(slack, ROUNDING)
    return (one == other) | ((one - other).abs() <= slack * other.abs().max())  # the first for infinities


def equal(one: Any, other: Any, slack: float = 0.0) -> bool:
    """Equal in type, shape, dtype and every number, up to `slack`; nan equals nothing."""
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        try:
            return one.dtype == other.dtype and one.shape == other.shape and bool(near(one, other, slack).all())
        except (RuntimeError, NotImplementedError):  # sparse, quantised, without numbers
            return False
    if isinstance(one, dict) and isinstance(other, dict):
        try:
            return one.keys() == other.keys() and all(equal(one[key], other[key], slack) for key in one)
        except RecursionError:  # a dict that holds itself
            return False
    if type(one) is not type(other):
        return False
    try:
        return bool(one == other)
    except Exception:  # numpy arrays, lists of tensors: == gives no single answer
        return False


def same_again(one: Outcome, other: Outcome) -> bool:
    """Whether two calls with the same input ended the same; nan and objects of any class count as what they show."""
    if one.error is not None or other.error is not None:
        return type(one.error) is type(other.error)
    if isinstance(one.value, Tensor) and isinstance(other.value, Tensor):
        return equal(one.value, other.value) or shown(one.value.tolist()) == shown(other.value.tolist())
    return shown(one.value) == shown(other.value)


def shown(value: Any) -> str:
    """repr without memory addresses, also where an object's own repr fails."""
    try:
        if isinstance(value, (set, frozenset)):  # their order differs from one Python to the next
            return "{" + ", ".join(sorted(map(repr, value))) + "}"
        return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))
    except Exception:
        return f"<{type(value).__name__}>"


def names_enough(outcome: Outcome) -> bool:
    """Whether the error's text names a number or word of each group that the case asks for, and nothing else."""
    numbers = {int(digits.replace("−", "-")) for digits in re.findall(r"[-−]?\d+", str(outcome.error))}
    found: set[int | str] = {*numbers, *map(abs, numbers)}  # "0-5" is read as 0 and -5
    found |= set(re.findall(r"[a-z]+", str(outcome.error).lower()))
    return all(found & set(group) for group in outcome.case.mentions) and not found & set(outcome.case.unmentioned)


def call(exercise: Exercise, answer: Callable, case: Case, limit: TimeLimit | None) -> Outcome:
    """What comes of one case, within the limit where there is one."""
    outcome = Outcome(case, slack=exercise.slack)
    try:
        if limit is None:
            _answer(exercise, answer, outcome)
        else:
            limit.call(_answer, exercise, answer, outcome)
    except Stopped as stop:
        stop.case = case
        raise
    except BaseException as error:  # SystemExit and GeneratorExit, too, are no more than an answer's mistake
        outcome.error = error
        outcome.line, outcome.source = origin(error, answer)
    return outcome


def _answer(exercise: Exercise, answer: Callable, outcome: Outcome) -> None:
    """Call the answer, and whatever else may run code of the learner's, and note what came."""
    case = outcome.case
    arguments = (*case.args, *case.given)
    before = [_copy(argument) for argument in arguments]
    value = answer(*case.args)
    if exercise.use is not None:
        value = exercise.use(value, case)
    outcome.changed = not all(map(_unchanged, before, arguments))
    if isinstance(value, Tensor) and not outcome.changed:
        outcome.gradients = _gradients(value, learning(case))
    read = exercise.read if isinstance(value, exercise.result) else None
    outcome.value = read(value) if read else _detached(value)


def _gradients(value: Tensor, arguments: list[Tensor]) -> tuple[Tensor | None, ...]:
    """Gradients of a sum that weighs each number of the value differently; None where none arrives."""
    if not value.requires_grad or not arguments:
        return (None,) * len(arguments)
    weights = torch.linspace(1.0, 2.0, value.numel(), dtype=value.dtype).reshape(value.shape)
    return torch.autograd.grad((value * weights).sum(), arguments, allow_unused=True)


def _detached(value: Any) -> Any:
    """The value as it is now: a list, dict or tensor that later calls go on changing is copied."""
    if isinstance(value, Tensor):
        return value.detach().clone()
    return copy.copy(value) if isinstance(value, (list, dict)) else value


def _copy(argument: Any) -> Any:
    if isinstance(argument, Tensor):
        return argument.detach().clone()
    if isinstance(argument, nn.Module):
        return {name: tensor.clone() for name, tensor in argument.state_dict().items()}
    return copy.deepcopy(argument)


def _unchanged(before: Any, argument: Any) -> bool:
    now = dict(argument.state_dict()) if isinstance(argument, nn.Module) else _detached(argument)
    return equal(before, now)


def origin(error: BaseException, answer: Callable) -> tuple[int | None, str]:
    """Line number and text of the learner's own line from which the error came, or (None, "")."""
    file = file_of(answer)
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    for frame in reversed(own):
        if frame.lineno is not None:  # without a number: an interrupt between two lines
            return frame.lineno, (frame.line or linecache.getline(frame.filename, frame.lineno)).strip()
    return None, ""


def file_of(answer: Callable) -> str | None:
    """Name of the file or cell that the answer stands in, of a class that of its methods; None where it has no code."""
    methods: list[Any] = [getattr(answer, name, None) for name in ("__init__", "forward")]
    methods = [part for part in methods if not (getattr(part, "__module__", None) or "").startswith("torch.")]
    return next((part.__code__.co_filename for part in (answer, *methods) if hasattr(part, "__code__")), None)


def cell_of(answer: Callable | None) -> str:
    """The cell that an answer was typed into; empty where it comes from elsewhere."""
    file = file_of(answer) if answer is not None and getattr(answer, "__module__", None) == "__main__" else None
    return "".join(linecache.getlines(file)) if file else ""


def changing_line(exercise: Exercise, answer: Callable, number: int, limit: TimeLimit) -> tuple[int | None, str]:
    """Number and text of the learner's line that changes an input of the case with that number, or (None, "")."""
    case, file = exercise.cases()[number], file_of(answer)
    arguments = (*case.args, *case.given)
    before, last, changing, steps = [_copy(argument) for argument in arguments], None, None, 0

    def watch(frame: Any, event: str, _: Any) -> Callable | None:
        """Called before each line of the learner's and at the end of each function: the line before did it."""
        nonlocal last, changing, steps
        if frame.f_code.co_filename != file or changing is not None or steps == MOST_STEPS:
            return None
        steps += 1
        if last is not None and not all(map(_unchanged, before, arguments)):
            changing = last
        last = frame.f_lineno
        return watch

    outer = sys.gettrace()
    sys.settrace(watch)
    try:
        call(exercise, answer, case, limit)
    finally:
        sys.settrace(outer)
    return changing, "" if changing is None else linecache.getline(file, changing).strip()
