"""TAC101: an offset is computed in 32 bits."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tritonaudit.domains.affine import LOADED, Affine, Kind, Product
from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Place, Severity
from tritonaudit.ir.mistakes import Kind as Mistaken
from tritonaudit.ir.mistakes import Mistake
from tritonaudit.queries.narrow_offsets import Cause, NarrowOffset, NarrowOffsets
from tritonaudit.rule import Hit, Rule

if TYPE_CHECKING:
    from libcst import CSTNode

_REMEDIES = {
    Kind.PID: "widen the program id before it is multiplied: `tl.program_id(…).to(tl.int64)`",
    Kind.LOOP: "widen the loop's variable before it is multiplied: `.to(tl.int64)`",
}
_TOLD = frozenset({Cause.ELSEWHERE, Cause.LATE, Cause.UNEVEN, Cause.LOADED, Cause.CACHED})
_WEAK = (Cause.ROWS.value, Cause.CACHED.value)
_ROWS = 2**18
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
                f"`{_shown(found)}` is computed in 32 bits and {_wraps(offsets, found)}; {found.reason}",
                remedy=_remedy(found),
                severity=Severity.INFO if found.reason in _WEAK else None,
                confidence=None if _is_met(offsets, found) else Confidence.LOW,
                related=tuple(_related(kernel, found)),
            )


def _is_met(offsets: NarrowOffsets, found: NarrowOffset) -> bool:
    """Whether real use comes to it: to fewer rows than a quarter of a million, or to more where the file says so."""
    if found.cause in _TOLD or found.elsewhere is not None or found.is_shared:
        return True
    if found.cause is Cause.ELEMENTS:
        return found.end is not None and offsets.counts_activations(found.end)
    is_length = found.cause is Cause.ROWS and not any("stride" in atom.name.lower() for atom in found.rest)
    return is_length or offsets.limit(found) < _ROWS


def _related(kernel: KernelFlow, found: NarrowOffset) -> Iterator[tuple[CSTNode | Place, str]]:
    if found.place is not found.product.node:
        yield found.product.node, "where it is multiplied"
    yield found.access.node, "an address that it is part of"
    if found.elsewhere is not None and found.reason == Cause.ELSEWHERE.value:
        yield kernel.place(found.elsewhere), "where the file has it in 64 bits"


def _line(mistake: Mistake) -> int:
    return mistake.node.lineno if isinstance(mistake.node, ast.expr) else 0


def _shown(found: NarrowOffset) -> str:
    """The product, with the index as the text has it where that says something."""
    if found.cause is Cause.ELEMENTS:
        return str(Affine({found.term: found.factor}))
    return f"{found.index.spelled if _is_named(found) else 'index'} * {Affine({_multiplied(found): found.factor})}"


def _multiplied(found: NarrowOffset) -> Product:
    """What the index is multiplied by; a loop's variable has its step in it."""
    steps = set() if found.index.step is None else set(found.index.step.atoms())
    return tuple(atom for atom in found.rest if atom not in steps) or found.rest


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
    if isinstance(found.place, cst.Param):
        return f"annotate the parameter as there: `{found.place.name.value}: tl.int64`"
    return _OF_LOADED if found.index.name == LOADED else _REMEDIES.get(found.index.kind, _OF_OTHERS)
