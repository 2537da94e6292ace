"""The abstract interpreter: runs one kernel's statements over abstract values.

Branches are joined, loops are run to a fixpoint with counters recognised, helpers are followed, and whatever it
does not know is UNKNOWN.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import libcst as cst

from tritonaudit.flow import expressions
from tritonaudit.flow.affine import LOADED, Affine, Atom, Atoms, Kind
from tritonaudit.flow.arithmetic import binary
from tritonaudit.flow.facts import Accumulation, Guard, KernelFlow, Path
from tritonaudit.flow.joins import join, same, widened
from tritonaudit.flow.value import FLOATS, UNKNOWN, WIDE, Less, Mask, Step, Value, scalar

if TYPE_CHECKING:
    from tritonaudit.kernel.project import Function, Project
    from tritonaudit.source.outline import Parameter

State = dict[str, Value]

_MAX_CALL_DEPTH = 4
_MAX_CALLS = 200


@dataclass
class _Loop:
    """A loop being run: its counter, the state before it, the first atom made inside it, and names set afresh in it."""

    counter: Atom
    outer: State
    first_atom: int
    reset: set[str] = field(default_factory=set)


@dataclass
class _Frame:
    """A function being run: where its code stands and what it has returned so far."""

    function: Function
    returned: list[Value] = field(default_factory=list)


class Machine:
    """Runs one function and notes what it meets in a `KernelFlow`."""

    def __init__(self, flow: KernelFlow, project: Project, function: Function) -> None:
        self.flow = flow
        self.project = project
        self.atoms = Atoms()
        self.state: State | None = {}
        self.path: Path = ()
        self.loops: list[_Loop] = []
        self.frames = [_Frame(function)]
        self.silent = 0
        self._calls = 0
        self._texts: dict[int, str] = {}

    # -- running -------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Run the kernel with its parameters unknown."""
        assert self.state is not None
        for parameter in self.frames[0].function.jit.parameters:
            self.state[parameter.name] = self._parameter(parameter)
        self.block(self.flow.tree.function.body)

    def _parameter(self, parameter: Parameter) -> Value:
        name = parameter.name
        if parameter.constexpr:
            known = self.flow.launches.constant(name)
            if known is not None:
                return expressions.constant(known)
            return scalar(None, Affine.of(self.atoms.get(Kind.CONSTEXPR, name)), constexpr=True)
        if self.flow.is_helper:
            return UNKNOWN
        atom = self.atoms.get(Kind.PARAM, name)
        dtype = self.flow.scalar_type(name)
        return scalar(dtype, Affine.of(atom), origin=atom, wide=parameter.wide or dtype in WIDE)

    @property
    def recording(self) -> bool:
        return self.silent == 0 and len(self.frames) == 1

    @property
    def module_names(self) -> Function:
        """The function whose file gives names their meaning now."""
        return self.frames[-1].function

    def evaluate(self, node: cst.BaseExpression) -> Value:
        handler = expressions.HANDLERS.get(type(node))
        return UNKNOWN if handler is None else handler(self, node)

    def lookup(self, name: str) -> Value | None:
        return self.state.get(name) if self.state is not None else None

    def step(self, operation: str, operands: tuple[Value, ...], node: cst.CSTNode) -> Step:
        """How a value was made, noted."""
        step = Step(operation, operands, node)
        if not self.silent:
            self.flow.all_steps.append(step)
            if self.recording:
                self.flow.steps.append(step)
        return step

    def assign(self, name: str, value: Value) -> None:
        if self.state is not None:
            self.state[name] = value
            if value.affine is not None and value.shape and len(value.shape) == 1 and self.recording:
                self.flow.indices.setdefault(value.affine, name)

    # -- statements ----------------------------------------------------------------------------------------------

    def block(self, body: cst.BaseSuite) -> None:
        """Run a body; an early return in one arm of an `if` guards what follows it."""
        path = self.path
        for statement in body.body:
            if self.state is None:
                break
            self._statement(statement)
        self.path = path

    def _statement(self, node: cst.BaseStatement | cst.BaseSmallStatement) -> None:
        # LibCST's nodes are abstract base classes, whose `isinstance` is slow.
        run = _STATEMENTS.get(type(node))
        if run is not None:
            run(self, node)
        elif isinstance(node, cst.BaseSmallStatement):
            self._small(node)

    def _line(self, node: cst.SimpleStatementLine) -> None:
        for small in node.body:
            self._small(small)

    def _with(self, node: cst.With) -> None:
        self.block(node.body)

    def _small(self, node: cst.BaseSmallStatement) -> None:
        if isinstance(node, cst.Assign):
            value = self.evaluate(node.value)
            for target in node.targets:
                self._bind(target.target, value, node.value)
        elif isinstance(node, cst.AugAssign):
            self._augmented(node)
        elif isinstance(node, cst.AnnAssign):
            self._annotated(node)
        elif isinstance(node, cst.Expr):
            self.evaluate(node.value)
        elif isinstance(node, cst.Return):
            self.frames[-1].returned.append(UNKNOWN if node.value is None else self.evaluate(node.value))
            self.state = None
        elif isinstance(node, cst.Assert):
            self.note_assertion(self.evaluate(node.test))

    def _bind(self, target: cst.BaseExpression, value: Value, source: cst.BaseExpression | None) -> None:
        if isinstance(target, cst.Name):
            if isinstance(source, cst.BinaryOperation):
                self._note_accumulation(target.value, source)
            if self.recording and self.loops:
                self._note_reset(target.value, source)
            # A plain assignment makes a tensor of a constexpr; only an annotated one keeps it.
            self.assign(target.value, value.but(constexpr=False) if value.constexpr and value.parts is None else value)
        elif isinstance(target, (cst.Tuple, cst.List)):
            parts = value.parts
            for index, element in enumerate(target.elements):
                part = parts[index] if parts is not None and len(parts) == len(target.elements) else UNKNOWN
                self._bind(element.value, part, None)

    def _note_reset(self, name: str, source: cst.BaseExpression | None) -> None:
        """A name of before the loop that is set without looking at what it was."""
        if name in self.loops[-1].outer and (source is None or not re.search(rf"\b{name}\b", self.code(source))):
            self.loops[-1].reset.add(name)

    def _annotated(self, node: cst.AnnAssign) -> None:
        if node.value is None or not isinstance(node.target, cst.Name):
            return
        value = self.evaluate(node.value)
        if "constexpr" in self.code(node.annotation.annotation):
            self.assign(node.target.value, value.but(constexpr=True))
        else:
            self._bind(node.target, value, node.value)

    def _augmented(self, node: cst.AugAssign) -> None:
        right = self.evaluate(node.value)
        if not isinstance(node.target, cst.Name):
            return
        name = node.target.value
        left = self.lookup(name) or UNKNOWN
        operator = type(node.operator).__name__.removesuffix("Assign")
        self.note_accumulation(node, name, operator, right)
        self.assign(name, binary(self, node, operator, left, right))

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

    def _note_accumulation(self, name: str, node: cst.BinaryOperation) -> None:
        """`acc = acc + x`, `acc = acc * alpha + x` and the like."""
        if not (self.recording and self.loops and isinstance(node.operator, cst.Add)):
            return
        for side, other in ((node.left, node.right), (node.right, node.left)):
            if re.search(rf"\b{name}\b", self.code(side)):
                self.silent += 1
                added = self.evaluate(other)
                self.silent -= 1
                self.note_accumulation(node, name, "Add", added)
                break

    def note_accumulation(self, node: cst.CSTNode, name: str, operator: str, added: Value) -> None:
        """`name` of before the innermost loop is added to in it."""
        if not (self.recording and self.loops and operator in ("Add", "Dot")):
            return
        before = None if name in self.loops[-1].reset else self.loops[-1].outer.get(name)
        if before is not None and before.dtype is not None and before.dtype not in ("fp32", "fp64"):
            self.flow.accumulations.append(Accumulation(node, name, before.dtype, added))

    def _if(self, node: cst.If) -> None:
        condition = self.evaluate(node.test)
        known = condition.const if condition.constexpr else None
        start = self.state
        assert start is not None
        if isinstance(known, (bool, int)):
            branch = node.body if known else node.orelse
            if isinstance(branch, cst.If):
                self._if(branch)
            elif branch is not None:
                self.block(branch.body if isinstance(branch, cst.Else) else branch)
            return
        then = self._arm(node, condition, True, dict(start), lambda: self.block(node.body))
        otherwise = self._arm(node, condition, False, start, lambda: self._else(node.orelse))
        if then is None or otherwise is None:
            self.state = otherwise if then is None else then
            if self.state is not None:
                self.path = (*self.path, self._guard(node, condition, then is not None))
            return
        self.state = self._merge(then, otherwise)
        if self.loops and condition.mask is not None:
            self._note_skipped(then, self.state, condition.mask)

    def _note_skipped(self, then: State, merged: State, mask: Mask) -> None:
        """What a number loaded before the loop may leave as it was, each time round."""
        gaps = tuple(condition.gap for condition in mask if isinstance(condition, Less))
        data = [atom for gap in gaps for atom in gap.atoms_inside() if atom.name == LOADED]
        if data and all(atom.id < self.loops[-1].first_atom for atom in data):
            joined = (value.made for name, value in merged.items() if value is not then.get(name))
            self.flow.skipped.update({step: gaps for step in joined if step is not None and step.operation == "either"})

    def _else(self, orelse: cst.If | cst.Else | None) -> None:
        if isinstance(orelse, cst.If):
            self._if(orelse)
        elif orelse is not None:
            self.block(orelse.body)

    def _arm(self, node: cst.If, condition: Value, arm: bool, state: State, run: Callable[[], None]) -> State | None:
        path = self.path
        self.path = (*path, self._guard(node, condition, arm))
        self.state = state
        run()
        self.path = path
        return self.state

    def _guard(self, node: cst.If, condition: Value, arm: bool) -> Guard:
        test: cst.BaseExpression = node.test
        while isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
            test, arm = test.expression, not arm
        gaps = tuple(c.gap for c in condition.mask or () if isinstance(c, Less))
        return Guard(self.code(test), arm, condition.constexpr, gaps)

    def _merge(self, left: State, right: State) -> State:
        if left.keys() == right.keys():
            return {name: a if (a := left[name]) is (b := right[name]) else join(self.atoms, a, b) for name in left}
        # A name that is set in one arm only: where Triton accepts it, that arm was taken.
        merged = {**left, **right}
        for name in left.keys() & right.keys():
            a, b = left[name], right[name]
            merged[name] = a if a is b else join(self.atoms, a, b)
        return merged

    # -- loops ---------------------------------------------------------------------------------------------------

    def _for(self, node: cst.For) -> None:
        bounds = expressions.loop_range(self, node.iter)
        counter = self.atoms.get(
            Kind.LOOP,
            self.code(node.target),
            id(node),
            start=bounds.start,
            step=bounds.step,
            stop=bounds.stop,
        )
        index = bounds.start + Affine.of(counter) * bounds.step if bounds.start and bounds.step else None
        place = index if index is not None else Affine.of(counter)
        variable = scalar("i64" if bounds.wide else "i32", place, constexpr=bounds.static, wide=bounds.wide)

        def body() -> None:
            if isinstance(node.target, cst.Name):
                self.assign(node.target.value, variable)
            self.block(node.body)

        self._loop(counter, body)

    def _while(self, node: cst.While) -> None:
        counter = self.atoms.get(Kind.LOOP, "while", id(node))
        self.flow.whiles.add(counter.id)

        def body() -> None:
            self.evaluate(node.test)
            self.block(node.body)

        self._loop(counter, body)

    def _loop(self, counter: Atom, body: Callable[[], None]) -> None:
        entry, path = self.state, self.path
        assert entry is not None
        self.loops.append(_Loop(counter, entry, len(self.atoms)))
        self.silent += 1
        self.state = dict(entry)
        body()
        self.silent -= 1
        first, self.path = self.state, path
        carried = entry if first is None else self._settled(entry, first, counter)
        if self.silent:
            # Someone runs this body again to note it; what it leaves behind is enough for now.
            self.state = carried if first is None else {**first, **carried}
        else:
            self.loops[-1].reset.clear()
            self.state = dict(carried)
            body()
            self.path = path
            last = self.state
            self.state = carried if last is None else self._merge(carried, last)
        self.loops.pop()

    def _settled(self, entry: State, first: State, counter: Atom) -> State:
        """The state at the head of the loop that holds in every iteration, from one run of the body."""
        carried = dict(entry)
        for name, before in entry.items():
            after = first.get(name, before)
            if after is before or same(before, after):
                continue
            step = self._step(before, after, counter)
            if step is not None and before.affine is not None:
                moved = before.affine + Affine.of(counter) * step
                carried[name] = join(self.atoms, before, after).but(affine=moved, origin=before.origin)
            else:
                value = carried[name] = widened(self.atoms, before, after, (counter.id, name))
                if value.made is not None and value.made.operation == "carried":
                    self.flow.carried[value.made] = counter
        return carried

    def _step(self, before: Value, after: Value, counter: Atom) -> Affine | None:
        """What the loop adds each time round, where that is the same each time and nothing else changes."""
        if before.affine is None or after.affine is None or before.dtype in FLOATS:
            return None
        step = after.affine - before.affine
        limit = self.loops[-1].first_atom
        if any(a is counter or (a.id >= limit and a.kind in (Kind.OPAQUE, Kind.LOOP)) for a in step.atoms()):
            return None
        return step

    # -- helpers -------------------------------------------------------------------------------------------------

    def call(self, function: Function, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        """What a jit helper returns for these arguments; nothing in it is noted."""
        self._calls += 1
        recursive = any(frame.function.jit is function.jit for frame in self.frames)
        if len(self.frames) > _MAX_CALL_DEPTH or self._calls > _MAX_CALLS or recursive:
            return UNKNOWN
        tree = self.project.tree(function)
        if tree is None:
            return UNKNOWN
        state, path, loops = self.state, self.path, self.loops
        self.state = self._arguments(function, arguments, keywords)
        self.loops = []
        self.frames.append(_Frame(function))
        self.block(tree.function.body)
        frame = self.frames.pop()
        self.state, self.path, self.loops = state, path, loops
        if not frame.returned:
            return UNKNOWN
        result = frame.returned[0]
        for other in frame.returned[1:]:
            result = join(self.atoms, result, other)
        return result

    def _arguments(self, function: Function, arguments: list[Value], keywords: dict[str, Value]) -> State:
        state: State = {}
        for index, parameter in enumerate(function.jit.parameters):
            if index < len(arguments):
                state[parameter.name] = arguments[index]
            elif parameter.name in keywords:
                state[parameter.name] = keywords[parameter.name]
            else:
                state[parameter.name] = expressions.default_value(parameter.default)
        return state

    def code(self, node: cst.CSTNode) -> str:
        """The text of a node, kept: conditions are met once a pass."""
        text = self._texts.get(id(node))
        if text is None:
            text = self._texts[id(node)] = _MODULE.code_for_node(node)
        return text


_MODULE = cst.Module([])

_STATEMENTS: dict[type, Callable[[Machine, Any], None]] = {
    cst.SimpleStatementLine: Machine._line,
    cst.If: Machine._if,
    cst.For: Machine._for,
    cst.While: Machine._while,
    cst.With: Machine._with,
}
