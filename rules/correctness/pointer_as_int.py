"""TAC205: a launch passes an address as a number, a CPU tensor, or a dtype where a kernel takes a tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.kernel.foreign_arguments import Foreign, ForeignArgument, foreign_arguments
from tritonaudit.rule import Hit, Rule


class PointerAsInt(Rule):
    code, name = "TAC205", "pointer-as-int"
    summary = "A launch passes an address as a number, a CPU tensor, or a dtype, which a kernel cannot use."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for found in foreign_arguments(kernel.module, kernel.function, kernel.launches.launches):
            message, remedy = _reported(found)
            where = kernel.place(found.node)
            made = kernel.place(found.made)
            related = () if found.made is found.node else ((made, "where it is made"),)
            is_sure = found.what is not Foreign.HOST_TENSOR
            yield Hit(where, message, remedy, confidence=None if is_sure else Confidence.MEDIUM, related=related)


def _reported(found: ForeignArgument) -> tuple[str, str]:
    text = ast.unparse(found.node)
    if found.what is Foreign.ADDRESS:
        assert isinstance(found.made, ast.Call)
        assert isinstance(found.made.func, ast.Attribute)
        tensor = ast.unparse(found.made.func.value)
        return f"`{text}` is an integer to the kernel, not a pointer", f"pass the tensor itself, `{tensor}`"
    if found.what is Foreign.DTYPE:
        return (
            f"`{text}` is a torch dtype, and `{found.parameter}` is not a constexpr: the launch fails",
            f"annotate `{found.parameter}: tl.constexpr` and pass a dtype of `tl`",
        )
    return (
        f"`{text}` is a CPU tensor, since it is made without a device: no kernel on a GPU can read it",
        "make it with the `device=` of the other tensors",
    )
