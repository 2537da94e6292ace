"""What masked-off lanes hold: the neutral value of the reduction that they reach."""

from __future__ import annotations

import ast

import libcst as cst

from tritonaudit.domains.facts import KernelFlow, Reduction
from tritonaudit.domains.value import Padding
from tritonaudit.finding import Fix
from tritonaudit.mends.scope import same_value
from tritonaudit.source.edits import inserted, keyword_argument, with_argument

_TRITON = "triton.language"


def filled(flow: KernelFlow, load: cst.CSTNode, text: str, *, safe: bool) -> Fix | None:
    """The load with `other=`, where it has a mask and gives none."""
    if not isinstance(load, cst.Call) or keyword_argument(load, "mask") is None or keyword_argument(load, "other"):
        return None
    edits = with_argument(flow.tree, load, f"other={text}")
    return Fix(f"give the load `other={text}`", edits, safe) if edits else None


def chosen(flow: KernelFlow, reduction: Reduction, padding: Padding, neutral: str, *, safe: bool) -> Fix | None:
    """What is reduced wrapped in `tl.where` with the mask of its load, where both are rows of the same lanes."""
    where = next((alias for alias, origin in flow.module.names.items() if origin == _TRITON), None)
    access = next((one for one in flow.accesses if one.node is padding.load), None)
    call, load = reduction.node, padding.load
    if where is None or access is None or not isinstance(call, cst.Call) or not isinstance(load, cst.Call):
        return None
    mask = keyword_argument(load, "mask")
    if mask is None or access.pointer.rank != 1 or reduction.operand.rank != 1 or not _is_function(flow, call):
        return None
    text = flow.tree.code(mask.value)
    if not _is_same_there(flow, text, load, call):
        return None
    edits = inserted(flow.tree.span(call.args[0]), before=f"{where}.where({text}, ", after=f", {neutral})")
    return Fix(f"choose `{neutral}` for those lanes with `{where}.where`", edits, safe)


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
