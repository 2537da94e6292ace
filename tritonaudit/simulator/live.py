"""Executes launches as host code makes them, so that what it does next sees their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from tritonaudit.capture.launch import Launch
from tritonaudit.simulator.engine import Argument, Outcome, Run, execute
from tritonaudit.simulator.faults import Fault
from tritonaudit.simulator.fresh import FreshMemory
from tritonaudit.simulator.ir import Module
from tritonaudit.simulator.parse import parse_module


@dataclass(frozen=True)
class Executed:
    """A launch and what executing it showed."""

    launch: Launch
    outcome: Outcome

    @property
    def faults(self) -> tuple[Fault, ...]:
        return self.outcome.faults


class NoProgram(Exception):
    """The launch cannot be executed: Triton rejects the kernel, with the `error`, or its grid is not known."""

    def __init__(self, launch: Launch) -> None:
        super().__init__("its grid cannot be told" if launch.error is None else launch.error.message)
        self.launch = launch
        self.error = launch.error


@dataclass
class Execution:
    """Executes what is launched, for as long as host code runs, and keeps what that shows."""

    fresh: FreshMemory
    is_checked: bool = True
    order: Callable[[int], torch.Tensor | None] = lambda _: None
    tick: Callable[[], None] = lambda: None
    launches: list[Executed] = field(default_factory=list)

    def launch(self, launch: Launch, bound: Mapping[str, Any]) -> None:
        """Execute one launch on its arguments. Raises NotSimulated, and NoProgram where there is nothing to execute."""
        if launch.error is not None or launch.program is None or launch.grid is None:
            raise NoProgram(launch)
        module = module_of(launch.program.ttir)
        x, y, z = launch.grid
        contracts = bool(dict(launch.program.options).get("enable_fp_fusion", True))
        run = Run(self.is_checked, self.order(x * y * z), self.fresh.undefined, self.tick, contracts=contracts)
        with _disable_current_modes(), torch._C.DisableTorchFunction():
            outcome = execute(module, launch.grid, arguments_of(launch, bound), run)
        self.launches.append(Executed(launch, outcome))


@lru_cache(maxsize=256)
def module_of(text: str) -> Module:
    """The module of a program's text."""
    return parse_module(text)


def arguments_of(launch: Launch, bound: Mapping[str, Any]) -> Sequence[Argument]:
    """The arguments that the program still has: neither constexprs, nor specialised to 1, nor None."""
    gone = {name for name, kind in launch.signature if kind == "constexpr"}
    gone |= {name for name, hint in launch.specialisation if hint == "one"}
    return [Argument(name, one) for name, value in bound.items() if name not in gone for one in _flat(value)]


def _flat(value: Any) -> Sequence[Any]:
    """A tuple's elements, a descriptor's tensor, sizes and strides."""
    if value is None:
        return []
    if isinstance(value, tuple):
        return [inner for one in value for inner in _flat(one)]
    base = getattr(value, "base", None)
    if isinstance(base, torch.Tensor):
        return [base, *value.shape, *value.strides] if hasattr(value, "block_shape") else [base]
    return [value]
