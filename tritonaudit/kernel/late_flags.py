"""Branches that a compile-time flag is meant to drop and does not, before Triton 3.4, where an `and` holds it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.kernel.tuning import Heuristics, decorators
from tritonaudit.source.nodes import names_in
from tritonaudit.source.outline import JitFunction, Module

_SINCE_THEN_DROPPED = (3, 4)
"""The release that first evaluates `flag and condition` from left to right, and stops at a false flag."""


@dataclass(frozen=True, eq=False)
class LateFlag:
    """`if flag and condition:`, and what in its branch may not compile where the flag is off.

    `pointer` is None when the flag is off; `variable`, a Python number until then, gets a type in the branch.
    """

    test: ast.BoolOp
    flag: str
    pointer: str | None = None
    variable: str | None = None


def late_flags(module: Module, function: JitFunction) -> Iterator[LateFlag]:
    """The branches of a kernel that older releases compile although a flag is off."""
    reader: _Reader | None = None
    for node in function.nodes.of(ast.If):
        if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And):
            reader = reader or _Reader(module, function)
            found = reader.read(node, node.test)
            if found is not None:
                yield found


class _Reader:
    """Reads the conditions of one kernel."""

    def __init__(self, module: Module, function: JitFunction) -> None:
        self._module = module
        self._function = function
        self._flags = {parameter.name for parameter in function.parameters if parameter.constexpr}
        self._given = {parameter.name for parameter in function.parameters} - self._flags
        self._numbers = _numbers(function)
        stored = {node.id for node in function.nodes.of(ast.Name) if isinstance(node.ctx, ast.Store)}
        self._set = stored - _constants(function)
        self._heuristics: dict[str, str] = {}
        for decorator in decorators(module, function):
            if isinstance(decorator, Heuristics):
                self._heuristics |= {name: ast.unparse(value) for name, value in decorator.values.items()}

    def read(self, branch: ast.If, test: ast.BoolOp) -> LateFlag | None:
        flags = [value for value in test.values if self._is_constant(value)]
        if (
            len(test.values) != 2
            or len(flags) != 1
            or not self._is_condition(next(v for v in test.values if v not in flags))
        ):
            return None
        flag = ast.unparse(flags[0])
        pointer = self._pointer(flags[0], branch)
        if pointer is not None:
            return LateFlag(test, flag, pointer=pointer)
        variable = self._variable(branch)
        return None if variable is None else LateFlag(test, flag, variable=variable)

    def _is_constant(self, node: ast.expr) -> bool:
        """Whether it is decided when the kernel is compiled: by its parameters alone, or by what is None."""
        if _not_none(node) is not None:
            return True
        names = names_in(node)
        return bool(names) and names <= self._flags - self._set

    def _is_condition(self, node: ast.expr) -> bool:
        """Whether it is certainly decided when the kernel runs."""
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and inner.id in self._given | (self._set - self._flags):
                return True
            if isinstance(inner, ast.Call) and self._module.origin_of(inner.func).startswith(
                ("triton.language.program_id", "triton.language.load")
            ):
                return True
        return False

    def _pointer(self, flag: ast.expr, branch: ast.If) -> str | None:
        """A parameter that is read through in the branch, and that the flag says may be None."""
        said = _not_none(flag)
        text = self._heuristics.get(flag.id, "") if isinstance(flag, ast.Name) else ""
        used = set().union(*map(names_in, branch.body))
        for name in sorted(self._given & used):
            if name == said or ("is not None" in text and repr(name) in text):
                return name
        return None

    def _variable(self, branch: ast.If) -> str | None:
        """A variable that was a number of Python's, and is set to something computed in the branch."""
        for statement in branch.body:
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                name, line = statement.targets[0].id, self._numbers.get(statement.targets[0].id)
                computed = any(isinstance(inner, ast.Call) for inner in ast.walk(statement.value))
                if line is not None and line < branch.lineno and computed:
                    return name
        return None


def is_dropped(versions: tuple[tuple[int, int], ...]) -> bool:
    """Whether all these releases leave out a branch whose flag is off."""
    return versions[0] >= _SINCE_THEN_DROPPED


def _not_none(node: ast.expr) -> str | None:
    """`x` of `x is not None`."""
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.IsNot) and isinstance(node.left, ast.Name):
        return node.left.id
    return None


def _numbers(function: JitFunction) -> dict[str, int]:
    """The variables that are first set to a number as written, with the line."""
    first: dict[str, ast.Assign] = {}
    for node in function.nodes.of(ast.Assign):
        if isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name not in first or node.lineno < first[name].lineno:
                first[name] = node
    return {name: node.lineno for name, node in first.items() if isinstance(node.value, ast.Constant)}


def _constants(function: JitFunction) -> set[str]:
    """The variables that are annotated as `tl.constexpr`."""
    return {
        node.target.id
        for node in function.nodes.of(ast.AnnAssign)
        if isinstance(node.target, ast.Name) and "constexpr" in ast.unparse(node.annotation)
    }
