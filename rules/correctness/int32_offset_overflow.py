"""TAC101: an offset is computed in 32 bits."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tritonaudit.domains.affine import LOADED, Affine, AtomKind
from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Place, Severity
from tritonaudit.ir.mistakes import Mistake, MistakeKind
from tritonaudit.queries.narrow_offsets import Cause, NarrowOffset, narrow_offsets
from tritonaudit.rule import Hit, Rule

if TYPE_CHECKING:
    from libcst import CSTNode

_REMEDIES = {
    AtomKind.PID: "widen the program id before it is multiplied: `tl.program_id(…).to(tl.int64)`",
    AtomKind.LOOP: "widen the loop's variable before it is multiplied: `.to(tl.int64)`",
}
_OF_LOADED = "widen what is loaded before it is multiplied: `tl.load(…).to(tl.int64)`"
_OF_OTHERS = "widen a factor before the multiplication: `.to(tl.int64)`"


class Int32OffsetOverflow(Rule):
    code, name = "TAC101", "int32-offset-overflow"
    summary = "An offset is computed in 32 bits, though the project uses 64 for similar ones, or tensors may be larger."
    severity, confidence, since = Severity.WARNING, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        reported = {_line(mistake) for mistake in kernel.mistakes if mistake.kind is MistakeKind.LATE_WIDENING}
        for found in narrow_offsets(kernel):
            if reported and kernel.tree.span(found.product.node).line in reported:
                continue  # TAC132 has it, and a fix
            yield Hit(
                found.place,
                f"`{_shown(found)}` is computed in 32 bits{_why(found)}",
                remedy=_remedy(found),
                severity=Severity.INFO if found.cause.is_limit else None,
                confidence=None if found.is_wide else Confidence.LOW,
                related=tuple(_related(kernel, found)),
            )


def _why(found: NarrowOffset) -> str:
    if not found.cause.is_limit:
        return f", which hold no more than 2,147,483,647; {found.cause.value}"
    pointer = found.access.pointer.origin
    elements = "elements" if pointer is None else f"elements of `{pointer.name}`"
    loaded = f"; {found.cause.value}" if found.cause is Cause.LOADED else ""
    return f": right up to 2,147,483,647 {elements}, and it wraps after them{loaded}"


def _related(kernel: KernelFlow, found: NarrowOffset) -> Iterator[tuple[CSTNode | Place, str]]:
    if found.place is not found.product.node:
        yield found.product.node, "where it is multiplied"
    yield found.access.node, "an address that it is part of"
    elsewhere = found.elsewhere
    if elsewhere is not None:
        place = kernel.place(elsewhere) if isinstance(elsewhere, ast.AST) else elsewhere
        yield place, f"where the {'kernel' if found.cause is Cause.UNEVEN else 'file'} has it in 64 bits"


def _line(mistake: Mistake) -> int:
    return mistake.node.lineno if isinstance(mistake.node, ast.expr) else 0


def _shown(found: NarrowOffset) -> str:
    """The product, with the index as the text has it where that says something; a loop's variable has its step."""
    if not set(found.sizes) <= set(found.term):
        return str(Affine({found.term: found.factor}))
    steps = set() if found.index.step is None else set(found.index.step.atoms())
    multiplied = tuple(atom for atom in found.rest if atom not in steps) or found.rest
    is_named = found.index.kind is AtomKind.PID or found.index.stop is not None
    return f"{found.index.spelled if is_named else 'index'} * {Affine({multiplied: found.factor})}"


def _remedy(found: NarrowOffset) -> str:
    if found.cause is Cause.LATE:
        return "cast a factor, not the product: `a.to(tl.int64) * b`"
    if isinstance(found.place, cst.Param):
        return f"annotate the parameter as there: `{found.place.name.value}: tl.int64`"
    return _OF_LOADED if found.index.name == LOADED else _REMEDIES.get(found.index.kind, _OF_OTHERS)
