"""What a file's uses of Triton's names come to in the releases that its project targets."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tritonaudit.api.bindings import Origins
from tritonaudit.api.conditions import Conditions
from tritonaudit.api.problems import Problem, problems
from tritonaudit.api.reach import Reaches
from tritonaudit.api.table import Table, table
from tritonaudit.api.uses import Use, uses
from tritonaudit.kernel.project import Project
from tritonaudit.source.outline import JitFunction, Module
from tritonaudit.target import Target
from tritonaudit.vendors import names_vendor

_HIDES_NOTHING = ((3, 0), (3, 4))
"""From the first to the last of these releases a name must exist even where a branch is not compiled."""


@dataclass(frozen=True)
class Misuse:
    """A problem at a place that can be reached.

    It is not `sure` where a compile-time condition may keep the compiler from there, or the documentation alone has it.
    """

    problem: Problem
    kernel: JitFunction | None
    sure: bool


@dataclass(frozen=True, eq=False)
class ApiFacts:
    """One file's problems with Triton's names, in the order of the text."""

    module: Module
    target: Target
    misuses: tuple[Misuse, ...]

    def kernel_at(self, line: int) -> str | None:
        """The qualified name of the kernel that a line belongs to."""
        found = _kernel_at(self.module, line)
        return None if found is None else found.qualname


class Examiner:
    """Examines the files of a project one after the other."""

    def __init__(self, project: Project) -> None:
        self._origins = Origins(project)
        self._judged: dict[tuple[object, ...], bool] = {}

    def examine(self, module: Module, target: Target) -> ApiFacts:
        """The facts of one file."""
        misuses = () if names_vendor(module.path) else tuple(self._misuses(module, target))
        self._origins.forget(module)
        return ApiFacts(module, target, misuses)

    def _misuses(self, module: Module, target: Target) -> list[Misuse]:
        names, origins = table(), self._origins
        suspects = [use for use in uses(module, origins) if self._is_suspect(names, use, target)]
        if not suspects or any(_is_of_fork(names, use) for use in suspects):
            return []
        place = _Places(module, Reaches(module, Conditions(names, origins), frozenset(names.releases)))
        misuses = [found for use in suspects for found in place.misuses(names, use, target)]
        misuses.sort(key=lambda found: (found.problem.use.node.lineno, found.problem.use.node.col_offset))
        return misuses

    def _is_suspect(self, names: Table, use: Use, target: Target) -> bool:
        """Whether anything is wrong with it in some release of the target; most uses are like one that was judged."""
        key = (target.versions, isinstance(use.node, ast.Name), *use.shape)
        if key not in self._judged:
            self._judged[key] = any(problems(names, use, target.versions))
        return self._judged[key]


def _is_of_fork(names: Table, use: Use) -> bool:
    """`triton.language.extra.cann` and the like: a backend that no release of Triton has."""
    parts = use.origin.split(".")
    return parts[:3] == ["triton", "language", "extra"] and not names.name(".".join(parts[:4])).definitions


class _Places:
    """Judges uses by where they stand in a file."""

    def __init__(self, module: Module, reaches: Reaches) -> None:
        self._module = module
        self._reaches = reaches

    def misuses(self, names: Table, use: Use, target: Target) -> Iterator[Misuse]:
        kernel = _kernel_at(self._module, use.node.lineno)
        found = list(problems(names, use, target.versions))
        if all(problem.documented for problem in found):
            yield from (Misuse(problem, kernel, sure=False) for problem in found)
        elif use.written not in self._set_here and (use.imported or not self._is_shadowed(use)):
            reach = self._reaches.of(use.node)
            versions = tuple(version for version in target.versions if version in reach.releases)
            for problem in problems(names, use, versions):
                yield Misuse(problem, kernel, not reach.chosen or _is_sure(problem))

    def _is_shadowed(self, use: Use) -> bool:
        return self._reaches.is_shadowed(use.node, use.written.partition(".")[0])

    @cached_property
    def _set_here(self) -> set[str]:
        """`tl.gather = …`: attributes that the file itself defines."""
        attributes = self._module.nodes(self._module.tree).of(ast.Attribute)
        return {ast.unparse(node) for node in attributes if isinstance(node.ctx, ast.Store)}


def _is_sure(problem: Problem) -> bool:
    """Whether the name is looked up even where a compile-time condition drops the branch that it stands in."""
    first, last = _HIDES_NOTHING
    return problem.parameter is None and any(
        first <= version <= last and version not in problem.name.definitions for version in problem.versions
    )


def _kernel_at(module: Module, line: int) -> JitFunction | None:
    return next((jit for jit in module.jit if jit.first_line <= line <= jit.last_line), None)
