"""Wrong answers made by a machine: a solution with one small change each, and a table of what `check` says of them.

`python3 -m tests.tools.mutants` prints the table for all exercises; names of exercises behind it choose some of them,
and list each mutant that is told only as "different".
"""

from __future__ import annotations

import ast
import functools
import linecache
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from unittest import mock

import torch

from course_lib import checking
from course_lib.exercises import all_exercises
from course_lib.exercises.model import Exercise
from course_lib.judging import names, running, verdict
from tests.support import inputs

MOST = 60  # mutants of one exercise: where there are more, these are taken evenly
SECONDS = 1.0  # for one answer on all cases: a mutant may loop for ever
OPERATORS = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add, ast.Mult),
    ast.Mult: (ast.Add, ast.FloorDiv),
    ast.Div: (ast.FloorDiv, ast.Mult),
    ast.FloorDiv: (ast.Div, ast.Mod, ast.Mult),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult, ast.Add),
    ast.MatMult: (ast.Mult,),
    ast.BitOr: (ast.BitAnd,),
    ast.Lt: (ast.LtE, ast.Gt, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.Lt, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
}
SIBLINGS = (  # names that are taken for one another
    "argmin argmax", "sum mean", "weight bias", "isalnum isalpha", "lower upper", "flatten squeeze", "zeros ones",
    "cat stack", "float long", "any all", "kernel_size stride", "in_channels out_channels", "bicubic bilinear nearest",
    "unsqueeze squeeze", "padding dilation", "indices values", "int64 float32", "append extend", "logsigmoid sigmoid",
    "transpose reshape", "permute reshape", "in_features out_features", "stride dilation", "expand reshape",
)  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A solution with one change: what was changed where, and the whole source."""

    name: str
    source: str


@functools.cache
def mutants(exercise: Exercise) -> list[Mutant]:
    """All different ones, in the order of the solution's source; none is the solution itself."""
    tree = ast.parse(exercise.solution_source)
    whole, found = ast.unparse(tree), {}
    names = _names(tree)
    for put, old, line in _places(tree):
        for new in _changes(old, names, exercise.result):
            told = f"line {line}: {_told(old)} -> {_told(new)}"
            put(new)
            source = ast.unparse(ast.fix_missing_locations(tree))
            put(old)
            if source != whole and _compiles(source):
                found.setdefault(source, Mutant(told, source))
    return list(found.values())


def spread(items: list, most: int = MOST) -> list:
    """At most so many of the items, taken evenly."""
    return items if len(items) <= most else [items[number * len(items) // most] for number in range(most)]


def _compiles(source: str) -> bool:
    try:
        compile(source, "<mutant>", "exec")
    except SyntaxError:
        return False
    return True


def _told(code: ast.AST | list) -> str:
    lines = [ast.unparse(ast.fix_missing_locations(part)) for part in (code if isinstance(code, list) else [code])]
    return " ; ".join(" ".join(line.split()) for line in lines) or "nothing"


def _names(tree: ast.AST) -> list[str]:
    """Arguments and variables of the solution, in order of appearance."""
    arguments = [node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)]
    stored = [n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return [name for name in dict.fromkeys(arguments + stored) if name != "self"]


def _places(node: ast.AST) -> Iterator[tuple[Callable, ast.AST | list, int]]:
    """Each part of the code that can be changed: a function that puts another in its place, the part, its line."""
    line = getattr(node, "lineno", 1)
    for field, value in ast.iter_fields(node):
        if field == "body" and isinstance(value, list) and not isinstance(node, (ast.Module, ast.ClassDef)):
            yield functools.partial(setattr, node, field), value, value[0].lineno
        for index, part in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(part, ast.AST) or isinstance(part, ast.arguments):
                continue
            at = functools.partial(setattr, node, field)
            put = at if index is None else functools.partial(value.__setitem__, index)
            yield put, part, getattr(part, "lineno", line)
            if not isinstance(part, ast.JoinedStr):
                yield from _places(part)


def _changes(old: ast.AST | list, names: list[str], result: type) -> Iterator[ast.AST | list]:
    """What may stand in the place of a part of the code."""
    match old:
        case [*statements]:
            yield from _orders(statements)
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield from map(ast.Constant, (value + 1, value - 1, -value, 2 * value))
        case ast.Constant(value=str(value)):
            yield from map(ast.Constant, [*_siblings(value), value[1:], value[:-1], value[::-1]])
        case ast.JoinedStr():
            yield ast.Constant("not allowed")
        case ast.Name(id=name, ctx=ast.Load()) if name in names:
            yield from (ast.Name(other, ast.Load()) for other in names if other != name)
            yield ast.BinOp(old, ast.Add(), ast.Constant(1))
            yield ast.UnaryOp(ast.USub(), old)
        case ast.BinOp(left=left, op=op, right=right):
            yield ast.BinOp(right, op, left)
            yield from (ast.BinOp(left, other(), right) for other in OPERATORS.get(type(op), ()))
            yield from (left, right)
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.BoolOp(op=op, values=values):
            yield from (ast.BoolOp(other(), values) for other in OPERATORS.get(type(op), ()))
            yield from values
        case ast.Compare(left=left, ops=ops, comparators=others):
            for place, op in enumerate(ops):
                for other in OPERATORS.get(type(op), ()):
                    yield ast.Compare(left, [*ops[:place], other(), *ops[place + 1 :]], others)
        case ast.Call():
            yield from _calls(old)
        case ast.Attribute(value=value, attr=attr, ctx=ast.Load()):
            yield from (ast.Attribute(value, other, ast.Load()) for other in _siblings(attr))
            if attr == "T":
                yield value
        case ast.Subscript(value=value, ctx=ast.Load()):
            yield value
        case ast.Slice(lower=lower, upper=upper):
            yield from (ast.Slice(low, upper) for low in _one_off(lower))
            yield from (ast.Slice(lower, up) for up in _one_off(upper))
            yield ast.Slice()
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            yield from (type(old)(swapped, old.ctx) for swapped in _swaps(parts))
            yield from (type(old)(parts[:i] + parts[i + 1 :], old.ctx) for i in range(len(parts)))
        case ast.If(test=test, body=body, orelse=orelse):
            yield ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)
            yield ast.If(ast.Constant(True), body, orelse)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield from (ast.IfExp(test, orelse, body), body, orelse)
        case ast.AugAssign(target=target, op=op, value=value):
            yield from (ast.AugAssign(target, other(), value) for other in OPERATORS.get(type(op), ()))
            yield ast.Assign([target], value)
        case ast.For(target=target, iter=over, body=body, orelse=orelse):
            for part in (ast.Slice(ast.Constant(1)), ast.Slice(None, ast.Constant(-1))):
                yield ast.For(target, ast.Subscript(over, part, ast.Load()), body, orelse)
        case ast.Return(value=ast.AST() as value):
            yield from map(ast.Return, _results(value, result))


def _orders(statements: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """Statements of one body: one dropped, two swapped, a `return` pulled into the loop above it."""
    for place in range(len(statements) if len(statements) > 1 else 0):
        yield statements[:place] + statements[place + 1 :]
    for place in range(len(statements) - 1):
        yield [*statements[:place], statements[place + 1], statements[place], *statements[place + 2 :]]
    match statements:
        case [*before, ast.For() as loop, ast.Return() as end]:
            yield [*before, ast.For(loop.target, loop.iter, [*loop.body, end], loop.orelse)]


def _calls(call: ast.Call) -> Iterator[ast.expr]:
    """Calls with other arguments, or none at all: `x.f()` becomes `x`, `f(x)` becomes `x`."""
    function, arguments, keywords = call.func, call.args, call.keywords
    if isinstance(function, ast.Attribute) and ast.unparse(function.value) not in ("torch", "F", "nn", "super()"):
        yield function.value
    elif arguments:
        yield arguments[0]
    yield from (ast.Call(function, swapped, keywords) for swapped in _swaps(arguments))
    for place in range(len(arguments)):
        yield ast.Call(function, arguments[:place] + arguments[place + 1 :], keywords)
        if ast.unparse(function) == "range":
            for other in _one_off(arguments[place])[:2]:
                yield ast.Call(function, [*arguments[:place], other, *arguments[place + 1 :]], [])
    for place in range(len(keywords)):
        yield ast.Call(function, arguments, keywords[:place] + keywords[place + 1 :])


def _results(value: ast.expr, kind: type) -> Iterator[ast.expr]:
    """Expressions in which the result goes through one step too many."""
    steps = {
        torch.Tensor: "-{} | {} + 1 | 2 * {} | {}[1:] | {}[:-1] | {}[:1] | {}.flip(0) | {}.flip(-1) | {}.sum(0) |"
        " {}.mean(-1) | {}.transpose(0, -1) | {}.detach() | {}.unsqueeze(0) | {}.flatten() | {}.double().long()",
        int: "-{} | {} + 1 | {} - 1 | {} * 2 | {} // 2 | {} / 1",
        list: "{}[1:] | {}[:-1] | {}[::-1] | sorted({}) | set({}) | {} * 2",
        dict: "list({}) | dict(sorted({}.items())) | dict(list({}.items())[1:]) | {{word: 0 for word in {}}}",
    }
    for step in steps.get(kind, "").split(" | ") if kind in steps else ():
        yield ast.parse(step.format(f"({ast.unparse(value)})"), mode="eval").body


def _swaps(parts: list) -> Iterator[list]:
    for one in range(len(parts)):
        for other in range(one + 1, len(parts)):
            swapped = list(parts)
            swapped[one], swapped[other] = parts[other], parts[one]
            yield swapped


def _one_off(bound: ast.expr | None) -> list[ast.expr | None]:
    if bound is None:
        return []
    return [ast.BinOp(bound, ast.Add(), ast.Constant(1)), ast.BinOp(bound, ast.Sub(), ast.Constant(1)), None]


def _siblings(name: str) -> list[str]:
    return [other for group in SIBLINGS for other in group.split() if name in group.split() and other != name]


# ---------------------------------------------------------------- what check says


def made(exercise: Exercise, mutant: Mutant) -> Callable:
    """The function or class of a mutant, which finds its source and the names of the solution's file."""
    file = f"<{exercise.name}: {mutant.name}>"
    linecache.cache[file] = (len(mutant.source), None, mutant.source.splitlines(keepends=True), file)
    space = dict(vars(sys.modules[exercise.solution.__module__]))
    exec(compile(mutant.source, file, "exec"), space)
    return space[exercise.name]


@functools.cache
def _known_run(name: str, answer: Callable) -> list[running.Outcome]:
    return running.run(all_exercises()[name], answer)


def _run(exercise: Exercise, answer: Callable, *args, **settings) -> list[running.Outcome]:
    """As running.run, which each answer of the course goes through only once."""
    if answer is exercise.solution or any(answer is wrong.answer for wrong in exercise.wrong):
        return _known_run(exercise.name, answer)
    return running.run(exercise, answer, *args, **settings)


def checked(exercise: Exercise, mutant: Mutant) -> checking.Result:
    """What check answers; nothing is recorded."""
    with (
        mock.patch.object(verdict, "run", _run),
        mock.patch.object(checking, "TIME_LIMIT", SECONDS),
        mock.patch.object(checking.progress, "record", lambda *args, **settings: None),
    ):
        return checking.check(made(exercise, mutant))


def kind(exercise: Exercise, result: checking.Result) -> str:
    """same, named (a known wrong answer), raised, general (another fault that explains something) or different."""
    if result.passed:
        return "same"
    if result.diagnosis in {wrong.name for wrong in exercise.wrong}:
        return "named"
    return result.diagnosis if result.diagnosis in (names.RAISED, names.DIFFERENT) else "general"


# ---------------------------------------------------------------- what it does on other inputs

DRAWS = 60


@functools.cache
def _drawn(name: str) -> list[tuple[inputs.Input, inputs.Deed]]:
    """Random inputs of an exercise, and what its solution does with each."""
    drawn = [inputs.draw(name, seed) for seed in range(DRAWS)]
    return [(one, inputs.deed(all_exercises()[name].solution, one, seed=0)) for one in drawn]


def difference(exercise: Exercise, answer: Callable) -> inputs.Input | None:
    """The first random input with which the answer does not do as the solution does; None where it always does."""
    for given, right in _drawn(exercise.name):
        if not inputs.as_good(exercise.name, given, right, inputs.deed(answer, given, seed=1)):
            return given
    return None


# ---------------------------------------------------------------- the table

KINDS = ("same", "named", "general", "raised", "different")


def counted(exercise: Exercise, chosen: list[Mutant]) -> Counter:
    """How many of the mutants are told in which way."""
    return Counter(kind(exercise, checked(exercise, mutant)) for mutant in chosen)


def share(counts: Counter) -> float:
    """How much of what is wrong is told as more than different, in per cent."""
    wrong = counts.total() - counts["same"]
    return 100 * (1 - counts["different"] / wrong) if wrong else 100.0


def line(name: str, counts: Counter) -> str:
    """A row of the table."""
    return f"{name:24}{counts.total():8}" + "".join(f"{counts[told]:10}" for told in KINDS) + f"{share(counts):9.1f} %"


def main(names: list[str]) -> None:
    """Print the table, for chosen exercises with the mutants that are told only as different."""
    print(f"{'exercise':24}{'mutants':>8}" + "".join(f"{told:>10}" for told in KINDS) + f"{'told':>11}")
    total = Counter()
    for name in names or all_exercises():
        exercise = all_exercises()[name]
        counts = counted(exercise, mutants(exercise))
        total += counts
        print(line(name, counts), flush=True)
        for mutant in mutants(exercise) if names else ():
            if kind(exercise, checked(exercise, mutant)) == "different":
                print(f"    {mutant.name}")
    print(line("total", total))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1:])
