"""TAC204: a tensor whose elements are looked for where the strides of another, or none, would have them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Place, Severity
from tritonaudit.queries.strays import astray
from tritonaudit.queries.strides import Misaddressed, misaddressed
from tritonaudit.queries.unused_strides import UnusedStride, unused_strides
from tritonaudit.queries.updates import parameter_of
from tritonaudit.rule import Hit, Rule


class StrideAssumption(Rule):
    code, name = "TAC204", "stride-assumption"
    summary = "A tensor is addressed by the strides of another one, or as contiguous, and nothing makes it so."
    severity, confidence, since = Severity.WARNING, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        told: set[str | None] = set()
        for found in misaddressed(kernel):
            told.add(found.unused)
            yield _other(kernel, found) if found.gradient is None else _gradient(kernel, found, found.gradient)
        for unused in unused_strides(kernel):
            if unused.parameter not in told and not _goes_astray(kernel, unused):
                yield _unused(kernel, unused)


def _goes_astray(kernel: KernelFlow, found: UnusedStride) -> bool:
    """Whether a launch shows where an access to the tensor goes, which the rule on such accesses tells."""
    return any(parameter_of(one.shown.access) == parameter_of(found.access) for one in astray(kernel))


def _gradient(kernel: KernelFlow, found: Misaddressed, gradient: str) -> Hit:
    how = f"by the strides of `{found.owner}`" if found.owner is not None else "as if it were contiguous"
    if found.partly:
        how = "as if it were contiguous along one dimension"
    return Hit(
        _place(kernel, found),
        f"the kernel addresses the gradient `{gradient}` {how}, and autograd hands it in as it comes: after "
        "`sum()` it is expanded, with strides of 0",
        remedy=f"call `{gradient}.contiguous()` first, or pass its strides",
        confidence=Confidence.LOW if found.partly else None,
        related=((found.access.node, "it is addressed here"),),
    )


def _unused(kernel: KernelFlow, found: UnusedStride) -> Hit:
    return Hit(
        found.access.node,
        f"the launch passes the stride of this tensor along dimension {found.dimension} as `{found.parameter}`, and no"
        " address of the kernel depends on it",
        remedy=f"multiply the index along that dimension by `{found.parameter}`",
        confidence=Confidence.LOW if found.is_last else None,
        related=((kernel.place(found.site.call), "this is the launch"),),
        way=kernel.way_from(found.site.call),
    )


def _other(kernel: KernelFlow, found: Misaddressed) -> Hit:
    name, related = ast.unparse(found.argument), [(found.access.node, "it is addressed here")]
    if found.unused is not None:
        return Hit(
            _place(kernel, found),
            f"the kernel addresses `{name}` by the strides of `{found.owner}`, and leaves out its own, which the launch"
            f" passes as `{found.unused}`",
            remedy=f"multiply by `{found.unused}` there",
            related=tuple(related),
        )
    if not found.new:
        why = f"the wrapper is given both, and `{name}` may be laid out differently in memory"
        return Hit(
            _place(kernel, found),
            f"the kernel addresses `{name}` by the strides of `{found.owner}`: {why}",
            remedy=f"pass the strides of `{name}`, or make both contiguous first",
            confidence=Confidence.LOW,
            related=tuple(related),
        )
    made = [] if found.made is None else [(kernel.place(found.made), "it is made here, with its own strides")]
    return Hit(
        _place(kernel, found),
        f"the kernel addresses `{name}` by the strides of `{found.owner}`, which reach past the end of the new "
        f"`{name}` where `{found.owner}` is a slice of a larger tensor",
        remedy=f"pass the strides of `{name}` as well, or make `{found.owner}` contiguous first",
        related=(*related, *made),
    )


def _place(kernel: KernelFlow, found: Misaddressed) -> Place:
    return kernel.place(found.argument)
