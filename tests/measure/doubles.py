"""A GPU that is none: subjects are measured on the CPU engine, by a stopwatch that makes its times up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from tritonaudit.measure import ceilings, clock, timing, worker
from tritonaudit.measure.facts import Gpu
from tritonaudit.measure.timing import Contender, Stopwatch, Times
from tritonaudit.suites.calling import How

GPU = Gpu("a GPU that is none", "1.0")
MEMORY = 16 << 30
_engine: Any = None


def become(is_timing: bool = True) -> None:
    """Prepare a worker: what measures takes the CPU engine for the GPU."""
    global _engine
    from tritonaudit.suites import harness
    from tritonaudit.suites.on_cpu import CpuEngine

    _engine = CpuEngine()
    for name, value in {
        "synchronize": lambda *_: None,
        "empty_cache": lambda: None,
        "mem_get_info": lambda *_: (MEMORY, MEMORY),
        "memory_reserved": lambda *_: 2 << 30,
        "memory_allocated": lambda *_: 0,
    }.items():
        setattr(torch.cuda, name, value)
    timing.Stopwatch = _Stopwatch  # type: ignore[misc]
    clock.clocks = lambda: None
    torch.compile = lambda function, **_: function
    torch.compiler.reset = lambda: None
    ceilings.measured_gpu = _measured_gpu
    harness.remember()


def become_quick(is_timing: bool = True) -> None:
    """The same, of a GPU that takes the hundredth of the time, and three times as long for whatever comes second."""
    become()
    _Stopwatch.milliseconds = (0.002, 0.006, 0.009)


def measure(task: worker.GpuTask | worker.MeasureTask | worker.ProfileTask) -> Gpu | None:
    """As a worker does, on the CPU engine."""
    with _engine.observing(How()):
        return worker.measure(task)


def _measured_gpu(_: Any, alone: Any) -> Gpu:
    with alone:
        return GPU


class _Stopwatch(Stopwatch):
    """Calls each contender once, and has times for them by their order."""

    milliseconds = (1.0, 2.0, 3.0)

    def __post_init__(self) -> None:
        self._pristine = [[] for _ in self.inputs]

    def _prepare(self, number: int) -> None:
        pass

    def time(self, contenders: Sequence[Contender], seconds: float) -> dict[str, Times]:
        found = {}
        for time, contender in zip(self.milliseconds, contenders, strict=False):
            self.once(contender)
            found[contender.name] = Times([time] * 20, [time] * 20, [time] * 20)
        return found
