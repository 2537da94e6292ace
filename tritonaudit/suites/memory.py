"""What the engine's shadow memory finds in a call, as sightings. Imports torch: for workers."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.simulator.faults import Fault, Kind
from tritonaudit.suites.calling import Called
from tritonaudit.suites.facts import WATCHED, Symptom
from tritonaudit.suites.outcome import Sighting

SYMPTOMS = WATCHED

_SYMPTOM_OF = {
    Kind.OUT_OF_BOUNDS_LOAD: Symptom.OUT_OF_BOUNDS,
    Kind.OUT_OF_BOUNDS_STORE: Symptom.OUT_OF_BOUNDS,
    Kind.OUT_OF_BOUNDS_ATOMIC: Symptom.OUT_OF_BOUNDS,
    Kind.BETWEEN_ELEMENTS: Symptom.OUT_OF_BOUNDS,
    Kind.NO_TENSOR: Symptom.OUT_OF_BOUNDS,
    Kind.MISALIGNED: Symptom.OUT_OF_BOUNDS,
    Kind.UNDEFINED_STORED: Symptom.UNINITIALISED,
    Kind.UNDEFINED_ADDRESS: Symptom.UNINITIALISED,
    Kind.UNDEFINED_BRANCH: Symptom.UNINITIALISED,
    Kind.UNDEFINED_MASK: Symptom.UNINITIALISED,
    Kind.MASKED_STORED: Symptom.UNDEFINED_LANE,
    Kind.MASKED_MASK: Symptom.UNDEFINED_LANE,
    Kind.RACE_WRITE_WRITE: Symptom.RACE,
    Kind.RACE_READ_WRITE: Symptom.RACE,
    Kind.SAME_WRITES: Symptom.RACE,
    Kind.LANES_COLLIDE: Symptom.COLLIDING_LANES,
    Kind.OVERFLOW_ADDRESS: Symptom.OVERFLOW,
    Kind.DIVISION_BY_ZERO: Symptom.DIVISION_BY_ZERO,
    Kind.ASSERTION: Symptom.ASSERTION,
    Kind.WAITS_FOREVER: Symptom.HANG,
}
_BEYOND = frozenset(kind for kind, symptom in _SYMPTOM_OF.items() if symptom is Symptom.OUT_OF_BOUNDS)
"""What a load has from there means nothing, and it is reported where it is loaded."""


def sightings(called: Called) -> Iterator[Sighting]:
    """The faults of every launch, but for those that another one of them is the origin of."""
    for ran in called.ran:
        beyond = {fault.location for fault in ran.faults if fault.kind in _BEYOND}
        for fault in ran.faults:
            symptom = _SYMPTOM_OF.get(fault.kind)
            if symptom is not None and not (symptom is Symptom.UNINITIALISED and fault.origin in beyond):
                at = fault.location
                place = None if at is None else (at.path, at.line, at.column)
                yield Sighting(symptom, ran.launch.kernel, place, said(fault), not fault.kind.is_harmless)


def said(fault: Fault) -> str:
    """`out-of-bounds load of x[1000] by program (3, 0, 0), lane 232; 24 lanes in all`."""
    tensor = f"{fault.tensor}[{fault.element}]" if fault.element is not None else fault.tensor
    lane = ", ".join(map(str, fault.lane))
    parts = [
        f"{fault.kind.value}{f' of `{tensor}`' if tensor else ''} by program {fault.program}",
        f"lane {f'({lane})' if len(fault.lane) > 1 else lane}" if fault.lane else "",
        f"against program {fault.other}" if fault.other is not None else "",
        fault.detail,
        f"which comes from line {fault.origin.line}" if fault.origin is not None else "",
    ]
    more = f"; {fault.count:,} lanes in all" if fault.count > 1 else ""
    return ", ".join(part for part in parts if part) + more
