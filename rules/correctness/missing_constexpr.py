"""TAC103: a parameter is used as a compile-time constant without being one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonaudit.domains.affine import AtomKind
from tritonaudit.domains.facts import KernelFlow, ShapeUse
from tritonaudit.finding import Confidence, Severity
from tritonaudit.ir.hits import Words, also
from tritonaudit.ir.mistakes import MistakeKind
from tritonaudit.rule import Fixable, Hit, Rule

_WORDS = {
    (MistakeKind.NEEDS_CONSTANT, "parameter"): Words(
        "`{text}` is a run-time argument, and `{where}` needs a compile-time constant",
        "annotate it, `{text}: tl.constexpr`",
    ),
    (MistakeKind.NEEDS_CONSTANT, "assigned"): Words(
        "`{text}` was set by a plain assignment, which makes a tensor of a constexpr; "
        "`{where}` needs a compile-time constant",
        "annotate the assignment: `{text}: tl.constexpr = …`",
    ),
    (MistakeKind.NEEDS_CONSTANT, "expression"): Words(
        "`{text}` is known only when the kernel runs, and `{where}` needs a compile-time constant",
        "compute it from `tl.constexpr` parameters",
    ),
    (MistakeKind.NEEDS_CONSTANT, "hint"): Words(
        "`{text}` is known only when the kernel runs, and `{where}` needs a compile-time constant", "write a number"
    ),
    (MistakeKind.NEEDS_CONSTANT, "static_range"): Words(
        "`{text}` is a run-time value, and `tl.static_range` needs a compile-time constant",
        "loop with `range`, or make it `tl.constexpr`",
    ),
    (MistakeKind.NEEDS_CONSTANT, "static_range parameter"): Words(
        "`{text}` is a run-time value, and `tl.static_range` needs a compile-time constant",
        "loop with `range`, or make it `tl.constexpr`",
    ),
    (MistakeKind.CONSTANT_AGAIN, "*"): Words(
        "`{name}` has a value already, and a `tl.constexpr` is set once", "give the constant its own name"
    ),
    (MistakeKind.CONSTANT_IN_LOOP, "*"): Words(
        "the constant `{name}` is set again in a loop", "copy it to a variable before the loop, and set that"
    ),
    (MistakeKind.ARGUMENT_IS_ONE, "*"): Words(
        "the argument `{name}` is set again in a loop, and a launch passes 1 for it, which Triton makes a constant",
        "copy it to a variable before the loop, or name it in `do_not_specialize`",
    ),
}


class MissingConstexpr(Rule):
    code, name = "TAC103", "missing-constexpr"
    summary = "A value is used as a shape or a compile-time bound without being `tl.constexpr`."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    fixable = Fixable.SAFE

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        yield from also(kernel, self._uses(kernel), _WORDS)

    def _uses(self, kernel: KernelFlow) -> Iterator[Hit]:
        for use in kernel.shape_uses:
            if not use.value.constexpr and (hit := self._hit(kernel, use)) is not None:
                yield hit

    def _hit(self, kernel: KernelFlow, use: ShapeUse) -> Hit | None:
        from tritonaudit.fixes.constexprs import constexpr_assignment, constexpr_parameter

        affine = use.value.affine
        if affine is None:
            return None
        atoms = {atom for atom in affine.atoms_inside() if not atom.inner}
        runtime = sorted(atom.name for atom in atoms if atom.kind is AtomKind.PARAM)
        if runtime and all(atom.kind in (AtomKind.PARAM, AtomKind.CONSTEXPR) for atom in atoms):
            return Hit(
                use.node,
                f"`{runtime[0]}` is a run-time argument, and `{use.where}` needs a compile-time constant",
                remedy=_remedy(runtime[0], use.where),
                confidence=Confidence.HIGH if kernel.launches.launches else Confidence.MEDIUM,
                fix=constexpr_parameter(kernel, runtime[0]),
            )
        text = kernel.tree.code(use.node)
        if (
            all(atom.kind is AtomKind.CONSTEXPR for atom in atoms)
            and text.isidentifier()
            and not _announced(kernel, text)
        ):
            return Hit(
                use.node,
                f"`{text}` was set by a plain assignment, which makes a tensor of a constexpr; "
                f"`{use.where}` needs a compile-time constant",
                remedy=f"annotate the assignment: `{text}: tl.constexpr = …`",
                fix=constexpr_assignment(kernel, text),
            )
        return None


def _announced(kernel: KernelFlow, name: str) -> bool:
    """Whether a bare `name: tl.constexpr` stands in the kernel, which some releases heed."""
    return any(
        node.value is None and ast.unparse(node.target) == name for node in kernel.function.nodes.of(ast.AnnAssign)
    )


def _remedy(parameter: str, where: str) -> str:
    if where == "tl.static_range":
        return f"annotate the parameter, `{parameter}: tl.constexpr`, or loop with `range`"
    return (
        f"annotate it, `{parameter}: tl.constexpr`; if it is a size of the data, pass a block size rounded up to a "
        f"power of two instead and mask the lanes past `{parameter}`"
    )
