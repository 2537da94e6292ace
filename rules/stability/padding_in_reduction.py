"""TAN105: lanes that a mask left empty reach a reduction with a value that is not neutral for it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tritonaudit.domains.affine import GIVEN, Affine
from tritonaudit.domains.facts import KernelFlow, Reduction
from tritonaudit.domains.padding import NEUTRAL
from tritonaudit.domains.value import Fill, Padding
from tritonaudit.finding import Confidence, Severity
from tritonaudit.queries.launched import are_alike, numbers_of
from tritonaudit.queries.unbounded import is_multiple
from tritonaudit.rule import Fixable, Hit, Rule

if TYPE_CHECKING:
    from libcst import CSTNode


class PaddingInReduction(Rule):
    code, name = "TAN105", "padding-in-reduction"
    summary = "Masked-off lanes reach a reduction with a value that changes its result."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    fixable = Fixable.EITHER

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        surest: dict[int, tuple[Confidence, Reduction, Padding]] = {}
        for reduction in kernel.reductions:
            for padding in reduction.poisoned:
                sure = self._confidence(reduction, padding) if _may_be_met(kernel, padding) else None
                place = id(padding.place or reduction.node)
                if sure is not None and (place not in surest or sure.rank < surest[place][0].rank):
                    surest[place] = (sure, reduction, padding)
        for sure, reduction, padding in surest.values():
            yield self._hit(kernel, reduction, padding, sure)
        yield from self._undefined(kernel)

    def _undefined(self, kernel: KernelFlow) -> Iterator[Hit]:
        """Sums over lanes whose load gives no `other`: they read 0 on every target, though no contract says so."""
        from tritonaudit.fixes.padding import filled

        for reduction in kernel.reductions:
            for padding in reduction.operand.paddings:
                reached = reduction.axis is None or reduction.axis in padding.axes()
                if reached and reduction.operation in ("sum", "dot") and padding.load and not padding.explicit:
                    yield Hit(
                        reduction.node,
                        f"`tl.{reduction.operation}` counts on masked-off lanes to read 0, which is undefined",
                        remedy="give the load `other=0.0`",
                        severity=Severity.INFO,
                        confidence=Confidence.LOW,
                        related=((padding.load, "the masked load without `other`"),),
                        fix=filled(kernel, padding.load, "0.0", safe=True),
                    )
                    break

    def _confidence(self, reduction: Reduction, padding: Padding) -> Confidence | None:
        """How sure it is that the padding changes the result; None when it does not."""
        operand = reduction.operand
        if padding.fill is Fill.MAYBE_NAN:
            return Confidence.MEDIUM
        if padding.fill is Fill.COMPUTED:
            return Confidence.LOW if reduction.operation in ("max", "min") else Confidence.HIGH
        if reduction.operation in ("max", "argmax") and operand.lower is not None and padding.fill <= operand.lower:
            return None
        if reduction.operation in ("min", "argmin") and operand.upper is not None and padding.fill >= operand.upper:
            return None
        if reduction.operation in ("max", "min"):
            return Confidence.LOW  # most maxima only shift an exponential, which a larger one does as well
        if reduction.operation in ("argmax", "argmin"):
            return Confidence.MEDIUM
        return Confidence.HIGH

    def _hit(self, kernel: KernelFlow, reduction: Reduction, padding: Padding, confidence: Confidence) -> Hit:
        from tritonaudit.fixes.padding import neutralised

        neutral = _spelled(NEUTRAL[reduction.operation][0])
        related: list[tuple[CSTNode, str]] = [(reduction.node, "the reduction that they reach")]
        if padding.load is not None and padding.load is not padding.place:
            related.append((padding.load, "the masked load that leaves these lanes empty"))
        return Hit(
            padding.place or reduction.node,
            f"the lanes past the end reach `tl.{reduction.operation}` as {_described(padding)}, not as {neutral}",
            remedy=_remedy(padding, reduction, neutral),
            confidence=confidence,
            related=tuple(related),
            fix=neutralised(kernel, reduction, padding, safe=confidence is Confidence.HIGH),
        )


def _may_be_met(kernel: KernelFlow, padding: Padding) -> bool:
    """Whether the tile may be wider than what it is cut off at; the numbers that launches pass may deny it."""
    gap = padding.condition.gap
    lanes = gap.lanes()
    if len(lanes) != 1:
        return True
    (lane,) = lanes
    tile, end = lane.size, gap + Affine.of(lane)
    names = [size.atom.name for size in (tile, end) if size is not None and size.atom is not None]
    if (len(names) == 2 and are_alike(kernel.launches.sites, *names)) or is_multiple(kernel, end, tile):
        return False
    width, bound = _passed(kernel, tile), _passed(kernel, end)
    return width is None or bound is None or width > bound


def _passed(kernel: KernelFlow, size: Affine | None) -> int | None:
    """The number that a size is, or that every launch passes for it."""
    if size is None or size.value is not None:
        return None if size is None else size.value
    atom = size.atom
    values = set() if atom is None or atom.kind not in GIVEN else numbers_of(kernel.launches.sites, atom.name)
    return values.pop() if len(values) == 1 else None


def _remedy(padding: Padding, reduction: Reduction, neutral: str) -> str:
    if padding.base is padding.place and padding.fill is Fill.COMPUTED and reduction.operation in ("sum", "dot"):
        return 'before the exponential, set them to -inf: `tl.where(mask, …, -float("inf"))`'
    return f"set them to {neutral} before the `tl.{reduction.operation}`: `tl.where(mask, …, {neutral})`"


def _described(padding: Padding) -> str:
    if padding.fill is Fill.MAYBE_NAN:
        return "0 times a value that may be infinite"
    if isinstance(padding.fill, Fill):
        return "a value computed from the padding"
    return _spelled(padding.fill)


def _spelled(number: float) -> str:
    if math.isinf(number):
        return '-float("inf")' if number < 0 else 'float("inf")'
    return f"{number:g}"
