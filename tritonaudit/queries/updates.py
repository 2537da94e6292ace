"""What a second run of a kernel finds changed: memory that it reads and then overwrites, or adds to."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from tritonaudit.domains.affine import Affine, Atom, AtomKind
from tritonaudit.domains.facts import Access, KernelFlow, exclusive

_ADDING = frozenset({"atomic_add", "atomic_xor"})


@dataclass(frozen=True, eq=False)
class Update:
    """Memory behind `parameter` that is changed by what it holds: `read` first and then `written`, or added to.

    Of an addition by an atomic operation, `read` is `written`.
    """

    parameter: str
    read: Access
    written: Access

    @property
    def adds(self) -> bool:
        return self.read is self.written


def updates(flow: KernelFlow) -> Iterator[Update]:
    """The first update of each pointer parameter, where the kernel itself does not set the memory before."""
    accesses: dict[str, list[Access]] = {}
    for access in flow.accesses:
        parameter = parameter_of(access)
        if parameter is not None:
            accesses.setdefault(parameter, []).append(access)
    for parameter, those in accesses.items():
        found = _added(parameter, those) or _overwritten(flow, parameter, those)
        if found is not None:
            yield found


def parameter_of(access: Access) -> str | None:
    """The pointer parameter whose memory is accessed."""
    if access.pointer.origin is not None:
        return access.pointer.origin.name
    return None if access.pointer.block is None else access.pointer.block.parameter


def _added(parameter: str, accesses: list[Access]) -> Update | None:
    """Atomic additions; memory that is set as well, such as a lock or a counter of turns, is left alone."""
    if any(access.kind == "store" or _operation(access) not in ("load", *_ADDING) for access in accesses):
        return None
    added = next((access for access in accesses if _operation(access) in _ADDING), None)
    return None if added is None else Update(parameter, added, added)


def _operation(access: Access) -> str:
    """`atomic_add` of `tl.atomic_add(…)`."""
    function = access.node.func if isinstance(access.node, cst.Call) else None
    return function.attr.value if isinstance(function, cst.Attribute) else access.kind


def _overwritten(flow: KernelFlow, parameter: str, accesses: list[Access]) -> Update | None:
    for index, written in enumerate(accesses):
        if written.kind != "store":
            continue
        for position, read in enumerate(accesses[:index]):
            set_before = any(
                other.kind == "store" and not exclusive(other.path, read.path) for other in accesses[:position]
            )
            if read.kind == "load" and _meet(read, written) and not set_before and not _selects(flow, written):
                return Update(parameter, read, written)
    return None


_SELECTIONS = frozenset({"where", "maximum", "minimum", "clamp"})


def _selects(flow: KernelFlow, written: Access) -> bool:
    """Whether what is stored is chosen from what was there and something else: doing it again changes nothing."""
    span = flow.tree.span(written.node)
    calls = flow.function.nodes.of(ast.Call)
    store = next((call for call in calls if (call.lineno, call.end_lineno) == (span.line, span.end_line)), None)
    stored = None if store is None else _stored(store)
    if isinstance(stored, ast.Name):
        stored = _last_value(flow, stored.id, span.line)
    if isinstance(stored, ast.Call) and isinstance(stored.func, ast.Attribute) and stored.func.attr == "to":
        stored = stored.func.value
    if not (isinstance(stored, ast.Call) and isinstance(stored.func, ast.Attribute)):
        return False
    choices = stored.args[1:] if stored.func.attr == "where" else stored.args
    return stored.func.attr in _SELECTIONS and not any(isinstance(choice, ast.BinOp) for choice in choices)


def _last_value(flow: KernelFlow, name: str, line: int) -> ast.expr | None:
    """What a variable is set to last above a line."""
    found = [
        node
        for node in flow.function.nodes.of(ast.Assign)
        if isinstance(node.targets[0], ast.Name) and node.targets[0].id == name and node.lineno < line
    ]
    return max(found, key=lambda node: node.lineno).value if found else None


def _stored(store: ast.Call) -> ast.expr | None:
    if len(store.args) > 1:
        return store.args[1]
    return next((keyword.value for keyword in store.keywords if keyword.arg == "value"), None)


def _meet(left: Access, right: Access) -> bool:
    """Whether one program does both, at addresses that are the same or a fixed number of elements apart."""
    if exclusive(left.path, right.path):
        return False
    block, other = left.pointer.block, right.pointer.block
    if block is not None and other is not None:
        pairs = list(zip(block.offsets, other.offsets, strict=False))
        return bool(pairs) and all(_near(a, b) for a, b in pairs)
    return block is None and other is None and _near(left.pointer.affine, right.pointer.affine)


def _near(left: Affine | None, right: Affine | None) -> bool:
    if left is None or right is None:
        return False
    rest: dict[tuple[object, ...], int] = {}
    for sign, affine in ((1, left), (-1, right)):
        for product, factor in affine.terms.items():
            key = tuple(sorted(map(_same_loop, product), key=str))
            rest[key] = rest.get(key, 0) + sign * factor
    return not any(factor for key, factor in rest.items() if key)


def _same_loop(atom: Atom) -> object:
    """The variables of two loops over the same range run over the same numbers."""
    return (
        (AtomKind.LOOP, atom.start, atom.step, atom.stop)
        if atom.kind is AtomKind.LOOP and atom.stop is not None
        else atom
    )
