"""The abstract interpreter: runs the operations of one kernel over abstract values.

Branches are joined, loops are run to a fixpoint with counters recognised, helpers stand inline, and whatever it does
not know is UNKNOWN.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import libcst as cst

from tritonaudit.domains import evaluation
from tritonaudit.domains.affine import LOADED, Affine, Atom, AtomKind, Atoms
from tritonaudit.domains.facts import Accumulation, Assigned, Guard, KernelFlow, Path
from tritonaudit.domains.joins import given_up, includes, join, same, widened
from tritonaudit.domains.numbers import numbers_of
from tritonaudit.domains.value import FLOATS, UNKNOWN, WIDE, Less, Mask, Step, Value, scalar
from tritonaudit.ir.model import Assign, Block, Carried, If, Inlined, Kernel, Loop, Operation
from tritonaudit.ir.values import Const, Tensor
from tritonaudit.ir.values import Value as Typed

if TYPE_CHECKING:
    from tritonaudit.source.outline import Parameter


_NO_FILLS: Mapping[int, float] = {}
_MOST_RUNS = 3
_DEEPEST = 3  # loops in one another, each run to a fixpoint in every run of the one around it
_MOST_NESTED = 6  # beyond it nothing is known of what a loop carries
"""Loops in loops that are run to their fixpoint while an outer one is run on trial."""


@dataclass
class _Loop:
    """A loop being run: its counter, what variables were before it, and the first atom made inside it."""

    counter: Atom
    outer: dict[Operation, Value]
    first_atom: int


class Machine:
    """Runs one kernel and notes what it meets in a `KernelFlow`.

    `fills` are what masked-off lanes of some loads are supposed to hold instead, by the `id` of the load's node.
    """

    def __init__(self, flow: KernelFlow, kernel: Kernel, fills: Mapping[int, float] = _NO_FILLS) -> None:
        self.flow = flow
        self.kernel = kernel
        self.fills = fills
        self.numbers = numbers_of(kernel)
        self.atoms = Atoms()
        self.facts: dict[Operation, Value] = {}
        self.path: Path = ()
        self.loops: list[_Loop] = []
        self.silent = 0
        self._inlined = 0
        self._texts: dict[int, str] = {}

    # -- running -------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Run the kernel with its parameters unknown."""
        parameters = {parameter.name: parameter for parameter in self.flow.function.parameters}
        for operation in self.kernel.parameters:
            parameter = parameters.get(operation.detail)
            self.facts[operation] = UNKNOWN if parameter is None else self._parameter(parameter, operation.type)
        self.block(self.kernel.body)

    def _parameter(self, parameter: Parameter, given: Typed) -> Value:
        name = parameter.name
        if parameter.constexpr:
            known = self.flow.launches.constant(name)
            if known is not None:
                return evaluation.constant(known)
            if isinstance(given, Const) and given.known and type(given.value) not in (int, float):
                return evaluation.of_constant(given.value)
            return scalar(None, Affine.of(self.atoms.get(AtomKind.CONSTEXPR, name)), constexpr=True)
        if isinstance(given, Const) and given.value is None:
            return evaluation.of_constant(None)
        if self.flow.is_helper:
            return UNKNOWN
        atom = self.atoms.get(AtomKind.PARAM, name)
        dtype = self.flow.scalar_type(name)
        return scalar(dtype, Affine.of(atom), origin=atom, wide=parameter.wide or dtype in WIDE)

    @property
    def recording(self) -> bool:
        return self.silent == 0 and self._inlined == 0

    def fact(self, value: Typed) -> Value:
        """What is known of an operand."""
        return evaluation.fact(self, value)

    def node(self, operation: Operation) -> Any:
        """Where it stands in the kernel's text: what a helper does stands where the kernel calls it."""
        return self.concrete(operation.calls[0] if operation.calls else operation.node)

    def concrete(self, node: ast.AST) -> Any:
        """The node of the kernel's text; None where there is none."""
        return self.flow.tree.node(node)

    def step(self, operation: str, operands: tuple[Value, ...], node: cst.CSTNode | None) -> Step:
        """How a value was made, noted."""
        step = Step(operation, operands, node)
        if not self.silent:
            self.flow.all_steps.append(step)
            if self.recording:
                self.flow.steps.append(step)
        return step

    # -- statements ----------------------------------------------------------------------------------------------

    def block(self, block: Block) -> None:
        """Run a block; an early return in one arm of an `if` guards what follows it."""
        path = self.path
        for statement in block.statements:
            if isinstance(statement, Operation):
                self.facts[statement] = evaluation.evaluate(self, statement)
            elif isinstance(statement, Assign):
                self.assign(statement)
            elif isinstance(statement, If):
                self._if(statement)
                if self._ends(statement):
                    break
            elif isinstance(statement, Loop):
                self._loop(statement)
            else:
                self._helper(statement)
        self.path = path

    def _ends(self, node: If) -> bool:
        """Whether nothing after a condition is reached."""
        decided = evaluation.decided(self.fact(node.condition))
        arms = (node.then, node.orelse) if decided is None else (node.then if decided else node.orelse,)
        return all(arm.is_ended for arm in arms)

    def _helper(self, statement: Inlined) -> None:
        path = self.path
        self._inlined += 1
        self.block(statement.body)
        self._inlined -= 1
        self.path = path

    def assign(self, node: Assign) -> None:
        """A variable gets a value: an index is known by its first name."""
        if not self.recording:
            return
        value = self.fact(node.value)
        self.flow.assigned.append(Assigned(node, value))
        if value.affine is not None and value.shape and len(value.shape) == 1:
            self.flow.indices.setdefault(value.affine, node.name)

    def note_assertion(self, condition: Value) -> None:
        """`size % block == 0`, which holds wherever the kernel runs."""
        equal = condition.made
        if not self.recording or equal is None or equal.operation != "Equal" or equal.operands[1].const != 0:
            return
        rest = equal.operands[0].affine
        atom = next(rest.atoms(), None) if rest is not None and len(rest.terms) == 1 else None
        if atom is not None and atom.name == "Modulo" and rest == Affine.of(atom):
            size, divisor = atom.inner
            self.flow.multiples.append((size, divisor))

    # -- conditions ----------------------------------------------------------------------------------------------

    def _if(self, node: If) -> None:
        if isinstance(node.node, ast.IfExp):
            return
        condition = self.fact(node.condition)
        decided = evaluation.decided(condition)
        if decided is not None:
            self.block(node.then if decided else node.orelse)
            return
        path = self.path
        self.path = (*path, self._guard(node.node, condition, True))
        self.block(node.then)
        self.path = (*path, self._guard(node.node, condition, False))
        self.block(node.orelse)
        self.path = path
        if node.then.is_ended != node.orelse.is_ended:
            self.path = (*path, self._guard(node.node, condition, node.orelse.is_ended))

    def note_skipped(self, step: Step, mask: Mask | None) -> None:
        """What a number loaded before the loop may leave as it was, each time round."""
        if not self.loops or mask is None:
            return
        gaps = tuple(condition.gap for condition in mask if isinstance(condition, Less))
        data = [atom for gap in gaps for atom in gap.atoms_inside() if atom.name == LOADED]
        if data and all(atom.id < self.loops[-1].first_atom for atom in data):
            self.flow.skipped[step] = gaps

    def _guard(self, node: ast.If, condition: Value, arm: bool) -> Guard:
        test, taken = node.test, arm
        while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test, arm = test.operand, not arm
        gaps = tuple(c.gap for c in condition.mask or () if isinstance(c, Less))
        return Guard(self.code(test), arm, condition.constexpr, gaps, condition, taken)

    # -- loops ---------------------------------------------------------------------------------------------------

    def _loop(self, node: Loop) -> None:
        counter = self._counter(node)
        heads = {one.head: self.fact(one.initial) for one in node.carried}
        self.facts.update(heads)
        self.loops.append(_Loop(counter, heads, len(self.atoms)))
        path = self.path
        self.silent += 1
        if self.silent > _DEEPEST or len(self.loops) > _MOST_NESTED:
            self.facts.update((one.head, UNKNOWN) for one in node.carried)
        else:
            self.block(node.body)
            for one in node.carried:
                self.facts[one.head] = self._settled(one, heads[one.head], self.fact(one.last), counter)
            self._run_to_fixpoint(node, counter)
        self.silent -= 1
        self.path = path
        self.block(node.body)
        self.path = path
        self._note_accumulations(node)
        self.loops.pop()

    def _run_to_fixpoint(self, node: Loop, counter: Atom) -> None:
        """Run the body until what the heads say holds after it, too; what does not settle is not known."""
        for _ in range(_MOST_RUNS):
            self.block(node.body)
            moved = [one for one in node.carried if not self._holds_after(one, counter)]
            if not moved:
                return
            for one in moved:
                head, last = self.facts[one.head], self.fact(one.last)
                self.facts[one.head] = widened(self.atoms, head, last, (counter.id, one.name, "again"))
        for one in moved:
            self.facts[one.head] = given_up(self.facts[one.head])

    def _holds_after(self, one: Carried, counter: Atom) -> bool:
        """Whether what is known of a variable when a round begins is so when the next one does."""
        head, last = self.facts[one.head], self.fact(one.last)
        return head is last or includes(head, last, counter)

    def _counter(self, node: Loop) -> Atom:
        if node.kind == "while" or node.counter is None:
            counter = self.atoms.get(AtomKind.LOOP, "while", id(node.node))
            self.flow.whiles.add(counter.id)
            return counter
        bounds = evaluation.loop_range(self, node)
        assert isinstance(node.node, ast.For)
        name = ast.unparse(node.node.target)
        key = id(node.node)
        counter = self.atoms.get(AtomKind.LOOP, name, key, start=bounds.start, step=bounds.step, stop=bounds.stop)
        index = bounds.start + Affine.of(counter) * bounds.step if bounds.start and bounds.step else None
        place = index if index is not None else Affine.of(counter)
        own = node.counter.type
        dtype = own.dtype if isinstance(own, Tensor) else "int" if bounds.static else None
        wide = bounds.wide or dtype in WIDE
        self.facts[node.counter] = scalar(dtype, place, constexpr=bounds.static, wide=wide)
        return counter

    def _settled(self, one: Carried, before: Value, after: Value, counter: Atom) -> Value:
        """What a variable is at the head of the loop in every round, from one run of the body."""
        if after is before or same(before, after):
            return before
        step = self._step(before, after, counter)
        if step is not None and before.affine is not None:
            moved = before.affine + Affine.of(counter) * step
            return join(self.atoms, before, after).but(affine=moved, origin=before.origin)
        value = widened(self.atoms, before, after, (counter.id, one.name))
        if value.made is not None and value.made.operation == "carried":
            self.flow.carried[value.made] = counter
        return value

    def _step(self, before: Value, after: Value, counter: Atom) -> Affine | None:
        """What the loop adds each time round, where that is the same each time and nothing else changes."""
        if before.affine is None or after.affine is None or before.dtype in FLOATS:
            return None
        step = after.affine - before.affine
        limit = self.loops[-1].first_atom
        if any(a is counter or (a.id >= limit and a.kind in (AtomKind.OPAQUE, AtomKind.LOOP)) for a in step.atoms()):
            return None
        return step

    def _note_accumulations(self, node: Loop) -> None:
        """Variables that the loop adds to: what a round leaves is a sum with what it found, scaled or not."""
        if not self.recording:
            return
        for one in node.carried:
            before = self.loops[-1].outer[one.head]
            if before.dtype is None or before.dtype in ("fp32", "fp64"):
                continue
            for place, added in evaluation.additions(one):
                self.flow.accumulations.append(
                    Accumulation(self.concrete(place), one.name, before.dtype, self.fact(added))
                )

    def code(self, node: ast.expr) -> str:
        """The text of a node, kept: conditions are met once a pass."""
        text = self._texts.get(id(node))
        if text is None:
            own = self.concrete(node)
            text = self._texts[id(node)] = ast.unparse(node) if own is None else self.flow.tree.code(own)
        return text
