"""A block's size rounded up to a power of two where it is passed."""

from __future__ import annotations

import ast

from tritonaudit.domains.affine import Atom
from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Edit, Elsewhere, Fix
from tritonaudit.kernel.launch import Size
from tritonaudit.source.edits import inserted


def rounded_up(flow: KernelFlow, parameter: Atom, size: Size) -> Fix | None:
    """What is passed rounded up, where masks leave out the lanes that this adds; a grid may count them, so unsafe."""
    if not _added_lanes_are_masked(flow, parameter):
        return None
    span = flow.place(size.node)
    if isinstance(span, Elsewhere):
        return None
    if isinstance(size.node, ast.Constant) and isinstance(size.value, int) and size.value > 0:
        text = str(1 << (size.value - 1).bit_length())
        return Fix(f"pass {text}", (Edit(span, text),), safe=False)
    alias = next((alias for alias, origin in flow.module.names.items() if origin == "triton"), None)
    if alias is None:
        return None
    edits = inserted(span, before=f"{alias}.next_power_of_2(", after=")")
    return Fix(f"pass `{alias}.next_power_of_2(…)`", edits, safe=False)


def _added_lanes_are_masked(flow: KernelFlow, parameter: Atom) -> bool:
    for access in flow.accesses:
        if access.pointer.affine is None:
            return False
        conditions = access.mask.mask if access.mask is not None and access.mask.mask else ()
        covered = frozenset().union(*(condition.axes() for condition in conditions))
        grown = (lane for lane in access.pointer.affine.lanes() if lane.size and parameter in lane.size.atoms())
        if any(lane.axis not in covered for lane in grown):
            return False
    return True
