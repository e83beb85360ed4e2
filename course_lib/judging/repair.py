"""Diagnosis by repair: a small edit of the learner's own code with which it passes tells where the mistake is.

Nothing of the learner's is changed: the edited code is defined beside it, in a copy of the names that it uses.
"""

from __future__ import annotations

import ast
import copy
import io
import itertools
import linecache
import sys
import threading
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor, nn

from course_lib.exercises.model import Case, Exercise
from course_lib.judging.edits import Edit, edits, free_names
from course_lib.judging.running import Outcome, call, equal, file_of, near, right, timed_out
from course_lib.judging.timelimit import Stopped, TimeLimit

BUDGET = 1.6  # seconds for the whole search
ENOUGH = 0.8  # seconds after which a repair that was found is told without looking for another one
A_TRY = 0.2  # most seconds that all cases together may take with one edit
A_LOT = 5  # times as long as the code took unedited: a loop that an edit made endless
PAIRS_OF = 20  # edits that bring the result nearer, tried two by two
LIKE = 4  # most places at which the same edit is tried together
MOST_TOLD = 2  # repairs of one size that are told together
LARGEST = 1_000_000  # numbers of a tensor of the notebook that may be copied

# What may reach beyond an answer's own names: such code is not tried again and again.
BEYOND = {"open", "input", "exec", "eval", "compile", "__import__", "globals", "setattr", "os", "sys", "subprocess",
          "shutil", "Path", "check", "hint", "solution", "quiz"}  # fmt: skip


@dataclass(frozen=True)
class Repair:
    """Ways to mend an answer, each of one or two edits; with none, the names of the notebook that it uses."""

    ways: tuple[tuple[Edit, ...], ...]
    foreign: tuple[tuple[str, int], ...] = ()

    def places(self, name: str) -> str:
        """Where to look in the answer to the exercise of that name, without the cure."""
        if not self.ways:
            told = " and ".join(f"`{used}` on line {line}" for used, line in self.foreign)
            return f"Look at {told}: a name of the notebook, not one of your arguments. Is that meant?"
        ways = [", and at ".join(dict.fromkeys(edit.place for edit in way)) for way in self.ways]
        return (
            f"Look at {', or at '.join(dict.fromkeys(ways))}. A change there makes every case come out right:"
            f" `hint({name})` shows it."
        )

    @property
    def cures(self) -> str:
        """The edits themselves; empty where there are none."""
        return "; or ".join(dict.fromkeys(", and ".join(dict.fromkeys(edit.cure for edit in way)) for way in self.ways))


def find_repair(
    exercise: Exercise, answer: Callable, rights: list[bool], expected: list[Outcome], limit: TimeLimit
) -> Repair | None:
    """What mends an answer that was typed into the notebook; None where nothing is found in time, or it is stopped."""
    definitions = _definitions(answer)
    if definitions is None:
        return None
    try:
        with (
            limit.at_most(BUDGET),
            redirect_stdout(io.StringIO()),
            redirect_stderr(io.StringIO()),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            return _Search(exercise, answer.__name__, definitions, rights, expected, limit).repair()
    except Stopped:  # the answer is judged already, and that stays
        return None


def _definitions(answer: Callable) -> ast.Module | None:
    """The functions and classes of the cell in which an answer stands; None where they cannot be tried again."""
    file = file_of(answer)
    in_notebook = getattr(answer, "__module__", None) == "__main__" and not getattr(answer, "__closure__", None)
    if file is None or not in_notebook or threading.current_thread() is not threading.main_thread():
        return None
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):  # a line that is a command of the notebook
        return None
    tree.body = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    if names & BEYOND or any(isinstance(node, (ast.Global, ast.Nonlocal)) for node in ast.walk(tree)):
        return None
    defined = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    return tree if answer.__name__ in defined else None


class _Search:
    """The search for the repair of one answer."""

    def __init__(
        self,
        exercise: Exercise,
        name: str,
        tree: ast.Module,
        rights: list[bool],
        expected: list[Outcome],
        limit: TimeLimit,
    ) -> None:
        self.exercise, self.name, self.tree, self.expected, self.limit = exercise, name, tree, expected, limit
        around = vars(sys.modules["__main__"])
        data = {used: around[used] for used in free_names(tree) if used in around and _is_data(around[used])}
        self.foreign = frozenset(data)
        self.names = {**around, **{used: _copy(value) for used, value in data.items()}}
        # what came out wrong first: most edits end there
        self.order = sorted(range(len(rights)), key=lambda at: (rights[at], bool(expected[at].case.raises), at))
        self.cases = exercise.cases()
        self.sizes = frozenset(name for name, value in exercise.named(self.cases[0]) if isinstance(value, int))
        self.start, self.a_try = limit.spent, A_TRY

    def repair(self) -> Repair | None:
        """The repair with the fewest edits, or the names of the notebook that the answer uses, or None."""
        before = self._try(())
        self.a_try = min(A_TRY, 0.02 + A_LOT * (self.limit.spent - self.start))
        singles: list[tuple[Edit, ...]] = []
        scored: list[tuple[float, Edit]] = []
        for edit in edits(self.tree, self.foreign, self.sizes):
            if self.limit.over or (singles and self.limit.spent - self.start > ENOUGH):
                break
            score = self._try((edit,))
            if score == 1:
                singles.append((edit,))
            else:
                scored.append((score, edit))
        ways = singles or list(itertools.islice(self._of_several(before, scored), 1))
        if not ways and not self.foreign:
            return None
        names = [node for node in ast.walk(self.tree) if isinstance(node, ast.Name)]
        lines = {node.id: node.lineno for node in reversed(names)}
        return Repair(_told(ways), tuple((name, lines[name]) for name in sorted(self.foreign)))

    def _of_several(self, before: float, scored: Sequence[tuple[float, Edit]]) -> Iterator[tuple[Edit, ...]]:
        """The same edit at all places that are alike, then two edits of which each brings the result nearer."""
        alike: dict[tuple[str, str, str], list[Edit]] = defaultdict(list)
        for _, edit in scored:
            alike[edit.rule.name, edit.old, edit.new].append(edit)
        together = [tuple(same) for same in alike.values() if 1 < len(same) <= LIKE]
        best = sorted((one for one in scored if one[0] > before), key=lambda one: -one[0])[:PAIRS_OF]
        nearer = [edit for _, edit in best]
        pairs = (pair for pair in itertools.combinations(nearer, 2) if pair[0].site is not pair[1].site)
        for several in itertools.chain(together, pairs):
            if self.limit.over:
                return
            if self._try(several) == 1:
                yield several
        for one in nearer:
            yield from self._after(one)

    def _after(self, one: Edit) -> Iterator[tuple[Edit, ...]]:
        """An edit, and another one of the code that it leaves."""
        one.apply()
        try:
            for other in edits(self.tree, self.foreign, self.sizes):
                if self.limit.over:
                    return
                if self._try((other,)) == 1:
                    yield one, other
        finally:
            one.undo()

    def _try(self, several: tuple[Edit, ...]) -> float:
        """How near the edited answer comes to the right one: 1 where every case comes out right."""
        for edit in several:
            edit.apply()
        try:
            names = dict(self.names)
            exec(compile(self.tree, "<an edit of your answer>", "exec"), names)
            with self.limit.at_most(self.a_try):
                return self._score(names[self.name])
        except Stopped:
            raise
        except Exception:  # code that cannot be compiled or defined
            return 0.0
        finally:
            for edit in reversed(several):
                edit.undo()

    def _score(self, answer: Callable) -> float:
        """The share of the cases that come out right before the first that does not, which counts in part."""
        for done, at in enumerate(self.order):
            got = call(self.exercise, answer, _with_own_layers(self.cases[at]), self.limit)
            if got.changed:
                self.cases = self.exercise.cases()
            if timed_out(got):
                return 0.0
            if not right(got, self.expected[at]):
                return (done + 0.9 * _nearness(got, self.expected[at])) / len(self.order)
        return 1.0


def _with_own_layers(case: Case) -> Case:
    """The case with copies of its layers: an edit may change more of a layer than a comparison of numbers sees."""
    if not any(isinstance(argument, nn.Module) for argument in case.args):
        return case
    return replace(case, args=tuple(copy.deepcopy(one) if isinstance(one, nn.Module) else one for one in case.args))


def _told(ways: list[tuple[Edit, ...]]) -> tuple[tuple[Edit, ...], ...]:
    """The smallest ways, one for each place, as far as there are few."""
    smallest = min((sum(edit.rule.size for edit in way) for way in ways), default=0)
    first: dict[tuple[int, ...], tuple[Edit, ...]] = {}
    for way in ways:
        if sum(edit.rule.size for edit in way) == smallest:
            first.setdefault(tuple(edit.line for edit in way), way)
    return tuple(first.values())[:MOST_TOLD]


def _is_data(value: Any) -> bool:
    """Whether a name of the notebook holds a value, and no function, class or module of Python's."""
    return isinstance(value, (Tensor, nn.Module, int, float, str, list, tuple, dict, set)) and not isinstance(
        value, type
    )


def _copy(value: Any) -> Any:
    """A value of the notebook that an edited answer may change."""
    if isinstance(value, Tensor) and value.numel() <= LARGEST:
        return value.detach().clone()
    try:
        return copy.deepcopy(value) if isinstance(value, (list, dict, set, nn.Module)) else value
    except Exception:  # tensors inside that belong to a gradient
        return value


def _nearness(got: Outcome, expected: Outcome) -> float:
    """From 0 to 1, how much of a wrong outcome is right."""
    if expected.case.raises:
        return 0.5 if got.error is not None else 0.0
    if got.error is not None:
        return 0.0
    return 0.1 + 0.9 * _near_value(got.value, expected.value, got.slack)


def _near_value(got: Any, wanted: Any, slack: float) -> float:
    if isinstance(got, Tensor) and isinstance(wanted, Tensor):
        if got.shape != wanted.shape:
            return 0.2 * (got.ndim == wanted.ndim) + 0.1 * (got.numel() == wanted.numel())
        return 0.4 + 0.5 * near(got.to(wanted.dtype), wanted, max(slack, 1e-6)).double().mean().item()
    if type(got) is not type(wanted):
        return 0.0
    if isinstance(wanted, list):
        same = sum(equal(one, other) for one, other in zip(got, wanted, strict=False))
        return same / max(len(got), len(wanted), 1)
    if isinstance(wanted, dict):
        return sum(_near_value(got.get(key), wanted[key], slack) for key in wanted) / max(len(wanted), len(got), 1)
    if isinstance(wanted, int):
        return 1 / (2 + abs(min(got - wanted, 10**9)) / (1 + abs(wanted)))
    return float(equal(got, wanted, slack))
