"""From a file to the mistakes of each of its kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tritonaudit.frontend.launched import parameters
from tritonaudit.frontend.mistakes import Mistake
from tritonaudit.frontend.reader import Reader

if TYPE_CHECKING:
    from tritonaudit.kernel.launch import LaunchFacts
    from tritonaudit.kernel.project import Function, Project
    from tritonaudit.target import Target


class FrontEnd:
    """Reads the kernels of one file; what several of them share is told of the first alone."""

    def __init__(self, project: Project, target: Target) -> None:
        self._project = project
        self._reader = Reader(project, target)

    def mistakes(
        self, function: Function, facts: LaunchFacts, types: Mapping[str, str], helper: bool
    ) -> tuple[Mistake, ...]:
        """What is wrong with the language of one kernel; nothing where Python itself cannot read or write it."""
        try:
            given = parameters(function, facts, types, self._project, helper)
            return tuple(self._reader.read(function, given, launched=bool(facts.launches)))
        except RecursionError:
            return ()
        except ValueError as error:
            if "set_int_max_str_digits" in str(error):  # a number too long for Python to write
                return ()
            raise
