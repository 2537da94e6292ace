"""What accesses leave in the shadow of a memory, and what they meet there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch

from tritonaudit.simulator.faults import Fault, FaultKind, Faults, Site
from tritonaudit.simulator.ir import Location
from tritonaudit.simulator.memory import Buffer
from tritonaudit.simulator.selection import Indexed, Selection
from tritonaudit.simulator.shadow import Conflict, Shadow
from tritonaudit.simulator.sync import Clocks
from tritonaudit.simulator.values import Doubt


@dataclass(eq=False)
class Notes:
    """Notes who reads and writes what, and reports programs, and lanes, that get in each other's way.

    `is_apart`: it is known that no program accesses what another one writes, so that it need not be noted who does.
    `has_met` tells whether any did.
    """

    faults: Faults
    clocks: Clocks
    is_apart: bool = False
    has_met: bool = False
    _accesses: dict[tuple[int, bool], dict[Location | None, None]] = field(default_factory=dict)
    """Of each memory where it is written, and where it is read."""

    def read(self, buffer: Buffer, selection: Selection, size: int, site: Site) -> Doubt | None:
        """Note a load of elements of that size; what nobody has written is in doubt."""
        shadow = buffer.memory.shadow
        if not shadow.is_kept:
            return None
        if shadow.is_shared and not self.is_apart:
            cells = selection.in_cells(size // buffer.memory.cell)
            self._note(shadow, site, is_write=False)
            conflicts = shadow.read(cells, site.programs, self.clocks)
            self.has_met |= bool(conflicts)
            self._report(FaultKind.RACE_READ_WRITE, buffer, cells, conflicts, site)
        return self._unwritten(buffer, selection, size, site)

    def atomic(self, buffer: Buffer, selection: Selection, size: int, site: Site) -> Doubt | None:
        """Note an atomic; what nobody has written, and it reads, is in doubt."""
        cells = selection.in_cells(size // buffer.memory.cell)
        doubt = self._unwritten(buffer, selection, size, site)
        buffer.memory.shadow.define(selection, size)
        self._note(buffer.memory.shadow, site, is_write=True)
        conflicts = buffer.memory.shadow.write(cells, site.programs, self.clocks, is_atomic=True)
        self._report_written(buffer, cells, conflicts, site)
        return doubt

    def _unwritten(self, buffer: Buffer, selection: Selection, size: int, site: Site) -> Doubt | None:
        undefined = buffer.memory.shadow.undefined
        if undefined is None:
            return None
        unknown = selection.kept_of(selection.in_cells(size).of(undefined))
        return Doubt(~unknown, site.location) if bool(unknown.any()) else None

    def write(
        self, buffer: Buffer, selection: Selection, memory: torch.Tensor, values: torch.Tensor, site: Site
    ) -> None:
        """Write to memory, and note it.

        Two programs that write the same to one place do no harm unless it is the same by chance, which does not show
        here; nor does one that writes what is there to those that have read it.
        """
        shadow = buffer.memory.shadow
        shadow.define(selection, values.itemsize)
        cells = selection.in_cells(values.itemsize // buffer.memory.cell)
        if not self.is_apart:
            self._note(shadow, site, is_write=True)
        conflicts = [] if self.is_apart else shadow.write(cells, site.programs, self.clocks)
        self.has_met |= bool(conflicts)
        before = differ(selection.of(memory), values) if conflicts else None
        selection.put(memory, values)
        if before is not None:
            after = differ(selection.of(memory), values)
            for one in conflicts:
                differs = before if not one.is_write else before | after if one.is_earlier else after
                self._report_written(buffer, cells, [replace(one, bad=one.bad & differs)], site)
                if one.is_write:
                    self._report(FaultKind.SAME_WRITES, buffer, cells, [replace(one, bad=one.bad & ~differs)], site)
        if isinstance(selection, Indexed) and values[0].numel() > 1:
            bad = selection.kept_of(differ(selection.of(memory), values))
            if bool(bad.any()):
                fault = Fault(FaultKind.LANES_COLLIDE, site.location, buffer.name)
                self.faults.add_lanes(fault, bad & _repeated(selection), site, selection.index)

    def _note(self, shadow: Shadow, site: Site, *, is_write: bool) -> None:
        self._accesses.setdefault((id(shadow), is_write), {})[site.location] = None

    def _beside(self, buffer: Buffer, conflict: Conflict) -> tuple[Location, ...]:
        """Where the other program's access may stand."""
        places = self._accesses.get((id(buffer.memory.shadow), conflict.is_write), {})
        return tuple(place for place in places if place is not None)

    def _report_written(self, buffer: Buffer, cells: Selection, conflicts: Sequence[Conflict], site: Site) -> None:
        self._report(FaultKind.RACE_WRITE_WRITE, buffer, cells, [one for one in conflicts if one.is_write], site)
        self._report(FaultKind.RACE_READ_WRITE, buffer, cells, [one for one in conflicts if not one.is_write], site)

    def _report(
        self, kind: FaultKind, buffer: Buffer, cells: Selection, conflicts: Sequence[Conflict], site: Site
    ) -> None:
        for one in conflicts:
            elements = buffer.element(cells.numbers * buffer.memory.cell)
            fault = Fault(kind, site.location, buffer.name, beside=self._beside(buffer, one))
            self.faults.add_lanes(fault, one.bad, site, elements, one.others)


def differ(one: torch.Tensor, two: torch.Tensor) -> torch.Tensor:
    """Where two values are not the same; NaN is the same as NaN."""
    return (one != two) & ((one == one) | (two == two))


def _repeated(selection: Indexed) -> torch.Tensor:
    """Lanes whose element another lane of the same program means, too."""
    flat = selection.index.reshape(selection.index.shape[0], -1)
    kept = torch.ones_like(flat, dtype=torch.bool) if selection.kept is None else selection.kept.reshape(flat.shape)
    found = torch.zeros_like(kept)
    for row in range(flat.shape[0]):
        _, inverse, counts = flat[row][kept[row]].unique(return_inverse=True, return_counts=True)
        found[row, kept[row]] = counts[inverse] > 1
    return found.reshape(selection.index.shape)
