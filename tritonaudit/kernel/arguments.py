"""Where a kernel calls methods of its arguments."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tritonaudit.source.outline import JitFunction


def method_calls(kernel: JitFunction, lines: list[str]) -> Iterator[tuple[str, ast.Call]]:
    """Calls such as `stride.to(…)` of a parameter that still is what the launch passed, with its name."""
    annotated = {arg.arg for arg in kernel.node.args.args if arg.annotation is not None}
    plain = {parameter.name for parameter in kernel.parameters} - annotated
    text = "\n".join(lines[kernel.first_line - 1 : kernel.last_line])
    if plain.isdisjoint(_CALLED.findall(text)):
        return
    first_set = _first_lines(kernel)
    for node in kernel.nodes.of(ast.Call):
        if isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if (
                isinstance(owner, ast.Name)
                and owner.id in plain
                and node.lineno <= first_set.get(owner.id, node.lineno)
            ):
                yield owner.id, node


_CALLED = re.compile(r"(\w+)\.\w+\(")


def is_specialised(kernel: JitFunction) -> bool:
    """Whether Triton makes constants of the arguments that are 1; `do_not_specialize` keeps it from some."""
    return not any("do_not_specialize" in ast.unparse(decorator) for decorator in kernel.decorators)


def _first_lines(kernel: JitFunction) -> dict[str, int]:
    """The line on which each name is first set."""
    found: dict[str, int] = {}
    for node in kernel.nodes.of(ast.Name):
        if isinstance(node.ctx, ast.Store):
            found[node.id] = min(found.get(node.id, node.lineno), node.lineno)
    return found
