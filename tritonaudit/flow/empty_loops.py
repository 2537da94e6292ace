"""Sums that a loop over data adds up, and divides by after it: 0 where the loop has nothing to run over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonaudit.flow.affine import JOINED, LOADED, Affine, Atom, Kind
from tritonaudit.flow.facts import Access, KernelFlow
from tritonaudit.flow.value import Less, Step, Value
from tritonaudit.flow.vanishing import COMPARISONS, Measure, divisors

if TYPE_CHECKING:
    from libcst import CSTNode

_DEEPEST = 32


@dataclass(frozen=True)
class EmptyLoop:
    """A division by what a loop adds up or by its length, a store of the result, and where the length is loaded.

    `split` says that a program has a part of the data, which another program may know to be empty.
    """

    node: CSTNode
    store: CSTNode
    length: CSTNode | None
    split: bool


def empty_loops(flow: KernelFlow) -> Iterator[EmptyLoop]:
    """The divisions that are 0 / 0 after a loop that loaded numbers bound, stored though nothing compares them."""
    loops = {step: atom for step, atom in flow.carried.items() if _is_bound_by_data(atom)}
    if not loops:
        return
    found = [(step, counters) for step in flow.steps if (counters := _empty(flow, loops, step))]
    told = {d.node for d in divisors(flow) if d.measure is not Measure.SUM and not d.swallowed} if found else set()
    seen: set[Atom] = set()
    for step, counters in found:
        data = _data(counters)
        store = _stored(flow, step, data)
        if store is None or step.node is None or step.node in told or counters & seen:
            continue
        seen |= counters
        places = [flow.places[atom] for atom in sorted(data, key=lambda atom: -atom.id) if atom in flow.places]
        yield EmptyLoop(step.node, store.node, places[0] if places else None, any(map(_is_split, counters)))


def _empty(flow: KernelFlow, loops: dict[Step, Atom], step: Step) -> set[Atom]:
    """The counters of the loops whose having nothing to do makes the divisor 0; none where the kernel compares that."""
    if step.operation != "Divide" or len(step.operands) != 2:
        return set()
    trail = _Trail(loops)
    if not trail.is_zero(step.operands[1]) and not (
        _divides_by_length(trail, step) and trail.is_zero(step.operands[0])
    ):
        return set()
    compared = (v.made for s in flow.steps if s.operation in COMPARISONS for v in s.operands)
    return set() if any(made in trail.steps for made in compared) else trail.counters


def _divides_by_length(trail: _Trail, step: Step) -> bool:
    divisor = step.operands[1].affine
    return divisor is not None and divisor in trail.lengths


class _Trail:
    """The steps by which a value is 0 after a loop that did not run, and the counters of such loops."""

    def __init__(self, loops: dict[Step, Atom]) -> None:
        self._loops = loops
        self.lengths = {a.stop - a.start for a in loops.values() if a.stop is not None and a.start is not None}
        self._known: dict[Step, bool] = {}
        self.counters: set[Atom] = set()
        self.steps: set[Step] = set()

    def is_zero(self, value: Value, depth: int = 0) -> bool:
        step = value.made
        if step is None or depth > _DEEPEST:
            return value.const is not None and bool(value.const == 0)
        if step not in self._known:
            self._known[step] = False
            self._known[step] = self._by_step(step, depth + 1)
            if self._known[step]:
                self.steps.add(step)
        return self._known[step]

    def _by_step(self, step: Step, depth: int) -> bool:
        operands = step.operands
        match step.operation:
            case "carried":
                if step not in self._loops or not self.is_zero(operands[0], depth):
                    return False
                self.counters.add(self._loops[step])
                return True
            case "either" if operands[0].made in self._loops:
                return self.is_zero(operands[0], depth)  # after a loop, or what it was before it
            case "either" | "Add" | "Subtract" | "maximum":
                return all(self.is_zero(operand, depth) for operand in operands)
            case "sum" | "abs" | "sqrt" | "Minus" | "Divide":
                return self.is_zero(operands[0], depth)
            case "Multiply":
                return any(self.is_zero(operand, depth) for operand in operands)
        return False


def _data(counters: set[Atom]) -> frozenset[Atom]:
    """The loaded numbers that the loops' bounds are computed from."""
    bounds = [bound for atom in counters for bound in (atom.start, atom.stop) if bound is not None]
    return frozenset(atom for bound in bounds for atom in bound.atoms_inside() if atom.name == LOADED)


def _is_bound_by_data(counter: Atom) -> bool:
    """Whether the end, less the beginning, is a loaded number or is computed from one, and may be 0."""
    start, stop = counter.start, counter.stop
    return start is not None and stop is not None and _is_loaded(stop) and _smallest(stop - start) <= 0


def _is_loaded(length: Affine) -> bool:
    """Whether it is computed from a loaded number, whichever way the kernel goes."""
    for atom in length.atoms():
        inner = [_is_loaded(part) for part in atom.inner if atom.name != LOADED]
        if atom.name == LOADED or (all(inner) and inner if atom.name == JOINED else any(inner)):
            return True
    return False


def _smallest(length: Affine) -> int:
    """The number that a length is at the least, where all that it is computed from is 0."""
    atom = length.atom
    if atom is None or len(atom.inner) != 2:
        return length.terms.get((), 0)
    left, right = atom.inner
    if atom.name == "maximum":
        return max(_smallest(left), _smallest(right))
    if atom.name == "FloorDivide":
        left = left - right + Affine.constant(1)  # of a quotient that is rounded up by adding the divisor less 1
    return _smallest(left) if atom.name in ("cdiv", "FloorDivide") else 0


def _is_split(counter: Atom) -> bool:
    start = counter.start
    return start is not None and any(atom.kind is Kind.PID for atom in _computed_from(start))


def _computed_from(value: Affine) -> Iterator[Atom]:
    """Every atom, those that were indices of loads left out."""
    for atom in value.atoms():
        yield atom
        for part in atom.inner if atom.name != LOADED else ():
            yield from _computed_from(part)


def _stored(flow: KernelFlow, step: Step, data: frozenset[Atom]) -> Access | None:
    """A store of what the step makes that neither a mask nor a condition keeps from an empty loop."""
    for access in flow.accesses:
        stored = None if access.kind != "store" or access.stored is None else access.stored.made
        if stored is not None and not _is_guarded(access, data) and _is_made_of(stored, step):
            return access
    return None


def _is_made_of(last: Step | None, first: Step) -> bool:
    """Whether the one is computed from the other, with nothing selected in between."""
    stack, seen = [last], {last}
    while stack and len(seen) < 256:
        step = stack.pop()
        if step is first:
            return True
        if step is not None and step.operation != "where":
            new = {operand.made for operand in step.operands} - seen
            seen |= new
            stack.extend(new)
    return False


def _is_guarded(access: Access, data: frozenset[Atom]) -> bool:
    if any(not guard.constexpr and (not guard.affines or _reads(guard.affines, data)) for guard in access.path):
        return True
    mask = access.mask.mask if access.mask is not None else frozenset()
    if mask is None:
        return True
    return any(not isinstance(condition, Less) or _reads((condition.gap,), data) for condition in mask)


def _reads(affines: tuple[Affine, ...], data: frozenset[Atom]) -> bool:
    return any(not data.isdisjoint(affine.atoms_inside()) for affine in affines)
