"""Sums that a loop over data adds up, and divides by after it: 0 where the loop has nothing to run over."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonaudit.domains.affine import JOINED, LOADED, Affine, Atom, AtomKind
from tritonaudit.domains.facts import Access, KernelFlow
from tritonaudit.domains.value import Less, Step, Value
from tritonaudit.queries.vanishing import COMPARISONS, Measure, divisors
from tritonaudit.source.nodes import names_in

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
    """The divisions that are 0 / 0 where loaded numbers leave a loop nothing to add, stored though nothing compares."""
    loops = {step: atom for step, atom in flow.carried.items() if _is_bound_by_data(atom)}
    if (not loops and not flow.skipped) or _leaves_early(flow):
        return
    trails = ((step, _Trail(loops, flow.skipped)) for step in flow.steps if step.operation == "Divide")
    found = [(step, trail) for step, trail in trails if trail.leads_to(step)]
    compared = {v.made for s in flow.steps if s.operation in COMPARISONS for v in s.operands} if found else set()
    reported = {d.node for d in divisors(flow) if d.measure is not Measure.SUM and not d.swallowed} if found else set()
    seen: set[Atom] = set()
    for step, trail in found:
        if step.node is None or step.node in reported or not trail.steps.isdisjoint(compared) or trail.data & seen:
            continue
        store = _stored(flow, step, frozenset(trail.data))
        if store is not None:
            seen |= trail.data
            places = [
                flow.places[atom] for atom in sorted(trail.data, key=lambda atom: -atom.id) if atom in flow.places
            ]
            yield EmptyLoop(step.node, store.node, places[0] if places else None, trail.split)


def _leaves_early(flow: KernelFlow) -> bool:
    """Whether a program that has nothing to do may return before it comes to the loop."""
    flags = {parameter.name for parameter in flow.function.parameters if parameter.constexpr}
    tests = [
        branch.test
        for branch in flow.function.nodes.of(ast.If)
        if any(isinstance(statement, ast.Return) for statement in branch.body)
    ]
    return any(not names_in(test) <= flags for test in tests)


class _Trail:
    """The steps by which a value is 0 after loops that add nothing, and the loaded numbers by which they do not."""

    def __init__(self, loops: dict[Step, Atom], skipped: dict[Step, tuple[Affine, ...]]) -> None:
        self._loops, self._skipped = loops, skipped
        self._known: dict[Step, bool] = {}
        self.data: set[Atom] = set()
        self.steps: set[Step] = set()
        self.split = False

    def leads_to(self, division: Step) -> bool:
        """Whether the division is 0 / 0 then, or divides 0 by a loop's length."""
        dividend, divisor = division.operands
        zero = self.is_zero(divisor) or (self._is_length(divisor) and self.is_zero(dividend))
        return zero and bool(self.data)

    def _is_length(self, value: Value) -> bool:
        return value.affine is not None and value.affine in map(_length, self._loops.values())

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
            case "carried" if step in self._loops:
                return self.is_zero(operands[0], depth) and self._note_loop(self._loops[step])
            case "either" if step in self._skipped:
                return self.is_zero(operands[1], depth) and self._note_skipped(self._skipped[step])
            case "either" if operands[0].made in self._loops:
                return self.is_zero(operands[0], depth)  # after a loop, or what it was before it
            case "carried" | "either" | "Add" | "Subtract" | "maximum":
                return all(self.is_zero(operand, depth) for operand in operands)
            case "sum" | "abs" | "sqrt" | "Minus" | "Divide":
                return self.is_zero(operands[0], depth)
            case "Multiply":
                return any(self.is_zero(operand, depth) for operand in operands)
        return False

    def _note_loop(self, counter: Atom) -> bool:
        bounds = tuple(bound for bound in (counter.start, counter.stop) if bound is not None)
        self.split |= counter.start is not None and _has_program(counter.start)
        return self._note(bounds)

    def _note_skipped(self, gaps: tuple[Affine, ...]) -> bool:
        self.split |= any(map(_has_program, gaps))
        return self._note(gaps)

    def _note(self, lengths: tuple[Affine, ...]) -> bool:
        self.data |= {atom for length in lengths for atom in length.atoms_inside() if atom.name == LOADED}
        return True


def _length(counter: Atom) -> Affine | None:
    return None if counter.start is None or counter.stop is None else counter.stop - counter.start


def _is_bound_by_data(counter: Atom) -> bool:
    """Whether the end, less the beginning, is a loaded number or is computed from one, and may be 0."""
    length = _length(counter)
    return length is not None and counter.stop is not None and _is_loaded(counter.stop) and _smallest(length) <= 0


def _is_loaded(length: Affine, known: dict[Atom, bool] | None = None) -> bool:
    """Whether it is computed from a loaded number, whichever way the kernel goes."""
    known = {} if known is None else known
    for atom in length.atoms():
        if atom not in known:
            known[atom] = False
            inner = [_is_loaded(part, known) for part in atom.inner if atom.name != LOADED]
            known[atom] = atom.name == LOADED or (bool(inner) and all(inner) if atom.name == JOINED else any(inner))
    return any(known[atom] for atom in length.atoms())


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


def _has_program(value: Affine) -> bool:
    """Whether it differs from program to program by more than what they load."""
    return any(atom.kind is AtomKind.PID for atom in _computed_from(value))


def _computed_from(value: Affine) -> set[Atom]:
    """Every atom in it, those that were indices of loads left out."""
    found: set[Atom] = set()
    parts = [value]
    while parts:
        new = set(parts.pop().atoms()) - found
        found |= new
        parts.extend(part for atom in new if atom.name != LOADED for part in atom.inner)
    return found


def _stored(flow: KernelFlow, step: Step, data: frozenset[Atom]) -> Access | None:
    """A store of what the step makes that neither a mask nor a condition keeps from an empty loop."""
    for access in flow.accesses:
        if not flow.whiles.isdisjoint(access.loops):
            continue  # what `while` tests may be that there are data
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
