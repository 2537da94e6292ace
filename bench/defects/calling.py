"""Calls a published function with its launches on the CPU engine, in a process that has a stand-in GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from triton.runtime.autotuner import Autotuner

from tritonaudit.capture.record import Recorder, recording
from tritonaudit.capture.standin import Host, tensors_on
from tritonaudit.capture.task import become_gpu, target
from tritonaudit.simulator.faults import Fault, FaultKind
from tritonaudit.simulator.fresh import FreshMemory
from tritonaudit.simulator.live import Execution, NoProgram
from tritonaudit.simulator.programs import Order, numbers_in

_run_and_tune = Autotuner.run
_OUT_OF_BOUNDS = (
    FaultKind.OUT_OF_BOUNDS_LOAD,
    FaultKind.OUT_OF_BOUNDS_STORE,
    FaultKind.OUT_OF_BOUNDS_ATOMIC,
    FaultKind.BETWEEN_ELEMENTS,
)


def become(architecture: str) -> None:
    """Prepare this process: it has a GPU of this architecture, whose tensors are on the CPU."""
    become_gpu(architecture)
    torch.get_device_module = lambda *_: torch.cuda
    torch.set_num_threads(1)
    torch.manual_seed(0)


@dataclass(frozen=True)
class Called:
    """What a call came to: what it returned, its faults, and what Triton said where it rejected a launch."""

    returned: Any
    faults: Sequence[Fault]
    rejected: Sequence[str] = ()

    def of(self, *kinds: FaultKind) -> list[str]:
        """The first line of each fault of these kinds."""
        return [str(fault).splitlines()[0] for fault in self.faults if fault.kind in kinds]

    @property
    def out_of_bounds(self) -> list[str]:
        """The first line of each access outside its tensor."""
        return self.of(*_OUT_OF_BOUNDS)


def call(
    function: Callable[..., Any], *arguments: Any, chosen_config: int = 0, order: Order = "forward", **keywords: Any
) -> Called:
    """Call a wrapper on tensors of the CPU; of an autotuned kernel the config of that number runs.

    Raises what the wrapper raises, and NotSimulated.
    """
    fresh = FreshMemory()
    execution = Execution(fresh, order=partial(numbers_in, order))
    recorder = Recorder(target(), configs=1, execute=execution.launch, chosen=chosen_config)
    returned, rejected = None, []
    with tensors_on(Host.CPU), fresh, recording(recorder):
        try:
            returned = function(*arguments, **keywords)
        except NoProgram as refusal:
            error = refusal.error
            rejected.append(f"{error.path}:{error.line}: {error.message}" if error else str(refusal))
    rejected += [f"{one.kernel.name}: {one.error.message}" for one in recorder.refused if one.error]
    return Called(returned, [fault for done in execution.launches for fault in done.faults], rejected)


@contextmanager
def tuning(kernel: Any) -> Iterator[None]:
    """Triton's own autotuner picks the config of this kernel, and each of its measurements is one launch."""
    before, Autotuner.run = Autotuner.run, _run_and_tune
    kernel.do_bench = _launched_once
    try:
        yield
    finally:
        Autotuner.run = before


def _launched_once(launch: Callable[[], None], quantiles: Sequence[float]) -> list[float]:
    launch()
    return [1.0 for _ in quantiles]


def far_apart(found: torch.Tensor, expected: torch.Tensor, most: float) -> list[str]:
    """What is said where the largest difference is more than so much, or numbers have become nan or infinite."""
    found, expected = found.detach().double(), expected.detach().double()
    lost = int((~found.isfinite() & expected.isfinite()).sum())
    if lost:
        return [f"{lost} of {found.numel()} results are nan or infinite, and torch's are numbers"]
    error, largest = (found - expected).abs().max().item(), expected.abs().max().item()
    return [f"largest error {error:.3g}, where the largest result is {largest:.3g}"] if error > most else []
