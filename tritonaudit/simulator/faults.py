"""What goes wrong when a launch is executed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import Enum

import torch

from tritonaudit.simulator.ir import Location
from tritonaudit.simulator.programs import Grid, Programs


class Kind(Enum):
    """What a fault is."""

    OUT_OF_BOUNDS_LOAD = "out-of-bounds load"
    OUT_OF_BOUNDS_STORE = "out-of-bounds store"
    OUT_OF_BOUNDS_ATOMIC = "out-of-bounds atomic"
    BETWEEN_ELEMENTS = "access between the elements of a strided view"
    NO_TENSOR = "access to no tensor of the launch"
    MISALIGNED = "misaligned access"
    UNDEFINED_STORED = "undefined value stored"
    MASKED_STORED = "value stored of lanes that a load's mask left out"
    UNDEFINED_ADDRESS = "address from an undefined value"
    UNDEFINED_BRANCH = "branch on an undefined value"
    RACE_WRITE_WRITE = "race between two writes"
    RACE_READ_WRITE = "race between a read and a write"
    SAME_WRITES = "programs write the same to one place"
    LANES_COLLIDE = "lanes of one store collide"
    OVERFLOW_ADDRESS = "address from an integer that overflowed"
    DIVISION_BY_ZERO = "integer division by zero"
    ASSERTION = "assertion failed"


@dataclass(frozen=True)
class Fault:
    """A fault at an operation, with its first occurrence and how many lanes have it in all.

    `element` counts the tensor's elements from the first of the view, in memory's order; `other` is the program on the
    other side of a race; `origin` is where a value became undefined or overflowed.
    """

    kind: Kind
    location: Location | None
    tensor: str = ""
    program: Grid = (0, 0, 0)
    lane: tuple[int, ...] = ()
    element: int | None = None
    other: Grid | None = None
    origin: Location | None = None
    detail: str = ""
    count: int = 1


@dataclass(frozen=True, eq=False)
class Site:
    """An operation being executed, and the programs that execute it."""

    programs: Programs
    location: Location | None

    def take(self, places: torch.Tensor) -> Site:
        """Of the programs at these places."""
        return Site(self.programs.take(places), self.location)


@dataclass
class Faults:
    """The faults of a launch, one for each kind, place and tensor."""

    found: dict[tuple[Kind, Location | None, str], Fault] = field(default_factory=dict)

    def add(self, fault: Fault) -> None:
        key = (fault.kind, fault.location, fault.tensor)
        before = self.found.get(key)
        self.found[key] = fault if before is None else replace(before, count=before.count + fault.count)

    def add_lanes(
        self,
        fault: Fault,
        bad: torch.Tensor,
        site: Site,
        elements: torch.Tensor | None = None,
        others: torch.Tensor | None = None,
    ) -> None:
        """Report the lanes in which `bad` holds; all tensors are of shape (programs or 1, *sizes).

        `elements` are those that are accessed, `others` the numbers of the programs on the other side.
        """
        places = bad.nonzero()
        if not len(places):
            return
        first = tuple(places[0].tolist())
        other = None if others is None else int(others.expand(bad.shape)[first])
        self.add(
            replace(
                fault,
                program=site.programs.id(min(first[0], len(site.programs) - 1)),
                lane=first[1:],
                element=None if elements is None else int(elements.expand(bad.shape)[first]),
                other=None if other is None or other < 0 else numbered(site.programs.grid, other),
                count=len(places),
            )
        )

    def __iter__(self) -> Iterator[Fault]:
        return iter(self.found.values())


def numbered(grid: Grid, number: int) -> Grid:
    """The program ids of the program with that number."""
    return number % grid[0], number // grid[0] % grid[1], number // (grid[0] * grid[1])
