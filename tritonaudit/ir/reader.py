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

from tritonaudit.ir import assignments, branches, expressions, returns
from tritonaudit.ir.loops import for_loop, while_loop
from tritonaudit.ir.mistakes import Mistake, MistakeKind
from tritonaudit.ir.model import Kernel, Operand, Operation
from tritonaudit.ir.names import Names
from tritonaudit.ir.values import (
    ANY,
    NONE,
    UNKNOWN,
    Const,
    Helper,
    Value,
)
from tritonaudit.ir.writing import Writer, made_by
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
        self._seen: set[tuple[MistakeKind, str, int, int]] = set()
        self._names: dict[str, Names] = {}
        self.values: dict[int, Value] = {}
        self._calls = 0
        self.arms = 0
        self.branches = 0
        self._repeated = 0
        self._doubtful_calls = 0
        self._newest: Version | None = None
        self._compiled: set[int] = set()
        self.skipped: list[ast.stmt] = []
        self._launched = False
        self.writer: Writer
        self.is_helper = False
        self._is_on_trial = False

    # -- functions -----------------------------------------------------------------------------------------------

    def read(self, function: Function, given: Mapping[str, Value], launched: bool, helper: bool = False) -> Kernel:
        """One kernel, whose parameters have these types; `mistakes` has those that no earlier one of the file had."""
        self.mistakes = []
        self.values.clear()
        self.writer = Writer(function)
        self._module_path = function.module.path
        self._calls = self.arms = self.branches = self._repeated = self._doubtful_calls = 0
        self._launched, self.is_helper = launched, helper
        self._compiled, self.skipped = set(), []
        frame = Frame(function)
        self.state, self.undecided = {}, frozenset()
        parameters = [self._parameter(name, value, function) for name, value in given.items()]
        self.frames = [frame]
        self._parameters(function)
        self.block(function.jit.node.body)
        if launched:
            returns.of_kernel(self, frame)
        else:
            returns.of_helper(self, frame)
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
        conditions = self.arms, self.branches
        doubtful = not self._is_surely_compiled
        self._doubtful_calls += doubtful
        self.arms = self.branches = 0
        self.state, self.assigned, self.undecided = dict(arguments), {}, frozenset()
        if function.module.path != self._module_path and self._site is None:
            self._site = site
        frame = Frame(function)
        self.frames.append(frame)
        self._parameters(function)
        try:
            with self.writer.inlined(function, site):
                self.block(function.jit.node.body)
            value = returns.of_helper(self, frame)
        finally:
            self.frames.pop()
            self.state, self._site, self.assigned, self.undecided = outer
            self.arms, self.branches = conditions
            self._doubtful_calls -= doubtful
        return value

    def _parameters(self, function: Function) -> None:
        """The kinds of parameters that not every release takes."""
        node = function.jit.node
        arguments = node.args
        if arguments.posonlyargs:
            self.mistake(MistakeKind.PARAMETERS, node, "positional")
        if arguments.kwonlyargs:
            self.mistake(MistakeKind.PARAMETERS, node, "keyword", until=(3, 9), name=arguments.kwonlyargs[0].arg)
        if arguments.vararg is not None:
            self.mistake(MistakeKind.PARAMETERS, node, "starred", until=(3, 8), name=arguments.vararg.arg)
            self.state[arguments.vararg.arg] = UNKNOWN
        if arguments.kwarg is not None:
            self.mistake(MistakeKind.PARAMETERS, node, "keywords", since=(3, 9), name=arguments.kwarg.arg)
            self.state[arguments.kwarg.arg] = UNKNOWN

    def forget(self) -> None:
        """What was reported of one reading is reported again of the next."""
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
        kind: MistakeKind,
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
            sure = self._launched or self.is_helper or self._is_surely_compiled
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
        self.arms += undecided
        yield
        self.arms -= undecided

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
                self.mistake(MistakeKind.ASSIGNMENT, node.target, "round")
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
                self.skipped += body[number + 1 :]
                break

    def dead_lines(self, first: int, last: int) -> frozenset[int]:
        """Lines of a function of the file that has been read, between these, that were not compiled."""
        dead = (one for one in self.skipped if id(one) not in self._compiled and first <= one.lineno <= last)
        return frozenset(line for one in dead for line in range(one.lineno, (one.end_lineno or one.lineno) + 1))

    def bind(self, target: ast.expr, value: Value, node: ast.stmt | ast.NamedExpr) -> None:
        """Give a target its value: numbers become tensors."""
        assignments.bind(self, target, value, node)

    def assign(self, name: str, value: Value, node: ast.AST) -> None:
        self.state[name] = value
        self.assigned[name] = node
        self.writer.assign(name, value, node)

    def _expression(self, node: ast.Expr) -> None:
        expressions.statement(self, node.value)

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
        return not (self.arms or self._doubtful_calls or returned)

    def _assert(self, node: ast.Assert) -> None:
        test = self.evaluate(node.test)
        self.result("assert", node, {"cond": (test, node.test)}, UNKNOWN)
        if isinstance(test, Const) and test.known and not test.value and self.is_surely_asserted(node.test):
            self.mistake(MistakeKind.PLAIN_ASSERT, node, text=ast.unparse(node.test))

    def _return(self, node: ast.Return) -> None:
        value = NONE if node.value is None else self.evaluate(node.value)
        self.frame.returned.append(Returned(value, node, self.branches > 0, self.arms > 0))

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
            self.mistake(MistakeKind.RAISE, node)

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


_STATEMENTS: dict[type[ast.stmt], Callable[[Reader, Any], None]] = {
    ast.Expr: Reader._expression,
    ast.Assign: assignments.assign,
    ast.AugAssign: assignments.augmented,
    ast.AnnAssign: assignments.annotated,
    ast.If: branches.conditional,
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
