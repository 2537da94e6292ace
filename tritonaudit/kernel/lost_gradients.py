"""Parameters of a module that are given to a launch which autograd knows nothing of."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.kernel.called import routes
from tritonaudit.kernel.launch import Launch
from tritonaudit.source.outline import Module

_SPEAKS_OF_IT = (
    "autograd", "backward", "requires_grad", "no_grad", "detach", "inference", ".eval(", "quant",
    "custom_op", "triton_op",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class LostGradient:
    """A call in a module's `forward` that is given its parameter and launches a kernel with no backward."""

    call: ast.Call
    parameter: str


def lost_gradients(module: Module, launches: tuple[Launch, ...]) -> Iterator[LostGradient]:
    """The calls in modules' `forward` that lose a parameter's gradient; none where the file speaks of gradients."""
    if not launches or not module.says("Parameter(") or any(map(module.says, _SPEAKS_OF_IT)):
        return
    ways = routes(module, launches)
    for owner in module.nodes(module.tree).of(ast.ClassDef):
        parameters = _parameters(module, owner)
        forward = next((n for n in owner.body if isinstance(n, ast.FunctionDef) and n.name == "forward"), None)
        for call in module.nodes(forward).of(ast.Call) if forward is not None and parameters else ():
            given = [ast.unparse(value) for value in (*call.args, *(keyword.value for keyword in call.keywords))]
            lost = next((text for text in given if text in parameters), None)
            if lost is not None and ways.leads(call):
                yield LostGradient(call, lost)


def _parameters(module: Module, owner: ast.ClassDef) -> set[str]:
    """The attributes that are set to `nn.Parameter(…)`."""
    return {
        ast.unparse(node.targets[0])
        for node in module.nodes(owner).of(ast.Assign)
        if isinstance(node.value, ast.Call) and module.origin_of(node.value.func).endswith("nn.Parameter")
    }
