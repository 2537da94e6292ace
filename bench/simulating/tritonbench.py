"""TritonBench-G on the engine and under Triton's interpreter: what its launches take, and nothing of the code around.

Both run each file as `python FILE` would; of an autotuned kernel the first config alone. A file's launches mostly are
first ones, which the engine compiles: it is timed with that, and for its execution alone. Then the file's test is
called again in the same process, with the same seed, as programs call their kernels many times.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, wraps
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any

from bench.faults.editions import fixed
from bench.faults.run import TARGET, become_cpu, import_file, run_file
from bench.fidelity.tables import table
from bench.simulating.tables import ratio, seconds
from tritonaudit.execute.killed import Killed
from tritonaudit.execute.pool import Limits, run_tasks

_LIMITS = Limits(seconds=60, memory=6 << 30)
_OPTIONS = {"all checks": True, "checks=False": False}
_LATER_RUNS = 5
_ENOUGH_SECONDS = 10.0
"""Of all runs of a file, after which it is not run once more."""


@dataclass(frozen=True)
class Timed:
    """The launches of one file: how many, their seconds, and those of their execution alone.

    `error` is the one that the file ended in, if it did not run through. `later` is the median of the seconds that the
    execution takes in later runs; None where there are none.
    """

    launches: int
    seconds: float
    executing: float
    error: str = ""
    later: float | None = None


@dataclass
class Stopwatch:
    """How often a method was called, and how long that took. It is put in the method's place for good."""

    count: int = 0
    seconds: float = 0.0

    def watch(self, owner: Any, name: str) -> None:
        watched: Callable[..., Any] = getattr(owner, name)

        @wraps(watched)
        def timed(*args: Any, **kwargs: Any) -> Any:
            started = time.perf_counter()
            try:
                return watched(*args, **kwargs)
            finally:
                self.seconds += time.perf_counter() - started
                self.count += not kwargs.get("warmup", False)

        setattr(owner, name, timed)

    def reset(self) -> None:
        self.count, self.seconds = 0, 0.0


@dataclass
class _Watches:
    launching: Stopwatch = field(default_factory=Stopwatch)
    executing: Stopwatch = field(default_factory=Stopwatch)

    def reset(self) -> None:
        self.launching.reset()
        self.executing.reset()

    def timed(self, error: str) -> Timed:
        return Timed(self.executing.count, self.launching.seconds, self.executing.seconds, error)


_watches = _Watches()


@dataclass
class Runs:
    """What the first run of a file takes, and those after it."""

    first: Timed | None = None
    later: list[float] = field(default_factory=list)

    def go_on(self, module: ModuleType) -> None:
        """The file has run: call its test again, some times."""
        import torch

        self.first = _watches.timed("")
        started, test = time.perf_counter() - self.first.seconds, _test_of(module)
        while test and len(self.later) < _LATER_RUNS and time.perf_counter() - started < _ENOUGH_SECONDS:
            torch.manual_seed(0)
            _watches.reset()
            getattr(module, test)()
            self.later.append(_watches.executing.seconds)

    def timed(self, error: str) -> Timed:
        if self.first is None:
            return _watches.timed(error)
        return replace(self.first, error=error, later=median(self.later) if self.later else None)


def _test_of(module: ModuleType) -> str:
    """The name of the function that the file calls last of those that are called so; empty where it calls none."""
    body = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8")).body
    calls = [one.value for one in body if isinstance(one, ast.Assign | ast.Expr) and isinstance(one.value, ast.Call)]
    names = [call.func.id for call in calls if isinstance(call.func, ast.Name) and call.func.id.startswith("test")]
    return names[-1] if names else ""


def become_engine() -> None:
    """Prepare this process to execute launches on the engine."""
    become_cpu()
    from triton.runtime.jit import JITFunction

    from tritonaudit.simulator.live import Execution

    _watches.launching.watch(JITFunction, "run")
    _watches.executing.watch(Execution, "launch")


def time_on_engine(path: Path, *, is_checked: bool) -> Timed:
    """The launches of a file, in a process that was prepared for it."""
    _watches.reset()
    runs = Runs()
    return runs.timed(run_file(path, is_checked=is_checked, then=runs.go_on).error)


def become_interpreter() -> None:
    """Prepare this process to execute launches by Triton's interpreter, as if there were a GPU."""
    os.environ["TRITON_INTERPRET"] = "1"
    from tritonaudit.capture.device import device_for
    from tritonaudit.capture.driver import stand_in_driver
    from tritonaudit.capture.standin import stand_in_tensors

    stand_in_driver(device_for(TARGET))
    stand_in_tensors(device_for(TARGET))
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.interpreter import InterpretedFunction

    Autotuner._bench = lambda *_, **__: [1.0, 1.0, 1.0]  # no config is faster, so that the first is taken
    _watches.launching.watch(InterpretedFunction, "run")
    _watches.executing = _watches.launching


def time_interpreted(path: Path) -> Timed:
    """The launches of a file, in a process that was prepared for it."""
    import torch

    from tritonaudit.capture.standin import Host, tensors_on

    torch.manual_seed(0)
    _watches.reset()
    error, runs = "", Runs()
    with contextlib.redirect_stdout(io.StringIO()), tensors_on(Host.CPU):
        try:
            runs.go_on(import_file(path))
        except Exception as failure:
            error = f"{type(failure).__name__}: {' '.join(str(failure).split())[:200]}"
    return runs.timed(error)


Outcomes = Mapping[str, Timed | Killed]


def report(folder: Path, names: Sequence[str] = ()) -> str:
    """Run all files on each side, one process at a time, and tell the median of what they take. Needs minutes."""
    files = fixed(folder).chosen(list(names))
    interpreted = _outcomes(time_interpreted, files, become_interpreter)
    found = {
        option: _outcomes(partial(time_on_engine, is_checked=is_checked), files, become_engine)
        for option, is_checked in _OPTIONS.items()
    }
    lines = [comparison(interpreted, found)]
    lines += [f"{count} files not compared: {why}" for why, count in left_out(interpreted, found).most_common()]
    return "\n".join(lines)


def _outcomes(
    work: Callable[[Path], Timed], files: Sequence[Path], prepare: Callable[[], None]
) -> dict[str, Timed | Killed]:
    ran = run_tasks(work, files, workers=1, limits=_LIMITS, prepare=prepare, is_fresh=True)
    return {path.stem: outcome for path, outcome in ran}


def comparison(interpreted: Outcomes, found: Mapping[str, Outcomes]) -> str:
    """The medians over the files that every side ran, as often."""
    files = compared(interpreted, found)
    rows = []
    for option, outcomes in found.items():
        for what, read in _READ.items():
            pairs = [(read(_timed(interpreted[name])), read(_timed(outcomes[name]))) for name in files]
            both = [(before, ours) for before, ours in pairs if before is not None and ours is not None]
            ratios = [before / ours for before, ours in both]
            totals = sum(before for before, _ in both), sum(ours for _, ours in both)
            rows.append(
                (
                    f"{option}, {what}",
                    len(ratios),
                    ratio(median(ratios), 1.0) if ratios else "-",
                    *map(seconds, totals),
                    ratio(*totals),
                )
            )
    head = ("TritonBench-G", "files:", "median of the ratios:", "interpreter:", "engine:", "ratio of the sums:")
    return table(head, rows)


_READ: Mapping[str, Callable[[Timed], float | None]] = {
    "Triton's front end included, first runs": lambda timed: timed.seconds,
    "execution alone, first runs": lambda timed: timed.executing,
    "execution alone, later runs": lambda timed: timed.later,
}
"""What is compared; the interpreter has no front end beside its execution."""


def compared(interpreted: Outcomes, found: Mapping[str, Outcomes]) -> list[str]:
    """The files that run through on every side, with as many launches."""
    return [name for name in interpreted if not _why_not(name, interpreted, found)]


def left_out(interpreted: Outcomes, found: Mapping[str, Outcomes]) -> Counter[str]:
    """Why the other files are not compared."""
    return Counter(filter(None, (_why_not(name, interpreted, found) for name in interpreted)))


def _why_not(name: str, interpreted: Outcomes, found: Mapping[str, Outcomes]) -> str:
    counts = set()
    for side, outcomes in {"interpreter": interpreted, **found}.items():
        outcome = outcomes[name]
        if isinstance(outcome, Killed):
            return f"{side}: {outcome.end.value}"
        if outcome.error:
            return f"{side}: {outcome.error.partition(':')[0]}"
        counts.add(outcome.launches)
    if len(counts) > 1:
        return "not as many launches"
    return "no launch" if counts == {0} else ""


def _timed(outcome: Timed | Killed) -> Timed:
    """What is known to have run through."""
    assert isinstance(outcome, Timed)
    return outcome
