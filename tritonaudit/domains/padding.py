"""What padded lanes hold after each operation: the algebra behind padding that reaches a reduction."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from tritonaudit.domains.affine import ONE, Affine, Atom, AtomKind
from tritonaudit.domains.value import Condition, Fill, Less, Padding, Value

if TYPE_CHECKING:
    from libcst import CSTNode

_INFINITE = (math.inf, -math.inf)

NEUTRAL: dict[str, tuple[float, ...]] = {
    "sum": (0.0,),
    "dot": (0.0,),
    "cumsum": (0.0,),
    "max": (-math.inf,),
    "argmax": (-math.inf,),
    "min": (math.inf,),
    "argmin": (math.inf,),
    "softmax": (-math.inf,),
    "cumprod": (1.0,),
}


Axes = frozenset[int]
Lanes = tuple[tuple[Padding, ...], Axes]  # the paddings of a result, and the axes along which it is murky


def combined(operator: str, left: Value, right: Value) -> Lanes:
    """The paddings of `left operator right`; a mask that is added counts lanes, and what they hold where it fails."""
    murky = left.murky | right.murky
    if operator == "Add":
        murky = murky.union(*(c.axes() for value in (left, right) if value.shape for c in value.mask or ()))
    if not left.paddings and not right.paddings:
        return (), murky
    result: dict[Less, Padding] = {}
    for padding in left.paddings:
        fill = _fill_of(right, padding.condition)
        _keep(result, padding, _operate(operator, padding.fill, fill, right))
    for padding in right.paddings:
        if padding.condition in result or any(p.condition == padding.condition for p in left.paddings):
            continue
        fill = _fill_of(left, padding.condition)
        _keep(result, padding, _operate_right(operator, fill, padding.fill, left))
    return tuple(result.values()), murky | _lost(result, left, right)


def _lost(kept: Collection[Less], *sources: Value) -> Axes:
    """The axes of the paddings of which no more is known."""
    gone = (p.axes() for source in sources for p in source.paddings if p.condition not in kept)
    return frozenset().union(*gone)


def _keep(result: dict[Less, Padding], padding: Padding, fill: float | Fill | None) -> None:
    if fill is not None:
        result[padding.condition] = replace(padding, fill=fill)


class _Marker:
    """What the other operand holds where this one is padded, when that is not a fill."""


_DATA = _Marker()  # one value for all lanes of the axis, such as a mean or a scale, or their own numbers
_LANES = _Marker()  # data of its own in every lane, such as the sum of full tiles before a partial one
_OTHER = _Marker()  # padded by another condition on the same axes: cannot tell

_Other = float | Fill | _Marker


def _fill_of(value: Value, condition: Less) -> _Other:
    if isinstance(value.const, (bool, int, float)):
        return float(value.const)
    if value.mask is not None and condition in value.mask:
        return 0.0
    for padding in value.paddings:
        if padding.condition == condition:
            return padding.fill
    axes = condition.bounds()
    if value.murky & axes or value.shape is None or any(padding.axes() & axes for padding in value.paddings):
        return _OTHER
    spread = any(0 < -axis <= len(value.shape) and value.shape[axis] != ONE for axis in axes)
    is_index = value.affine is not None and bool(value.affine.lanes())
    return _LANES if spread and not is_index else _DATA


def _operate(operator: str, fill: float | Fill, other: _Other, value: Value) -> float | Fill | None:
    """The fill of `fill operator other`; None when it is unknown."""
    if other is _OTHER:
        return 0.0 if fill == 0.0 and operator in ("Multiply", "Divide") else None
    if isinstance(fill, float) and isinstance(other, float):
        return _computed(operator, fill, other)
    if operator == "Multiply":
        return _product(fill, other, value)
    if operator == "Divide":
        if fill == 0.0 and not isinstance(other, float):
            return 0.0
        return fill if fill in _INFINITE and isinstance(other, _Marker) else _spoiled(fill, other)
    if operator in ("Add", "Subtract"):
        if _is_far(fill):
            return fill
        if other is _LANES:
            return None
        if other in _INFINITE and isinstance(other, float):
            return other if operator == "Add" else -other
        return _spoiled(fill, other)
    return None


def _operate_right(operator: str, other: _Other, fill: float | Fill, value: Value) -> float | Fill | None:
    if operator in ("Add", "Multiply"):
        return _operate(operator, fill, other, value)
    if other is _OTHER:
        return None
    if isinstance(fill, float) and isinstance(other, float):
        return _computed(operator, other, fill)
    if operator == "Subtract":
        if isinstance(fill, float) and _is_far(fill):
            return -fill
        return None if other is _LANES else _spoiled(fill, other)
    return None


def _is_far(fill: float | Fill) -> bool:
    """Whether data that is added to it does not matter: an exponential of it is 0 or infinite all the same."""
    return isinstance(fill, float) and abs(fill) >= _FAR


def _product(fill: float | Fill, other: _Other, value: Value) -> float | Fill | None:
    for zero, factor in ((fill, other), (other, fill)):
        if zero == 0.0:
            if factor is Fill.MAYBE_NAN or (factor is Fill.COMPUTED and any(term.difference for term in value.exps)):
                return Fill.MAYBE_NAN  # exp(padding - data) has no bound of its own
            return Fill.COMPUTED if isinstance(factor, float) and factor in _INFINITE else 0.0
    if fill in _INFINITE and isinstance(other, _Marker):
        return fill  # a scale; negative ones are rare and say so
    return _spoiled(fill, other)


def _spoiled(fill: float | Fill, other: _Other) -> Fill:
    return Fill.MAYBE_NAN if Fill.MAYBE_NAN in (fill, other) else Fill.COMPUTED


def _computed(operator: str, left: float, right: float) -> float | Fill | None:
    try:
        if operator == "Add":
            return left + right
        if operator == "Subtract":
            return left - right
        if operator == "Multiply":
            return left * right
        if operator == "Divide":
            return left / right if right else Fill.COMPUTED
        if operator == "maximum":
            return max(left, right)
        if operator == "minimum":
            return min(left, right)
    except (OverflowError, ValueError):
        return Fill.COMPUTED
    return None


def murky_axes(value: Value) -> Axes:
    """The axes along which nothing is known after an operation that flow does not follow."""
    return value.murky.union(*(padding.axes() for padding in value.paddings))


def placed(value: Value, base: CSTNode) -> tuple[Padding, ...]:
    """The paddings of a load or a contraction: where they can be fixed first."""
    return tuple(replace(padding, base=base, place=base) for padding in value.paddings)


def spoiled_at(node: CSTNode, value: Value, *sources: Value) -> tuple[Padding, ...]:
    """The paddings of an operation, those that it made a computed value fixed at it."""
    before = {(p.condition, p.fill) for source in sources for p in source.paddings}
    return tuple(
        replace(p, place=node) if isinstance(p.fill, Fill) and (p.condition, p.fill) not in before else p
        for p in value.paddings
    )


def extreme(operator: str, left: Value, right: Value) -> Lanes:
    """The paddings of `tl.maximum` and `tl.minimum`: two numbers decide, else it is unknown."""
    result: dict[Less, Padding] = {}
    for one, other in ((left, right), (right, left)):
        for padding in one.paddings:
            fill = _fill_of(other, padding.condition)
            if isinstance(fill, float) and isinstance(padding.fill, float):
                value = max(padding.fill, fill) if operator == "maximum" else min(padding.fill, fill)
                _keep(result, padding, value)
    return tuple(result.values()), _lost(result, left, right) | left.murky | right.murky


def mapped(function: Callable[[float], float] | None, value: Value) -> Lanes:
    """The paddings of an elementwise function of `value`; those of an unknown function are unknown."""
    if not value.paddings:
        return (), value.murky
    if function is None:
        return (), murky_axes(value)
    paddings = (replace(p, fill=_image(function, p.fill)) for p in value.paddings)
    return tuple(paddings), value.murky


def _image(function: Callable[[float], float], fill: float | Fill) -> float | Fill:
    if isinstance(fill, Fill):
        return fill
    try:
        return function(fill)
    except (ValueError, OverflowError, ZeroDivisionError):
        return -math.inf if function is math.log and fill == 0 else Fill.COMPUTED


def selected(mask: Value, chosen: Value, other: Value) -> Lanes:
    """The paddings of `tl.where(mask, chosen, other)`."""
    conditions = mask.mask or frozenset()
    replacement = float(other.const) if isinstance(other.const, (bool, int, float)) else None
    result: dict[Less, Padding] = {}
    for padding in chosen.paddings:
        if padding.condition in conditions:
            if replacement is not None:
                result[padding.condition] = replace(padding, fill=replacement, explicit=True)
        elif padding.fill == replacement or not any(padding.axes() & _decides(c) for c in conditions):
            result[padding.condition] = padding
    if replacement is not None:
        for condition in conditions:
            if isinstance(condition, Less) and condition.bounds() and condition not in result:
                result[condition] = Padding(condition, replacement, None, True)
    if not conditions or replacement is None:
        # The other arm may be what a padded lane holds: keep what both arms agree on.
        theirs = {padding.condition: padding.fill for padding in other.paddings}
        result = {c: p for c, p in result.items() if theirs.get(c) == p.fill}
    return tuple(result.values()), _lost(result, chosen, other) | chosen.murky | other.murky


def _decides(condition: Condition) -> Axes:
    """The axes along which a padded lane may fail the condition."""
    return condition.bounds() | condition.data_axes() if isinstance(condition, Less) else condition.bounds()


def met(left: Value, right: Value) -> Lanes:
    """The paddings of a value that is one of the two: those that both have, or that a constant equals."""
    kept: dict[Less, Padding] = {}
    for one, other in ((left, right), (right, left)):
        theirs = {padding.condition: padding for padding in other.paddings}
        for padding in one.paddings:
            twin = theirs.get(padding.condition)
            if padding.condition in kept:
                continue
            if (twin is not None and padding.fill == twin.fill) or _equals(other, padding):
                kept[padding.condition] = padding
            elif twin is not None and padding.fill not in _INFINITE and twin.fill not in _INFINITE:
                kept[padding.condition] = replace(padding, fill=Fill.COMPUTED)  # either way it is no neutral element
    return tuple(kept.values()), _lost(kept, left, right) | left.murky | right.murky


def _equals(value: Value, padding: Padding) -> bool:
    return isinstance(value.const, (int, float)) and float(value.const) == padding.fill


def poisoned(operation: str, operand: Value, axis: int | None) -> tuple[Padding, ...]:
    """The paddings that reach a reduction of `operand` along `axis` and are not neutral for it."""
    neutral = NEUTRAL.get(operation)
    if neutral is None:
        return ()
    return tuple(
        padding
        for padding in operand.paddings
        if padding.load is not None
        and _reachable(padding)
        and (axis is None or axis in padding.axes())
        and not (isinstance(padding.fill, float) and _is_neutral(padding.fill, neutral))
    )


def _is_neutral(fill: float, neutral: tuple[float, ...]) -> bool:
    """Whether it changes no result: for an extreme that is any number beyond all that data holds."""
    return fill in neutral or any(value in _INFINITE and fill * math.copysign(1, value) >= _FAR for value in neutral)


_FAR = 1e4
"""What masks are filled with in place of an infinity, at the least: the exponential of less is 0 beside any logit."""


def _reachable(padding: Padding) -> bool:
    """Whether padded lanes can be met: a loop that does not run up to the bound may never come to the end."""
    gap = padding.condition.gap
    return all(_runs_out(gap, atom) for atom in set(gap.atoms()) if atom.kind is AtomKind.LOOP)


def _runs_out(gap: Affine, loop: Atom) -> bool:
    """Whether the loop goes on to the bound of `index < bound`, whose `bound - index` is the gap."""
    extent = loop.start if _counts_down(loop) else loop.stop
    if extent is None or loop.start is None or loop.step is None or _is_whole(extent):
        return False
    bound = gap + loop.start + Affine.of(loop) * loop.step
    names = {a for p in bound.terms if loop not in p and not any(a.kind is AtomKind.LANE for a in p) for a in p}
    return bool(names & extent.atoms_inside())


def _is_whole(extent: Affine) -> bool:
    """A number of full tiles, `n // BLOCK`: the partial one is left out."""
    for atom in extent.atoms():
        if atom.name == "FloorDivide" or (atom.name in ("minimum", "maximum") and any(map(_is_whole, atom.inner))):
            return True
    return False


def _counts_down(loop: Atom) -> bool:
    return loop.step is not None and all(factor < 0 for factor in loop.step.terms.values())
