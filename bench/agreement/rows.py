"""Lays both sides next to one another, and says whether they agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from bench.agreement.facts import LOAD, STORE, Access, Compiled, Counted, Loaded

_LANES = 32
"""Of a warp. A sector has 32 bytes too: adjacent lanes touch as many sectors as each of them has bytes."""

_DEVIATION = 0.01

_SLACK = 0.05
"""The last request of a row, of which some lanes are masked off, pulls the mean down by less than this."""


@dataclass(frozen=True)
class ResourceRow:
    """One launch: what the compile stage says of its kernel, and what the driver does."""

    compiled: Compiled
    loaded: Loaded

    FIGURES = ("registers", "local", "shared", "occupancy")

    @property
    def differing(self) -> tuple[str, ...]:
        """The figures that the sides do not have in common; one that the driver does not tell is left out."""
        return tuple(
            name
            for name in self.FIGURES
            if getattr(self.loaded, name) is not None and getattr(self.compiled, name) != getattr(self.loaded, name)
        )

    @property
    def error(self) -> str:
        return self.compiled.error or self.loaded.error

    @property
    def agrees(self) -> bool:
        return not self.error and not self.differing

    @property
    def same_program(self) -> bool:
        """Whether Triton's front end made the same TTIR of the call on both sides."""
        return bool(self.loaded.program) and self.compiled.program == self.loaded.program

    @property
    def is_correct(self) -> bool:
        """Whether the kernel computed on the GPU what PyTorch does."""
        return self.loaded.deviation is not None and self.loaded.deviation <= _DEVIATION


@dataclass(frozen=True)
class AccessRow:
    """The loads, or the stores, of one launch: the compile stage's word on their width, and the profiler's counts."""

    subject: str
    kind: str
    accesses: tuple[Access, ...]
    moved: int
    requests: int
    sectors: int

    @cached_property
    def width(self) -> float:
        """Bytes per lane and request, as the compile stage has it."""
        instructions = sum(access.instructions for access in self.accesses)
        return sum(access.bytes * access.instructions for access in self.accesses) / instructions

    @property
    def measured_width(self) -> float:
        """The bytes that had to be moved, over the lanes of all requests."""
        return self.moved / self.requests / _LANES

    @property
    def measured_sectors(self) -> float:
        """Sectors per request."""
        return self.sectors / self.requests

    @cached_property
    def causes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(access.cause for access in self.accesses if access.cause))

    @cached_property
    def lane_step(self) -> int:
        return max(access.lane_step for access in self.accesses)

    @property
    def sectors_range(self) -> tuple[float, float]:
        """The sectors that a request is expected to touch.

        Adjacent lanes touch as many as each has bytes, and one more where the address is not a sector's. A narrow
        access may leave its lanes as far apart as the wide one would put them; lanes that a stride separates touch up
        to one sector each.
        """
        if self.lane_step:
            return min(_LANES, max(self.width, self.lane_step)), _LANES
        return self.width, max(self.width, *(access.could_be for access in self.accesses)) + 1

    @property
    def verdict(self) -> str:
        return f"narrow: {', '.join(self.causes)}" if self.causes else "not narrow"

    @property
    def agrees(self) -> bool:
        """The width is what the requests carry, and the sectors are what the verdict leads one to expect."""
        low, high = self.sectors_range
        same_width = abs(self.measured_width - self.width) <= _SLACK * self.width
        return same_width and low * (1 - _SLACK) <= self.measured_sectors <= high


def resource_rows(compiled: Sequence[Compiled], loaded: Sequence[Loaded]) -> list[ResourceRow]:
    """One row for each launch."""
    other = {one.subject: one for one in loaded}
    return [ResourceRow(one, other.get(one.subject, Loaded(one.subject, error="not run"))) for one in compiled]


def access_rows(
    plain: Mapping[str, Sequence[str]], rows: Sequence[ResourceRow], counted: Sequence[Counted]
) -> list[AccessRow]:
    """A row for each kind of access of a subject that `plain` names."""
    counts = {one.subject: one for one in counted}
    return [row for one in rows if one.compiled.subject in counts for row in _accesses(one, plain, counts)]


def _accesses(
    row: ResourceRow, plain: Mapping[str, Sequence[str]], counts: Mapping[str, Counted]
) -> Iterator[AccessRow]:
    count, loaded = counts[row.compiled.subject], row.loaded
    for kind, moved, requests, sectors in (
        (LOAD, loaded.read, count.load_requests, count.load_sectors),
        (STORE, loaded.written, count.store_requests, count.store_sectors),
    ):
        accesses = tuple(access for access in row.compiled.accesses if access.kind == kind)
        if kind in plain[row.compiled.subject] and accesses and requests:
            yield AccessRow(row.compiled.subject, kind, accesses, moved, requests, sectors)
