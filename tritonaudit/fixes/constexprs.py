"""`tl.constexpr` on a parameter or an assignment."""

from __future__ import annotations

import ast

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Edit, Fix, Span
from tritonaudit.source.edits import inserted
from tritonaudit.source.outline import span_of

_CONSTEXPR = "triton.language.constexpr"


def constexpr_parameter(flow: KernelFlow, name: str) -> Fix | None:
    """The parameter annotated; instead of what it is annotated with, which says nothing to Triton."""
    spelled = _spelled(flow)
    parameters = flow.tree.function.params
    parameter = next((one for one in (*parameters.params, *parameters.kwonly_params) if one.name.value == name), None)
    if parameter is None or spelled is None:
        return None
    if parameter.annotation is None:
        edits = inserted(flow.tree.span(parameter.name), after=f": {spelled}")
    else:
        edits = (Edit(flow.tree.span(parameter.annotation.annotation), spelled),)
    return Fix(f"annotate it, `{name}: {spelled}`", edits, safe=True)


def constexpr_assignment(flow: KernelFlow, name: str) -> Fix | None:
    """The only assignment of the name annotated, where it is one at the kernel's top."""
    spelled = _spelled(flow)
    node = flow.function.node
    stores = [one for one in ast.walk(node) if isinstance(one, ast.Name) and one.id == name and _is_stored(one)]
    assigned = [
        statement.targets[0]
        for statement in node.body
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and statement.targets[0] in stores
    ]
    if len(stores) != 1 or len(assigned) != 1 or spelled is None:
        return None
    place: Span = span_of(assigned[0], flow.module.lines)
    return Fix(f"annotate the assignment, `{name}: {spelled}`", inserted(place, after=f": {spelled}"), safe=True)


def _is_stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _spelled(flow: KernelFlow) -> str | None:
    """What `tl.constexpr` is called in the file."""
    for name, origin in flow.module.names.items():
        if origin == _CONSTEXPR:
            return name
    for dotted in ("triton.language", "triton"):
        for name, origin in flow.module.names.items():
            if origin == dotted:
                return name + _CONSTEXPR.removeprefix(dotted)
    return None
