"""Reads a kernel as Triton's front end does: statement by statement, over types instead of values.

Constant conditions are decided where their constants are known, both arms of others are read, helpers are followed
with the types of their arguments. What is not known == UNKNOWN, and of it nothing is said.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tritonaudit.ir import expressions
from tritonaudit.ir.loops import for_loop, while_loop
from tritonaudit.ir.mistakes import Kind, Mistake
from tritonaudit.ir.model import Block, Kernel, Operand, Operation
from tritonaudit.ir.names import Names
from tritonaudit.ir.values import (
    ANY,
    ANY_INT,
    NONE,
    UNKNOWN,
    Const,
    Helper,
    Missing,
    Tensor,
    Tuple,
    Unknown,
    Value,
    as_tensor,
    differ,
    dtype_of_number,
    joined,
    text_of_type,
)
from tritonaudit.ir.writing import Writer, made_by, made_of
from tritonaudit.source.nodes import names_in
from tritonaudit.target import Target, Version

if TYPE_CHECKING:
    from tritonaudit.kernel.project import Function, Project

State = dict[str, Value]

_MAX_DEPTH = 40
_MAX_CALLS = 400
_MAX_REPEATED = 400


@dataclass(frozen=True)
class Returned:
    """A `return`: its value, and whether it stands under a condition of the run or one that a launch decides."""

    value: Value
    node: ast.Return
    at_run_time: bool
    undecided: bool


@dataclass
class Frame:
    """A function being read: the file that gives its names their meaning, and what it returns."""

    function: Function
    returned: list[Returned] = field(default_factory=list)
    loops: list[ast.stmt] = field(default_factory=list)
    bare_annotations: set[str] = field(default_factory=set)


class Reader:
    """Reads the functions of one file for one target, and collects what is wrong with them, each thing once."""

    def __init__(self, project: Project, target: Target) -> None:
        self.project = project
        self.target = target
        self.mistakes: list[Mistake] = []
        self.state: State = {}
        self.frames: list[Frame] = []
        self.assigned: dict[str, ast.AST] = {}
        self.undecided: frozenset[str] = frozenset()
        self._site: ast.AST | None = None
        self._module_path = ""
        self._seen: set[tuple[Kind, str, int, int]] = set()
        self._names: dict[str, Names] = {}
        self.values: dict[int, Value] = {}
        self._calls = 0
        self._arms = 0
        self._branches = 0
        self._repeated = 0
        self._doubtful_calls = 0
        self._newest: Version | None = None
        self._compiled: set[int] = set()
        self._skipped: list[ast.stmt] = []
        self._launched = False
        self.writer: Writer
        self._is_helper = False
        self._is_on_trial = False

    # -- functions -----------------------------------------------------------------------------------------------

    def read(self, function: Function, given: Mapping[str, Value], launched: bool, helper: bool = False) -> Kernel:
        """One kernel, whose parameters have these types; `mistakes` has those that no earlier one of the file had."""
        self.mistakes = []
        self.values.clear()
        self.writer = Writer(function)
        self._module_path = function.module.path
        self._calls = self._arms = self._branches = self._repeated = self._doubtful_calls = 0
        self._launched, self._is_helper = launched, helper
        self._compiled, self._skipped = set(), []
        frame = Frame(function)
        self.state, self.undecided = {}, frozenset()
        parameters = [self._parameter(name, value, function) for name, value in given.items()]
        self.frames = [frame]
        self._parameters(function)
        self.block(function.jit.node.body)
        if launched:
            self._kernel_returns(frame)
        else:
            self._returned(frame)
        return Kernel(function, tuple(parameters), self.writer.block)

    def _parameter(self, name: str, value: Value, function: Function) -> Operation:
        operation = Operation("parameter", function.jit.node, {}, (), function, value, name)
        self.state[name] = made_by(value, operation)
        return operation

    def call(self, function: Function, arguments: Mapping[str, Value], site: ast.AST) -> Value:
        """The value of a call of a helper."""
        if len(self.frames) > _MAX_DEPTH or self._calls > _MAX_CALLS:
            return UNKNOWN
        self._calls += 1
        outer = self.state, self._site, self.assigned, self.undecided
        conditions = self._arms, self._branches
        doubtful = not self._is_surely_compiled
        self._doubtful_calls += doubtful
        self._arms = self._branches = 0
        self.state, self.assigned, self.undecided = dict(arguments), {}, frozenset()
        if function.module.path != self._module_path and self._site is None:
            self._site = site
        frame = Frame(function)
        self.frames.append(frame)
        self._parameters(function)
        try:
            with self.writer.inlined(function, site):
                self.block(function.jit.node.body)
            value = self._returned(frame)
        finally:
            self.frames.pop()
            self.state, self._site, self.assigned, self.undecided = outer
            self._arms, self._branches = conditions
            self._doubtful_calls -= doubtful
        return value

    def _parameters(self, function: Function) -> None:
        """The kinds of parameters that not every release takes."""
        node = function.jit.node
        arguments = node.args
        if arguments.posonlyargs:
            self.mistake(Kind.PARAMETERS, node, "positional")
        if arguments.kwonlyargs:
            self.mistake(Kind.PARAMETERS, node, "keyword", until=(3, 9), name=arguments.kwonlyargs[0].arg)
        if arguments.vararg is not None:
            self.mistake(Kind.PARAMETERS, node, "starred", until=(3, 8), name=arguments.vararg.arg)
            self.state[arguments.vararg.arg] = UNKNOWN
        if arguments.kwarg is not None:
            self.mistake(Kind.PARAMETERS, node, "keywords", since=(3, 9), name=arguments.kwarg.arg)
            self.state[arguments.kwarg.arg] = UNKNOWN

    def forget(self) -> None:
        """What was told of one reading is told again of the next."""
        self._seen.clear()

    def may_repeat(self, rounds: int) -> bool:
        """Whether a loop may be read round by round: loops in loops multiply."""
        self._repeated += rounds
        return self._repeated <= _MAX_REPEATED

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    def names(self) -> Names:
        module = self.frame.function.module
        found = self._names.get(module.path)
        if found is None:
            found = self._names[module.path] = Names(module, self.project)
        return found

    def on_stack(self, helper: Helper) -> int:
        """How often the function is being read already."""
        jit = helper.function.jit
        return sum(frame.function.jit is jit for frame in self.frames)

    # -- mistakes ------------------------------------------------------------------------------------------------

    def mistake(
        self,
        kind: Kind,
        node: ast.AST,
        what: str = "",
        *,
        since: Version | None = None,
        until: Version | None = None,
        **words: object,
    ) -> None:
        """Note a mistake, in those releases of the target that came `since` and are older than `until`."""
        if self._newest is not None:
            until = self._newest if until is None else min(until, self._newest)
        releases = tuple(
            v for v in self.target.versions if (since is None or v >= since) and (until is None or v < until)
        )
        if not releases or self._is_on_trial:
            return
        if self._site is not None:
            node = self._site
        key = (kind, what, getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
        if key not in self._seen:
            self._seen.add(key)
            if self._site is not None:
                words = {**words, "helper": self.frame.function.jit.name}
            sure = self._launched or self._is_helper or self._is_surely_compiled
            self.mistakes.append(Mistake(kind, node, what, words, releases, since, until, sure))

    @contextmanager
    def only_before(self, version: Version) -> Iterator[None]:
        """What is read meanwhile is compiled by releases older than this one alone."""
        outer, self._newest = self._newest, version
        try:
            yield
        finally:
            self._newest = outer

    @contextmanager
    def on_trial(self) -> Iterator[None]:
        """What is read meanwhile changes no variable, and no mistake is noted."""
        outer = dict(self.state), dict(self.assigned), self.undecided, self._is_on_trial
        returned = len(self.frame.returned)
        self._is_on_trial = True
        yield
        self.state, self.assigned, self.undecided, self._is_on_trial = outer
        del self.frame.returned[returned:]

    @contextmanager
    def undecided_arms(self, undecided: bool) -> Iterator[None]:
        """What is read meanwhile may not be compiled, where a constant that only a launch gives decides."""
        self._arms += undecided
        yield
        self._arms -= undecided

    def before(self, version: Version) -> bool | None:
        """Whether every release of the target is older than this one; None where some are."""
        older = [v < version for v in self.target.versions]
        return True if all(older) else None if any(older) else False

    # -- statements ----------------------------------------------------------------------------------------------

    def evaluate(self, node: ast.expr) -> Value:
        return expressions.evaluate(self, node)

    def known(self, node: ast.expr) -> Value:
        """What an expression was when it was evaluated last."""
        return self.values.get(id(node), UNKNOWN)

    def result(
        self, name: str, node: ast.AST, arguments: Mapping[str, Operand], value: Value, detail: object = None
    ) -> Value:
        """The value as that of an operation, which is written down."""
        return self.writer.result(name, node, arguments, value, detail)

    def operation(
        self, name: str, node: Any, arguments: Mapping[str, Any], value: Value, detail: Any = None
    ) -> Operation:
        """An operation, written down."""
        return self.writer.operation(name, node, arguments, value, detail)

    def bind_counter(self, node: ast.For, value: Value) -> None:
        """Give the variable of a loop its number, which is a tensor or a constant."""
        if isinstance(node.target, ast.Name):
            self.state[node.target.id] = value
        else:
            if isinstance(node.target, (ast.Tuple, ast.List)) and value != UNKNOWN:
                self.mistake(Kind.ASSIGNMENT, node.target, "round")
            self.bind(node.target, UNKNOWN, node)

    def block(self, body: list[ast.stmt]) -> None:
        """Read a body up to a `return`, after which nothing is compiled."""
        for number, statement in enumerate(body):
            self._compiled.add(id(statement))
            run = _STATEMENTS.get(type(statement))
            if run is not None:
                run(self, statement)
            if isinstance(statement, (ast.Return, ast.Break, ast.Continue, ast.Raise)):
                self.writer.block.is_ended = True
                self._skipped += body[number + 1 :]
                break

    def dead_lines(self, first: int, last: int) -> frozenset[int]:
        """Lines of a function of the file that has been read, between these, that were not compiled."""
        dead = (one for one in self._skipped if id(one) not in self._compiled and first <= one.lineno <= last)
        return frozenset(line for one in dead for line in range(one.lineno, (one.end_lineno or one.lineno) + 1))

    def assign(self, name: str, value: Value, node: ast.AST) -> None:
        self.state[name] = value
        self.assigned[name] = node
        self.writer.assign(name, value, node)

    def _expression(self, node: ast.Expr) -> None:
        expressions.statement(self, node.value)

    def _assign(self, node: ast.Assign) -> None:
        value = self.evaluate(node.value)
        if len(node.targets) > 1:
            self.mistake(Kind.ASSIGNMENT, node, "several targets")
        for target in node.targets:
            self.bind(target, value, node)

    def bind(self, target: ast.expr, value: Value, node: ast.stmt | ast.NamedExpr) -> None:
        """Give a target its value: numbers become tensors."""
        if isinstance(target, ast.Name):
            if target.id in self.frame.bare_annotations and not self.before((3, 8)):
                self.frame.bare_annotations.discard(target.id)
                self.assign(target.id, value, node)
                return
            self._check_assignable(value, node)
            plain = self._plain(value, node)
            if isinstance(plain, Unknown) and plain.made is not None:
                plain = self.result("plain", node, {"value": (value, node)}, plain)
            self.assign(target.id, plain, node)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target, value, node)
        elif isinstance(target, ast.Subscript):
            self.evaluate(target.value)
            self.mistake(Kind.SET_ITEM, target, name=ast.unparse(target.value))
        elif isinstance(target, ast.Attribute):
            self.evaluate(target.value)
            # One release took it without a word.
            for since, until in ((None, (3, 4)), ((3, 5), None)):
                self.mistake(Kind.SET_ATTRIBUTE, target, since=since, until=until, name=ast.unparse(target))

    @staticmethod
    def _plain(value: Value, node: ast.stmt | ast.NamedExpr) -> Value:
        """What a plain assignment makes of a value; a sum of constants that are not known is a number all the same."""
        source = getattr(node, "value", None)
        if (
            value in (Const(ANY), Const(ANY_INT))
            and isinstance(source, ast.BinOp)
            and not isinstance(source.op, ast.Mod)
        ):
            return made_by(Tensor("i32" if value == Const(ANY_INT) else None, ()), made_of(value))
        return as_tensor(value)

    def _check_assignable(self, value: Value, node: ast.stmt | ast.NamedExpr) -> None:
        if not isinstance(value, Const) or not value.known:
            return
        if type(value.value) is str:
            self.mistake(Kind.STRING, node, text=value.value)
        elif isinstance(value.value, (complex, bytes)):
            self.mistake(Kind.NO_NUMBER, node, text=repr(value.value))
        elif type(value.value) is int and dtype_of_number(value.value) is None:
            self.mistake(Kind.NO_NUMBER, node, text=f"an integer of {value.value.bit_length()} bits")

    def _unpack(self, target: ast.Tuple | ast.List, value: Value, node: ast.stmt | ast.NamedExpr) -> None:
        if any(isinstance(element, ast.Starred) for element in target.elts):
            self.mistake(Kind.ASSIGNMENT, target, "starred")
        items: tuple[Value, ...] | None = None
        if isinstance(value, Const) and isinstance(value.value, tuple):
            self.mistake(Kind.ASSIGNMENT, target, "constant tuple", until=(3, 8))
            value = Tuple(tuple(Const(item) for item in value.value))
        if any(isinstance(element, (ast.Tuple, ast.List)) for element in target.elts):
            self.mistake(Kind.ASSIGNMENT, target, "nested", until=(3, 8))
        if isinstance(value, Tuple):
            items = value.items
            if len(items) != len(target.elts) and not any(isinstance(e, ast.Starred) for e in target.elts):
                since = (3, 3) if len(items) < len(target.elts) else (3, 9)  # one too many was dropped
                self.mistake(
                    Kind.ASSIGNMENT, target, "number", since=since, targets=len(target.elts), values=len(items)
                )
                items = None
        elif isinstance(value, Tensor) and not value.free:
            self.mistake(Kind.ASSIGNMENT, target, "no tuple", since=(3, 3), type=text_of_type(value))
        for index, element in enumerate(target.elts):
            if isinstance(element, ast.Starred):
                element = element.value
            known = items is not None and len(items) == len(target.elts)
            self.bind(element, items[index] if items is not None and known else UNKNOWN, node)

    def _augmented(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, (ast.Name, ast.Attribute, ast.Subscript)):
            value = expressions.operate(self, node, node.op, node.target, node.value)
            self.bind(node.target, value, node)

    def _annotated(self, node: ast.AnnAssign) -> None:
        constexpr = "constexpr" in ast.unparse(node.annotation)
        if not constexpr:
            self.mistake(Kind.ASSIGNMENT, node, "annotation", until=(3, 2))
        if node.value is None:
            if constexpr and isinstance(node.target, ast.Name):
                self.frame.bare_annotations.add(node.target.id)
            return
        value = self.evaluate(node.value)
        if not constexpr or not isinstance(node.target, ast.Name):
            self.bind(node.target, value, node)
            return
        if isinstance(value, Tuple) and all(isinstance(item, Const) and item.known for item in value.items):
            value = Const(tuple(item.value for item in value.items if isinstance(item, Const)))
        name = node.target.id
        if not isinstance(self.state.get(name, None), (type(None), Missing)) and not self._maybe(name):
            self.mistake(Kind.CONSTANT_AGAIN, node, name=name)
        self.assign(name, Const(ANY, value.made) if isinstance(value, Unknown) and value.made else value, node)

    def is_surely_asserted(self, test: ast.expr) -> bool:
        """Whether the assertion that is read now is compiled; `False` in what is not launched is there to refuse."""
        return self._is_surely_compiled and (self._launched or not isinstance(test, ast.Constant))

    @property
    def is_sure(self) -> bool:
        """Whether what is read now is compiled whatever a launch passes."""
        return self._is_surely_compiled

    @property
    def _is_surely_compiled(self) -> bool:
        """Whether no constant condition that a launch decides may leave out what is read now."""
        returned = any(one.undecided for one in self.frame.returned)
        return not (self._arms or self._doubtful_calls or returned)

    def _maybe(self, name: str) -> bool:
        """Whether the value stems from an arm of an undecided constant condition, which may not be compiled."""
        return self.state.get(name) == UNKNOWN or name in self.undecided

    def _assert(self, node: ast.Assert) -> None:
        test = self.evaluate(node.test)
        self.result("assert", node, {"cond": (test, node.test)}, UNKNOWN)
        if isinstance(test, Const) and test.known and not test.value and self.is_surely_asserted(node.test):
            self.mistake(Kind.PLAIN_ASSERT, node, text=ast.unparse(node.test))

    def _return(self, node: ast.Return) -> None:
        value = NONE if node.value is None else self.evaluate(node.value)
        self.frame.returned.append(Returned(value, node, self._branches > 0, self._arms > 0))

    def _match(self, node: ast.Match) -> None:
        """Refused elsewhere: what a case sets may be set."""
        self.evaluate(node.subject)
        for case in node.cases:
            before = dict(self.state)
            self.block(case.body)
            self.state = {**{name: UNKNOWN for name in self.state if self.state[name] != before.get(name)}, **before}

    def _raise(self, node: ast.Raise) -> None:
        """Compiled only where a constant condition takes it: then it says so."""
        if self._is_surely_compiled:
            self.mistake(Kind.RAISE, node)

    def _defines(self, node: ast.FunctionDef | ast.ClassDef) -> None:
        """A function or class in a kernel, which is refused elsewhere: its name stands for something."""
        self.state[node.name] = UNKNOWN

    def _imports(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            self.state[(alias.asname or alias.name).partition(".")[0]] = UNKNOWN

    def _try(self, node: ast.Try) -> None:
        self.block([*node.body, *node.orelse, *node.finalbody])

    def _with(self, node: ast.With) -> None:
        for item in node.items:
            self.evaluate(item.context_expr)
            if isinstance(item.optional_vars, ast.Name):
                self.assign(item.optional_vars.id, UNKNOWN, node)
        self.block(node.body)

    # -- conditions ----------------------------------------------------------------------------------------------

    def _if(self, node: ast.If) -> None:
        condition = self.evaluate(node.test)
        if isinstance(condition, Const) and condition.known:
            if not isinstance(condition.value, (bool, int, type(None))):
                self.mistake(Kind.CONDITION_KIND, node.test, text=ast.unparse(node.test), value=repr(condition.value))
            else:
                self._skipped += node.orelse if condition.value else node.body
                self._decided_if(node, condition)
                return
        if isinstance(condition, Tensor) and not condition.free and not self._is_of_caller(node.test):
            if self._is_decided_block(condition):
                self.mistake(Kind.BLOCK_CONDITION, node.test, "if", text=ast.unparse(node.test))
            elif condition.is_block and condition.numel == 1:
                self.mistake(Kind.BLOCK_CONDITION, node.test, "one", until=(3, 4), text=ast.unparse(node.test))
            self._runtime_if(node, condition)
        else:
            self._undecided_if(node, condition)

    def _decided_if(self, node: ast.If, condition: Const) -> None:
        """A constant condition: one arm is compiled, and it is written down on which condition."""
        other = Block()
        with self.writer.inside() as arm:
            self.block(node.body if condition.value else node.orelse)
        then, orelse = (arm, other) if condition.value else (other, arm)
        self.writer.branch(node, condition, then, orelse, is_constant=True)
        self.writer.block.is_ended = self.writer.block.is_ended or arm.is_ended

    def _is_of_caller(self, test: ast.expr) -> bool:
        """Whether a helper that is read by itself tests what its caller may give it as constants, each by itself."""
        values = [self.state.get(name) for name in names_in(test)] if self._is_helper else []
        if not values or not all(isinstance(value, Tensor) and value.free for value in values):
            return False
        return all(len(names_in(node)) < 2 for node in ast.walk(test) if isinstance(node, ast.Compare))

    @staticmethod
    def _is_decided_block(value: Tensor) -> bool:
        return value.is_block and value.numel != 1

    def _undecided_if(self, node: ast.If, condition: Value) -> None:
        """A constant condition that a launch decides: what either arm leaves may be there."""
        before = dict(self.state)
        undecided = self.undecided
        self._arms += 1
        with self.writer.inside() as first:
            self.block(node.body)
        then, self.state = self.state, dict(before)
        with self.writer.inside() as second:
            self.block(node.orelse)
        self._arms -= 1
        branch = self.writer.branch(node, condition, first, second, is_constant=True)
        merged: State = {}
        for name in {*then, *self.state}:
            left, right = then.get(name), self.state.get(name)
            if left is None or right is None:
                value = left if right is None and left is not None else right or UNKNOWN
            else:
                value = left if left is right else joined(left, right)
            merged[name] = self.writer.met(value, branch, left, right)
        one_arm = {name for name in merged if (name in then) != (name in self.state)}
        self.undecided = undecided | one_arm
        self.state = merged

    def _runtime_if(self, node: ast.If, condition: Value) -> None:
        """A condition of the run: both arms are compiled, and must agree on what they leave."""
        before = dict(self.state)
        outer, self.assigned = self.assigned, {}
        self._branches += 1
        with self.writer.inside() as first:
            self.block(node.body)
        then, then_nodes = self.state, self.assigned
        self.state, self.assigned = dict(before), {}
        with self.writer.inside() as second:
            self.block(node.orelse)
        self._branches -= 1
        other, other_nodes = self.state, self.assigned
        branch = self.writer.branch(node, condition, first, second, is_constant=False)
        merged = dict(before)
        for name in {*then, *other}:
            if name in before and then[name] is other[name] is before[name]:
                continue
            value = self._merged(name, before, then, other, then_nodes, other_nodes, node)
            merged[name] = self.writer.met(value, branch, then.get(name), other.get(name))
        self.assigned = {**outer, **then_nodes, **other_nodes}
        self.state = merged
        if node.orelse and _returns(node.body) and _returns(node.orelse):
            self.mistake(Kind.BOTH_RETURN, node, until=(3, 2))

    def _merged(
        self,
        name: str,
        before: State,
        then: State,
        other: State,
        then_nodes: Mapping[str, ast.AST],
        other_nodes: Mapping[str, ast.AST],
        node: ast.If,
    ) -> Value:
        if name in before:
            initial = before[name]
            for values, nodes in ((then, then_nodes), (other, other_nodes)):
                if name in nodes and self._leaves_constant(initial, values[name]):
                    until = (3, 5) if initial == NONE else None
                    self.mistake(
                        Kind.BRANCH_TYPES, nodes[name], "redefined", until=until,
                        name=name, before=text_of_type(initial), after=text_of_type(values[name]),
                    )  # fmt: skip
                    return UNKNOWN
                if name in nodes and differ(initial, values[name]) and not isinstance(initial, Missing):
                    self.mistake(
                        Kind.BRANCH_TYPES, nodes[name], "redefined",
                        name=name, before=text_of_type(initial), after=text_of_type(values[name]),
                    )  # fmt: skip
                    return UNKNOWN
        elif name not in then or name not in other:
            arm = then if name in then else other
            value = arm[name]
            if isinstance(value, Missing) or value == UNKNOWN or name in self.undecided:
                return value
            return Missing("if" if name in then else "else", node.lineno)
        elif isinstance(missing := then[name], Missing) or isinstance(missing := other[name], Missing):
            return missing  # an `if` inside an arm sets it on one of its own paths
        elif differ(then[name], other[name]):
            self.mistake(
                Kind.BRANCH_TYPES, other_nodes.get(name, node), "arms",
                name=name, before=text_of_type(then[name]), after=text_of_type(other[name]),
            )  # fmt: skip
            return UNKNOWN
        left, right = then.get(name, UNKNOWN), other.get(name, UNKNOWN)
        if isinstance(left, Const) and isinstance(right, Const) and left != right:
            return UNKNOWN
        return joined(left, right)

    def _leaves_constant(self, initial: Value, after: Value) -> bool:
        """Whether a constant becomes a value of the run, in an arm that is surely compiled."""
        return (
            isinstance(initial, Const)
            and (initial.known or initial.value is ANY_INT)
            and isinstance(after, Tensor)
            and not after.free
            and self.is_sure
        )

    # -- what functions return ---------------------------------------------------------------------------------------

    def _kernel_returns(self, frame: Frame) -> None:
        for one in frame.returned:
            if one.value != NONE and one.value != UNKNOWN and one.node.value is not None:
                until = (3, 7) if isinstance(one.value, Const) else None
                self.mistake(Kind.KERNEL_RETURNS, one.node, until=until, text=ast.unparse(one.node.value))

    def _returned(self, frame: Frame) -> Value:
        """What a helper returns: all its values must have one type."""
        if not frame.returned:
            return NONE
        first = frame.returned[0]
        result = first.value
        if self.before((3, 7)):
            result = as_tensor(result)
        for one in frame.returned[1:]:
            if isinstance(result, Const) and isinstance(one.value, Const) and not one.at_run_time:
                result = joined(result, one.value)
                continue
            before, after = as_tensor(first.value), as_tensor(one.value)
            if differ(before, after):
                if not first.undecided and not one.undecided:
                    self.mistake(
                        Kind.RETURN_TYPES, one.node, name=frame.function.jit.name,
                        before=text_of_type(before), after=text_of_type(after),
                    )  # fmt: skip
                return UNKNOWN
            met = joined(as_tensor(result), after) if result != one.value else result
            result = self.writer.either(met, one.node, UNKNOWN, result, one.value)
        if all(one.at_run_time and not one.undecided and one.value != NONE for one in frame.returned):
            self._falls_through(frame)
        return result

    def _falls_through(self, frame: Frame) -> None:
        if _may_fall_through(frame.function.jit.node.body):
            node = frame.returned[-1].node
            self.mistake(Kind.RETURN_IN_ONE, node, "crash", until=(3, 2), name=frame.function.jit.name)
            self.mistake(Kind.RETURN_IN_ONE, node, "undefined", since=(3, 2), name=frame.function.jit.name)


def _returns(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Return)


def _may_fall_through(body: list[ast.stmt]) -> bool:
    """Whether the end of a body may be reached without a `return`."""
    for statement in body:
        if isinstance(statement, (ast.Return, ast.Raise)):
            return False
        if isinstance(statement, ast.If) and not any(map(_may_fall_through, (statement.body, statement.orelse))):
            return False
        if isinstance(statement, ast.With) and not _may_fall_through(statement.body):
            return False
        if isinstance(statement, (ast.For, ast.While)) and any(isinstance(n, ast.Return) for n in ast.walk(statement)):
            return False
    return True


_STATEMENTS: dict[type[ast.stmt], Callable[[Reader, Any], None]] = {
    ast.Expr: Reader._expression,
    ast.Assign: Reader._assign,
    ast.AugAssign: Reader._augmented,
    ast.AnnAssign: Reader._annotated,
    ast.If: Reader._if,
    ast.For: for_loop,
    ast.While: while_loop,
    ast.Return: Reader._return,
    ast.Assert: Reader._assert,
    ast.With: Reader._with,
    ast.Raise: Reader._raise,
    ast.FunctionDef: Reader._defines,
    ast.ClassDef: Reader._defines,
    ast.Import: Reader._imports,
    ast.ImportFrom: Reader._imports,
    ast.Try: Reader._try,
    ast.Match: Reader._match,
}

__all__ = ["ANY", "Frame", "Reader", "State"]
