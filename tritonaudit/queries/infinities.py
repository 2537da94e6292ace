"""Where -inf meets -inf: a row that is masked as a whole, and the maximum of such a row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from math import inf
from typing import TYPE_CHECKING

from tritonaudit.domains.affine import Affine, Atom, AtomKind
from tritonaudit.domains.facts import KernelFlow
from tritonaudit.domains.value import Less, Opaque, Step, Value
from tritonaudit.queries.vanishing import COMPARISONS, same

if TYPE_CHECKING:
    from libcst import CSTNode

_DEEPEST = 40
_SUMS = frozenset({"Add", "Subtract"})
_EITHER = frozenset({"either", "carried"})


class Emptied(Enum):
    """Why all that a maximum is taken over may be -inf."""

    BY_DATA = "a mask that is loaded may drop all of them"
    BY_WINDOW = "the mask bounds them from below, so that it drops the whole of the first blocks for some rows"
    ELEMENT = "the maximum is kept for each lane, so that one -inf in the data is enough"
    ELSEWHERE = "the other branch asks for it, this one does not"


@dataclass(frozen=True)
class Collision:
    """A difference that is -inf - -inf where a row is empty, inside an exponential, and the mask that empties it."""

    difference: CSTNode
    exponential: CSTNode
    why: Emptied
    mask: CSTNode | None


def collisions(flow: KernelFlow) -> Iterator[Collision]:
    """The differences of a kernel that may be -inf - -inf; each maximum once, at the first exponential of it."""
    compared = {v.made for s in flow.steps if s.operation in COMPARISONS for v in s.operands if v.made is not None}
    asked = {step.operands[0].made for step in compared if step is not None and step.operation in ("max", "sum")}
    seen: set[int] = set()
    for step in flow.steps:
        if step.operation not in ("exp", "exp2") or not step.operands:
            continue
        for collision in _guarded_in_one_arm(step):
            if id(collision.difference) not in seen:
                seen.add(id(collision.difference))
                yield collision
        difference = _difference(step.operands[0])
        if difference is None:
            continue
        largest = difference.operands[1]
        if largest.made is None or id(largest.made) in seen or not _maxima(largest).isdisjoint(compared):
            continue
        emptied = _emptied(*difference.operands)
        if emptied is not None and emptied[1] is not None and emptied[1].operands[0].made in asked:
            continue  # a block of which the mask leaves nothing is passed over
        if emptied is not None and difference.node is not None and step.node is not None:
            seen.add(id(largest.made))
            why, mask = emptied
            yield Collision(difference.node, step.node, why, None if mask is None else mask.node)


def _guarded_in_one_arm(exponential: Step) -> Iterator[Collision]:
    """A difference that one branch selects by `m == -inf` and the other takes as it is."""
    step = exponential.operands[0].made
    if step is None or step.operation != "either" or exponential.node is None:
        return
    for guarded, plain in (step.operands, step.operands[::-1]):
        selection, difference = guarded.made, plain.made
        if selection is None or difference is None or difference.node is None:
            continue
        if selection.operation == "where" and difference.operation == "Subtract":
            test = selection.operands[0].made
            largest = difference.operands[1]
            asks = test is not None and test.operation in COMPARISONS and _asks(test, largest)
            if asks and any(map(_is_masked, _maxima(largest))):
                yield Collision(difference.node, exponential.node, Emptied.ELSEWHERE, selection.node)


def _is_masked(step: Step) -> bool:
    return step.operation == "max" and any(True for _ in _selections(step.operands[0]))


def _asks(test: Step, largest: Value) -> bool:
    """Whether a comparison is that of the maximum with -inf."""
    left, right = test.operands
    return (same(left, largest) and right.const == -inf) or (same(right, largest) and left.const == -inf)


def _difference(value: Value) -> Step | None:
    """The subtraction in `a - b`, or in a multiple of it."""
    step = value.made
    for _ in range(4):
        if step is None or step.operation == "Subtract":
            break
        if step.operation != "Multiply":
            return None
        scaled = [v for v in step.operands if v.made is not None and v.shape != ()]
        step = scaled[0].made if len(scaled) == 1 else None
    return step


def _maxima(value: Value) -> set[Step]:
    """The steps of which a running maximum consists."""
    found: set[Step] = set()
    stack = [value]
    while stack and len(found) < _DEEPEST:
        step = stack.pop().made
        if step is None or step in found:
            continue
        found.add(step)
        if step.operation in ("maximum", "max", "Multiply", *_EITHER):
            stack.extend(step.operands)
    return found


def _emptied(minuend: Value, largest: Value) -> tuple[Emptied, Step | None] | None:
    """Why both may be -inf; None where that is unknown, or where the maximum starts at a finite number."""
    step = largest.made
    if step is None:
        return None
    if step.operation == "max":
        return _masked(step, running=False) if _is_operand(minuend, step) else None
    if step.operation != "maximum" or len(step.operands) < 2:
        return None
    for old, new in (step.operands[:2], step.operands[1::-1]):
        if not _starts_empty(old) or new.made is None:
            continue
        if new.made.operation == "max" and (same(minuend, old) or _is_operand(minuend, new.made)):
            return _masked(new.made, running=True)
        if new.made.operation == "load" and _first(old).is_block and (same(minuend, old) or same(minuend, new)):
            return Emptied.ELEMENT, None
    return None


def _is_operand(value: Value, reduction: Step) -> bool:
    return same(value, reduction.operands[0])


def _starts_empty(value: Value) -> bool:
    """Whether it is -inf before a loop."""
    return bool(_first(value).const == -inf)


def _first(value: Value) -> Value:
    """What a loop finds when it begins."""
    for _ in range(4):
        if value.made is None or value.made.operation != "carried":
            break
        value = value.made.operands[0]
    return value


def _masked(reduction: Step, *, running: bool) -> tuple[Emptied, Step | None] | None:
    """The selection that may leave only -inf for the maximum."""
    axis = _axis(reduction)
    for selection in _selections(reduction.operands[0]):
        condition, _, other = selection.operands
        for term in condition.mask or ():
            if axis is not None and axis not in term.axes():
                continue
            if _reads(condition) and (isinstance(term, Opaque) or _compares_data(term, axis)):
                return Emptied.BY_DATA, selection
            if running and other.const == -inf and isinstance(term, Less) and _from_below(term, axis):
                return Emptied.BY_WINDOW, selection
    return None


def _axis(reduction: Step) -> int | None:
    """The reduced axis, counted from the right."""
    operand = reduction.operands[0]
    if len(reduction.operands) < 2 or operand.rank in (None, 1):
        return -1 if operand.rank == 1 else None
    axis = reduction.operands[1].const
    if not isinstance(axis, int) or operand.rank is None:
        return None
    return axis if axis < 0 else axis - operand.rank


def _selections(value: Value) -> Iterator[Step]:
    """Each `where(condition, …, -inf)`, or the other way round, that is added to a value, or is that value."""
    stack, count = [value], 0
    while stack and count < _DEEPEST:
        step, count = stack.pop().made, count + 1
        if step is None:
            continue
        if step.operation == "where" and len(step.operands) == 3:
            if -inf in (step.operands[1].const, step.operands[2].const):
                yield step
            stack.extend(step.operands[1:])
        elif step.operation in _SUMS or step.operation == "either":
            stack.extend(step.operands)
        elif step.operation == "Multiply":
            stack.extend(v for v in step.operands if v.shape != ())


def _reads(condition: Value) -> bool:
    """Whether the condition is, or is made of, loaded blocks."""
    stack, count = [condition], 0
    while stack and count < _DEEPEST:
        value, count = stack.pop(), count + 1
        if value.made is not None:
            if value.made.operation == "load" and value.is_block:
                return True
            if value.made.operation in COMPARISONS or value.made.operation in ("BitAnd", "BitOr", "not", *_EITHER):
                stack.extend(value.made.operands)
    return False


def _compares_data(term: Less, axis: int | None) -> bool:
    return bool(term.data_axes()) and (axis is None or axis in term.data_axes())


def _from_below(term: Less, axis: int | None) -> bool:
    """`low <= key` with a bound that is no constant: the gap adds the lane of the reduced axis and subtracts more."""
    gap = term.gap
    if axis is None:
        return False  # then a row may be taken for a key
    lanes = [a for product in gap.terms for a in product if a.kind is AtomKind.LANE and axis in a.axes]
    if not lanes or any(gap.factor_of(lane) is None for lane in lanes):
        return False
    above = [lane for lane in lanes if _positive(gap, lane)]
    return bool(above) and any(factor < 0 and _is_row(product, axis) for product, factor in gap.terms.items())


def _positive(gap: Affine, lane: Atom) -> bool:
    return gap.terms.get((lane,), 0) > 0


def _is_row(product: tuple[Atom, ...], axis: int | None) -> bool:
    """A term that varies with the rows of the tile."""
    return any(atom.kind is AtomKind.LANE and axis not in atom.axes for atom in product)


def products_with_mask(flow: KernelFlow) -> Iterator[tuple[CSTNode, CSTNode]]:
    """The products of a mask and `exp(x - m)` where `m` is the maximum of `x` under a mask alone, and the exponential.

    Of the lanes that it leaves out nothing bounds `x - m`.
    """
    for step in flow.steps:
        if step.operation != "Multiply" or step.node is None:
            continue
        for one, mask in (step.operands, step.operands[::-1]):
            exponential = one.made
            if exponential is None or exponential.operation not in ("exp", "exp2") or not _is_mask(mask):
                continue
            difference = _difference(exponential.operands[0])
            if difference is not None and exponential.node is not None and _leaves_out(*difference.operands):
                yield step.node, exponential.node


def _is_mask(value: Value) -> bool:
    """A condition, cast or not, or a choice of 1 and 0."""
    if value.dtype == "i1" or (value.made is not None and value.made.operation in (*COMPARISONS, "BitAnd", "BitOr")):
        return True
    if value.made is None or value.made.operation != "where" or len(value.made.operands) != 3:
        return False
    return [operand.const for operand in value.made.operands[1:]] == [1, 0]


def _leaves_out(minuend: Value, largest: Value) -> bool:
    """Whether the maximum is over a selection of the minuend that drops lanes with -inf."""
    stack = [largest]
    for _ in range(_DEEPEST):
        step = stack.pop().made if stack else None
        if step is None:
            continue
        if step.operation == "max":
            inner = step.operands[0].made
            if inner is not None and inner.operation == "where" and len(inner.operands) == 3:
                return same(inner.operands[1], minuend) and inner.operands[2].const is not None
        elif step.operation == "maximum":
            stack.extend(step.operands)
    return False
