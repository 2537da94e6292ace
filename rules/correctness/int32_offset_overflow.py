"""TAC101: an offset is computed in 32 bits."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tritonaudit.finding import Confidence, Severity
from tritonaudit.flow.affine import LOADED, Affine, Kind
from tritonaudit.flow.facts import KernelFlow
from tritonaudit.flow.narrow_offsets import Cause, NarrowOffset, NarrowOffsets
from tritonaudit.frontend.mistakes import Kind as Mistaken
from tritonaudit.frontend.mistakes import Mistake
from tritonaudit.rule import Hit, Rule

if TYPE_CHECKING:
    from libcst import CSTNode

_REMEDIES = {
    Kind.PID: "widen the program id before it is multiplied: `tl.program_id(…).to(tl.int64)`",
    Kind.LOOP: "widen the loop's variable before it is multiplied: `.to(tl.int64)`",
}
_OF_LOADED = "widen what is loaded before it is multiplied: `tl.load(…).to(tl.int64)`"
_OF_OTHERS = "widen a factor before the multiplication: `.to(tl.int64)`"


class Int32OffsetOverflow(Rule):
    code, name = "TAC101", "int32-offset-overflow"
    summary = "An offset is computed in 32 bits, though tensors of real sizes have more elements than these count."
    severity, confidence, since = Severity.WARNING, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        offsets = NarrowOffsets(kernel)
        told = {_line(mistake) for mistake in kernel.mistakes if mistake.kind is Mistaken.LATE_WIDENING}
        for found in offsets.found():
            if told and kernel.tree.span(found.product.node).line in told:
                continue  # TAC132 has it, and a fix
            yield Hit(
                found.place,
                f"`{_shown(found)}` is computed in 32 bits and {_wraps(offsets, found)}; {found.cause.value}",
                remedy=_remedy(found),
                severity=Severity.INFO if found.cause is Cause.ROWS else None,
                confidence=None if _speaks_of_large_tensors(found) else Confidence.LOW,
                related=tuple(_related(found)),
            )


def _speaks_of_large_tensors(found: NarrowOffset) -> bool:
    """Rows that are as long as they are wide may be a matrix's of any size; a stride is passed for tensors at large."""
    if found.cause is Cause.ROWS:
        return any("stride" in atom.name.lower() for atom in found.term)
    return found.cause is not Cause.ELEMENTS


def _related(found: NarrowOffset) -> Iterator[tuple[CSTNode, str]]:
    if found.place is not found.product.node:
        yield found.product.node, "where it is multiplied"
    yield found.access.node, "an address that it is part of"


def _line(mistake: Mistake) -> int:
    return mistake.node.lineno if isinstance(mistake.node, ast.expr) else 0


def _shown(found: NarrowOffset) -> str:
    """The product, with the index as the text has it where that says something."""
    if found.cause is Cause.ELEMENTS:
        return str(Affine({found.term: found.factor}))
    return f"{found.index.spelled if _is_named(found) else 'index'} * {Affine({found.rest: found.factor})}"


def _is_named(found: NarrowOffset) -> bool:
    return found.end is None and (found.index.kind is Kind.PID or found.index.stop is not None)


def _wraps(offsets: NarrowOffsets, found: NarrowOffset) -> str:
    if found.cause is Cause.ELEMENTS and found.end is not None:
        return f"wraps where `{found.end.name}`, which bounds it, is 2,147,483,648 or more"
    sizes = dict.fromkeys(offsets.sizes(found.term))
    given = ", ".join(f"`{atom.name}` is {offsets.size(atom, found):,}" for atom in sizes if atom is not found.end)
    index = f"`{found.index.spelled}`" if _is_named(found) else "an index"
    return f"wraps from {index} of {offsets.limit(found):,} on" + (f" where {given}" if given else "")


def _remedy(found: NarrowOffset) -> str:
    if found.cause is Cause.LATE:
        return "cast a factor, not the product: `a.to(tl.int64) * b`"
    return _OF_LOADED if found.index.name == LOADED else _REMEDIES.get(found.index.kind, _OF_OTHERS)
