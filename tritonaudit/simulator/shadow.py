"""What is known of each cell of a memory: whether anyone wrote it, and which programs wrote and read it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

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


@dataclass
class _Touched:
    """Between which cells all accesses so far lie."""

    low: int = 0
    high: int = 0

    def meets(self, low: int, high: int) -> bool:
        return self.low < high and low < self.high

    def grow(self, low: int, high: int) -> None:
        if low < high:
            empty = self.low >= self.high
            self.low = low if empty else min(self.low, low)
            self.high = high if empty else max(self.high, high)


@dataclass
class Shadow:
    """The cells of one memory. Programs are told apart only where the launch writes to it (`is_shared`).

    `undefined` tells of each byte whether nobody has written it; None where all are written.
    """

    cells: int
    is_shared: bool
    undefined: torch.Tensor | None = None
    _writer: torch.Tensor | None = None
    _reader: torch.Tensor | None = None
    _by_atomic: torch.Tensor | None = None
    _clock: torch.Tensor | None = None
    _written: _Touched = field(default_factory=_Touched)
    _read: _Touched = field(default_factory=_Touched)

    @property
    def is_kept(self) -> bool:
        """Whether there is anything to note or to find."""
        return self.is_shared or self.undefined is not None

    def read(self, cells: Selection, programs: Programs, clocks: Clocks) -> list[Conflict]:
        """Note a load, and say which lanes read what another program wrote."""
        if not self.is_shared or len(programs.numbers) == 0:
            return []
        low, high = cells.bounds
        found = []
        if self._written.meets(low, high):
            own = cells.for_each(len(programs))
            writer = own.of(self._writers)
            bad = (writer != NOBODY) & (writer != _numbers(programs, own))
            found += self._unordered(bad, writer, own, programs, clocks, is_write=True)
        before = cells.of(self._readers) if self._read.meets(low, high) else None
        numbers = _numbers(programs, cells)
        is_shared = len(programs) > 1 and numbers.shape[0] == 1
        self._note_reader(cells, torch.full_like(numbers, SEVERAL) if is_shared else numbers, before)
        self._read.grow(low, high)
        return found

    def define(self, elements: Selection, size: int) -> None:
        """Note that elements of that many bytes are written."""
        if self.undefined is not None:
            elements.define(self.undefined, size)

    def write(self, cells: Selection, programs: Programs, clocks: Clocks, *, is_atomic: bool = False) -> list[Conflict]:
        """Note a store, and say which lanes write what another program wrote or read."""
        if not self.is_shared or len(programs.numbers) == 0:
            return []
        numbers = _numbers(programs, cells)
        low, high = cells.bounds
        found = []
        if self._written.meets(low, high):
            writer = cells.of(self._writers)
            bad = (writer != NOBODY) & (writer != numbers)
            if is_atomic:
                bad &= ~cells.of(self._atomics)
            found += self._unordered(bad, writer.clone(), cells, programs, clocks, is_write=True)
        if self._read.meets(low, high):
            reader = cells.of(self._readers)
            bad = (reader != NOBODY) & (reader != numbers)
            found += self._unordered(bad, reader, cells, programs, clocks, is_write=False)
        cells.put(self._writers, numbers)
        if is_atomic or self._by_atomic is not None:
            cells.fill(self._atomics, is_atomic)
        if clocks.is_kept:
            cells.put(self._clocks, _lanes(clocks.of(programs), cells))
        self._written.grow(low, high)
        if not is_atomic and not cells.is_injective:
            last = cells.of(self._writers)
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

    def _note_reader(self, cells: Selection, numbers: torch.Tensor, before: torch.Tensor | None) -> None:
        if before is not None:
            numbers = torch.where((before == NOBODY) | (before == numbers), numbers, SEVERAL)
        cells.put(self._readers, numbers)
        if not cells.is_injective:
            after = cells.of(self._readers)
            cells.put(self._readers, torch.where(after == numbers, after, SEVERAL).to(torch.int32))

    @property
    def _writers(self) -> torch.Tensor:
        if self._writer is None:
            self._writer = torch.full((self.cells,), NOBODY, dtype=torch.int32)
        return self._writer

    @property
    def _readers(self) -> torch.Tensor:
        if self._reader is None:
            self._reader = torch.full((self.cells,), NOBODY, dtype=torch.int32)
        return self._reader

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
    shape = cells.shape if isinstance(cells, Strided) else tuple(cells.index.shape)
    column = per_program.reshape(-1, *([1] * (len(shape) - 1)))
    return column.expand(shape) if shape[0] == len(per_program) else column[-1:].expand(shape)


def _kept(conflicts: list[Conflict], cells: Selection) -> list[Conflict]:
    found = []
    for conflict in conflicts:
        bad = cells.kept_of(conflict.bad)
        if bool(bad.any()):
            found.append(replace(conflict, bad=bad))
    return found
