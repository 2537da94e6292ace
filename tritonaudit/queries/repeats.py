"""Loads of what has just been loaded."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from tritonaudit.domains.affine import JOINED
from tritonaudit.domains.facts import Access, KernelFlow
from tritonaudit.domains.value import Less

_CALL = re.compile(r"(?<![\w.])([A-Za-z_]\w*)\(")

_BUILT_IN = frozenset(dir(builtins))


@dataclass(frozen=True, eq=False)
class Repeat:
    """`again` loads what `first` has loaded, and nothing may have changed it in between."""

    first: Access
    again: Access


def repeated_loads(flow: KernelFlow) -> Iterator[Repeat]:
    """The loads whose address, mask and options are those of a load before them, on the same way and in one turn."""
    for index, again in enumerate(flow.accesses):
        if again.kind != "load" or not _is_known(again):
            continue
        for first in reversed(flow.accesses[:index]):
            if first.kind != "load":
                break
            if _is_same(flow, first, again):
                if _is_quiet(flow, first, again):
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


def _is_quiet(flow: KernelFlow, first: Access, again: Access) -> bool:
    """Whether nothing between the two may write or wait: no barrier, no assembly, no helper."""
    start, end = flow.tree.span(first.node).line, flow.tree.span(again.node).line
    between = "\n".join(line.partition("#")[0] for line in flow.module.lines[start - 1 : end])
    return "barrier" not in between and "asm" not in between and set(_CALL.findall(between)) <= _BUILT_IN
