"""What the engine's shadow memory finds in a call, as sightings. Imports torch: for workers."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.capture.launch import KernelRef
from tritonaudit.simulator.faults import Fault, FaultKind
from tritonaudit.simulator.ir import Location
from tritonaudit.suites.calling import Called, Ran
from tritonaudit.suites.facts import WATCHED, Symptom
from tritonaudit.suites.outcome import Place, Sighting

SYMPTOMS = WATCHED

_SYMPTOM_OF = {
    FaultKind.OUT_OF_BOUNDS_LOAD: Symptom.OUT_OF_BOUNDS,
    FaultKind.OUT_OF_BOUNDS_STORE: Symptom.OUT_OF_BOUNDS,
    FaultKind.OUT_OF_BOUNDS_ATOMIC: Symptom.OUT_OF_BOUNDS,
    FaultKind.BETWEEN_ELEMENTS: Symptom.OUT_OF_BOUNDS,
    FaultKind.NO_TENSOR: Symptom.OUT_OF_BOUNDS,
    FaultKind.MISALIGNED: Symptom.OUT_OF_BOUNDS,
    FaultKind.UNDEFINED_STORED: Symptom.UNINITIALISED,
    FaultKind.UNDEFINED_ADDRESS: Symptom.UNINITIALISED,
    FaultKind.UNDEFINED_BRANCH: Symptom.UNINITIALISED,
    FaultKind.UNDEFINED_MASK: Symptom.UNINITIALISED,
    FaultKind.MASKED_STORED: Symptom.UNDEFINED_LANE,
    FaultKind.MASKED_MASK: Symptom.UNDEFINED_LANE,
    FaultKind.RACE_WRITE_WRITE: Symptom.RACE,
    FaultKind.RACE_READ_WRITE: Symptom.RACE,
    FaultKind.SAME_WRITES: Symptom.RACE,
    FaultKind.LANES_COLLIDE: Symptom.COLLIDING_LANES,
    FaultKind.LANES_WRITE_WRITE: Symptom.RACE,
    FaultKind.LANES_READ_WRITE: Symptom.RACE,
    FaultKind.OVERFLOW_ADDRESS: Symptom.OVERFLOW,
    FaultKind.DIVISION_BY_ZERO: Symptom.DIVISION_BY_ZERO,
    FaultKind.ASSERTION: Symptom.ASSERTION,
    FaultKind.WAITS_FOREVER: Symptom.HANG,
}
_OF_LANES = (FaultKind.LANES_WRITE_WRITE, FaultKind.LANES_READ_WRITE)
_MOST_BESIDE = 4
"""Places of the other program's access that are named."""
_BEYOND = frozenset(kind for kind, symptom in _SYMPTOM_OF.items() if symptom is Symptom.OUT_OF_BOUNDS)
"""What a load has from there means nothing, and it is reported where it is loaded."""


def sightings(called: Called) -> Iterator[Sighting]:
    """The faults of every launch."""
    for ran in called.ran:
        yield from sightings_of(ran)


def sightings_of(ran: Ran) -> Iterator[Sighting]:
    """The faults of a launch, but for those that another one of them is the origin of."""
    beyond = {fault.location for fault in ran.faults if fault.kind in _BEYOND}
    for fault in ran.faults:
        symptom = _SYMPTOM_OF.get(fault.kind)
        if symptom is not None and not (symptom is Symptom.UNINITIALISED and fault.origin in beyond):
            yield _sighting(symptom, fault, ran.launch.kernel, ran.site)


def _sighting(symptom: Symptom, fault: Fault, kernel: KernelRef, site: tuple[str, int] | None) -> Sighting:
    """It is seen where it happens, but for what nobody wrote: that is where it is read, whatever it is used for."""
    at, beside = fault.location, fault.beside
    other = "another lane" if fault.kind in _OF_LANES else "another program"
    why = f"{other} {'accesses' if len(beside) == 1 else 'may access'} it here"
    if symptom is Symptom.UNINITIALISED and fault.origin is not None:
        at, beside, why = fault.origin, (fault.location,) if fault.location else (), "it is used here"
    related = tuple((_place(one), why) for one in beside[:_MOST_BESIDE] if one != at)
    place = None if at is None else _place(at)
    calls = () if at is None else tuple(map(_place, reversed(at.callers)))
    is_certain = not fault.kind.is_harmless
    return Sighting(symptom, kernel, place, said(fault), is_certain, related=related, launch=site, calls=calls)


def _place(location: Location) -> Place:
    return location.path, location.line, location.column


def said(fault: Fault) -> str:
    """`out-of-bounds load of x[1000] by program (3, 0, 0), lane 232; 24 lanes in all`."""
    tensor = f"{fault.tensor}[{fault.element}]" if fault.element is not None else fault.tensor
    lane = ", ".join(map(str, fault.lane))
    parts = [
        f"{fault.kind.value}{f' of `{tensor}`' if tensor else ''} by program {fault.program}",
        f"lane {f'({lane})' if len(fault.lane) > 1 else lane}" if fault.lane else "",
        f"against program {fault.other}" if fault.other is not None else "",
        fault.detail,
        _used(fault),
    ]
    more = f"; {fault.count:,} lanes in all" if fault.count > 1 else ""
    return ", ".join(part for part in parts if part) + more


def _used(fault: Fault) -> str:
    """Where what is used comes from; of what nobody wrote, which is reported where it is read, where it is used."""
    if fault.origin is None:
        return ""
    if _SYMPTOM_OF.get(fault.kind) is Symptom.UNINITIALISED:
        return "" if fault.location is None else f"at line {fault.location.line}"
    return f"which comes from line {fault.origin.line}"
