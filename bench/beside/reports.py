"""What a checker says of a folder, in a form that is the same for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.corpus import kernel_modules
from tritonaudit.source.outline import JitFunction, Module


@dataclass(frozen=True)
class Report:
    """A finding at a line; `kernel` names the jit function that it is about, where it is about one."""

    path: Path
    line: int
    code: str
    is_error: bool
    kernel: str | None


@dataclass(frozen=True)
class Checker:
    """A checker under the name that the tables show."""

    name: str
    reports: Callable[[Path], list[Report]]


@dataclass(frozen=True)
class Complaint:
    """What a check of a single kernel has to say; `line` counts from the top of the file."""

    line: int
    code: str
    is_error: bool = False


def of_each_kernel(check: Callable[[Module, JitFunction], Iterator[Complaint]]) -> Callable[[Path], list[Report]]:
    """A checker of folders that looks at one jit function at a time."""

    def reports(folder: Path) -> list[Report]:
        return [
            Report(path, complaint.line, complaint.code, complaint.is_error, function.qualname)
            for path, module in kernel_modules(folder)
            for function in module.jit
            for complaint in check(module, function)
        ]

    return reports
