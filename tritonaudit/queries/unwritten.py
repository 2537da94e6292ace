"""Outputs made without contents, of which a program that is told to skip its work leaves a part unwritten."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.domains.affine import LOADED, Atom, AtomKind
from tritonaudit.domains.facts import Access, Guard, KernelFlow
from tritonaudit.domains.value import Value
from tritonaudit.host.host import LaunchSite
from tritonaudit.host.values import Tensor
from tritonaudit.queries.launched import argument_node, set_before

_TESTS = frozenset({"Equal", "NotEqual", "LessThan", "LessThanEqual", "GreaterThan", "GreaterThanEqual"})
_WITHOUT_CONTENTS = frozenset({"empty", "new_empty"})
_ASKED = frozenset({"shape", "dtype", "device", "ndim", "stride", "size", "numel", "dim", "element_size"})


@dataclass(frozen=True, eq=False)
class Unwritten:
    """`store` and all other stores to `parameter` stand under `guard`; `made` is the output in the host code."""

    parameter: str
    store: Access
    guard: Guard
    made: ast.expr


def unwritten_outputs(flow: KernelFlow) -> Iterator[Unwritten]:
    """The outputs that are stored to only where a loaded value has, or has not, a certain value."""
    flags = dict(_flags(flow))
    if not flags:
        return
    for parameter, stores in _stores(flow).items():
        for guard in stores[0].path:
            flag = flags.get(guard.condition)
            if guard.constexpr or flag is None or not all(guard in store.path for store in stores):
                continue
            if not _says_how_much(flow, stores, flag) and (made := _made_empty(flow, parameter)) is not None:
                yield Unwritten(parameter, stores[0], guard, made)
                break


def _flags(flow: KernelFlow) -> Iterator[tuple[str, Atom]]:
    """The comparisons of a loaded scalar with a number, as written, and the loaded value."""
    for step in flow.steps:
        if step.operation in _TESTS and len(step.operands) == 2 and step.node is not None:
            flag, number = step.operands
            atom = _loaded(flag)
            if atom is not None and not atom.axes and type(number.const) is int:
                yield flow.tree.code(step.node), atom


def _loaded(value: Value) -> Atom | None:
    if value.affine is None or len(value.affine.terms) != 1:
        return None
    (product, factor), *_ = value.affine.terms.items()
    return product[0] if factor == 1 and len(product) == 1 and product[0].name == LOADED else None


def _stores(flow: KernelFlow) -> dict[str, list[Access]]:
    """The stores by the parameter that they go to; none where some may go anywhere."""
    found: dict[str, list[Access]] = {}
    for access in flow.accesses:
        if access.kind == "load":
            continue
        block, origin = access.pointer.block, access.pointer.origin
        parameter = block.parameter if block is not None else None if origin is None else origin.name
        if parameter is None:
            return {}
        found.setdefault(parameter, []).append(access)
    return found


def _says_how_much(flow: KernelFlow, stores: list[Access], flag: Atom) -> bool:
    """Whether the value is a length or a place: it bounds a mask or a loop, or is where the output is stored."""
    for access in flow.accesses:
        address = access.pointer.affine
        if address is None:
            return True
        if access in stores and flag in address.atoms_inside():
            return True
        if any(
            a.kind is AtomKind.LOOP and a.stop is not None and flag in a.stop.atoms_inside() for a in address.atoms()
        ):
            return True
        if any(flag in condition.gap.atoms_inside() for condition in access.comparisons):
            return True
    return False


def _made_empty(flow: KernelFlow, parameter: str) -> ast.expr | None:
    """What makes the output, where each wrapper makes it without contents, hands it to one launch and returns it."""
    made: ast.expr | None = None
    for site in flow.launches.sites:
        node, tensor = argument_node(site, parameter), site.arguments.get(parameter)
        if not isinstance(node, ast.Name) or not isinstance(tensor, Tensor) or not site.is_whole:
            return None
        made = set_before(site, node)
        if tensor.made not in _WITHOUT_CONTENTS or made is None or not _is_returned_as_it_is(site, node.id):
            return None
    return made


def _is_returned_as_it_is(site: LaunchSite, name: str) -> bool:
    """Whether the wrapper does nothing with the tensor but to ask for its shape, to launch once and to return it."""
    nodes = site.module.nodes(site.made.calls[-1].node)
    harmless = {id(node) for node in ast.walk(site.call)}
    is_returned = False
    harmless |= {id(node.value) for node in nodes.of(ast.Attribute) if node.attr in _ASKED}
    for returned in nodes.of(ast.Return):
        if returned.value is not None:
            values = returned.value.elts if isinstance(returned.value, ast.Tuple) else [returned.value]
            harmless |= {id(value) for value in values}
            is_returned |= any(isinstance(value, ast.Name) and value.id == name for value in values)
    used = [node for node in nodes.of(ast.Name) if node.id == name]
    return is_returned and all(isinstance(n.ctx, ast.Store) or id(n) in harmless for n in used)
