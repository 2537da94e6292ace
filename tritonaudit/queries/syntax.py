"""The Python constructs of a kernel that Triton's front end does not take, wherever they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from enum import Enum, auto
from functools import cache

import libcst as cst

from tritonaudit.domains.facts import KernelFlow


class Construct(Enum):
    BREAK = auto()
    CONTINUE = auto()
    RETURN_IN_LOOP = auto()
    LOOP_ELSE = auto()
    TRY = auto()
    RAISE = auto()
    WITH = auto()
    LAMBDA = auto()
    NESTED_FUNCTION = auto()
    CLASS = auto()
    GENERATOR = auto()
    TUPLE_COMPREHENSION = auto()
    COMPREHENSION = auto()
    DICT = auto()
    SET = auto()
    GLOBAL = auto()
    IMPORT = auto()
    DELETE = auto()
    YIELD = auto()
    AWAIT = auto()
    MATCH = auto()
    WALRUS = auto()


_STATEMENTS: dict[type[cst.CSTNode], Construct] = {
    cst.Break: Construct.BREAK,
    cst.Continue: Construct.CONTINUE,
    cst.Try: Construct.TRY,
    cst.TryStar: Construct.TRY,
    cst.FunctionDef: Construct.NESTED_FUNCTION,
    cst.ClassDef: Construct.CLASS,
    cst.Global: Construct.GLOBAL,
    cst.Nonlocal: Construct.GLOBAL,
    cst.Import: Construct.IMPORT,
    cst.ImportFrom: Construct.IMPORT,
    cst.Del: Construct.DELETE,
    cst.Match: Construct.MATCH,
}

_EXPRESSIONS: dict[type[cst.CSTNode], Construct] = {
    cst.Lambda: Construct.LAMBDA,
    cst.GeneratorExp: Construct.GENERATOR,
    cst.DictComp: Construct.COMPREHENSION,
    cst.SetComp: Construct.COMPREHENSION,
    cst.Dict: Construct.DICT,
    cst.Set: Construct.SET,
    cst.Yield: Construct.YIELD,
    cst.Await: Construct.AWAIT,
    cst.NamedExpr: Construct.WALRUS,
}

# Every one of those expressions spells one of these; most kernels spell none, and theirs are not looked into.
_SPELLED = re.compile(r"lambda|yield|await|:=|[{]|[^\s#]\s+for\s")

# Fields that hold whitespace, punctuation and annotations: nothing is compiled from them.
_SKIPPED = frozenset({"annotation", "leading_lines", "lpar", "rpar", "comma", "operator", "header", "footer"})


@dataclass(frozen=True)
class _Place:
    """Where a statement stands: in a loop, under an `if`."""

    loop: bool = False
    branch: bool = False


def constructs(kernel: KernelFlow) -> Iterator[tuple[Construct, cst.CSTNode]]:
    """Each construct with its node, in the order of the text."""
    body = kernel.function.node.body
    first = body[1] if len(body) > 1 and kernel.function.docstring is not None else body[0]
    code = kernel.module.lines[first.lineno - 1 : kernel.function.last_line]
    deep = any(_SPELLED.search(line) for line in code)
    yield from _suite(kernel, kernel.tree.function.body, _Place(), deep)


def _suite(
    kernel: KernelFlow, suite: cst.BaseSuite, place: _Place, deep: bool
) -> Iterator[tuple[Construct, cst.CSTNode]]:
    for statement in suite.body:
        if type(statement) is cst.SimpleStatementLine:
            for small in statement.body:
                yield from _statement(kernel, small, place, deep)
        else:
            yield from _statement(kernel, statement, place, deep)


def _statement(
    kernel: KernelFlow, node: cst.CSTNode, place: _Place, deep: bool
) -> Iterator[tuple[Construct, cst.CSTNode]]:
    construct = _construct(kernel, node, place)
    if construct is not None:
        yield construct, node.name if isinstance(node, (cst.FunctionDef, cst.ClassDef)) else node
    if construct in (Construct.NESTED_FUNCTION, Construct.CLASS):
        return  # nothing in it is compiled
    kind = type(node)
    if kind is cst.For or kind is cst.While:
        place = _Place(place.loop or not _is_unrolled(node), place.branch)
    elif kind is cst.If:
        place = _Place(place.loop, True)
    for child in _children(node):
        if isinstance(child, cst.BaseSuite):
            yield from _suite(kernel, child, place, deep)
        elif isinstance(child, (cst.BaseStatement, cst.Else, cst.ExceptHandler, cst.ExceptStarHandler, cst.Finally)):
            yield from _statement(kernel, child, place, deep)
        elif isinstance(child, cst.MatchCase):
            yield from _suite(kernel, child.body, place, deep)
        elif deep:
            yield from _expression(child)


def _expression(node: cst.CSTNode) -> Iterator[tuple[Construct, cst.CSTNode]]:
    known = _EXPRESSIONS.get(type(node))
    if known is not None:
        yield known, node
    elif isinstance(node, cst.ListComp):
        over_range = isinstance(node.for_in.iter, cst.Call)
        yield Construct.COMPREHENSION if over_range else Construct.TUPLE_COMPREHENSION, node
    if known is not Construct.LAMBDA:
        for child in _children(node):
            yield from _expression(child)


def _is_unrolled(node: cst.CSTNode) -> bool:
    """`for … in tl.static_range(…)`, whose body Triton repeats: a `return` in it is like one outside a loop."""
    if not isinstance(node, cst.For) or not isinstance(node.iter, cst.Call):
        return False
    return (dotted_name(node.iter.func) or "").endswith("static_range")


@cache
def _fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    names = (field.name for field in fields(kind))
    return tuple(name for name in names if name not in _SKIPPED and not name.startswith("whitespace"))


def _children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    for name in _fields(type(node)):
        value = getattr(node, name)
        if isinstance(value, cst.CSTNode):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from (item for item in value if isinstance(item, cst.CSTNode))


def _construct(kernel: KernelFlow, node: cst.CSTNode, place: _Place) -> Construct | None:
    kind = type(node)
    known = _STATEMENTS.get(kind)
    if known is not None:
        return known
    if kind is cst.Return:
        return Construct.RETURN_IN_LOOP if place.loop else None
    if kind is cst.Raise:
        # Under an `if` it is compiled only when a constexpr condition takes it: it may be a guard that works.
        return None if place.branch else Construct.RAISE
    if isinstance(node, (cst.For, cst.While)):
        return Construct.LOOP_ELSE if node.orelse is not None else None
    if isinstance(node, cst.With):
        return Construct.WITH if _foreign_context(kernel, node) else None
    return None


def _foreign_context(kernel: KernelFlow, node: cst.With) -> bool:
    """Whether a `with` enters something that is neither Triton's own nor imported: that may be made for kernels."""
    if kernel.target.supports((3, 4)) == "none":
        return True
    if kernel.module.says(_HOOK):
        return False
    for item in node.items:
        dotted = dotted_name(item.item.func) if isinstance(item.item, cst.Call) else None
        if dotted is None or dotted.partition(".")[0] not in kernel.module.names:
            return True
        if kernel.module.origin(dotted).partition(".")[0] in _OF_HOST:
            return True
    return False


_HOOK = "_semantic"  # what Triton passes to a context manager that is made for kernels
_OF_HOST = frozenset({"torch", "contextlib", "threading", "numpy"})


def dotted_name(node: cst.BaseExpression) -> str | None:
    """`a.b.c` of a chain of attributes."""
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return None
    parts.append(node.value)
    return ".".join(reversed(parts))
