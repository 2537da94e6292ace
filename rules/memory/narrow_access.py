"""TAM301: an access moves fewer bytes per lane than it could."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tritonaudit.compile import phrases
from tritonaudit.compile.facts import Cause, CompiledKernel, Narrow, Variant
from tritonaudit.compile.widening import is_wide_elsewhere, saves_much, wastes_lines
from tritonaudit.finding import Confidence, Severity, Span
from tritonaudit.rule import Hit, Rule

_WHY = {
    Cause.ALIGNMENT: "16 is not known to divide the address in {}",
    Cause.STRIDE: "16 is not known to divide {}, on which its address depends",
    Cause.MASK: "16 is not known to divide {}, on which its mask depends",
    Cause.LANE_STRIDE: "neighbouring lanes are {} elements apart",
}
_WHY_TOGETHER = "16 is not known to divide {}, on which its address and mask depend"
_WHY_STRIDED = "neighbouring lanes are not known to be neighbours in memory, which depends on {}"
_REMEDIES = {
    Cause.ALIGNMENT: "pass a tensor that starts at a multiple of 16 bytes: copy the view, or cut it elsewhere",
    Cause.STRIDE: "pad the rows to a multiple of 16 elements, or say what is guaranteed where the offset is computed:"
    " `tl.multiple_of(row * stride, 8)`; on the stride itself it has no effect",
    Cause.MASK: "pad the size to a multiple of 16, or handle the full tiles without the mask",
    Cause.LANE_STRIDE: "let the lanes run along the axis that is contiguous, or make this one contiguous first",
}


@dataclass(frozen=True)
class _Place:
    path: str
    span: Span


@dataclass(frozen=True)
class _Seen:
    """A narrow access, and the variant that has it."""

    narrow: Narrow
    variant: Variant


class NarrowAccess(Rule):
    code, name = "TAM301", "narrow-access"
    summary = "A load or store moves fewer bytes per lane than it could, or from places that lie apart."
    severity, confidence, since = Severity.WARNING, Confidence.MEDIUM, "0.1"

    def check(self, kernel: CompiledKernel) -> Iterator[Hit]:
        by_place: dict[_Place, list[_Seen]] = {}
        for variant in kernel.compiled:
            for narrow in variant.narrow:
                place = _Place(narrow.access.path, narrow.access.span)
                by_place.setdefault(place, []).append(_Seen(narrow, variant))
        yield from phrases.surest(self._judged(kernel, place, seen) for place, seen in by_place.items())

    def _judged(self, kernel: CompiledKernel, place: _Place, seen: Sequence[_Seen]) -> Hit:
        decisive = [
            one
            for one in seen
            if saves_much(one.variant, one.narrow) and not is_wide_elsewhere(kernel, one.variant, one.narrow)
        ]
        return self._hit(kernel, place, decisive or seen, Confidence.MEDIUM if decisive else Confidence.LOW)

    def _hit(self, kernel: CompiledKernel, place: _Place, seen: Sequence[_Seen], confidence: Confidence) -> Hit:
        variants = list(dict.fromkeys(one.variant for one in seen))
        worst = min((one.narrow for one in seen), key=lambda narrow: narrow.bytes)
        why = phrases.listed(_why(narrow.cause, narrow.arguments) for narrow in _least(seen))
        span, elsewhere = phrases.place(kernel, place.path, place.span)
        access = phrases.listed(one.narrow.access.kind.value for one in seen)
        scattered = "lies apart in memory" if worst.bytes == worst.could_be else ""
        moved = scattered or f"moves {worst.bytes} bytes per lane, not {worst.could_be},"
        return Hit(
            span,
            f"this {access}{elsewhere} {moved} {phrases.where(variants, kernel)}: {why}{phrases.assumed(variants)}",
            remedy=_REMEDIES[worst.cause],
            severity=Severity.WARNING if any(wastes_lines(one.narrow) for one in seen) else Severity.INFO,
            confidence=phrases.sure(confidence, variants),
        )


def _least(seen: Sequence[_Seen]) -> list[Narrow]:
    """Those that ask least: where a stride is enough to blame, what an odd address adds in another case is not said."""
    blamed = {frozenset(one.narrow.arguments) for one in seen}
    return [one.narrow for one in seen if not any(other < frozenset(one.narrow.arguments) for other in blamed)]


def _why(cause: Cause, arguments: Sequence[str]) -> str:
    named = phrases.listed(f"`{argument}`" for argument in arguments)
    if len(arguments) == 1:
        return _WHY[cause].format(named)
    return (_WHY_STRIDED if cause is Cause.LANE_STRIDE else _WHY_TOGETHER).format(named)
