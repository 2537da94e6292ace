"""Has worker processes compile programs, each once, and none that is known already."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial

from tritonaudit.capture.launch import Program
from tritonaudit.compile.analyse import analyse_program
from tritonaudit.compile.cache import Cache, default_folder
from tritonaudit.compile.facts import CompileError, Variant
from tritonaudit.execute.killed import End, Killed
from tritonaudit.execute.pool import Limits, run_tasks
from tritonaudit.progress import SILENT, Progress

_LIMITS = Limits(seconds=120, memory=8 << 30)  # of one program


@dataclass(frozen=True)
class Compiled:
    """What programs came to, and for those that came to nothing why."""

    variants: dict[Program, Variant] = field(default_factory=dict)
    lost: dict[Program, str] = field(default_factory=dict)


def compile_programs(
    programs: Iterable[Program], jobs: int, progress: Progress = SILENT, *, explains: bool = True
) -> Compiled:
    """What each program compiles to, and why its accesses are narrow unless that is not asked for.

    A compiler that crashes has rejected its program; no other end says anything.
    """
    cache = Cache(default_folder() / ("explained" if explains else "plain"))
    task = partial(analyse_program, cache=cache, explains=explains)
    found = Compiled()
    waiting: list[Program] = []
    for program in dict.fromkeys(programs):
        known = cache.get(program)
        if known is None:
            waiting.append(program)
        else:
            found.variants[program] = replace(known, cached=True)
    progress.stage("compiling", len(waiting))
    for program, outcome in run_tasks(task, waiting, workers=jobs, limits=_LIMITS):
        progress.done("", "")
        if isinstance(outcome, Variant):
            found.variants[program] = outcome
        elif outcome.end is End.CRASH:
            error = CompileError(f"the compiler is {outcome.message}{_last_words(outcome)}")
            found.variants[program] = Variant(program.target, "", (), (), error=error)
        else:
            found.lost[program] = outcome.message
    return found


def _last_words(killed: Killed) -> str:
    """The last line that the compiler wrote, where LLVM and MLIR say which assertion failed."""
    last = next((line for line in reversed(killed.log.splitlines()) if line.strip()), "")
    return f": {last.strip()}" if last else ""
