"""What the variables of a kernel are when the CPU engine executes a launch. Imports torch where it is called."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    from tritonaudit.capture.launch import Launch
    from tritonaudit.simulator.ir import Operation, Region
    from tritonaudit.simulator.machine import Frame, Handler, Machine

_VISITS = 4
"""So often an operation's result is looked at in a launch."""
_ELEMENTS = 1 << 20


@dataclass(frozen=True, eq=False)
class Seen:
    """A result of an operation that Triton names after a variable: all elements, of shape (programs or 1, *sizes)."""

    name: str
    line: int
    element: str
    shape: tuple[int, ...]
    elements: torch.Tensor | None
    ids: tuple[torch.Tensor, torch.Tensor, torch.Tensor]


@dataclass(eq=False)
class Watched:
    """A launch that was executed: the numbers that it gives by name, its grid, and what was seen."""

    launch: Launch
    given: Mapping[str, int]
    seen: list[Seen] = field(default_factory=list)


class Watching:
    """Executes launches, and keeps what variables are."""

    def __init__(self) -> None:
        self.launches: list[Watched] = []

    def launch(self, launch: Launch, bound: Mapping[str, Any]) -> None:
        """Execute one. Raises NotSimulated, and NoProgram where there is nothing to execute."""
        from tritonaudit.simulator.engine import Run, execute
        from tritonaudit.simulator.live import begun

        with begun(launch, bound) as (program, module, grid, arguments):
            watched = Watched(launch, _given(launch, bound))
            named = {id(one) for one in _assigned(module.kernel.region, launch.kernel.path).values()}
            run = Run(is_checked=False, contracts=program.contracts, handlers=_noting(watched, named))
            execute(module, grid, arguments, run)
        self.launches.append(watched)


def _given(launch: Launch, bound: Mapping[str, Any]) -> dict[str, int]:
    """The integers among what was passed, the compile-time constants included."""
    passed = {**dict(launch.arguments), **bound}
    return {name: int(value) for name, value in passed.items() if isinstance(value, (bool, int))}


def _assigned(region: Region, path: str) -> dict[tuple[str, int], Operation]:
    """By name and line the last operation that Triton names after a variable: that which it was assigned.

    Where a helper's operations come after it, or one that uses it under another name, one of them is what was assigned,
    and none is kept: an operation has the last of the names that its result gets.
    """
    found: dict[tuple[str, int], Operation] = {}
    for block in region.blocks:
        for operation in block.operations:
            for inner in operation.regions:
                found.update(_assigned(inner, path))
            place = operation.location
            if place is not None and place.callers:
                for key in [key for key in found if key[1] == place.callers[-1].line]:
                    del found[key]
            elif place is not None and place.name and place.path == path:
                used = {(name, line) for (name, line), one in found.items() if _uses(operation, one)}
                for key in used - {(place.name, place.line)}:
                    if key[1] == place.line:
                        del found[key]
                found[place.name, place.line] = operation
    return found


def _uses(operation: Operation, other: Operation) -> bool:
    return not set(other.results).isdisjoint(operation.operands)


def _noting(watched: Watched, named: Collection[int]) -> Callable[[Mapping[str, Handler]], Mapping[str, Handler]]:
    visits: dict[int, int] = {}

    def wrapped(handler: Handler) -> Handler:
        def execute(machine: Machine, operation: Operation, frame: Frame) -> tuple[Any, ...]:
            result = handler(machine, operation, frame)
            if id(operation) in named and len(result) == 1 and not frame.has_lanes:
                visits[id(operation)] = visits.get(id(operation), 0) + 1
                if visits[id(operation)] <= _VISITS:
                    watched.seen.append(_seen(operation, frame, result[0]))
            return result

        return execute

    return lambda known: {name: wrapped(handler) for name, handler in known.items()}


def _seen(operation: Operation, frame: Frame, value: Any) -> Seen:
    type = frame.result(operation)
    assert operation.location is not None
    elements = None
    if type.element not in ("ptr", "desc") and value.undefined is None:
        found = value.tensor(type)
        elements = found if found.numel() <= _ELEMENTS else None
    x, y, _ = frame.programs.grid
    numbers = frame.programs.numbers
    ids = (numbers % x, numbers // x % y, numbers // (x * y))
    return Seen(operation.location.name, operation.location.line, type.element, type.shape, elements, ids)
