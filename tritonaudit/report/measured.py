"""What the measure stage shows besides its findings: how long each contender takes, and how near the roof it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tritonaudit.finding import Status
from tritonaudit.hardware.formatting import figure_data, roofline_data
from tritonaudit.measure.facts import Profile, Ratio, Role, Row, Sample, Timed
from tritonaudit.measure.gather import MeasuredSubject
from tritonaudit.measure.stage import MeasureAudit
from tritonaudit.report.escape import visible
from tritonaudit.report.section import Line, Note
from tritonaudit.shown import shown_path

_INDENT = "  "
_IN_CACHE = 1.005
"""Of the roof, which is a copy of more than any cache holds."""
_STYLES = {Status.PASS: "", Status.WARN: "yellow", Status.FAIL: "bold red", Status.NOT_RUN: "dim"}


@dataclass(frozen=True)
class MeasuredSection:
    """The subjects that were measured."""

    measured: MeasureAudit
    key = "measured"

    def lines(self) -> Iterator[Line]:
        for subject in self.measured.subjects:
            yield from _subject(subject, self.measured)
            yield ()

    def short_lines(self) -> Iterator[Line]:
        yield from ()

    def notes(self) -> Iterator[Note]:
        yield from ()

    def data(self) -> dict[str, Any]:
        gpu = self.measured.gpu
        return {
            "gpu": None if gpu is None else {"name": gpu.name, "driver": gpu.driver},
            "not_run": self.measured.reason,
            "ceilings": [figure_data(figure) for figure in gpu.ceilings] if gpu is not None else [],
            "subjects": [_subject_data(subject) for subject in self.measured.subjects],
        }


def _subject(subject: MeasuredSubject, measured: MeasureAudit) -> Iterator[Line]:
    on = f"measured on {measured.gpu.name}" if measured.gpu is not None else f"NOT RUN: {measured.reason}"
    yield ((f"{visible(subject.name)}  {shown_path(subject.path)}  {on}", "bold"),)
    for row in subject.rows:
        yield ((f"{_INDENT}{row.status.value:<9}{size_of(row)}", _STYLES[row.status]), (_row(row), ""))
    if subject.reason and subject.reason != measured.reason:
        yield ((f"{_INDENT}{visible(subject.reason)}", "yellow"),)


def size_of(row: Row) -> str:
    """`large  rows=4096 size=1000 float16`."""
    return f"{row.size}  {row.case.label}" if row.size else row.case.label


def _row(row: Row) -> str:
    parts = [f"{one.name} {time(one)}{_speedup(one)}" for one in row.timed]
    if row.roofline is not None and row.roofline.reached is not None:
        cached = ", results stay in a cache" if row.roofline.reached > _IN_CACHE else ""
        parts.append(f"{row.roofline.reached:.0%} of the roof{cached}")
    said = "; ".join(visible(part) for part in (*parts, row.reason) if part)
    return f": {said}" if said else ""


def time(timed: Timed) -> str:
    """The median in milliseconds, or why there is none."""
    return f"{timed.device.median:#.3g} ms" if timed.device is not None else f"not timed ({timed.reason})"


def _speedup(timed: Timed) -> str:
    return "" if timed.speedup is None else f" ({timed.speedup.value:.2f}×)"


# -- the same as data --------------------------------------------------------------------------------------------------


def _subject_data(subject: MeasuredSubject) -> dict[str, Any]:
    return {
        "subject": subject.name,
        "path": shown_path(subject.path),
        "checks": [
            {"check": one.check, "status": one.status.value, "cases": one.case, "reason": one.reason}
            for one in subject.outcomes
        ],
        "rows": [_row_data(row) for row in subject.rows],
        "profiles": [_profile_data(profile) for profile in subject.profiles],
    }


def _row_data(row: Row) -> dict[str, Any]:
    return {
        "size": row.size,
        "case": row.case.label,
        "sizes": dict(row.case.sizes),
        "dtype": row.case.dtype,
        "status": row.status.value,
        "reason": row.reason,
        "configs": list(row.configs),
        "clock": None if row.clock is None else vars(row.clock),
        "contenders": [_timed_data(one) for one in row.timed],
        "roofline": None if row.roofline is None else roofline_data(row.roofline),
        "by_datasheet": None if row.by_datasheet is None else roofline_data(row.by_datasheet),
    }


def _timed_data(timed: Timed) -> dict[str, Any]:
    return {
        "name": timed.name,
        "role": Role(timed.role).name.lower(),
        "milliseconds": None if timed.device is None else _sample_data(timed.device),
        "wall_milliseconds": None if timed.wall is None else _sample_data(timed.wall),
        "method": timed.method,
        "speedup": None if timed.speedup is None else _ratio_data(timed.speedup),
        "reason": timed.reason,
        "doubts": list(timed.doubts),
    }


def _sample_data(sample: Sample) -> dict[str, Any]:
    return {**vars(sample), "spread": sample.spread}


def _ratio_data(ratio: Ratio) -> dict[str, Any]:
    return dict(vars(ratio))


def _profile_data(profile: Profile) -> dict[str, Any]:
    return {
        "kernel": profile.kernel.name,
        "case": profile.case.label,
        "reason": profile.reason,
        "counters": [vars(counter) for counter in profile.counters],
    }
