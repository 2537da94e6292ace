"""TAM102: a mask is given, and does not keep the access inside its tensor."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Cause, Confidence, Severity
from tritonaudit.flow.affine import Atom
from tritonaudit.flow.facts import KernelFlow
from tritonaudit.flow.wrong_masks import BadMask, false_promise, wrong_mask
from tritonaudit.rule import Hit, Rule


class WrongMask(Rule):
    code, name = "TAM102", "wrong-mask"
    summary = "A mask does not bound the index that is accessed."
    severity, confidence, since = Severity.ERROR, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        seen: set[tuple[Atom | None, str]] = set()
        for access in kernel.accesses:
            wrong = wrong_mask(kernel, access) or false_promise(kernel, access)
            if wrong is not None and (key := (access.pointer.origin, wrong.why)) not in seen:
                seen.add(key)
                yield _hit(wrong)


def _hit(wrong: BadMask) -> Hit:
    sibling = wrong.sibling
    return Hit(
        wrong.access.node,
        f"this {wrong.access.what} can leave its tensor: {wrong.why}",
        remedy=wrong.remedy,
        cause=Cause.OUT_OF_BOUNDS,
        related=() if sibling is None else ((sibling.node, "this access masks the same index"),),
    )
