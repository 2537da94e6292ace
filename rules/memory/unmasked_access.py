"""TAM101: a lane of a load, store or atomic can run past the end of its tensor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from tritonaudit.domains.facts import Access, KernelFlow
from tritonaudit.finding import Cause, Confidence, Extent, Place, Severity
from tritonaudit.queries.answer import Refuted
from tritonaudit.queries.bounds import Beyond, in_all_launches
from tritonaudit.queries.late_guards import late_guards
from tritonaudit.queries.unbounded import Unbounded, unbounded_lane
from tritonaudit.rule import Fixable, Hit, Rule

if TYPE_CHECKING:
    from libcst import CSTNode


_REMEDY = "give it a mask that compares this index with the size of the tensor"


class UnmaskedAccess(Rule):
    code, name = "TAM101", "unmasked-access"
    summary = "A block access can run past the end of its tensor."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    once_in = Extent.KERNEL
    fixable = Fixable.EITHER

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        said = {id(guard.access) for guard in late_guards(kernel)}  # by the rule on loads in the arms of `tl.where`
        for access in kernel.accesses:
            lane = unbounded_lane(kernel, access)
            if lane is not None and id(access) not in said:
                answer = in_all_launches(kernel, access)
                if answer is True:
                    lane = replace(lane, confidence=Confidence.LOW)
                yield self._hit(kernel, access, lane, answer if isinstance(answer, Refuted) else None)

    def _hit(self, kernel: KernelFlow, access: Access, lane: Unbounded, found: Refuted[Beyond] | None) -> Hit:
        from tritonaudit.fixes.masks import masked_as_beside

        related: list[tuple[CSTNode | Place, str]] = []
        is_alike = lane.sibling is None or lane.confidence is Confidence.HIGH  # else its mask may need another `other`
        if lane.sibling is not None:
            related.append((lane.sibling.node, "this access masks the same index"))
        if found is not None:
            related.append((kernel.place(found.shown.site.call), "by this launch"))
        elif lane.host is not None:
            related.append((kernel.place(lane.host), "the launch says so here"))
        why = f"and {lane.why}" if found is None else _witness(access, found)
        return Hit(
            access.node,
            f"this {access.what} can run past the end of its tensor: nothing bounds `{lane.index}`, {why}",
            remedy="give it `boundary_check`" if access.pointer.block is not None else _REMEDY,
            severity=Severity.WARNING if found is None else Severity.ERROR,
            confidence=lane.confidence if found is None else Confidence.HIGH,
            cause=Cause.OUT_OF_BOUNDS,
            related=tuple(related),
            way=() if found is None else kernel.way_from(found.shown.site.call),
            fix=masked_as_beside(
                kernel, access, safe=is_alike and (found is not None or lane.confidence is Confidence.HIGH)
            ),
        )


def _witness(access: Access, found: Refuted[Beyond]) -> str:
    """`and at x.numel() = 1,025, BLOCK = 1,024 program 1 reads index 1,025 of 1,025 elements`."""
    shown = found.shown
    numbers = {**{name: size for name, size in found.sizes.items() if ".stride(" not in name}, **shown.tile}
    sizes = ", ".join(f"{name} = {size:,}" for name, size in numbers.items())
    axes = [index for index, _ in enumerate(shown.program) if any(shown.program[index:])]
    program = str(shown.program[0]) if axes in ([], [0]) else str(shown.program[: axes[-1] + 1])
    verb = {"load": "reads", "store": "writes"}.get(access.kind, "changes")
    return f"and at {sizes} program {program} {verb} index {shown.element:,} of {shown.elements:,} elements"
