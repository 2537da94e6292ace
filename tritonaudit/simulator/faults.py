"""What goes wrong when a launch is executed."""

from __future__ import annotations

import linecache
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Protocol

import torch

from tritonaudit.simulator.affine import Places
from tritonaudit.simulator.ir import Function, Location, Operation
from tritonaudit.simulator.programs import Grid, Programs
from tritonaudit.simulator.values import Value


class FaultKind(Enum):
    """What a fault is."""

    OUT_OF_BOUNDS_LOAD = "out-of-bounds load"
    OUT_OF_BOUNDS_STORE = "out-of-bounds store"
    OUT_OF_BOUNDS_ATOMIC = "out-of-bounds atomic"
    BETWEEN_ELEMENTS = "access between the elements of a strided view"
    NO_TENSOR = "access to no tensor of the launch"
    MISALIGNED = "misaligned access"
    UNDEFINED_STORED = "undefined value stored"
    MASKED_STORED = "value stored from lanes that a load's mask left out"
    UNDEFINED_ADDRESS = "address from an undefined value"
    UNDEFINED_BRANCH = "branch on an undefined value"
    UNDEFINED_MASK = "mask from an undefined value"
    MASKED_MASK = "mask from lanes that a load's mask left out"
    RACE_WRITE_WRITE = "race between two writes"
    RACE_READ_WRITE = "race between a read and a write"
    SAME_WRITES = "programs write the same to one place"
    LANES_COLLIDE = "lanes of one store collide"
    LANES_WRITE_WRITE = "race between two writes by lanes of one program"
    LANES_READ_WRITE = "race between a read and a write by lanes of one program"
    OVERFLOW_ADDRESS = "address from an integer that overflowed"
    DIVISION_BY_ZERO = "integer division by zero"
    ASSERTION = "assertion failed"
    WAITS_FOREVER = "wait for what no program does"
    UNKNOWN_BRANCH = "branch on a value that is not known"
    UNKNOWN_ADDRESS = "address from a value that is not known"
    UNKNOWN_MASK = "mask from a value that is not known"
    LONG_LOOP = "loop of too many rounds to follow"

    @property
    def is_undecided(self) -> bool:
        """Whether it is no fault, but says that what happens there is unknown."""
        return self in (
            FaultKind.UNKNOWN_BRANCH,
            FaultKind.UNKNOWN_ADDRESS,
            FaultKind.UNKNOWN_MASK,
            FaultKind.LONG_LOOP,
        )

    @property
    def is_harmless(self) -> bool:
        """Whether all GPUs do the same, although the language leaves it open: load zeros, or write the same twice."""
        return self in (FaultKind.MASKED_STORED, FaultKind.MASKED_MASK, FaultKind.SAME_WRITES)


@dataclass(frozen=True)
class Step:
    """A line on the way to a fault, and what its variables, the program's number and lane and so on were there."""

    path: str
    line: int
    values: tuple[tuple[str, int | float | bool], ...] = ()

    def __str__(self) -> str:
        source = linecache.getline(self.path, self.line).strip()
        held = ", ".join(f"{name} = {value}" for name, value in self.values)
        return f"{_short(self.path)}:{self.line}  {source}" + (f"  # {held}" if held else "")


@dataclass(frozen=True)
class Fault:
    """A fault at an operation, with its first occurrence and how many lanes have it in all.

    `element` counts the tensor's elements from the first of the view, in memory's order; `other` is the program on the
    other side of a race, and `beside` where it may access the element; `origin` is where a value became undefined or
    overflowed. `chain` are the lines that what the fault is about went through: from where it became undefined, else
    from all that it is computed of, up to loads.
    """

    kind: FaultKind
    location: Location | None
    tensor: str = ""
    program: Grid = (0, 0, 0)
    lane: tuple[int, ...] = ()
    element: int | None = None
    other: Grid | None = None
    beside: tuple[Location, ...] = ()
    origin: Location | None = None
    detail: str = ""
    count: int = 1
    chain: tuple[Step, ...] = ()

    def __str__(self) -> str:
        """One line that says what happens where, and the chain's lines below it."""
        where = "" if self.location is None else f"{_short(self.location.path)}:{self.location.line}: "
        element = "" if self.element is None else f"[{self.element}]"
        parts = [
            f"{self.tensor}{element}",
            f"program {self.program}" + (f" lane {self.lane}" if self.lane else ""),
            "" if self.other is None else f"and program {self.other}",
            self.detail,
            f"{self.count} times" if self.count > 1 else "",
        ]
        said = f"{where}{self.kind.value}: {', '.join(part for part in parts if part)}"
        return "\n".join([said, *(f"    {step}" for step in self.chain)])


class Environment(Protocol):
    """What values are where an operation is executed; `has_lanes` says that its scalars stand for many."""

    function: Function
    has_lanes: bool

    def __getitem__(self, number: int) -> Value:
        """Raises KeyError."""


# Not frozen, as every access makes one, which would take three times as long. Nothing changes it once made.
@dataclass(eq=False, slots=True)
class Site:
    """An operation being executed, and the programs that execute it: those at the `places` in the frame (None: all)."""

    programs: Programs
    operation: Operation
    frame: Environment
    places: Places | None = None

    @property
    def location(self) -> Location | None:
        return self.operation.location

    def take(self, places: Places) -> Site:
        """Of the programs at these places."""
        inner = places if self.places is None else _listed(self.places)[places]
        return Site(self.programs.take(places), self.operation, self.frame, inner)

    def place_in_frame(self, number: int) -> int:
        """Where the frame has the program that is at that place here, or the last one."""
        return number if self.places is None else int(_listed(self.places)[min(number, len(self.programs) - 1)])


@dataclass
class Faults:
    """The faults of a launch, one for each kind, place and tensor.

    `chain` tells, of a fault, its site and the place of its program and lane there, how it came about.
    """

    chain: Callable[[Fault, Site, tuple[int, ...]], tuple[Step, ...]] = lambda *_: ()
    found: dict[tuple[FaultKind, Location | None, str], Fault] = field(default_factory=dict)

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
        if self.is_known(fault, len(places)):
            return
        first = tuple(places[0].tolist())
        other = None if others is None else int(others.expand(bad.shape)[first])
        self.found[fault.kind, fault.location, fault.tensor] = replace(
            fault,
            program=site.programs.id(min(first[0], len(site.programs) - 1)),
            lane=first[1:],
            element=None if elements is None else int(elements.expand(bad.shape)[first]),
            other=None if other is None or other < 0 else numbered(site.programs.grid, other),
            count=len(places),
            chain=self.chain(fault, site, first),
        )

    def is_known(self, fault: Fault, count: int) -> bool:
        """Whether it has been reported before: then so many lanes more have it."""
        key = (fault.kind, fault.location, fault.tensor)
        before = self.found.get(key)
        if before is not None:
            self.found[key] = replace(before, count=before.count + count)
        return before is not None

    def __iter__(self) -> Iterator[Fault]:
        return iter(self.found.values())


def _listed(places: Places) -> torch.Tensor:
    return torch.arange(places.start, places.stop) if isinstance(places, slice) else places


def numbered(grid: Grid, number: int) -> Grid:
    """The program ids of the program with that number."""
    return number % grid[0], number // grid[0] % grid[1], number // (grid[0] * grid[1])


def _short(path: str) -> str:
    """Below the working directory, what the path is from there."""
    inside = os.path.relpath(path)
    return path if inside.startswith(os.pardir) else inside
