"""What is known of each cell of a memory: whether anyone wrote it, and which programs wrote and read it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import torch

from tritonaudit.simulator.programs import Programs
from tritonaudit.simulator.selection import Selection, Strided
from tritonaudit.simulator.sync import Clocks

NOBODY, SEVERAL = -1, -2


@dataclass(frozen=True)
class Conflict:
    """Lanes in which a program meets another: `bad` and the numbers of the `others` are of the selection's shape.

    `is_earlier`: the other's access is one before this, and not this one.
    """

    is_write: bool
    bad: torch.Tensor
    others: torch.Tensor
    is_earlier: bool = True


_MOST_WAITING = 64


@dataclass(eq=False)
class _Touched:
    """Which program touched each cell, and between which cells all of them lie.

    Accesses that meet no others wait to be noted until someone asks: most are never asked for.
    """

    cells: int
    low: int = 0
    high: int = 0
    _numbers: torch.Tensor | None = None
    _waiting: list[tuple[Selection, Programs]] = field(default_factory=list)

    def meets(self, cells: Selection) -> bool:
        low, high = cells.bounds
        return self.low < high and low < self.high

    def put(self, cells: Selection, numbers: torch.Tensor) -> None:
        cells.put(self.numbers, numbers)
        self._grow(cells)

    def put_alone(self, cells: Selection, programs: Programs) -> None:
        """The same where the cells meet none before, nor each other."""
        if self._numbers is None and isinstance(cells, Strided) and len(self._waiting) < _MOST_WAITING:
            self._waiting.append((cells, programs))
            self._grow(cells)
        else:
            self.put(cells, _numbers(programs, cells))

    @property
    def numbers(self) -> torch.Tensor:
        """Of each cell that of the program, NOBODY, or SEVERAL."""
        if self._numbers is None:
            self._numbers = torch.full((self.cells,), NOBODY, dtype=torch.int32)
            for cells, programs in self._waiting:
                cells.put(self._numbers, _numbers(programs, cells))
            self._waiting.clear()
        return self._numbers

    def _grow(self, cells: Selection) -> None:
        low, high = cells.bounds
        if low < high:
            empty = self.low >= self.high
            self.low = low if empty else min(self.low, low)
            self.high = high if empty else max(self.high, high)


@dataclass
class Shadow:
    """The cells of one memory. Programs are distinguished only where the launch writes to it (`is_shared`).

    `undefined` tells of each byte whether nobody has written it; None where all are written.
    """

    cells: int
    is_shared: bool
    undefined: torch.Tensor | None = None
    _by_atomic: torch.Tensor | None = None
    _clock: torch.Tensor | None = None

    @cached_property
    def _written(self) -> _Touched:
        return _Touched(self.cells)

    @cached_property
    def _read(self) -> _Touched:
        return _Touched(self.cells)

    @property
    def is_kept(self) -> bool:
        """Whether there is anything to note or to find."""
        return self.is_shared or self.undefined is not None

    def read(self, cells: Selection, programs: Programs, clocks: Clocks) -> list[Conflict]:
        """Note a load, and say which lanes read what another program wrote."""
        if not self.is_shared or len(programs) == 0:
            return []
        found = []
        if self._written.meets(cells):
            own = cells.for_each(len(programs))
            writer = own.of(self._written.numbers)
            bad = (writer != NOBODY) & (writer != _numbers(programs, own))
            found += self._unordered(bad, writer, own, programs, clocks, is_write=True)
        self._note_readers(cells, programs)
        return found

    def define(self, elements: Selection, size: int) -> None:
        """Note that elements of that many bytes are written."""
        if self.undefined is not None:
            elements.define(self.undefined, size)

    def write(self, cells: Selection, programs: Programs, clocks: Clocks, *, is_atomic: bool = False) -> list[Conflict]:
        """Note a store, and say which lanes write what another program wrote or read."""
        if not self.is_shared or len(programs) == 0:
            return []
        is_written, is_read = self._written.meets(cells), self._read.meets(cells)
        if not (is_written or is_read or is_atomic or clocks.is_kept) and cells.is_injective:
            self._written.put_alone(cells, programs)
            return []
        numbers = _numbers(programs, cells)
        found = []
        if is_written:
            writer = cells.of(self._written.numbers)
            bad = (writer != NOBODY) & (writer != numbers)
            if is_atomic:
                bad &= ~cells.of(self._atomics)
            found += self._unordered(bad, writer.clone(), cells, programs, clocks, is_write=True)
        if is_read:
            reader = cells.of(self._read.numbers)
            bad = (reader != NOBODY) & (reader != numbers)
            found += self._unordered(bad, reader, cells, programs, clocks, is_write=False)
        self._written.put(cells, numbers)
        if is_atomic or self._by_atomic is not None:
            cells.fill(self._atomics, is_atomic)
        if clocks.is_kept:
            cells.put(self._clocks, _lanes(clocks.of(programs), cells))
        if not is_atomic and not cells.is_injective:
            last = cells.of(self._written.numbers)
            found += _kept([Conflict(True, last != numbers, last, is_earlier=False)], cells)
        return found

    def _unordered(
        self,
        bad: torch.Tensor,
        others: torch.Tensor,
        cells: Selection,
        programs: Programs,
        clocks: Clocks,
        is_write: bool,
    ) -> list[Conflict]:
        """The conflict, without the lanes in which an atomic orders the two programs."""
        if clocks.is_kept and bool(bad.any()):
            bad = bad & ~clocks.orders(others, cells.of(self._clocks) if is_write else None, programs)
        return _kept([Conflict(is_write, bad, others)], cells)

    def _note_readers(self, cells: Selection, programs: Programs) -> None:
        cells = cells.once()
        is_first = not self._read.meets(cells)
        is_shared = cells.shape[0] < len(programs)
        if is_first and not is_shared and cells.is_injective:
            self._read.put_alone(cells, programs)
            return
        numbers = _numbers(programs, cells)
        if is_shared:
            numbers = torch.full_like(numbers, SEVERAL)
        if not is_first:
            before = cells.of(self._read.numbers)
            numbers = torch.where((before == NOBODY) | (before == numbers), numbers, SEVERAL)
        self._read.put(cells, numbers)
        if not cells.is_injective:
            after = cells.of(self._read.numbers)
            self._read.put(cells, torch.where(after == numbers, after, SEVERAL).to(torch.int32))

    @property
    def _atomics(self) -> torch.Tensor:
        if self._by_atomic is None:
            self._by_atomic = torch.zeros(self.cells, dtype=torch.bool)
        return self._by_atomic

    @property
    def _clocks(self) -> torch.Tensor:
        if self._clock is None:
            self._clock = torch.zeros(self.cells, dtype=torch.int32)
        return self._clock


def _numbers(programs: Programs, cells: Selection) -> torch.Tensor:
    """Which program each lane belongs to."""
    return _lanes(programs.numbers.to(torch.int32), cells)


def _lanes(per_program: torch.Tensor, cells: Selection) -> torch.Tensor:
    """What each program has, in all of its lanes; of lanes that are all programs', what the last has."""
    shape = cells.shape
    column = per_program.reshape(-1, *([1] * (len(shape) - 1)))
    return column.expand(shape) if shape[0] == len(per_program) else column[-1:].expand(shape)


def _kept(conflicts: list[Conflict], cells: Selection) -> list[Conflict]:
    found = []
    for conflict in conflicts:
        bad = cells.kept_of(conflict.bad)
        if bool(bad.any()):
            found.append(replace(conflict, bad=bad))
    return found
