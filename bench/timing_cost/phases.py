"""What a worker of the measure stage does, with the seconds that each phase of it takes. For worker processes."""

from __future__ import annotations

import functools
import importlib
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

IMPORTS, REST = "imports", "the rest"
COMPILED = "torch.compile"
WAITING = "waiting for a turn"
EXCLUSIVE = ("clocks", "rounds: events and wall", "rounds: profiler", "rounds: the rest")
"""The phases in which nobody else uses the GPU."""
_WRAPPED = {
    "tritonaudit.capture.task": {"loaded": "loading the file"},
    "tritonaudit.measure.worker": {
        "_named_cases": "CUDA starts",
        "_Measuring._watch": "inputs",
        "_Measuring._first": "first call",
        "_Measuring._wrong": "verification",
        "_Measuring._others": "first calls of others",
        "_give_back_memory": "giving memory back",
    },
    "tritonaudit.measure.timing": {
        "Stopwatch.time": EXCLUSIVE[3],
        "Stopwatch._watch": EXCLUSIVE[1],
        "Stopwatch._profile": EXCLUSIVE[2],
    },
    "tritonaudit.measure.clock": {"clocks": EXCLUSIVE[0]},
    "tritonaudit.measure.statistics": {"sample": "statistics", "speedup": "statistics"},
    "tritonaudit.measure.work": {"count": "counting the work"},
    "tritonaudit.measure.ceilings": {"measured_gpu": "what the GPU can reach"},
    "tritonaudit.execute.turns": {"Turns._take": WAITING},
}
_spent: defaultdict[str, float] = defaultdict(float)
_inner: list[float] = []


def become() -> None:
    """Prepare a worker as the stage does; its functions are wrapped before it knows them as they are."""
    from tritonaudit.measure import worker

    with _phase(IMPORTS):
        for module, names in _WRAPPED.items():
            for name, phase in names.items():
                _wrap(importlib.import_module(module), name, phase)
        _wrap_once()
        worker.become_gpu_user()


def measured(task: Any) -> dict[str, float]:
    """The seconds of each phase of a task; the first of a worker has its imports, too."""
    from tritonaudit.measure import worker

    with _phase(REST):
        worker.measure(task)
    found = dict(_spent)
    _spent.clear()
    return found


@contextmanager
def _phase(name: str) -> Iterator[None]:
    """Note the seconds that this lasts, without those of phases in it."""
    began = time.perf_counter()
    _inner.append(0.0)
    try:
        yield
    finally:
        taken = time.perf_counter() - began
        _spent[name] += taken - _inner.pop()
        if _inner:
            _inner[-1] += taken


def _wrap(module: Any, name: str, phase: str) -> None:
    *outer, last = name.split(".")
    owner = functools.reduce(getattr, outer, module)
    setattr(owner, last, _noted(getattr(owner, last), lambda *_: phase))


def _wrap_once() -> None:
    """The call in which torch.compile compiles is a phase of its own."""
    from tritonaudit.measure.timing import Stopwatch

    def phase(_: Any, contender: Any, *__: Any) -> str:
        return COMPILED if contender.name == COMPILED else f"calls of {contender.name or 'what is known'}"

    Stopwatch.once = _noted(Stopwatch.once, phase)  # type: ignore[method-assign]


def _noted(function: Callable[..., Any], phase: Callable[..., str]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        with _phase(phase(*args)):
            return function(*args, **kwargs)

    return wrapped
