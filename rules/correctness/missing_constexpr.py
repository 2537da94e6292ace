"""TAC103: a parameter is used as a compile-time constant without being one."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.flow.affine import Kind
from tritonaudit.flow.facts import KernelFlow, ShapeUse
from tritonaudit.rule import Hit, Rule


class MissingConstexpr(Rule):
    code, name = "TAC103", "missing-constexpr"
    summary = "A value is used as a shape or a compile-time bound without being `tl.constexpr`."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for use in kernel.shape_uses:
            if not use.value.constexpr and (hit := self._hit(kernel, use)) is not None:
                yield hit

    def _hit(self, kernel: KernelFlow, use: ShapeUse) -> Hit | None:
        affine = use.value.affine
        if affine is None:
            return None
        atoms = {atom for atom in affine.atoms_inside() if not atom.inner}
        runtime = sorted(atom.name for atom in atoms if atom.kind is Kind.PARAM)
        if runtime and all(atom.kind in (Kind.PARAM, Kind.CONSTEXPR) for atom in atoms):
            return Hit(
                use.node,
                f"`{runtime[0]}` is a run-time argument, and `{use.where}` needs a compile-time constant",
                remedy=_remedy(runtime[0], use.where),
                confidence=Confidence.HIGH if kernel.launches.launches else Confidence.MEDIUM,
            )
        text = kernel.tree.code(use.node)
        if all(atom.kind is Kind.CONSTEXPR for atom in atoms) and text.isidentifier():
            return Hit(
                use.node,
                f"`{text}` was set by a plain assignment, which makes a tensor of a constexpr; "
                f"`{use.where}` needs a compile-time constant",
                remedy=f"annotate the assignment: `{text}: tl.constexpr = …`",
            )
        return None


def _remedy(parameter: str, where: str) -> str:
    if where == "tl.static_range":
        return f"annotate the parameter, `{parameter}: tl.constexpr`, or loop with `range`"
    return (
        f"annotate it, `{parameter}: tl.constexpr`; if it is a size of the data, pass a block size rounded up to a "
        f"power of two instead and mask the lanes past `{parameter}`"
    )
