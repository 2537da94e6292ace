"""Who executes the launches, each in a process of its own, and what a process reported of them."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench.corpus import ROOT
from bench.processes import Ran, run
from bench.simulating import worker

BASELINE = "TRITON_INTERPRET=1"


@dataclass(frozen=True)
class Side:
    """What runs a case: a worker's `name` in an environment. `threads` are those of torch; 0: as many as it takes."""

    title: str
    name: str
    python: Path = Path(sys.executable)
    threads: int = 0
    variables: Mapping[str, str] = field(default_factory=dict)

    def measure(self, case: str, limit: float) -> Timing:
        """Launch the case in a fresh process that may take so many seconds, its start included."""
        command = (self.python, "-m", "bench.simulating.worker", self.name, case, str(self.threads))
        variables = {"TRITON_INTERPRET": "0", **search_path(self.python), **self.variables}
        ran = run(command, limit=limit, variables=variables)
        found = timing_of(ran.out.decode(errors="replace").splitlines())
        if ran.code is None:
            return replace(found, failed=f"> {limit:g} s")
        if ran.code != 0:
            return Timing(found.versions, (), None, f"exit code {ran.code}: {_last_line(ran)}")
        return found if found.seconds or found.failed else replace(found, failed="it ended without a launch")


@dataclass(frozen=True)
class Timing:
    """What a process reported: the `seconds` of its launches in their order, and why they are not all, if they are not.

    `deviation` is how far the result is from what is expected; it is no number where nothing is computed. `remark` is
    what the tool says besides.
    """

    versions: str = ""
    seconds: tuple[float, ...] = ()
    deviation: float | None = None
    failed: str = ""
    remark: str = ""

    @property
    def first(self) -> float | None:
        return self.seconds[0] if self.seconds else None

    @property
    def later(self) -> tuple[float, ...]:
        return self.seconds[1:]


def timing_of(lines: Iterable[str]) -> Timing:
    """The timing that a worker's lines tell; other lines are those of the tools."""
    seconds: list[float] = []
    rest: dict[str, object] = {}
    for line in lines:
        known = _parsed(line)
        if "seconds" in known:
            seconds.append(float(str(known["seconds"])))
        rest |= known
    deviation = rest.get("deviation")
    return Timing(
        str(rest.get("versions", "")),
        tuple(seconds),
        float(str(deviation)) if deviation is not None else None,
        str(rest.get("failed", "")),
        str(rest.get("remark", "")),
    )


def _parsed(line: str) -> dict[str, object]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def search_path(python: Path) -> dict[str, str]:
    """Where a process finds this checkout and, in the environment of this one, what this one was told to find."""
    given = os.environ.get("PYTHONPATH", "") if python == Path(sys.executable) else ""
    return {"PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), given)))}


@dataclass(frozen=True)
class Others:
    """Where the other tools are: Python interpreters that have them, and the folder of the prototype."""

    ttsem: Path | None = None
    triton_viz: Path | None = None
    prototype: Path | None = None


@dataclass
class Field:
    """Who takes part; `absent` says who does not, and why."""

    sides: list[Side] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)

    def add(self, sides: Iterable[Side], option: str, is_given: bool) -> None:
        """Let sides take part, if the option that says where they are is given."""
        if is_given:
            self.sides += sides
        else:
            self.absent += [f"{side.title}: {option} is not given" for side in sides]


def field_of(others: Others, dumped: Path) -> Field:
    """All sides: the interpreter first, which the others are measured by. `dumped` is for what the prototype reads."""
    found = Field([Side(BASELINE, worker.INTERPRETER, variables={"TRITON_INTERPRET": "1"})])
    for name, what in ((worker.CHECKED, "all checks"), (worker.UNCHECKED, "checks=False")):
        found.sides += [Side(f"tritonaudit, {what}, {_threads(count)}", name, threads=count) for count in (1, 2)]
    ir, problem = _ir(others.prototype, dumped) if others.prototype else (dumped, "")
    variables = {worker.PROTOTYPE_FOLDER: str(others.prototype), worker.IR_FOLDER: str(ir)}
    prototypes = [
        Side(f"prototype, {_threads(count)}", worker.PROTOTYPE, threads=count, variables=variables) for count in (1, 2)
    ]
    if problem:
        found.absent.append(f"prototype: {problem}")
    else:
        found.add(prototypes, "--prototype", others.prototype is not None)
    ttsem = others.ttsem or Path(sys.executable)
    found.add([Side("ttsem, as it checks by default", worker.TTSEM, ttsem)], "--ttsem", others.ttsem is not None)
    viz = others.triton_viz or Path(sys.executable)
    clients = [
        Side("triton-viz, sanitizer (addresses alone)", worker.SANITIZER, viz),
        Side("triton-viz, tracer (all is executed)", worker.TRACER, viz),
    ]
    found.add(clients, "--triton-viz", others.triton_viz is not None)
    return found


def _threads(count: int) -> str:
    return f"{count} thread{'' if count == 1 else 's'}"


def _ir(prototype: Path, folder: Path) -> tuple[Path, str]:
    """Where the prototype's programs are: beside it, or made in the folder; and why they are not, if they are not."""
    if list(prototype.glob("*.mlir")):
        return prototype, ""
    search = os.pathsep.join((str(prototype), search_path(Path(sys.executable))["PYTHONPATH"]))
    ran = run((sys.executable, prototype / "ir_dump.py"), cwd=folder, limit=120, variables={"PYTHONPATH": search})
    if ran.code == 0:
        return folder, ""
    return folder, f"ir_dump.py fails: {_last_line(ran)}"


def _last_line(ran: Ran) -> str:
    """Of what it wrote to stderr: why a process of Python's failed."""
    return "".join(ran.err.decode(errors="replace").strip().splitlines()[-1:])[:200]


def scratch() -> tempfile.TemporaryDirectory[str]:
    """A folder for as long as the bench runs."""
    return tempfile.TemporaryDirectory(prefix="simulating")
