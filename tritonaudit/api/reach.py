"""In which of Triton's releases a place in a file can be reached, as the tests around it say."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from tritonaudit.api.conditions import Conditions, Releases, Unsure
from tritonaudit.source.outline import Module

_MAX_DEPTH = 3
_SKIPS_DEAD_CODE = (3, 5)
"""The release that looks up no name after a `return`."""
_CATCHING = re.compile(r"Error|Exception")


@dataclass(frozen=True)
class Reach:
    """`releases` can reach a place; `chosen` says that a condition which the compiler decides stands before it."""

    releases: Releases
    chosen: bool = False


class Reaches:
    """Finds how places of one file are reached."""

    def __init__(self, module: Module, conditions: Conditions, every: Releases) -> None:
        self._module = module
        self._conditions = conditions
        self._every = every
        self._kernels = {function.node for function in module.jit}
        self._functions: dict[ast.AST, Reach] = {}
        self._bound: dict[ast.AST, frozenset[str]] = {}

    def of(self, place: ast.AST, depth: int = 0) -> Reach:
        """How a place is reached; nowhere where that depends on what is not understood."""
        try:
            return self._of(place, depth)
        except Unsure:
            return Reach(frozenset())

    def _of(self, place: ast.AST, depth: int) -> Reach:
        releases, chosen, tried = self._every, False, False
        kernel: ast.FunctionDef | None = None
        for outer, inner in self._path(place):
            releases &= self._arm(outer, inner)
            tried = tried or (isinstance(outer, ast.Try) and inner in outer.body and any(map(_catches, outer.handlers)))
            if isinstance(outer, (ast.If, ast.IfExp)) and kernel is not None and inner is not outer.test:
                chosen = chosen or self._is_chosen(outer.test, kernel)
            if isinstance(outer, ast.FunctionDef):
                tried = tried and inner not in outer.body  # what is compiled or called later is not caught
                if outer in self._kernels:
                    kernel = outer
                called = self._called(outer, depth)
                releases &= called.releases
                chosen = chosen or (called.chosen and kernel is not None)
        if tried:
            raise Unsure
        return Reach(releases, chosen)

    @cached_property
    def _parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node in ast.walk(self._module.tree) for child in ast.iter_child_nodes(node)}

    def _path(self, place: ast.AST) -> list[tuple[ast.AST, ast.AST]]:
        """Each node on the way from the root to the place, with its child on that way."""
        nodes = [place]
        while (parent := self._parents.get(nodes[-1])) is not None:
            nodes.append(parent)
        return list(pairwise(reversed(nodes)))

    def is_shadowed(self, place: ast.AST, name: str) -> bool:
        """Whether a function around the place gives the name a meaning of its own."""
        return any(
            name in self._bound_in(outer)
            for outer, _ in self._path(place)
            if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        )

    def _bound_in(self, function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> frozenset[str]:
        if function not in self._bound:
            args = function.args
            every = (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg)
            stored = (node for node in ast.walk(function) if isinstance(node, ast.Name))
            self._bound[function] = frozenset(
                [*(arg.arg for arg in every if arg), *(n.id for n in stored if isinstance(n.ctx, ast.Store))]
            )
        return self._bound[function]

    def _arm(self, outer: ast.AST, inner: ast.AST) -> Releases:
        """The releases in which `outer` leads to its child `inner`."""
        releases = self._every
        if isinstance(outer, (ast.If, ast.IfExp)):
            if inner is not outer.test:
                arms = self._conditions.arms(self._module, outer.test)
                body = outer.body if isinstance(outer.body, list) else [outer.body]
                releases &= arms.true if inner in body else arms.false
        elif isinstance(outer, ast.BoolOp):
            for value in outer.values[: outer.values.index(inner)] if inner in outer.values else ():
                arms = self._conditions.arms(self._module, value)
                releases &= arms.true if isinstance(outer.op, ast.And) else arms.false
        elif isinstance(outer, ast.Try):
            releases &= self._of_try(outer, inner)
        elif isinstance(outer, (ast.FunctionDef, ast.ClassDef)) and inner not in outer.decorator_list:
            self._refuse_probing(outer.decorator_list)
        return releases & self._after(outer, inner)

    def _of_try(self, outer: ast.Try, inner: ast.AST) -> Releases:
        """The imports before a statement in its `try` have worked; in a handler one of them has not."""
        before = outer.body[: outer.body.index(inner)] if isinstance(inner, ast.stmt) and inner in outer.body else None
        working = self._conditions.importable(self._module, outer.body if before is None else before)
        if inner not in outer.handlers:
            return working if before is not None else self._every
        if working == self._every:
            raise Unsure
        return self._every - working

    def _refuse_probing(self, decorators: list[ast.expr]) -> None:
        """`skipif` and the like, which ask who knows what."""
        if any(re.search(r"skip|version|require", ast.unparse(decorator)) for decorator in decorators):
            raise Unsure

    def _after(self, outer: ast.AST, inner: ast.AST) -> Releases:
        """What early returns and assertions before `inner`, in its own block, leave."""
        releases = self._every
        for block in _blocks(outer):
            if inner not in block:
                continue
            for statement in block[: block.index(inner)]:
                if isinstance(statement, ast.If) and _leaves(statement.body) and not statement.orelse:
                    releases &= self._conditions.arms(self._module, statement.test).false
                elif isinstance(statement, ast.Return):
                    releases = frozenset(release for release in releases if release < _SKIPS_DEAD_CODE)
                elif isinstance(statement, ast.Assert):
                    releases &= self._conditions.arms(self._module, statement.test).true
        return releases

    def _is_chosen(self, test: ast.expr, kernel: ast.FunctionDef) -> bool:
        """Whether only constants, constexpr parameters and `is None` decide a condition, as far as names tell."""
        args = [*kernel.args.posonlyargs, *kernel.args.args, *kernel.args.kwonlyargs]
        constexpr = {arg.arg for arg in args if arg.annotation and "constexpr" in ast.unparse(arg.annotation)}
        compared = {
            id(node.left)
            for node in ast.walk(test)
            if isinstance(node, ast.Compare) and all(isinstance(sign, (ast.Is, ast.IsNot)) for sign in node.ops)
        }
        names = {node.id for node in ast.walk(test) if isinstance(node, ast.Name) and id(node) not in compared}
        return not (names & self._bound_in(kernel) - constexpr)

    def _called(self, function: ast.FunctionDef, depth: int) -> Reach:
        """How a function is reached from the file that it stands in; in any way where nothing there names it."""
        if function in self._functions or depth >= _MAX_DEPTH:
            return self._functions.get(function, Reach(self._every))
        self._functions[function] = Reach(self._every)  # one that calls itself
        own = {id(node) for node in ast.walk(function)}
        named = [node for node in self._named(function.name) if id(node) not in own]
        if named:
            reached = [self.of(node, depth + 1) for node in named]
            releases = frozenset[tuple[int, int]]().union(*(reach.releases for reach in reached))
            self._functions[function] = Reach(releases, all(reach.chosen for reach in reached))
        return self._functions[function]

    def _named(self, name: str) -> Iterator[ast.Name]:
        pattern = re.compile(rf"\b{re.escape(name)}\b")
        hot = {number for number, line in enumerate(self._module.lines, 1) if pattern.search(line)}
        for statement in self._module.tree.body:
            if hot.isdisjoint(range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)):
                continue
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
                    yield node


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block


def _leaves(body: list[ast.stmt]) -> bool:
    last = body[-1]
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        return ast.unparse(last.value.func).rpartition(".")[2] in ("skip", "exit", "fail")
    return isinstance(last, (ast.Return, ast.Raise, ast.Continue, ast.Break))


def _catches(handler: ast.ExceptHandler) -> bool:
    return handler.type is None or _CATCHING.search(ast.unparse(handler.type)) is not None
