"""TAM101: a lane of a load, store or atomic can run past the end of its tensor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tritonaudit.finding import Cause, Confidence, Extent, Place, Severity
from tritonaudit.flow.bounds import Unbounded, unbounded_lane
from tritonaudit.flow.facts import Access, KernelFlow
from tritonaudit.flow.late_guards import late_guards
from tritonaudit.rule import Hit, Rule

if TYPE_CHECKING:
    from libcst import CSTNode


_REMEDY = "give it a mask that compares this index with the size of the tensor"


class UnmaskedAccess(Rule):
    code, name = "TAM101", "unmasked-access"
    summary = "A block access can run past the end of its tensor."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    once_in = Extent.KERNEL

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        said = {id(guard.access) for guard in late_guards(kernel)}  # by the rule on loads in the arms of `tl.where`
        for access in kernel.accesses:
            if id(access) in said:
                continue
            if (lane := unbounded_lane(kernel, access)) is not None:
                yield self._hit(kernel, access, lane)

    def _hit(self, kernel: KernelFlow, access: Access, lane: Unbounded) -> Hit:
        from tritonaudit.mends.masks import masked_as_beside

        related: list[tuple[CSTNode | Place, str]] = []
        if lane.sibling is not None:
            related.append((lane.sibling.node, "this access masks the same index"))
        if lane.host is not None:
            related.append((kernel.place(lane.host), "the launch says so here"))
        return Hit(
            access.node,
            f"this {access.what} can run past the end of its tensor: nothing bounds `{lane.index}`, and {lane.why}",
            remedy="give it `boundary_check`" if access.pointer.block is not None else _REMEDY,
            severity=Severity.ERROR if lane.confidence is not Confidence.LOW else Severity.WARNING,
            confidence=lane.confidence,
            cause=Cause.OUT_OF_BOUNDS,
            related=tuple(related),
            fix=masked_as_beside(kernel, access, safe=lane.confidence is Confidence.HIGH),
        )
