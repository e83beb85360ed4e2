"""Small edits of an answer's code, each a rule with the words that tell where it is: what `repair` tries.

A rule looks at one site, an expression or a list of statements, and gives what could stand there instead. RULES are
tried in their order, the smaller ones first.
"""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

MOST_NAMES = 14  # names that are tried in place of another
MOST_SIZE = 64  # the largest number that is moved to another place of a call


@dataclass(frozen=True, eq=False)
class Site:
    """A place in the code: what stands in field `key` of `owner` (for an item of a list, at `index`)."""

    owner: Any
    key: str
    index: int | None
    line: int
    names: tuple[str, ...]  # arguments, local names and what is kept in self, which an expression may use here
    foreign: frozenset[str]  # names of the notebook, which are no arguments
    sizes: frozenset[str]  # arguments that are whole numbers

    @property
    def node(self) -> Any:
        """What stands there."""
        value = getattr(self.owner, self.key)
        return value if self.index is None else value[self.index]

    def put(self, node: Any) -> None:
        """Put something else there."""
        if self.index is None:
            setattr(self.owner, self.key, node)
        else:
            getattr(self.owner, self.key)[self.index] = node


@dataclass(frozen=True, eq=False)
class Edit:
    """One edit: the rule, the site, what stood there and what comes instead, as nodes and as text."""

    rule: Rule
    site: Site
    before: Any
    after: Any
    old: str
    new: str
    line: int

    @property
    def place(self) -> str:
        """Where to look, and for what, without the cure."""
        return f"line {self.line}: {self.rule.place.format(old=self.old)}"

    @property
    def cure(self) -> str:
        """The edit itself."""
        if not self.new:
            return f"line {self.line}: leave out `{self.old}`"
        return f"line {self.line}: {self.rule.cure.format(old=self.old, new=self.new)}"

    def apply(self) -> None:
        self.site.put(self.after)

    def undo(self) -> None:
        self.site.put(self.before)


@dataclass(frozen=True)
class Rule:
    """A kind of edit: its name, the words for its place, and what it gives for a site."""

    name: str
    place: str  # {old} is the code that stands there
    find: Callable[[Site], Iterator[Any]] = field(repr=False)
    cure: str = "`{new}` in place of `{old}`"
    size: int = 1  # 1 for something else in its place, 2 for less or another order, 3 for more


# ---------------------------------------------------------------- sites


def sites(tree: ast.Module, foreign: frozenset[str], sizes: frozenset[str]) -> list[Site]:
    """All places in functions and methods of a module, in the order of the code."""
    found: list[Site] = []
    attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    kept = tuple(sorted({ast.unparse(node) for node in attributes if getattr(node.value, "id", "") == "self"}))
    for node in tree.body:
        functions = [node] if isinstance(node, ast.FunctionDef) else list(getattr(node, "body", ()))
        for function in functions:
            if isinstance(function, ast.FunctionDef):
                names = _names_in(function)
                names = (*names, *kept) if "self" in names else names
                usable = tuple(name for name in names if name != "self")[:MOST_NAMES]
                found += _sites_of(function, usable, foreign - set(names), sizes)
    return found


def free_names(tree: ast.Module) -> frozenset[str]:
    """Names that a function of the code uses, and that neither it nor the code gives."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    used = {node.id for function in functions for node in _own_names(function) if node.id not in _names_in(function)}
    return frozenset(used - {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))})


def _own_names(function: ast.FunctionDef) -> list[ast.Name]:
    return [node for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]


def _names_in(function: ast.FunctionDef) -> tuple[str, ...]:
    """The arguments of a function and then the names that it gives."""
    arguments = [node.arg for node in ast.walk(function) if isinstance(node, ast.arg)]
    stored = [n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return tuple(dict.fromkeys(arguments + stored))


def _sites_of(owner: Any, names: tuple[str, ...], foreign: frozenset[str], sizes: frozenset[str]) -> list[Site]:
    found = []
    line = getattr(owner, "lineno", 0)
    for key in owner._fields:
        value = getattr(owner, key)
        if key in ("decorator_list", "returns", "annotation", "args") and not isinstance(owner, ast.Call):
            continue
        if isinstance(value, ast.AST):
            at = getattr(value, "lineno", line)
            found += [Site(owner, key, None, at, names, foreign, sizes), *_sites_of(value, names, foreign, sizes)]
        elif isinstance(value, list) and value:
            if isinstance(value[0], ast.stmt):
                found.append(Site(owner, key, None, value[0].lineno, names, foreign, sizes))
            for index, item in enumerate(value):
                if isinstance(item, ast.AST):
                    at = getattr(item, "lineno", line)
                    if isinstance(item, ast.expr):
                        found.append(Site(owner, key, index, at, names, foreign, sizes))
                    found += _sites_of(item, names, foreign, sizes)
    return found


# ---------------------------------------------------------------- helpers


def name_of(text: str) -> ast.expr:
    """`x`, `self.x` or any other expression as a node."""
    expression = ast.parse(text, mode="eval").body
    for node in ast.walk(expression):
        for place in ("lineno", "col_offset", "end_lineno", "end_col_offset"):  # that of the site is filled in later
            if hasattr(node, place):
                delattr(node, place)
    return expression


def _loaded(node: Any) -> bool:
    """Whether it is an expression that gives a value, and no target of an assignment."""
    return isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


def _called(node: Any) -> str:
    """The last name of what a call calls: "permute" of `x.permute(1, 0)`."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _is_function(site: Site) -> bool:
    return isinstance(site.owner, ast.Call) and site.key == "func"


def _number(node: Any) -> bool:
    """Whether it is a whole number, also a negative one."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and type(node.value) is int


def _with(node: ast.AST, **fields: Any) -> Any:
    """The node with other fields."""
    return type(node)(**{**{name: getattr(node, name) for name in node._fields}, **fields})


def _text(node: ast.AST, template: str) -> ast.expr:
    """The expression in a template, as in "({}).T"."""
    return name_of(template.format(ast.unparse(node)))


# ---------------------------------------------------------------- names


def _foreign_name(site: Site) -> Iterator[ast.expr]:
    if isinstance(site.node, ast.Name) and _loaded(site.node) and site.node.id in site.foreign:
        yield from (name_of(name) for name in site.names)


def _other_name(site: Site) -> Iterator[ast.expr]:
    node = site.node
    if _is_function(site) or not _loaded(node) or not isinstance(node, (ast.Name, ast.Attribute)):
        return
    text = ast.unparse(node)
    if text in site.names and not (isinstance(site.owner, ast.BinOp) and isinstance(site.owner.op, ast.Pow)):
        yield from (name_of(name) for name in site.names if name != text)


def _number_for_name(site: Site) -> Iterator[ast.expr]:
    if _number(site.node) and not isinstance(site.owner, (ast.Slice, ast.UnaryOp)):
        yield from (name_of(name) for name in site.names if name in site.sizes)


# ---------------------------------------------------------------- operations

ALIKE = (
    (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Div, ast.Mod, ast.MatMult),
    (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq),
    (ast.And, ast.Or),
    (ast.In, ast.NotIn),
    (ast.Is, ast.IsNot),
)


def _same_kind(operator: ast.AST) -> Iterator[ast.AST]:
    for kinds in ALIKE:
        if isinstance(operator, kinds):
            yield from (kind() for kind in kinds if not isinstance(operator, kind))


def _operator(site: Site) -> Iterator[ast.expr]:
    node = site.node
    if isinstance(node, (ast.BinOp, ast.BoolOp)):
        yield from (_with(node, op=other) for other in _same_kind(node.op))
        if isinstance(node, ast.BinOp) and _number(node.right) and isinstance(node.op, ast.Mult):
            yield _with(node, op=ast.Pow())
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Pow, ast.BitXor)):
            yield from (_with(node, op=kind()) for kind in (ast.Mult, ast.Add))


def _comparison(site: Site) -> Iterator[ast.expr]:
    if isinstance(site.node, ast.Compare) and len(site.node.ops) == 1:
        yield from (_with(site.node, ops=[other]) for other in _same_kind(site.node.ops[0]))


def _sides(site: Site) -> Iterator[ast.expr]:
    node = site.node
    if isinstance(node, ast.BinOp) and not isinstance(node.op, (ast.Add, ast.Mult)):
        yield _with(node, left=node.right, right=node.left)


def _brackets(site: Site) -> Iterator[ast.expr]:
    node = site.node
    if not isinstance(node, ast.BinOp):
        return
    if isinstance(node.left, ast.BinOp):  # (a b) c -> a (b c)
        yield _with(node.left, right=_with(node, left=node.left.right))
    if isinstance(node.right, ast.BinOp):  # a (b c) -> (a b) c
        yield _with(node.right, left=_with(node, right=node.right.left))


def _brackets_of_a_call(site: Site) -> Iterator[ast.expr]:
    """a + b.f() -> (a + b).f(), and back."""
    node = site.node
    if isinstance(node, ast.BinOp) and isinstance(node.right, ast.Call) and isinstance(node.right.func, ast.Attribute):
        inner = _with(node, right=node.right.func.value)
        yield _with(node.right, func=_with(node.right.func, value=inner))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.BinOp):
        inner = node.func.value
        yield _with(inner, right=_with(node, func=_with(node.func, value=inner.right)))


def _term_too_much(site: Site) -> Iterator[ast.expr]:
    if isinstance(site.node, ast.BinOp):
        yield from (site.node.left, site.node.right)
    elif isinstance(site.node, ast.BoolOp) and len(site.node.values) == 2:
        yield from site.node.values
    elif isinstance(site.node, ast.UnaryOp):
        yield site.node.operand


def _term_missing(site: Site) -> Iterator[ast.expr]:
    if site.key == "value" and isinstance(site.owner, (ast.Return, ast.Assign, ast.AugAssign)) and _loaded(site.node):
        for name in site.names:
            yield from (_text(site.node, f"({{}}) {sign} {name}") for sign in ("+", "-", "*", "//"))


def _sign(site: Site) -> Iterator[ast.expr]:
    if _loaded(site.node) and not _is_function(site) and isinstance(site.node, (ast.Name, ast.BinOp, ast.Call)):
        yield ast.UnaryOp(ast.USub(), site.node)


def _condition(site: Site) -> Iterator[ast.expr]:
    if site.key == "test" and isinstance(site.node, ast.expr):
        yield ast.UnaryOp(ast.Not(), site.node)


def _augmented(site: Site) -> Iterator[list[ast.stmt]]:
    """x = … in a loop, where x += … was meant, and the other way round; another operator."""
    for at, statement in _statements(site):
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            target = statement.targets[0]
            yield _replaced(site.node, at, [ast.AugAssign(target, op, statement.value) for op in (ast.Add(),)])
        elif isinstance(statement, ast.AugAssign):
            yield _replaced(site.node, at, [ast.Assign([statement.target], statement.value, lineno=statement.lineno)])
            for other in _same_kind(statement.op):
                yield _replaced(site.node, at, [_with(statement, op=other)])


# ---------------------------------------------------------------- numbers, axes, arguments


def _other_number(site: Site) -> Iterator[ast.expr]:
    if _number(site.node) and not isinstance(site.owner, ast.UnaryOp):
        value = ast.literal_eval(site.node)
        near = dict.fromkeys((value + 1, value - 1, 0, 1, 2, -1, -2, 3, 4, 8))
        yield from (name_of(str(other)) for other in near if other != value)


def _order(site: Site) -> Iterator[ast.expr]:
    """The arguments of a call, or the parts of a tuple or list, in another order; up to six axes in every one."""
    node = site.node
    key = "args" if isinstance(node, ast.Call) else "elts"
    parts: list[ast.expr] = getattr(node, key, [])
    if not isinstance(node, (ast.Call, ast.Tuple, ast.List)) or not _loaded(node) or not 2 <= len(parts) <= 6:
        return
    if any(_number(part) and ast.literal_eval(part) > MOST_SIZE for part in parts):
        return  # a layer of sizes that were not meant could be too large for any memory
    axes = all(map(_number, parts))
    orders = sorted(itertools.permutations(range(len(parts))), key=lambda order: _moved(order))[1:]
    for order in orders:
        if axes or _moved(order) == 2 or (len(parts) == 3 and _moved(order) == 3):
            yield _with(node, **{key: [parts[i] for i in order]})


def _moved(order: tuple[int, ...]) -> int:
    return sum(place != part for place, part in enumerate(order))


def _targets(site: Site) -> Iterator[list[ast.stmt]]:
    """a, b = … in another order of the names on the left."""
    for at, statement in _statements(site):
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple):
            names = statement.targets[0].elts
            for one, other in itertools.combinations(range(len(names)), 2):
                swapped = list(names)
                swapped[one], swapped[other] = swapped[other], swapped[one]
                target = _with(statement.targets[0], elts=swapped)
                yield _replaced(site.node, at, [_with(statement, targets=[target])])


SETTINGS = {
    "Conv2d": ("stride=patch_size", "bias=False", "stride=conv.stride", "dtype=conv.weight.dtype"),
    "conv2d": ("stride=patch_size",),
    "unfold": ("stride=patch_size",),
    "Linear": ("bias=False", "dtype=conv.weight.dtype"),
    "one_hot": ("num_classes=len(weight)", "num_classes=vocabulary_size", "num_classes=len(codebook)"),
    "zeros": ("dtype=images.dtype", "dtype=patches.dtype", "dtype=torch.int64", "dtype=weight.dtype"),
    "cosine_similarity": ("dim=-1", "dim=1"),
    "interpolate": ("align_corners=False", "mode='bicubic'"),
    "topk": ("largest=False",),
    "argsort": ("descending=True",),
    "sorted": ("reverse=True",),
    "bincount": ("minlength=vocabulary_size",),
}
REDUCTIONS = ("sum", "mean", "argmin", "argmax", "min", "max", "amin", "amax", "norm", "cat", "stack", "softmax",
              "any", "all", "prod")  # fmt: skip


def _setting(site: Site) -> Iterator[ast.expr]:
    """A keyword too much, another value for one, or one that is missing."""
    node = site.node
    if not isinstance(node, ast.Call):
        return
    for at, keyword in enumerate(node.keywords):
        if isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, bool):
            other = ast.keyword(keyword.arg, ast.Constant(not keyword.value.value))
            yield _with(node, keywords=[*node.keywords[:at], other, *node.keywords[at + 1 :]])
        yield _with(node, keywords=[*node.keywords[:at], *node.keywords[at + 1 :]])
    missing = SETTINGS.get(_called(node), ())
    if _called(node) in REDUCTIONS and not node.keywords:
        missing = (*missing, "dim=-1", "dim=1", "dim=0", "keepdim=True", "dim=-1, keepdim=True", "dim=(-2, -1)")
    for text in missing:
        added = name_of(f"f({text})").keywords  # type: ignore[attr-defined]
        if not {keyword.arg for keyword in added} & {keyword.arg for keyword in node.keywords}:
            yield _with(node, keywords=[*node.keywords, *added])


def _argument_too_much(site: Site) -> Iterator[ast.expr]:
    if isinstance(site.node, ast.Call):
        for at in range(len(site.node.args)):
            yield _with(site.node, args=[*site.node.args[:at], *site.node.args[at + 1 :]])


# ---------------------------------------------------------------- functions

LIBRARIES = ("torch", "F", "nn", "np", "math")
TWINS = (
    ("sum", "mean", "prod"),
    ("argmin", "argmax"),
    ("min", "max"),
    ("amin", "amax"),
    ("cat", "stack", "hstack", "vstack"),
    ("append", "extend"),
    ("any", "all"),
    ("zeros", "ones", "empty"),
    ("zeros_like", "ones_like"),
    ("expand", "repeat"),
    ("floor", "ceil"),
    ("log", "logsigmoid"),
    ("sigmoid", "logsigmoid"),
    ("unsqueeze", "squeeze"),
    ("square", "sqrt", "abs"),
    ("lower", "upper"),
    ("width", "height"),
    ("in_channels", "out_channels"),
    ("in_features", "out_features"),
    ("kernel_size", "stride"),
    ("num_embeddings", "embedding_dim"),
    ("isalnum", "isalpha"),
    ("keys", "values", "items"),
)


def _twin(site: Site) -> Iterator[ast.expr]:
    node = site.node
    if not isinstance(node, (ast.Attribute, ast.Name)) or not _loaded(node):
        return
    name = node.attr if isinstance(node, ast.Attribute) else node.id
    if isinstance(node, ast.Name) and not _is_function(site):
        return
    for twins in TWINS:
        if name in twins:
            for twin in twins:
                if twin != name:
                    yield _with(node, attr=twin) if isinstance(node, ast.Attribute) else _with(node, id=twin)


def _call_too_much(site: Site) -> Iterator[ast.expr]:
    """x.f(…) -> x, f(x, …) -> x, x.T -> x."""
    node = site.node
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT") and _loaded(node):
        yield node.value
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") not in LIBRARIES:
            yield node.func.value
        yield from node.args[:1]


def _dtype(site: Site) -> Iterator[ast.expr]:
    """x.float(), x.double() or x.to(torch.float64) -> x.to(name.dtype)."""
    node = site.node
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and _called(node) in ("float", "double", "to")
    ):
        names = [name for name in site.names if name not in site.sizes]
        yield from (_text(node.func.value, f"({{}}).to({name}.dtype)") for name in names)


MISSING = (
    "({}).T", "({}).mT", "({}).transpose(1, 2)", "({}).flatten(1)", "({}).flatten(2)", "({}).flatten()",
    "({}).sum(-1)", "({}).sum()", "({}).mean()", "({}).unsqueeze(0)", "({}).unsqueeze(1)", "({}).unsqueeze(-1)",
    "({}).squeeze(-1)", "({})[0]", "({})[1:]", "({})[:-1]", "({}) ** 2", "({}).sqrt()", "({}).norm()",
    "({}).norm(dim=1, keepdim=True)", "({}).float()", "({}).long()", "int({})", "len({})", "list({})", "set({})",
    "({}).lower()", "({}).strip()", "({}).tolist()", "({}).clone()", "({}).abs()", "({}) + 1", "({}) - 1", "2 * ({})",
    "({}) / 2", "({}).detach()", "({}).values", "({}).indices", "({}).shape[0]", "({}).permute(0, 2, 1)",
    "torch.from_numpy({})", "torch.tensor({})", "torch.stack({})", "sum({})", "range({})", "enumerate({})",
    "1 + ({})", "(1 - ({}))",
)  # fmt: skip


def _call_missing(site: Site) -> Iterator[ast.expr]:
    node = site.node
    if _is_function(site) or not _loaded(node) or isinstance(site.owner, ast.Starred) or site.key in ("slice", "ctx"):
        return
    if isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.BinOp, ast.Subscript)):
        if isinstance(node, ast.Name) and node.id in (*LIBRARIES, "self"):
            return
        yield from (_text(node, template) for template in MISSING)


# ---------------------------------------------------------------- indices


def _index(site: Site) -> Iterator[ast.expr]:
    """Another end of a slice, x[1:] for x[:1], an index too much."""
    node = site.node
    if not isinstance(node, ast.Subscript) or not _loaded(node):
        return
    yield node.value
    for part, rest in _parts_of_index(node):
        if isinstance(part, ast.Slice):
            if (part.lower is None) != (part.upper is None):
                yield rest(_with(part, lower=part.upper, upper=part.lower))
            for end in ("lower", "upper"):
                bound = getattr(part, end)
                if bound is not None:
                    yield from (rest(_with(part, **{end: _text(bound, f"({{}}) {step}")})) for step in ("+ 1", "- 1"))
                    yield rest(_with(part, **{end: None}))
                else:
                    yield from (rest(_with(part, **{end: name_of(text)})) for text in ("1", "-1", *site.names))


def _parts_of_index(node: ast.Subscript) -> Iterator[tuple[Any, Callable[[Any], ast.expr]]]:
    """Each part of an index, and how to put another one there."""
    if isinstance(node.slice, ast.Tuple):
        parts = node.slice.elts
        for at, part in enumerate(parts):
            yield part, functools.partial(_with_part, node, at)
    else:
        yield node.slice, functools.partial(_with_part, node, None)


def _with_part(node: ast.Subscript, at: int | None, part: Any) -> ast.expr:
    """The index with another part at that place, or with another one part."""
    if at is None:
        return _with(node, slice=part)
    parts = node.slice.elts  # type: ignore[attr-defined]
    return _with(node, slice=ast.Tuple([*parts[:at], part, *parts[at + 1 :]], ast.Load()))


def _place_of_index(site: Site) -> Iterator[ast.expr]:
    """x[:, i] for x[i], and back."""
    node = site.node
    if isinstance(node, ast.Subscript) and _loaded(node):
        if isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == 2:
            yield _with(node, slice=ast.Tuple(node.slice.elts[::-1], ast.Load()))
            yield from (_with(node, slice=part) for part in node.slice.elts)
        elif not isinstance(node.slice, ast.Tuple):
            yield _text(node.value, f"({{}})[:, {ast.unparse(node.slice)}]")
            yield _text(node.value, f"({{}})[..., {ast.unparse(node.slice)}]")


def _range(site: Site) -> Iterator[ast.expr]:
    """range(n) for range(1, n), range(n + 1) and so on."""
    node = site.node
    if _called(node) == "range":
        stop = node.args[0] if len(node.args) == 1 else node.args[1]
        for template in ("({}) + 1", "({}) - 1", "len({})"):
            new = _text(stop, template)
            args = [new] if len(node.args) == 1 else [node.args[0], new, *node.args[2:]]
            yield _with(node, args=args)
        if len(node.args) == 1:
            yield _with(node, args=[ast.Constant(1), stop])
            yield from (_with(node, args=[ast.Constant(0), stop, name_of(name)]) for name in site.names)
        else:
            yield _with(node, args=[stop])


# ---------------------------------------------------------------- statements


def _statements(site: Site) -> list[tuple[int, ast.stmt]]:
    """The numbered statements of a list, without a docstring; empty where the site is no list of statements."""
    if site.index is not None or not isinstance(site.node, list):
        return []
    return [
        (at, statement)
        for at, statement in enumerate(site.node)
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
    ]


def _replaced(statements: list[ast.stmt], at: int, new: list[Any], until: int | None = None) -> list[ast.stmt]:
    until = at + 1 if until is None else until
    return [*statements[:at], *(ast.copy_location(one, statements[at]) for one in new), *statements[until:]]


def _line_too_much(site: Site) -> Iterator[list[ast.stmt]]:
    if len(_statements(site)) > 1:
        for at, _ in _statements(site):
            yield _replaced(site.node, at, [])


def _lines_swapped(site: Site) -> Iterator[list[ast.stmt]]:
    numbered = _statements(site)
    for (at, one), (_, other) in itertools.pairwise(numbered):
        if not isinstance(other, (ast.Return, ast.Break, ast.Continue)):  # what stands behind these never runs
            yield [*site.node[:at], other, one, *site.node[at + 2 :]]


def _block(site: Site) -> Iterator[list[ast.stmt]]:
    """The last statement of a loop or condition moved behind it, and the statement behind moved into it."""
    for at, statement in _statements(site):
        if isinstance(statement, (ast.For, ast.While, ast.If, ast.With)):
            if len(statement.body) > 1:
                yield _replaced(site.node, at, [_with(statement, body=statement.body[:-1])])[: at + 1] + [
                    statement.body[-1],
                    *site.node[at + 1 :],
                ]
            if at + 1 < len(site.node):
                longer = ast.copy_location(_with(statement, body=[*statement.body, site.node[at + 1]]), statement)
                yield [*site.node[:at], longer, *site.node[at + 2 :]]


def _return_missing(site: Site) -> Iterator[list[ast.stmt]]:
    """A return behind the last line: of a name, or of what the last line works out."""
    if not isinstance(site.owner, ast.FunctionDef) or not _statements(site) or site.key != "body":
        return
    last = site.node[-1]
    if isinstance(last, ast.Return):
        return
    if isinstance(last, ast.Expr):
        yield [*site.node[:-1], ast.copy_location(ast.Return(last.value), last)]
        if isinstance(last.value, ast.Call) and _called(last.value) == "print" and last.value.args:
            yield [*site.node[:-1], ast.copy_location(ast.Return(last.value.args[0]), last)]
    for name in site.names:
        yield [*site.node, ast.copy_location(ast.Return(name_of(name)), last)]


def _result_kept(site: Site) -> Iterator[list[ast.stmt]]:
    """x.f(…) alone on a line -> x = x.f(…)."""
    for at, statement in _statements(site):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            receiver = getattr(statement.value.func, "value", None)
            if isinstance(receiver, ast.Name):
                target = ast.Name(receiver.id, ast.Store())
                yield _replaced(site.node, at, [ast.Assign([target], statement.value, lineno=statement.lineno)])


def _break(site: Site) -> Iterator[list[ast.stmt]]:
    for at, statement in _statements(site):
        if isinstance(statement, ast.Break):
            yield _replaced(site.node, at, [ast.Continue()])
        elif isinstance(statement, ast.Continue):
            yield _replaced(site.node, at, [ast.Break()])


RULES = (
    Rule("name of the notebook", "`{old}` is a name of the notebook, not one of your function", _foreign_name),
    Rule("number for a name", "the number `{old}`, which is right for one case only", _number_for_name),
    Rule("other name", "the name `{old}`", _other_name),
    Rule("operator", "the operator in `{old}`", _operator),
    Rule("comparison", "the comparison `{old}`", _comparison),
    Rule("sides", "the order of the two sides in `{old}`", _sides),
    Rule("condition", "the condition `{old}`", _condition),
    Rule("order", "the order in `{old}`", _order),
    Rule("targets", "the order of the names on the left of `{old}`", _targets),
    Rule("other number", "the number `{old}`", _other_number),
    Rule("twin", "`{old}`: another function or size is meant", _twin),
    Rule("assignment", "how `{old}` keeps its result", _augmented),
    Rule("break", "`{old}`: does the loop end here, or only this round", _break),
    Rule("dtype", "the dtype in `{old}`", _dtype),
    Rule("brackets", "what belongs together in `{old}`", _brackets, size=2),
    Rule("brackets of a call", "what the call in `{old}` is applied to", _brackets_of_a_call, size=2),
    Rule("term too much", "something too much in `{old}`", _term_too_much, size=2),
    Rule("argument too much", "an argument too much in `{old}`", _argument_too_much, size=2),
    Rule("call too much", "something too much in `{old}`", _call_too_much, size=2),
    Rule("setting", "the settings in `{old}`", _setting, size=2),
    Rule("index", "the index in `{old}`", _index, size=2),
    Rule("place of the index", "the axis of the index in `{old}`", _place_of_index, size=2),
    Rule("range", "where `{old}` begins and ends", _range, size=2),
    Rule("result kept", "the result of `{old}` is not kept", _result_kept, size=2),
    Rule("return missing", "nothing is returned behind `{old}`", _return_missing, "behind `{old}`, `{new}`", size=2),
    Rule("line too much", "`{old}` is too much", _line_too_much, size=2),
    Rule("lines swapped", "the order of the lines around `{old}`", _lines_swapped, "`{new}` before `{old}`", size=2),
    Rule("block", "what stands inside the block, and what behind it, at `{old}`", _block, size=2),
    Rule("minus", "the sign of `{old}`", _sign, size=3),
    Rule("term missing", "something is missing behind `{old}`", _term_missing, size=3),
    Rule("call missing", "something is still to be done with `{old}`", _call_missing, size=3),
)


# ---------------------------------------------------------------- edits


def edits(
    tree: ast.Module, foreign: frozenset[str] = frozenset(), sizes: frozenset[str] = frozenset()
) -> Iterator[Edit]:
    """All edits of the code, rule by rule: `foreign` are names of the notebook, `sizes` arguments that are numbers."""
    places = sites(tree, foreign, sizes)
    for rule in RULES:
        for site in places:
            for after in rule.find(site):
                edit = _edit(rule, site, after)
                if edit.old != edit.new:
                    yield edit


def _edit(rule: Rule, site: Site, after: Any) -> Edit:
    before = site.node
    if isinstance(before, list):
        for statement in after:
            ast.fix_missing_locations(statement)
        line, old, new = _statements_told(before, after)
        return Edit(rule, site, before, after, old, new, line)
    if not hasattr(after, "lineno"):
        ast.copy_location(after, before)
    ast.fix_missing_locations(after)
    return Edit(rule, site, before, after, ast.unparse(before), ast.unparse(after), site.line)


def _statements_told(before: list[ast.stmt], after: list[ast.stmt]) -> tuple[int, str, str]:
    """Line and text of the first statement that changes, and what comes in its place."""
    texts = [[ast.unparse(one).replace("\n", " … ", 1).split("\n")[0] for one in part] for part in (before, after)]
    first = next((i for i, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), min(map(len, texts)))
    if first == len(before):  # behind the last one
        return before[-1].lineno, texts[0][-1], texts[1][first]
    gone = len(after) < len(before) and texts[0][first + 1 :] == texts[1][first:]
    return before[first].lineno, texts[0][first], "" if gone else texts[1][first]
