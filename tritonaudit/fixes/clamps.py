"""A value kept from growing beyond a limit."""

from __future__ import annotations

import libcst as cst

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Fix
from tritonaudit.source.edits import inserted


def clamped(flow: KernelFlow, call: cst.CSTNode, limit: str) -> Fix | None:
    """The call's only argument clamped from above; unsafe, for larger ones may be meant."""
    where = next((alias for alias, origin in flow.module.names.items() if origin == "triton.language"), None)
    if where is None or not isinstance(call, cst.Call) or len(call.args) != 1:
        return None
    edits = inserted(flow.tree.span(call.args[0]), before=f"{where}.minimum(", after=f", {limit})")
    return Fix(f"clamp it, `{where}.minimum(…, {limit})`", edits, safe=False)
