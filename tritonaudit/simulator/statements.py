"""Operations that say something: assertions, assumptions, what is undefined on purpose."""

from __future__ import annotations

import torch

from tritonaudit.simulator.faults import Fault, FaultKind
from tritonaudit.simulator.ir import Operation
from tritonaudit.simulator.machine import Frame, Handler, Machine
from tritonaudit.simulator.numerics.elements import dtype_of
from tritonaudit.simulator.values import Doubt, Value


def _assert(machine: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    bad = ~frame.tensor(operation.operands[0])
    message = str(operation.attributes.get("message", ""))
    if bool(bad.any()):
        fault = Fault(FaultKind.ASSERTION, operation.location, detail=message)
        machine.faults.add_lanes(fault, bad, frame.site(operation))
    return ()


def _poison(_: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    """A value that means nothing."""
    type = frame.result(operation)
    shape = (1, *([1] * type.rank))
    data = torch.zeros(shape, dtype=dtype_of(type))
    return (Value(data, Doubt(torch.zeros(shape, dtype=torch.bool), operation.location)),)


def _nothing(_: Machine, __: Operation, ___: Frame) -> tuple[Value, ...]:
    """What it says is for the compiler, or for threads or launches that run at the same time."""
    return ()


HANDLERS: dict[str, Handler] = {
    "tt.assert": _assert,
    "ub.poison": _poison,
    "llvm.intr.assume": _nothing,
    "gpu.barrier": _nothing,
    "ttg.barrier": _nothing,
    "tt.grid_dependency_wait": _nothing,
    "tt.grid_dependency_launch_dependents": _nothing,
}
