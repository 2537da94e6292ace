"""From a file to the mistakes of each of its kernels."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from tritonaudit.ir.launched import parameters
from tritonaudit.ir.mistakes import Mistake
from tritonaudit.ir.model import Kernel
from tritonaudit.ir.reader import Reader
from tritonaudit.ir.supposed import refused_anyway
from tritonaudit.ir.values import Const, Value

if TYPE_CHECKING:
    from tritonaudit.kernel.launch import LaunchFacts
    from tritonaudit.kernel.project import Function, Project
    from tritonaudit.source.outline import JitFunction
    from tritonaudit.target import Target


_KEEPS = ("triton.", "torch.library.", "torch._library.")
"""What makes a kernel of a function, or wraps one, and changes nothing of its text."""


class NotRead(Exception):
    """A kernel that Python itself cannot read or write, and why."""


class FrontEnd:
    """Reads the kernels of one file; what several of them share is reported only of the first."""

    def __init__(self, project: Project, target: Target) -> None:
        self.project, self.target = project, target
        self._reader = Reader(project, target)

    def read(
        self, function: Function, facts: LaunchFacts, types: Mapping[str, str], helper: bool
    ) -> tuple[Kernel, tuple[Mistake, ...]]:
        """A kernel's operations, and what is wrong with its language. Raises RecursionError, and NotRead."""
        given = parameters(function, facts, types, self.project, helper)
        try:
            kernel = self._reader.read(function, given, launched=bool(facts.launches), helper=helper)
        except ValueError as error:
            if "set_int_max_str_digits" in str(error):  # a number too long for Python to write
                raise NotRead("not read: it holds a number that is too long") from error
            raise
        found = tuple(self._reader.mistakes)
        if not (found or facts.launches or helper):
            found = tuple(
                refused_anyway(function, given, self.target.versions, lambda types: self._supposed(function, types))
            )
        return kernel, () if found and not facts.launches and _is_rewritten(function) else found

    def read_for(
        self,
        function: Function,
        facts: LaunchFacts,
        types: Mapping[str, str],
        constants: Mapping[str, bool | None],
    ) -> Kernel:
        """A kernel's operations as it is compiled where some parameters are these constants. Raises as `read` does."""
        given = dict(parameters(function, facts, types, self.project, False))
        given.update({name: Const(value) for name, value in constants.items()})
        return self._reader.read(function, given, launched=True)

    def _supposed(self, function: Function, given: Mapping[str, Value]) -> Sequence[Mistake]:
        """What is wrong with a kernel whose parameters are supposed to have these types."""
        self._trial.forget()
        self._trial.read(function, given, launched=False)
        return self._trial.mistakes

    @cached_property
    def _trial(self) -> Reader:
        return Reader(self.project, self.target)

    def dead_lines(self, jit: JitFunction) -> frozenset[int]:
        """The lines of a function read before that are compiled for none of the constants that it is given."""
        return self._reader.dead_lines(jit.first_line, jit.last_line)


def _is_rewritten(function: Function) -> bool:
    """Whether it declares what has no value, as no Triton compiles, and the host gives it to a function that may."""
    module, name = function.module, function.jit.name
    if all(node.value is not None for node in function.jit.nodes.of(ast.AnnAssign)):
        return False
    inside = [(jit.first_line, jit.last_line) for jit in module.jit]
    return any(
        any(isinstance(given, ast.Name) and given.id == name for given in call.args)
        and not module.origin_of(call.func).startswith(_KEEPS)
        and not any(first <= call.lineno <= last for first, last in inside)
        for call in module.nodes(module.tree).of(ast.Call)
    )
