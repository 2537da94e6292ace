"""The Python constructs of a kernel that Triton's front end does not take, wherever they stand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from enum import Enum, auto
from functools import cache

import libcst as cst

from tritonaudit.flow.expressions import dotted_name
from tritonaudit.flow.facts import KernelFlow


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


_BY_TYPE: dict[type[cst.CSTNode], Construct] = {
    cst.Break: Construct.BREAK,
    cst.Continue: Construct.CONTINUE,
    cst.Try: Construct.TRY,
    cst.TryStar: Construct.TRY,
    cst.Lambda: Construct.LAMBDA,
    cst.FunctionDef: Construct.NESTED_FUNCTION,
    cst.ClassDef: Construct.CLASS,
    cst.GeneratorExp: Construct.GENERATOR,
    cst.DictComp: Construct.COMPREHENSION,
    cst.SetComp: Construct.COMPREHENSION,
    cst.Dict: Construct.DICT,
    cst.Set: Construct.SET,
    cst.Global: Construct.GLOBAL,
    cst.Nonlocal: Construct.GLOBAL,
    cst.Import: Construct.IMPORT,
    cst.ImportFrom: Construct.IMPORT,
    cst.Del: Construct.DELETE,
    cst.Yield: Construct.YIELD,
    cst.Await: Construct.AWAIT,
    cst.Match: Construct.MATCH,
    cst.NamedExpr: Construct.WALRUS,
}

# Whole constructs: what stands inside is not looked at, since nothing of it is compiled.
_OPAQUE = (cst.Lambda, cst.FunctionDef, cst.ClassDef)

# Fields that hold whitespace, punctuation and annotations: nothing is compiled from them.
_SKIPPED = frozenset({"annotation", "leading_lines", "lpar", "rpar", "comma", "operator", "header", "footer"})


def constructs(kernel: KernelFlow) -> Iterator[tuple[Construct, cst.CSTNode]]:
    """Each construct with its node, in the order of the text."""
    suspects = kernel.module.lines[kernel.function.first_line - 1 : kernel.function.last_line]
    if not any(word in line for line in suspects for word in _WORDS):
        return
    yield from _inside(kernel, kernel.tree.function.body, loop=False, branch=False)


# Every construct spells one of these; most kernels spell none, and are not walked again.
_WORDS = (
    "break", "continue", "return", "else", "try", "raise", "with ", "lambda", "def ", "class ", " for ", "{", "global ",
    "nonlocal ", "import ", "del ", "yield", "await", "match ", ":=",
)  # fmt: skip


def _inside(kernel: KernelFlow, node: cst.CSTNode, loop: bool, branch: bool) -> Iterator[tuple[Construct, cst.CSTNode]]:
    construct = _construct(kernel, node, loop, branch)
    if construct is not None:
        yield construct, node.name if isinstance(node, (cst.FunctionDef, cst.ClassDef)) else node
        if isinstance(node, _OPAQUE):
            return
    if isinstance(node, cst.For):
        loop = loop or not _is_unrolled(node)
    elif isinstance(node, cst.While):
        loop = True
    elif isinstance(node, cst.If):
        branch = True
    for child in _children(node):
        yield from _inside(kernel, child, loop, branch)


def _is_unrolled(node: cst.For) -> bool:
    """`for … in tl.static_range(…)`, whose body Triton repeats: a `return` in it is like one outside a loop."""
    return isinstance(node.iter, cst.Call) and (dotted_name(node.iter.func) or "").endswith("static_range")


def _is_call(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call)


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


def _construct(kernel: KernelFlow, node: cst.CSTNode, loop: bool, branch: bool) -> Construct | None:
    known = _BY_TYPE.get(type(node))
    if known is not None:
        return known
    if isinstance(node, cst.Return):
        return Construct.RETURN_IN_LOOP if loop else None
    if isinstance(node, cst.Raise):
        # Under an `if` it is compiled only when a constexpr condition takes it: it may be a guard that works.
        return None if branch else Construct.RAISE
    if isinstance(node, (cst.For, cst.While)):
        return Construct.LOOP_ELSE if node.orelse is not None else None
    if isinstance(node, cst.With):
        return Construct.WITH if _foreign_context(kernel, node) else None
    if isinstance(node, cst.ListComp):
        over_range = _is_call(node.for_in.iter)
        return Construct.COMPREHENSION if over_range else Construct.TUPLE_COMPREHENSION
    return None


def _foreign_context(kernel: KernelFlow, node: cst.With) -> bool:
    """Whether a `with` enters something that is not Triton's own."""
    if kernel.target.supports((3, 4)) == "none":
        return True
    for item in node.items:
        entered = item.item.func if isinstance(item.item, cst.Call) else item.item
        dotted = dotted_name(entered)
        if dotted is None or not kernel.module.origin(dotted).startswith("triton"):
            return True
    return False
