"""Which programs atomics put in order: who released before whom acquired."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import torch

from tritonaudit.simulator.programs import Programs

_MOST_APART = 256
"""Programs of a launch up to which it is known of each what it has seen of every other one."""
_KEPT = 16
"""Of so many of the latest releases of each program it is known when they were, however many there are."""
_NEVER = torch.iinfo(torch.int64).max


@dataclass(frozen=True)
class Ordering:
    """Whether others may see by an atomic what its program did before (`releases`), and it what others did before."""

    releases: bool
    acquires: bool


def ordering(sem: str, scope: str) -> Ordering:
    """That of an atomic with this meaning, among programs: one in the scope of a program orders nothing with others."""
    if scope == "cta":
        return Ordering(releases=False, acquires=False)
    return Ordering(sem in ("release", "acq_rel"), sem in ("acquire", "acq_rel"))


def clocks_of(programs: int, *, is_kept: bool) -> Clocks:
    """Those of a launch of so many programs, before any of them runs."""
    return ByPlace(programs, is_kept) if programs <= _MOST_APART else Clocks(programs, is_kept)


@dataclass
class Clocks:
    """How many releasing atomics each program has executed, and when, and when it last acquired.

    A program that acquires after another one has released sees what that one wrote before, whichever places they are
    at: that orders more than the memory model does, so that what is reported is no false alarm. For the same reason a
    release that is long past is taken to be before every acquire. `_times` has a row of all programs for each of the
    releases that are kept, the one of number n in the row n modulo their count.
    """

    programs: int
    is_kept: bool
    _now: int = 0
    _times: list[torch.Tensor] = field(default_factory=list)

    @cached_property
    def _count(self) -> torch.Tensor:
        return torch.zeros(self.programs, dtype=torch.int64)

    @cached_property
    def _last(self) -> torch.Tensor:
        return torch.full((self.programs,), -1, dtype=torch.int64)

    def tick(self, programs: Programs, ordering: Ordering, places: Sequence[Hashable] | None = None) -> None:
        """The programs execute an atomic, one after the other: each at a place of its own, or at several (None)."""
        if not self.is_kept or not len(programs):
            return
        numbers = programs.numbers
        times = self._now + torch.arange(len(numbers))
        self._now += len(numbers)
        if ordering.acquires:
            self._last[numbers] = times
        if ordering.releases:
            self._release(numbers, times)

    def _release(self, numbers: torch.Tensor, times: torch.Tensor) -> None:
        counts = self._count[numbers]
        while len(self._times) <= min(int(counts.max()), _KEPT - 1):
            self._times.append(torch.zeros(self.programs, dtype=torch.int64))
        rows = counts % _KEPT
        for row in rows.unique().tolist():
            here = rows == row
            self._times[row][numbers[here]] = times[here]
        self._count[numbers] = counts + 1

    def of(self, programs: Programs) -> torch.Tensor:
        """How many releasing atomics each has executed, of shape (programs, 1…)."""
        return self._count[programs.numbers].to(torch.int32)

    def orders(self, others: torch.Tensor, clock: torch.Tensor | None, programs: Programs) -> torch.Tensor:
        """Where another program's access, made at its `clock`, comes before what the programs do now.

        Of reads no clock is kept: it is enough that one has released, ever, and the other acquired.
        """
        rank = others.dim()
        own = self._last[programs.numbers].reshape(-1, *([1] * (rank - 1)))
        known = others.clamp(min=0).to(torch.int64)
        if clock is None or not self._times:
            return ((self._count[known] > 0) | (others < 0)) & (own >= 0)
        number = clock.to(torch.int64)
        released = torch.stack(self._times)[(number % _KEPT).clamp(max=len(self._times) - 1), known]
        count = self._count[known]
        released = torch.where(number < count - _KEPT, -1, torch.where(number < count, released, _NEVER))
        return released < own


@dataclass
class ByPlace(Clocks):
    """Clocks of few programs: who acquires at a place sees what was done before the releases there, and no more.

    An atomic at several places at once is taken to be at all that there are. A row has of each program how many of its
    releases are seen: `_seen` by each program, `_at` by who acquires at a place.
    """

    _at: dict[Hashable, torch.Tensor] = field(default_factory=dict)

    @cached_property
    def _seen(self) -> torch.Tensor:
        return torch.zeros((self.programs, self.programs), dtype=torch.int32)

    @cached_property
    def _anywhere(self) -> torch.Tensor:
        return self._nothing()

    @cached_property
    def _everywhere(self) -> torch.Tensor:
        return self._nothing()

    def _nothing(self) -> torch.Tensor:
        return torch.zeros(self.programs, dtype=torch.int32)

    def tick(self, programs: Programs, ordering: Ordering, places: Sequence[Hashable] | None = None) -> None:
        if not self.is_kept or not (ordering.acquires or ordering.releases):
            return
        for turn, number in enumerate(programs.numbers.tolist()):
            at = None if places is None else self._at.setdefault(places[turn], self._nothing())
            seen = self._seen[number]
            if ordering.acquires:
                for known in (self._anywhere,) if at is None else (at, self._everywhere):
                    torch.maximum(seen, known, out=seen)
            if ordering.releases:
                seen[number] += 1
                for known in (self._anywhere, self._everywhere if at is None else at):
                    torch.maximum(known, seen, out=known)

    def of(self, programs: Programs) -> torch.Tensor:
        return self._seen.diagonal()[programs.numbers]

    def orders(self, others: torch.Tensor, clock: torch.Tensor | None, programs: Programs) -> torch.Tensor:
        own = self._seen[programs.numbers]
        known = others.clamp(min=0).to(torch.int64)
        seen = own.gather(1, known.reshape(len(own), -1)).reshape(others.shape)
        if clock is None:
            has_acquired = (own.sum(1) - self.of(programs) > 0).reshape(-1, *([1] * (others.dim() - 1)))
            return torch.where(others < 0, has_acquired, seen > 0)
        return seen > clock
