"""Loads of what has just been loaded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from tritonaudit.domains.affine import JOINED
from tritonaudit.domains.facts import Access, KernelFlow
from tritonaudit.domains.value import Less
from tritonaudit.queries.dependence import operations_of
from tritonaudit.queries.effects import may_write


@dataclass(frozen=True, eq=False)
class Repeat:
    """`again` loads what `first` has loaded, and nothing may have changed it in between."""

    first: Access
    again: Access


def repeated_loads(flow: KernelFlow) -> Iterator[Repeat]:
    """The loads whose address, mask and options are those of a load before them, on the same way and in one turn."""
    order = _Order(flow) if len(flow.accesses) > 1 else None
    for index, again in enumerate(flow.accesses if order is not None else ()):
        if again.kind != "load" or not _is_known(again):
            continue
        for first in reversed(flow.accesses[:index]):
            if first.kind != "load":
                break
            if _is_same(flow, first, again):
                if order is not None and order.is_quiet(first, again):
                    yield Repeat(first, again)
                break


def _is_known(access: Access) -> bool:
    block, address = access.pointer.block, access.pointer.affine
    if block is not None:
        return False
    if address is None or access.pointer.origin is None or any(a.name == JOINED for a in address.atoms_inside()):
        return False
    return access.mask is None or (bool(access.mask.mask) and all(isinstance(c, Less) for c in access.mask.mask or ()))


def _is_same(flow: KernelFlow, first: Access, again: Access) -> bool:
    if first.pointer.affine != again.pointer.affine or first.loops != again.loops or not _is_known(first):
        return False
    if first.path != again.path[: len(first.path)]:
        return False
    masks = [None if access.mask is None else access.mask.mask for access in (first, again)]
    options = [_options(flow, access) for access in (first, again)]
    return masks[0] == masks[1] and options[0] == options[1] and "volatile" not in str(options[0])


def _options(flow: KernelFlow, access: Access) -> dict[str, str]:
    """What is given beside the pointer and the mask, as written."""
    call = access.node
    if not isinstance(call, cst.Call):
        return {}
    names = ("pointer", "mask", "other")
    given = {
        names[index] if argument.keyword is None and index < 3 else str(argument.keyword and argument.keyword.value): (
            flow.tree.code(argument.value)
        )
        for index, argument in enumerate(call.args)
    }
    return {name: text for name, text in given.items() if name not in ("pointer", "mask")}


class _Order:
    """The operations of a kernel in their order."""

    def __init__(self, flow: KernelFlow) -> None:
        self._operations = [] if flow.kernel is None else list(operations_of(flow.kernel.body))
        nodes = [None if one.calls else flow.tree.node(one.node) for one in self._operations]
        self._places = {id(node): place for place, node in enumerate(nodes) if node is not None}

    def is_quiet(self, first: Access, again: Access) -> bool:
        """Whether nothing between the two may write or wait: no barrier, no assembly, nothing that is not known."""
        start, end = self._places.get(id(first.node)), self._places.get(id(again.node))
        if start is None or end is None:
            return False
        return not any(may_write(one) for one in self._operations[start:end])
