"""What masked-off lanes hold: the neutral value of the reductions that they reach."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence

import libcst as cst

from tritonaudit.domains.facts import Access, KernelFlow, Reduction
from tritonaudit.domains.padding import NEUTRAL
from tritonaudit.domains.value import FLOATS, Padding
from tritonaudit.finding import Edit, Fix
from tritonaudit.fixes.scope import same_value
from tritonaudit.queries.refilled import is_neutral_everywhere, poisoned_by
from tritonaudit.source.edits import inserted, keyword_argument, with_argument

_TRITON = "triton.language"
_EXTREMES = ("max", "min")


def filled(flow: KernelFlow, load: cst.CSTNode, text: str, *, safe: bool) -> Fix | None:
    """The load with `other=`, where it has a mask and gives none."""
    if not isinstance(load, cst.Call) or keyword_argument(load, "mask") is None or keyword_argument(load, "other"):
        return None
    edits = with_argument(flow.tree, load, f"other={text}")
    return Fix(f"give the load `other={text}`", edits, safe) if edits else None


def spelled(number: float) -> str:
    """A number as the text of a kernel has it."""
    if math.isinf(number):
        return '-float("inf")' if number < 0 else 'float("inf")'
    return f"{number:g}"


def neutralised(flow: KernelFlow, reduction: Reduction, padding: Padding, *, safe: bool) -> Fix | None:
    """The load filled with what is neutral wherever it gets to; else what is reduced chosen with the load's mask.

    A maximum or a minimum of the same lanes is chosen with it: the exponentials that a sum adds are shifted by it.
    """
    access = next((one for one in flow.accesses if one.node is padding.load), None)
    if access is None or not isinstance(access.node, cst.Call) or access.pointer.rank != 1:
        return None
    return _refilled(flow, access, reduction, safe=safe) or _chosen(flow, access, reduction, safe=safe)


def _refilled(flow: KernelFlow, access: Access, reduction: Reduction, *, safe: bool) -> Fix | None:
    """The load with an infinity for `other`, where its elements are floats and that is neutral for all reductions."""
    load = access.node
    assert isinstance(load, cst.Call)
    other = keyword_argument(load, "other")
    if keyword_argument(load, "mask") is None or not _is_of_floats(flow, access, other):
        return None
    fill = math.inf if math.inf in NEUTRAL[reduction.operation] else -math.inf
    if not is_neutral_everywhere(flow, load, fill):
        return None
    text = f"other={spelled(fill)}"
    edits = (Edit(flow.tree.span(other), text),) if other is not None else with_argument(flow.tree, load, text)
    return Fix(f"give the load `{text}`", edits, safe)


def _is_of_floats(flow: KernelFlow, access: Access, other: cst.Arg | None) -> bool:
    """Whether what is loaded is of floats: as its padding is written where nobody knows the elements."""
    origin = access.pointer.origin
    element = None if origin is None else flow.element_of(origin.name)
    is_known = element is not None and not element.startswith("*")
    return element in FLOATS if is_known else isinstance(other and other.value, cst.Float)


def _chosen(flow: KernelFlow, access: Access, reduction: Reduction, *, safe: bool) -> Fix | None:
    """What is reduced wrapped in `tl.where` with the mask of its load, where both are rows of the same lanes."""
    shared = [one for one in flow.reductions if one.operation in _EXTREMES and poisoned_by(one, access.node)]
    other = keyword_argument(access.node, "other") if isinstance(access.node, cst.Call) else None
    is_of_floats = _is_of_floats(flow, access, other)
    edits: list[Edit] = []
    for one in (reduction, *(one for one in shared if one.node is not reduction.node)):
        wrapped = _wrapped(flow, access, one)
        safe &= bool(wrapped) and (one is reduction or is_of_floats or one.operand.dtype in FLOATS)
        edits.extend(wrapped)
    where, neutral = _where(flow), spelled(NEUTRAL[reduction.operation][0])
    if not _wrapped(flow, access, reduction):
        return None
    return Fix(f"choose `{neutral}` for those lanes with `{where}`", tuple(edits), safe)


def _wrapped(flow: KernelFlow, access: Access, reduction: Reduction) -> Sequence[Edit]:
    """Nothing where it cannot be done."""
    call, load, where = reduction.node, access.node, _where(flow)
    if where is None or not isinstance(call, cst.Call) or not isinstance(load, cst.Call):
        return ()
    mask = keyword_argument(load, "mask")
    if mask is None or reduction.operand.rank != 1 or not _is_function(flow, call):
        return ()
    text = flow.tree.code(mask.value)
    if not _is_same_there(flow, text, load, call):
        return ()
    neutral = spelled(NEUTRAL[reduction.operation][0])
    return inserted(flow.tree.span(call.args[0]), before=f"{where}({text}, ", after=f", {neutral})")


def _where(flow: KernelFlow) -> str | None:
    alias = next((alias for alias, origin in flow.module.names.items() if origin == _TRITON), None)
    return None if alias is None else f"{alias}.where"


def _is_function(flow: KernelFlow, call: cst.Call) -> bool:
    """Whether it is `tl.sum(x)` rather than `x.sum()`, with what is reduced in the first place."""
    is_first = bool(call.args) and call.args[0].keyword is None and not call.args[0].star
    return is_first and flow.module.origin(flow.tree.code(call.func)).startswith(f"{_TRITON}.")


def _is_same_there(flow: KernelFlow, text: str, load: cst.Call, call: cst.Call) -> bool:
    try:
        expression = ast.parse(text, mode="eval").body
    except SyntaxError:  # it goes over several lines
        return False
    return "\n" not in text and same_value(flow.function.node, expression, flow.tree.span(load), flow.tree.span(call))
