"""Has worker processes compile programs, each once, and none that is known already."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

from tritonaudit.capture.launch import Program
from tritonaudit.compile.analyse import analyse_program
from tritonaudit.compile.cache import Cache, default_folder
from tritonaudit.compile.facts import CompileError, Variant
from tritonaudit.execute.killed import End, Killed
from tritonaudit.execute.pool import Feed, Limits, run_tasks
from tritonaudit.progress import SILENT, Progress

_LIMITS = Limits(seconds=120, memory=8 << 30)  # of one program


@dataclass(frozen=True)
class Compiled:
    """What programs came to, and for those that came to nothing why."""

    variants: dict[Program, Variant] = field(default_factory=dict)
    lost: dict[Program, str] = field(default_factory=dict)

    def __or__(self, other: Compiled) -> Compiled:
        variants = {**self.variants, **other.variants}
        lost = {program: why for program, why in {**self.lost, **other.lost}.items() if program not in variants}
        return Compiled(variants, lost)


@dataclass
class Time:
    """So many seconds for compiling, from now on; the last programs that are begun may end after them.

    What explains ends with them.
    """

    seconds: float = math.inf
    began: float = field(default_factory=time.monotonic)

    @property
    def is_spent(self) -> bool:
        return time.monotonic() >= self.end

    @property
    def end(self) -> float:
        return self.began + self.seconds


def compile_programs(
    programs: Iterable[Program],
    jobs: int,
    progress: Progress = SILENT,
    *,
    explains: bool = True,
    limit: Time | None = None,
) -> Compiled:
    """What each program compiles to, and why its accesses are narrow unless that is not asked for.

    A compiler that crashes has rejected its program; no other end says anything. What is not begun before the limit is
    lost.
    """
    limit = limit or Time()
    cache = Cache(default_folder() / ("explained" if explains else "plain"))
    task = partial(analyse_program, cache=cache, explains=explains, until=limit.end)
    found = Compiled()
    waiting: list[Program] = []
    for program in dict.fromkeys(programs):
        known = cache.get(program)
        if known is None:
            waiting.append(program)
        else:
            found.variants[program] = replace(known, cached=True)
    progress.stage("compiling", len(waiting))
    for program, outcome in _run_until(limit, task, deque(waiting), jobs):
        progress.done("", "")
        if isinstance(outcome, Variant):
            found.variants[program] = outcome
        elif outcome.end is End.CRASH:
            error = CompileError(f"the compiler is {outcome.message}{_last_words(outcome)}")
            found.variants[program] = Variant(program.target, "", (), (), error=error)
        else:
            found.lost[program] = outcome.message
    begun = {**found.variants, **found.lost}
    spent = f"was not begun, as the {limit.seconds:.0f} s for compiling were spent"
    found.lost.update({program: spent for program in waiting if program not in begun})
    return found


def _run_until(
    limit: Time, task: Callable[[Program], Variant], waiting: deque[Program], jobs: int
) -> Iterator[tuple[Program, Variant | Killed]]:
    """The programs with what they come to, one begun as another ends until there is no more time."""
    if not waiting:
        return
    with Feed([waiting.popleft() for _ in range(min(jobs, len(waiting)))]) as feed:
        if not waiting:
            feed.close()
        for program, outcome in run_tasks(task, feed, workers=jobs, limits=_LIMITS):
            if waiting and not limit.is_spent:
                feed.add(waiting.popleft())
            if not waiting or limit.is_spent:
                feed.close()
            yield program, outcome


def _last_words(killed: Killed) -> str:
    """The last line that the compiler wrote, where LLVM and MLIR say which assertion failed."""
    last = next((line for line in reversed(killed.log.splitlines()) if line.strip()), "")
    return f": {last.strip()}" if last else ""
