"""`tritonaudit.simulate`: one launch on the CPU, for people's own tests."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from tritonaudit.capture.device import device_for
from tritonaudit.capture.driver import standing_in
from tritonaudit.capture.record import Recorder, installed, recording
from tritonaudit.simulator.faults import Fault
from tritonaudit.simulator.fresh import FreshMemory
from tritonaudit.simulator.live import Execution
from tritonaudit.simulator.programs import Order, numbers_in

_TARGET = "sm_89"
"""It has all types, and its programs no tensor descriptors: Triton makes pointers of them, as of block pointers."""
_DEVICE = 1 << 20


@dataclass(frozen=True)
class Simulation:
    """What executing a launch showed: the faults in it, and what its programs print."""

    faults: tuple[Fault, ...]
    printed: tuple[str, ...]


def simulate(
    kernel: Any, grid: Any, *args: Any, checks: bool = True, order: Order = "forward", **kwargs: Any
) -> Simulation:
    """Execute `kernel[grid](*args, **kwargs)` on the CPU, where there need be no GPU.

    The tensors among the arguments are on the CPU, and are changed as the kernel changes them. Of an autotuned kernel
    the first config is taken. `checks=False` looks for no faults and is faster. `order` says in which order the
    programs run, which no result may depend on: `forward`, `reverse`, a random one by its seed, or their numbers (x
    fastest), which need not be all. Raises NotSimulated for what is not modelled, NoProgram where Triton rejects the
    kernel, and ValueError for an order that the launch cannot have.
    """
    execution = Execution(FreshMemory.active(), is_checked=checks, order=partial(numbers_in, order))
    recorder = Recorder(_TARGET, configs=1, execute=execution.launch)
    with standing_in(device_for(_TARGET), _DEVICE), installed(), recording(recorder):
        kernel[grid](*args, **kwargs)
    return Simulation(
        tuple(fault for launch in execution.launches for fault in launch.faults),
        tuple(line for launch in execution.launches for line in launch.outcome.printed),
    )
