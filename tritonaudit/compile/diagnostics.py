"""Makes one sentence of what the compiler says when it fails, at the user's line where it tells one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tritonaudit.compile import ptx, ptxas
from tritonaudit.compile.accesses import span_at
from tritonaudit.compile.facts import CompileError
from tritonaudit.compile.ttir import Location, Module


@dataclass(frozen=True)
class Failure:
    """A stage's failure: the exception, what was written to standard error meanwhile, the texts of earlier stages."""

    error: Exception
    stage: str
    stderr: str
    texts: Mapping[str, str]


PROGRAM = "program.ttir"
"""The file that MLIR reads a program from: its lines are nobody's."""
_MLIR = re.compile(
    r"""^(?:loc\()?"?(?P<path>[^"\n]+?)"?:(?P<line>\d+):(?P<column>\d+)\)?: error: (?P<message>.+)$""", re.MULTILINE
)
_LLVM = re.compile(r"^(?:LLVM ERROR|error): (?P<message>.+)$", re.MULTILINE)
_ASSERTION = re.compile(r"Assertion `(?P<message>.+)' failed\.$", re.MULTILINE)
_EMPTY = "Failures have been detected while processing an MLIR pass pipeline"


def diagnose(failure: Failure) -> CompileError:
    """The failure in one sentence: ptxas's first error, else MLIR's, else LLVM's, else the exception's words."""
    if complaint := ptxas.complaint(str(failure.error)):
        location = ptx.location_of_line(failure.texts["ptx"], complaint.line) if complaint.line else None
        return _at(f"ptxas: {complaint.message}", location, failure)
    located = list(_MLIR.finditer(failure.stderr))
    for match in located:
        if match["message"] != _EMPTY:
            location = _location(match)
            about = "" if location is not None else f"Triton's stage {failure.stage} fails: "
            return _at(about + match["message"], location, failure)
    kernel = _location(located[0]) if located else None
    if said := _LLVM.search(failure.stderr):
        return _at(said["message"], kernel, failure)
    if said := _ASSERTION.search(failure.stderr):
        return _at(f"an assertion of the compiler fails: {said['message']}", kernel, failure)
    return _at(f"Triton's stage {failure.stage} fails: {_words(failure.error)}", kernel, failure)


def _at(message: str, location: Location | None, failure: Failure) -> CompileError:
    if location is None:
        return CompileError(message)
    first_column = 0 if Module(failure.texts["ttir"]).counts_columns_from_zero else 1
    return CompileError(message, location.path, span_at(location, first_column))


def _location(match: re.Match[str]) -> Location | None:
    if match["path"].rpartition("/")[2] == PROGRAM:
        return None
    return Location(match["path"], int(match["line"]), int(match["column"]))


def _words(error: Exception) -> str:
    first = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
