"""What rules say of measured rows. Imports neither torch nor triton."""

from __future__ import annotations

from collections.abc import Sequence

from tritonaudit.finding import Status, Witness
from tritonaudit.measure.facts import MeasuredKernel, Ratio, Role, Row, Timed
from tritonaudit.measure.profiled import ProfiledKernel

LOW = 0.5
"""Of the roof: less is low."""
_LEAST_SHARE, _LEAST_DIFFERENCE = 0.03, 0.001
"""By which part, and by how many milliseconds, a call is longer before that is worth a finding: a launch takes more."""
LEAST_MILLISECONDS = 0.01
"""Of work that a GPU could do in less, the launch takes most of the time: nothing is said of its efficiency."""


def relied_on(kernel: MeasuredKernel) -> list[Row]:
    """The rows whose results are right and whose times are possible."""
    return [row for row in kernel.rows if can_be_relied_on(row)]


def can_be_relied_on(row: Row) -> bool:
    """Whether its results are right and its times possible."""
    return bool(row.timed) and row.status in (Status.PASS, Status.WARN)


def worth_a_roof(kernel: MeasuredKernel) -> list[tuple[Row, float]]:
    """Of these the ones with enough work to be held against the roof, each with the fraction of it that is reached."""
    return [(row, part) for row in relied_on(kernel) if (part := reached(row)) is not None]


def reached(row: Row) -> float | None:
    """The fraction of the roof that is reached; None where that is unknown, or the work too little to be held to it."""
    roof = row.roofline
    is_large = roof is not None and (roof.roof_milliseconds or 0) >= LEAST_MILLISECONDS
    return roof.reached if roof is not None and is_large else None


def roof(row: Row) -> float:
    """The shortest time possible, in milliseconds, of a row that is worth a roof."""
    assert row.roofline is not None
    assert row.roofline.roof_milliseconds is not None
    return row.roofline.roof_milliseconds


def slower(kernel: MeasuredKernel, role: Role) -> list[tuple[Timed, Row]]:
    """The rows in which the subject is certainly and notably slower than that contender.

    Those of the named sizes are first, then the worst.
    """
    found: list[tuple[bool, float, Timed, Row]] = []
    for row in relied_on(kernel):
        other = row.of(role)
        if other is not None and other.speedup is not None and is_slower(row, role):
            found.append((not row.size, other.speedup.value, other, row))
    return [(other, row) for *_, other, row in sorted(found, key=lambda one: one[:2])]


def is_slower(row: Row, role: Role) -> bool:
    """Whether the subject is certainly and notably slower there than that contender."""
    other = row.of(role)
    return other is not None and other.speedup is not None and _matters(subject_of(row), other, other.speedup)


def _matters(subject: Timed, other: Timed, speedup: Ratio) -> bool:
    assert subject.device is not None
    assert other.device is not None
    is_longer = subject.device.median - other.device.median > _LEAST_DIFFERENCE
    return speedup.high < 1 - _LEAST_SHARE and is_longer


def slow(kernel: MeasuredKernel, rows: Sequence[tuple[Timed, Row]]) -> str:
    """What is said of them."""
    other, row = rows[0]
    assert other.speedup is not None
    return (
        f"`{kernel.subject}` is {other.speedup.value:.2f} times as fast as {other.name} {where(row)}:"
        f" {took(subject_of(row))} against {took(other)}{also(rows[1:])}"
    )


def where(row: Row) -> str:
    """`at rows=4096 size=1000 float16`."""
    return f"at {row.case.label}"


def also(others: Sequence[object]) -> str:
    """How many further sizes show it, too."""
    if not others:
        return ""
    return f", and at {'1 further size' if len(others) == 1 else f'{len(others)} further sizes'}"


def took(timed: Timed) -> str:
    """`0.0123 ms`."""
    assert timed.device is not None
    return milliseconds(timed.device.median)


def milliseconds(time: float) -> str:
    """With three digits that count."""
    return f"{time:#.3g} ms"


def subject_of(row: Row) -> Timed:
    """The subject's own time, which each row that can be relied on has."""
    timed = row.of(Role.SUBJECT)
    assert timed is not None
    return timed


def witness(kernel: MeasuredKernel) -> Witness:
    """How to see it again, on a GPU."""
    return Witness(
        f"the subject {kernel.subject!r} on {kernel.gpu.name}, driver {kernel.gpu.driver}",
    )


def witness_by_profiler(kernel: ProfiledKernel) -> Witness:
    """How to see it again, on a GPU with NVIDIA's profiler."""
    return Witness(
        f"the subject {kernel.subject!r} at {kernel.case.label} under ncu, on {kernel.gpu.name},"
        f" driver {kernel.gpu.driver}"
    )
