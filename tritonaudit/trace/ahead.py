"""Launches that the command does not make, but would: with other configs of an autotuner, and on larger tensors.

They are recorded beside the launch that is made, and not executed. Imports torch: for the processes of the command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import torch
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

from tritonaudit.capture.imagined import imagine
from tritonaudit.capture.launch import Launch
from tritonaudit.simulator.live import why_too_large

if TYPE_CHECKING:
    from tritonaudit.trace.session import _Session

_MOST_CONFIGS = 3
"""Beside the one that is executed."""
_FAR = 1 << 31
_BESIDE = 1 << 10
"""More elements than an int32 counts."""
_MOST_INDICES = 1 << 24
"""Integers of which the bounds are looked up."""

Bound = Mapping[str, Any]
Execute = Callable[[Launch, Bound], None]


@dataclass(frozen=True)
class Call:
    """A launch as host code makes it: `function[grid](*args, **kwargs)`."""

    function: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def look_ahead(session: _Session) -> None:
    """Have the session know each launch as it is made, and an autotuner's other configs, for good."""
    launch, tune = JITFunction.run, Autotuner.run

    def launched(function: Any, *args: Any, **kwargs: Any) -> Any:
        before, session.call = session.call, Call(function, args, kwargs)
        try:
            return launch(function, *args, **kwargs)
        finally:
            session.call = before

    def tuned(tuner: Any, *args: Any, **kwargs: Any) -> Any:
        with suppress(Exception):  # what it raises is raised when it is launched for good, too
            _record_configs(session, lambda: tune(tuner, *args, **kwargs), len(tuner.configs))
        return tune(tuner, *args, **kwargs)

    JITFunction.run, Autotuner.run = launched, tuned


def _record_configs(session: _Session, tune: Callable[[], Any], configs: int) -> None:
    """Record the launch with the first config and, if it is the first of its kind, with some others."""
    new: list[int] = []

    def first(launch: Launch, bound: Bound) -> None:
        known = set(session.log.kinds.known.values())
        number = session.recorded(launch, bound)
        if number is not None and number not in known:
            new.append(number)

    def other(launch: Launch, bound: Bound) -> None:
        session.record(launch, bound, new[0])

    with _executing(session, first, 0):
        tune()
    if not new:
        return
    step = max((configs - 1) // _MOST_CONFIGS, 1)
    for chosen in range(configs - 1, 0, -step)[:_MOST_CONFIGS]:
        with _executing(session, other, chosen), suppress(Exception):
            tune()


@contextmanager
def _executing(session: _Session, execute: Execute, chosen: int) -> Iterator[None]:
    """While this lasts, launches go there, with the config of that number."""
    recorder = session.recorder
    before = recorder.execute, recorder.chosen
    recorder.execute, recorder.chosen = execute, chosen
    try:
        yield
    finally:
        recorder.execute, recorder.chosen = before


# -- larger tensors ----------------------------------------------------------------------------------------------------


class _Unclear(Exception):
    """It is not clear how the launch would be with more of the dimension."""


def record_grown(session: _Session, call: Call, launch: Launch, bound: Bound, number: int) -> None:
    """Record the launch with so much more of its largest tensor's outermost dimension that an int32 is too small.

    Where it is not clear which sizes and which axis of the grid follow that dimension, nothing is recorded.
    """
    if launch.grid is None or launch.program is None:
        return
    with suppress(_Unclear):
        growth = _Growth.of(launch, bound)
        grid = growth.grid(launch)
        args = tuple(map(growth.grown, call.args))
        kwargs = {name: growth.grown(value) for name, value in call.kwargs.items()}

        def grown(found: Launch, larger: Bound) -> None:
            if not why_too_large(found):
                session.record(found, larger, number, is_grown=True)

        with _executing(session, grown, 0), suppress(Exception):
            before, session.call = session.call, None
            try:
                call.function.run(*args, **{**kwargs, "grid": grid})
            finally:
                session.call = before


@dataclass(frozen=True)
class _Growth:
    """`times` as much of the dimension of that `size`, of which the largest tensor has so many `elements`."""

    size: int
    elements: int
    times: int

    @staticmethod
    def of(launch: Launch, bound: Bound) -> _Growth:
        tensors = [one for one in bound.values() if isinstance(one, torch.Tensor)]
        largest = max(tensors, key=torch.Tensor.numel, default=None)
        if largest is None or largest.numel() < 2 or not largest.is_contiguous():
            raise _Unclear
        axis = next(axis for axis, size in enumerate(largest.shape) if size > 1)
        size, elements = largest.shape[axis], largest.numel()
        growth = _Growth(size, elements, (_FAR + _BESIDE) // elements + 1)
        for tensor in tensors:
            inner = [other for at, other in enumerate(tensor.shape) if other != 1 and at != growth.axis_of(tensor)]
            if size in inner or (size in tensor.stride() and size != 1):
                raise _Unclear
        return growth

    def axis_of(self, tensor: torch.Tensor) -> int | None:
        """The outermost dimension of a tensor, if it is the one that grows."""
        axis = next((axis for axis, size in enumerate(tensor.shape) if size > 1), None)
        return axis if axis is not None and tensor.shape[axis] in (self.size, self.elements) else None

    def grid(self, launch: Launch) -> tuple[int, int, int]:
        """The grid's sizes with that which follows the dimension; raises _Unclear where none does, or several do."""
        assert launch.grid is not None
        kinds = dict(launch.signature)
        blocks = [
            1,
            *(value for name, value in launch.arguments if kinds.get(name) == "constexpr" and _is_block(value)),
        ]
        found = [self._axis(size, blocks) if size > 1 else None for size in launch.grid]
        if prod(launch.grid) == 1:
            found[0] = self._axis(1, blocks)
        if sum(one is not None for one in found) != 1:
            raise _Unclear
        x, y, z = (size if one is None else one for size, one in zip(launch.grid, found, strict=True))
        return x, y, z

    def _axis(self, size: int, blocks: list[int]) -> int | None:
        for whole in (self.size, self.elements):
            for block in blocks:
                if size == -(-whole // block):
                    return -(-whole * self.times // block)
        return None

    def grown(self, value: Any) -> Any:
        """An argument as it would be."""
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if type(value) is int and value in (self.size, self.elements) and value > 1:
            return value * self.times
        return value

    def _tensor(self, tensor: torch.Tensor) -> torch.Tensor:
        with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
            axis, shape = self.axis_of(tensor), list(tensor.shape)
            if axis is not None:
                shape[axis] *= self.times
            strides = tensor.stride()
            if prod(shape) and not tensor.is_contiguous() and axis is not None and strides[axis] != max(strides):
                raise _Unclear
            made = torch.empty_strided(shape, strides, dtype=tensor.dtype, device="meta")
            if not tensor.is_floating_point() and 0 < tensor.numel() <= _MOST_INDICES:
                low, high = (int(bound) for bound in tensor.aminmax())
                imagine(made, low, high + 1)
            return made


def _is_block(value: Any) -> bool:
    """Whether a constant may be the size of a block."""
    return type(value) is int and value > 1
