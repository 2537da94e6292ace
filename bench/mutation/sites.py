"""The places of a file at which a fault can be put in, and what is known of the function around each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import libcst as cst

Above = tuple[cst.CSTNode, ...]

MEMORY = ("tl.load", "tl.store", "tl.atomic_add")


@dataclass(frozen=True, eq=False)
class Function:
    """A kernel, or a function that launches one."""

    node: cst.FunctionDef
    is_kernel: bool

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        return tuple(parameter.name.value for parameter in self.node.params.params)

    @cached_property
    def sites(self) -> tuple[Site, ...]:
        """All nodes of its body in the order of the text, but for docstrings and annotations."""
        return tuple(Site(node, self, above) for node, above in walk(self.node.body))

    @property
    def nodes(self) -> Iterator[cst.CSTNode]:
        """The same without what is around them."""
        return (site.node for site in self.sites)

    @cached_property
    def set_before_loops(self) -> frozenset[str]:
        """The variables that are assigned outside of loops."""
        return frozenset(
            code(site.node.targets[0].target)
            for site in self.sites
            if isinstance(site.node, cst.Assign) and site.loop is None
        )

    @cached_property
    def masks(self) -> tuple[tuple[str, int], ...]:
        """The masks that its accesses have, each with its rank."""
        given = (
            argument(node, "mask") for node in self.nodes if isinstance(node, cst.Call) and name_of(node) in MEMORY
        )
        return tuple(dict.fromkeys((code(one.value), self._rank(one.value)) for one in given if one is not None))

    def _rank(self, mask: cst.BaseExpression) -> int:
        values = [code(mask), *(self.assigned.get(name, "") for name in names_in(mask))]
        return 2 if any("None" in value for value in values) else 1

    @cached_property
    def assigned(self) -> dict[str, str]:
        """The value that each of its variables is first given."""
        found: dict[str, str] = {}
        for node in self.nodes:
            if isinstance(node, cst.Assign) and isinstance(node.targets[0].target, cst.Name):
                found.setdefault(node.targets[0].target.value, code(node.value))
        return found


@dataclass(frozen=True, eq=False)
class Site:
    """A node of a function; `above` are those around it, the nearest first."""

    node: cst.CSTNode
    function: Function
    above: Sequence[cst.CSTNode]

    @property
    def parent(self) -> cst.CSTNode:
        return self.above[0]

    @property
    def loop(self) -> cst.For | None:
        """The innermost loop around it."""
        return next((node for node in self.above if isinstance(node, cst.For)), None)

    def is_inside(self, *calls: str) -> bool:
        """Whether it is in an argument of a call of one of these."""
        return any(isinstance(node, cst.Call) and name_of(node) in calls for node in self.above)

    @property
    def launch(self) -> cst.Call | None:
        """The launch around it."""
        return next((node for node in self.above if is_launch(node)), None)


def functions(module: cst.Module) -> Iterator[Function]:
    """The kernels of a module, and the functions that launch them."""
    for statement in module.body:
        if isinstance(statement, cst.FunctionDef):
            is_kernel = any(code(decorator.decorator) == "triton.jit" for decorator in statement.decorators)
            function = Function(statement, is_kernel)
            if is_kernel or any(is_launch(node) for node in function.nodes):
                yield function


def walk(node: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, Above]]:
    """A node and all below it, each with those above it, but for docstrings and annotations."""
    left: list[tuple[cst.CSTNode, Above]] = [(node, ())]
    while left:
        one, above = left.pop()
        is_text = isinstance(one, cst.Expr) and isinstance(one.value, cst.SimpleString)
        if is_text or isinstance(one, cst.Annotation):
            continue
        yield one, above
        within = (one, *above)
        left.extend((child, within) for child in reversed(one.children))


def is_launch(node: cst.CSTNode) -> bool:
    """Whether it is `kernel[grid](…)`."""
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Subscript)


def name_of(call: cst.CSTNode) -> str:
    """What is called: `tl.load`, or the method after a dot for what is no name; empty where it is no call."""
    if not isinstance(call, cst.Call):
        return ""
    text = code(call.func)
    if text.replace(".", "").replace("_", "").isalnum():
        return text
    return "." + call.func.attr.value if isinstance(call.func, cst.Attribute) else ""


def argument(call: cst.Call, name: str) -> cst.Arg | None:
    """The argument of that name."""
    return next((one for one in call.args if one.keyword is not None and one.keyword.value == name), None)


def names_in(node: cst.CSTNode) -> list[str]:
    """The names in an expression."""
    return [one.value for one, _ in walk(node) if isinstance(one, cst.Name)]


def code(node: cst.CSTNode) -> str:
    """A node as text."""
    return cst.Module([]).code_for_node(node)
