"""Whether anything depends on what a load gives for the lanes that its mask leaves out.

The lanes are made to hold one extreme after another: where that changes no result, though extremes in the lanes that
the mask takes in do, no value that they might be given changes any. Imports torch where it is called.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.judge.executing import Execution, called
from bench.judge.reaching import Line, lines_of

if TYPE_CHECKING:
    import torch

    from bench.judge.noted import Noted
    from tritonaudit.capture.launch import Launch
    from tritonaudit.simulator.ir import Operation
    from tritonaudit.simulator.machine import Frame, Handler, Machine
    from tritonaudit.subject.model import Subject

_EXTREMES = (float("nan"), float("inf"), float("-inf"), 1.0, -1.0, 0.0)
"""The largest and the least of integers stand for what is infinite."""


@dataclass(frozen=True)
class Lanes:
    """Those of the loads at some lines that their masks leave out, or take in."""

    lines: frozenset[Line]
    are_left_out: bool


def with_extremes(subject: Subject, one: Noted, seconds: float, lanes: Lanes) -> Iterator[Execution]:
    """The call with one extreme after another in the lanes; nothing where there are none."""
    for extreme in _EXTREMES:
        putting = _Putting(lanes, extreme)
        results, error, kind = called(subject, one, seconds, putting.fresh, putting.launch)
        if not putting.is_done:
            return
        yield Execution(tuple(results), tuple(putting.launches), error, kind)


class _Putting:
    """Executes launches with an extreme in some lanes."""

    def __init__(self, lanes: Lanes, extreme: float) -> None:
        from tritonaudit.simulator.fresh import FreshMemory

        self.fresh = FreshMemory()
        self.launches: list[Any] = []
        self.is_done = False
        self._lanes, self._extreme = lanes, extreme

    def launch(self, launch: Launch, bound: Mapping[str, Any]) -> None:
        """Execute one. Raises NotSimulated, Refused, and NoProgram where there is nothing to execute."""
        from tritonaudit.simulator.engine import Run, execute
        from tritonaudit.simulator.live import Executed, begun

        with begun(launch, bound) as (program, module, grid, arguments):
            run = Run(undefined=self.fresh.undefined, contracts=program.contracts, handlers=self._handlers)
            self.launches.append(Executed(launch, execute(module, grid, arguments, run)))

    def _handlers(self, known: Mapping[str, Handler]) -> Mapping[str, Handler]:
        load = known["tt.load"]

        def execute(machine: Machine, operation: Operation, frame: Frame) -> tuple[Any, ...]:
            found = load(machine, operation, frame)
            mask = operation.operand(1)
            if mask is None or self._lanes.lines.isdisjoint(lines_of(operation.location)):
                return found
            return (self._put(found[0].tensor(frame.result(operation)), frame.tensor(mask)),)

        return {**known, "tt.load": execute}

    def _put(self, data: torch.Tensor, mask: torch.Tensor) -> Any:
        import torch

        from tritonaudit.simulator.values import Value

        data, mask = torch.broadcast_tensors(data, mask)
        kept = mask if self._lanes.are_left_out else ~mask
        self.is_done |= not bool(kept.all())
        return Value(torch.where(kept, data, _of_type(self._extreme, data.dtype)))


def _of_type(extreme: float, dtype: torch.dtype) -> torch.Tensor:
    import torch

    if dtype == torch.bool:
        return torch.tensor(extreme > 0)
    if dtype.is_floating_point or abs(extreme) <= 1:
        return torch.tensor(extreme).to(dtype)
    return torch.tensor(torch.iinfo(dtype).min if extreme < 0 else torch.iinfo(dtype).max, dtype=dtype)
