"""Accesses to memory whose contents are not there, and operations on what would have been loaded from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch

from tritonaudit.capture.imagined import elements_of, is_imagined
from tritonaudit.simulator import control, loads_stores
from tritonaudit.simulator.access import Accesses
from tritonaudit.simulator.affine import Affine
from tritonaudit.simulator.arithmetic import ABSORBING
from tritonaudit.simulator.faults import Fault, FaultKind, Faults, Site
from tritonaudit.simulator.ir import Operation, Type
from tritonaudit.simulator.machine import Frame, Handler, Machine
from tritonaudit.simulator.memory import buffer_of, position_of
from tritonaudit.simulator.numerics.elements import dtype_of
from tritonaudit.simulator.rounds import some_rounds
from tritonaudit.simulator.rows import Rows
from tritonaudit.simulator.sync import Ordering
from tritonaudit.simulator.values import Doubt, Value, joined, mask_tensor, unknown


@dataclass(frozen=True, eq=False)
class UnknownAccesses(Accesses):
    """Looks where accesses go; what they load from memory that is not there is unknown, what they store there is gone.

    Where an address or a mask depends on what is unknown, that is said, and nothing else of those lanes.
    """

    def load(self, pointer: Value, mask: Value | None, other: Value | None, type: Type, site: Site) -> Value:
        at, where = self._reported(pointer, mask, type, site, FaultKind.OUT_OF_BOUNDS_LOAD)
        if where is mask and not self._is_absent(at):
            return super().load(at, where, other, type, site)
        self._look(at, where, type, site, FaultKind.OUT_OF_BOUNDS_LOAD)
        known = self._imagined(at, type) if where is mask else None
        if known is None:
            return unknown(type, site.location)
        if where is None:
            return Value(known)
        left_out = torch.zeros((), dtype=known.dtype) if other is None else other.tensor(type)
        return Value(torch.where(_lanes(where), known, left_out))

    def _imagined(self, pointer: Value, type: Type) -> torch.Tensor | None:
        """What is loaded from a tensor of integers of which the bounds are known; None where it is from another."""
        if pointer.undefined is not None or pointer.wrapped is not None:
            return None
        low, high = map(buffer_of, _bounds(pointer))
        if low != high and pointer.affine is not None:
            low, high = map(buffer_of, _exact_bounds(pointer))
        buffer = self.addressing.space[low] if low == high else None
        if buffer is None or not is_imagined(buffer.tensor):
            return None
        places = torch.div(position_of(pointer.tensor(Type("ptr"))), dtype_of(type).itemsize, rounding_mode="floor")
        return elements_of(buffer.tensor, places).to(dtype_of(type))

    def store(self, pointer: Value, value: torch.Tensor, mask: Value | None, type: Type, site: Site) -> None:
        kind = FaultKind.OUT_OF_BOUNDS_STORE
        self._look(*self._reported(pointer, mask, type, site, kind), type, site, kind)

    def atomic(
        self, pointer: Value, mask: Value | None, type: Type, site: Site, ordering: Ordering
    ) -> tuple[tuple[()], tuple[int, ...], Doubt | None]:
        kind = FaultKind.OUT_OF_BOUNDS_ATOMIC
        self._look(*self._reported(pointer, mask, type, site, kind), type, site, kind)
        return (), (len(site.programs), *type.shape), unknown(type, site.location).undefined

    def check_stored(self, value: Value, pointer: Value, mask: Value | None, site: Site) -> None:
        doubt = joined([value.undefined, pointer.undefined, None if mask is None else mask.undefined])
        if doubt is None or not doubt.is_unknown:
            super().check_stored(value, pointer, mask, site)

    def _reported(
        self, pointer: Value, mask: Value | None, type: Type, site: Site, kind: FaultKind
    ) -> tuple[Value, Value | None]:
        """The access without the lanes of which it is not known where they go, or whether they do."""
        if mask is not None and mask.undefined is not None and mask.undefined.is_unknown:
            doubt, sound = mask.undefined, mask_tensor(mask.undefined.sound)
            if not self._is_fine_anyway(pointer, Value(~sound), type, site, kind):
                self.addressing.faults.add_lanes(
                    Fault(FaultKind.UNKNOWN_MASK, site.location, origin=doubt.origin), ~sound, site
                )
            mask = Value(sound & _lanes(mask))
        if pointer.undefined is None or not pointer.undefined.is_unknown:
            return pointer, mask
        doubt, sound = pointer.undefined, mask_tensor(pointer.undefined.sound)
        bad = ~sound if mask is None else ~sound & _lanes(mask)
        self.addressing.faults.add_lanes(
            Fault(FaultKind.UNKNOWN_ADDRESS, site.location, origin=doubt.origin), bad, site
        )
        mask = Value(sound if mask is None else sound & _lanes(mask))
        return replace(pointer, undefined=None), mask

    def _is_fine_anyway(self, pointer: Value, mask: Value, type: Type, site: Site, kind: FaultKind) -> bool:
        """Whether the lanes of that mask may access memory where they do."""
        faults = Faults()
        accesses = replace(self, addressing=replace(self.addressing, faults=faults))
        accesses._look(*accesses._reported(pointer, mask, type, site, kind), type, site, kind)
        return not faults.found

    def _look(self, pointer: Value, mask: Value | None, type: Type, site: Site, kind: FaultKind) -> None:
        """Report lanes that must not access memory where they do; of programs whose addresses overflow, that alone."""
        if pointer.wrapped is not None:
            bad = ~mask_tensor(pointer.wrapped.sound)
            bad = (bad if mask is None else bad & _lanes(mask)).expand(-1, *type.shape)
            fault = Fault(FaultKind.OVERFLOW_ADDRESS, site.location, origin=pointer.wrapped.origin)
            self.addressing.faults.add_lanes(fault, bad, site)
            fine = ~bad.flatten(1).any(1).expand(len(site.programs)) if type.rank else ~bad.expand(len(site.programs))
            places = fine.nonzero().flatten()
            if not len(places):
                return
            pointer, site = replace(pointer, wrapped=None).take(places), site.take(places)
            mask = None if mask is None else mask.take(places)
        if self._is_inside(pointer, dtype_of(type).itemsize):
            return
        where = None if mask is None else _lanes(mask) if isinstance(mask.data, Affine) else mask.data
        self.addressing.lanes(pointer, where, type, site, kind)

    def _is_inside(self, pointer: Value, size: int) -> bool:
        """Whether the bounds of rows show that all of them lie within one tensor."""
        rows = pointer.data
        if not isinstance(rows, Rows) or pointer.undefined is not None:
            return False
        low, high = rows.bounds
        buffer = self.addressing.space[buffer_of(low)]
        if buffer is None or not buffer.is_dense or buffer_of(high) != buffer.number:
            return False
        is_within = buffer.low <= position_of(low) and position_of(high) + size <= buffer.high
        is_whole = not any(stride % size for stride in rows.strides) and bool(
            (position_of(rows.base) % size == 0).all()
        )
        return is_within and is_whole

    def _is_absent(self, pointer: Value) -> bool:
        """Whether some of the lanes may go to memory that is not there."""
        low, high = map(buffer_of, _bounds(pointer))
        return any(buffer.is_absent and low <= buffer.number <= high for buffer in self.addressing.space.buffers)


def _bounds(pointer: Value) -> tuple[int, int]:
    """Between what all addresses lie."""
    return _exact_bounds(pointer) if pointer.affine is None else pointer.affine.bounds


def _exact_bounds(pointer: Value) -> tuple[int, int]:
    """The lowest and the highest address."""
    low, high = torch.aminmax(pointer.tensor(Type("ptr")))
    return int(low), int(high)


def _lanes(mask: Value) -> torch.Tensor:
    return mask.tensor(Type("i1"))


# -- operations --------------------------------------------------------------------------------------------------------


def handlers_of(known: Mapping[str, Handler]) -> Mapping[str, Handler]:
    """The same handlers, but of what is unknown in all lanes nothing is computed, and of long loops some rounds."""
    kept = (*control.HANDLERS, *loads_stores.HANDLERS, "arith.select")
    found = {name: handler if name in kept else _skipping(handler) for name, handler in known.items()}
    if "scf.for" in found:
        found["scf.for"] = some_rounds(found["scf.for"])
    return found


def _skipping(handler: Handler) -> Handler:
    def handle(machine: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
        doubts = [frame[number].undefined for number in operation.operands]
        unknowns = [doubt for doubt in doubts if doubt is not None and doubt.is_unknown]
        if len(unknowns) < len(doubts) and operation.name in ABSORBING:
            return handler(machine, operation, frame)
        lost = next(filter(_is_everywhere, unknowns), None)
        if lost is None and (operation.results or not unknowns):
            return handler(machine, operation, frame)
        return tuple(unknown(frame.type(result), unknowns[0].origin) for result in operation.results)

    return handle


def _is_everywhere(doubt: Doubt) -> bool:
    return isinstance(doubt.sound, torch.Tensor) and doubt.sound.numel() == 1 and not bool(doubt.sound)
