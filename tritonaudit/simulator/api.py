"""`tritonaudit.simulate`: one launch on the CPU, for people's own tests."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from tritonaudit.capture.device import device_for
from tritonaudit.capture.driver import standing_in
from tritonaudit.capture.record import Recorder, installed, recording
from tritonaudit.simulator.cross_check import CrossCheck, CrossChecked
from tritonaudit.simulator.faults import Fault
from tritonaudit.simulator.fresh import FreshMemory
from tritonaudit.simulator.gpu_program import OPTIONS
from tritonaudit.simulator.ir import Location
from tritonaudit.simulator.live import Execution, NoProgram
from tritonaudit.simulator.machine import NotSimulated
from tritonaudit.simulator.numerics.unsupported import Unsupported
from tritonaudit.simulator.programs import Grid, Order, numbers_in
from tritonaudit.simulator.watch import Watch

_TARGET = "sm_89"
"""It has all types, and its programs no tensor descriptors: Triton makes pointers of them, as of block pointers."""
_DEVICE = 1 << 20


@dataclass(frozen=True)
class Simulation:
    """What executing a launch showed: the faults in it, and what its programs print.

    Of a launch on tensors without memory, `programs` are those that were looked at (None: all of them), and `undecided`
    says where what happens depends on what lies in such a tensor: it was not followed there. `cross_check` is what
    Triton's interpreter says to the launch, if it was asked.
    """

    faults: tuple[Fault, ...]
    printed: tuple[str, ...]
    undecided: tuple[Fault, ...] = ()
    programs: tuple[Grid, ...] | None = None
    cross_check: CrossCheck | None = None


def simulate(
    kernel: Any,
    grid: Any,
    *args: Any,
    checks: bool = True,
    as_gpu: bool = False,
    order: Order = "forward",
    cross_check: bool = False,
    seconds: float = 600.0,
    **kwargs: Any,
) -> Simulation:
    """Execute `kernel[grid](*args, **kwargs)` on the CPU, where there need be no GPU.

    The tensors among the arguments are on the CPU, and are changed as the kernel changes them. Of an autotuned kernel
    the first config is taken. If one of them is on the meta device, it may be of any size: some programs alone are
    looked at, as to where they access memory, and no tensor is changed. Of tensors that were allocated in a
    `with FreshMemory():` around this call it is known what nobody has written.

    `checks=False` looks for no faults and is faster. `as_gpu` computes as an H100 does, bit by bit where that is known
    (`faithful.py`), and is slower; without it, each operation is as exact as its declared bound says.
    `order` says in which order the programs run, which no result may depend on: `forward`, `reverse`, a random one by
    its seed, or their numbers (x fastest), which need not be all.
    `cross_check` has Triton's interpreter execute the launch, too, in a process of its own, and compares the results.

    Raises NotSimulated for what is not modelled, or takes more than so many `seconds`, NoProgram where Triton rejects
    the kernel, Refused where a GPU would not take the launch, and ValueError for an order that the launch cannot have,
    and for a grid of a negative size.
    """
    ordered = partial(numbers_in, order)
    execution = Execution(FreshMemory.active(), checks, as_gpu, ordered, Watch(seconds).look)
    checked = CrossChecked(execution)
    execute = checked.launch if cross_check else execution.launch
    recorder = Recorder(_TARGET, configs=1, execute=execute, options=OPTIONS)
    with standing_in(device_for(_TARGET), _DEVICE), installed(), recording(recorder):
        kernel[_known(grid)](*args, **kwargs)
    _check_accepted(recorder)
    outcomes = [launch.outcome for launch in execution.launches]
    return Simulation(
        tuple(fault for outcome in outcomes for fault in outcome.faults),
        tuple(line for outcome in outcomes for line in outcome.printed),
        tuple(fault for outcome in outcomes for fault in outcome.undecided),
        outcomes[-1].programs if outcomes else None,
        checked.found[-1] if checked.found else None,
    )


def _known(grid: Any) -> Any:
    """The grid, as far as it is one: Triton launches nothing where the product of its sizes is negative."""
    if callable(grid):
        return lambda meta: _known(grid(meta))
    sizes = grid if isinstance(grid, (tuple, list)) else (grid,)
    if any(isinstance(size, int) and size < 0 for size in sizes):
        raise ValueError(f"the grid {grid} has a negative size")
    return grid


def _check_accepted(recorder: Recorder) -> None:
    """Raise for a launch that came to nothing: one that Triton refuses before it compiles, or a kernel in Gluon."""
    for launch in recorder.refused:
        raise NoProgram(launch)
    for name, kernel in recorder.gluon.items():
        raise NotSimulated(Unsupported("gluon", name), Location(kernel.path, kernel.line, 1))
