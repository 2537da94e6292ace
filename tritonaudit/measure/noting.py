"""Which kernels a call launches, and which configs its autotuners choose. Imports torch and triton: for workers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

from tritonaudit.capture.launch import KernelRef
from tritonaudit.capture.record import is_gluon, kernel_ref


@dataclass
class Noted:
    """What was noted, in its order, everything once."""

    kernels: dict[KernelRef, None] = field(default_factory=dict)
    configs: dict[str, None] = field(default_factory=dict)


@contextmanager
def noting() -> Iterator[Noted]:
    """While this lasts, launches are noted, and made as ever."""
    noted = Noted()
    launch, tune = JITFunction.run, Autotuner.run

    def launching(function: Any, *args: Any, **kwargs: Any) -> Any:
        if not kwargs.get("warmup") and not is_gluon(function):
            noted.kernels[kernel_ref(function)] = None
        return launch(function, *args, **kwargs)

    def tuning(tuner: Any, *args: Any, **kwargs: Any) -> Any:
        returned = tune(tuner, *args, **kwargs)
        noted.configs[f"{tuner.base_fn.__name__}: {tuner.best_config}"] = None
        return returned

    JITFunction.run, Autotuner.run = launching, tuning
    try:
        yield noted
    finally:
        JITFunction.run, Autotuner.run = launch, tune
