"""What reports show of measured subjects: tables of times and of the roofline, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.finding import Category
from tritonaudit.hardware.roofline import TARGET, Figure, Roofline
from tritonaudit.measure.facts import Role, Row, Timed
from tritonaudit.measure.gather import MeasuredSubject
from tritonaudit.report.evidence import Evidence, place
from tritonaudit.report.measured import size_of
from tritonaudit.report.words import Code, Words, among, words

UNKNOWN = "UNKNOWN"
MISSING = "➖"
NOT_RUN = "NOT RUN"
HOW = (
    "Times are how long the GPU was busy with a call: the median with its 95 % interval, caches flushed before each"
    " call and contenders taking turns. The speed-up is over PyTorch. The efficiency is a share of what this GPU was"
    " measured to reach and, after the slash, of its datasheet; it is above 100 % where results stay in the cache."
)
_ROLES = (Role.SUBJECT, Role.PYTORCH, Role.COMPILED)
_FIGURES = (
    *("FLOPs", "Bytes", "Arithmetic intensity", "Ridge point", "Bound"),
    *(f"Target ({TARGET:.0%} of the roof)", "Reached"),
)


@dataclass(frozen=True)
class Table:
    """A head, and rows of as many cells."""

    heads: tuple[str, ...]
    rows: tuple[tuple[Words, ...], ...]


@dataclass(frozen=True)
class Roof:
    """The size of a subject at which it is held against the roof, and the figures of that; none of `reason`s."""

    size: str = ""
    figures: Table | None = None
    reason: str = ""


def times_of(subject: MeasuredSubject) -> Table:
    """A row for each size: how long each contender takes, how it compares, and what is reached of the roof."""
    baselines = list(dict.fromkeys(one.name for row in subject.rows for one in row.timed if one.role is Role.BASELINE))
    rows = []
    for row in subject.rows:
        named = {timed.name: timed for timed in row.timed if timed.role is Role.BASELINE}
        contenders = [*(row.of(role) for role in _ROLES), *map(named.get, baselines)]
        times = [_time(contender) if row.timed else NOT_RUN for contender in contenders]
        cells = (size_of(row), *times, _speedup(row), _efficiency(row))
        rows.append(tuple(words(cell) for cell in cells))
    return Table(_heads(baselines), tuple(rows))


def no_times() -> Table:
    """The table where nothing was measured."""
    heads = _heads([])
    return Table(heads, (tuple(words(cell) for cell in (NOT_RUN, *[MISSING] * (len(heads) - 1))),))


def _heads(baselines: list[str]) -> tuple[str, ...]:
    contenders = [*(role.value for role in _ROLES), *baselines]
    return "Size", *(f"{name} (ms)" for name in contenders), "Speedup", "HW Efficiency"


def doubts_of(subject: MeasuredSubject) -> Iterator[Words]:
    """What is to be known of times that are there, and of those that are not, once for all sizes of which it is so."""
    by_text: dict[str, list[str]] = {}
    for row in subject.rows:
        for said in filter(None, (row.reason, *(timed.reason or "; ".join(timed.doubts) for timed in row.timed))):
            by_text.setdefault(said, []).append(size_of(row))
    for said, sizes in by_text.items():
        is_of_all = len(sizes) == len(subject.rows) > 1
        yield words("every size" if is_of_all else among(sizes), f": {said}")
    if subject.reason:
        yield words(subject.reason)


def details_of(subject: MeasuredSubject) -> Table:
    """A row for each time: with what the call cost beside the GPU's work, how steady it was, and how it was learnt."""
    heads = ("Size", "Contender", "GPU (ms)", "Wall (ms)", "Spread", "Runs", "Method", "Clock (MHz)", "Config")
    rows = []
    for row in subject.rows:
        clock = "" if row.clock is None else f"{row.clock.before} to {row.clock.after} of {row.clock.highest}"
        for timed in row.timed:
            if timed.device is not None:
                configs = ", ".join(row.configs) if timed.role is Role.SUBJECT else ""
                wall = MISSING if timed.wall is None else f"{timed.wall.median:#.3g}"
                device = timed.device
                known = (f"{device.median:#.3g}", wall, f"{device.spread:.1%}", str(device.runs), timed.method)
                cells = (size_of(row), timed.name, *known, clock, configs)
                rows.append(tuple(words(cell) for cell in cells))
    return Table(heads, tuple(rows))


def counters_of(subject: MeasuredSubject) -> Table:
    """A row for each figure that the profiler counted."""
    rows = []
    for profile in subject.profiles:
        launch = f"{profile.kernel.name}, {profile.case.label}"
        for one in profile.counters:
            cells = (launch, one.name, _value(one.value, one.unit), str(one.line or ""), one.metric)
            rows.append(tuple(words(cell) for cell in cells))
    return Table(("Launch", "Counter", "Value", "Line", "Metric"), tuple(rows))


def found_of_performance(evidence: Evidence) -> Words:
    """Where the findings of performance are shown, whichever stage they are of; empty where there are none."""
    findings = [finding for finding in evidence.audit.findings if finding.category is Category.PERFORMANCE]
    named = among((words(f"{finding.code} at ", Code(place(finding))) for finding in findings), most=10)
    return words("Among the detailed findings are ", named, ".") if findings else ()


def _time(timed: Timed | None) -> str:
    if timed is None or timed.device is None:
        return MISSING
    device = timed.device
    return f"{device.median:#.3g} ({device.low:#.3g} to {device.high:#.3g})"


def _speedup(row: Row) -> str:
    pytorch = row.of(Role.PYTORCH)
    if pytorch is None or pytorch.speedup is None:
        return MISSING
    ratio = pytorch.speedup
    return f"{ratio.value:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"


def _efficiency(row: Row) -> str:
    found = [None if roof is None else roof.reached for roof in (row.roofline, row.by_datasheet)]
    if all(reached is None for reached in found):
        return UNKNOWN if row.timed else MISSING
    return " / ".join(UNKNOWN if reached is None else f"{reached:.0%}" for reached in found)


# -- the roofline ------------------------------------------------------------------------------------------------------


def no_figures() -> Table:
    """The figures where nothing was measured."""
    return _table((name, UNKNOWN, "none: nothing was measured") for name in _FIGURES)


def roof_of(subject: MeasuredSubject) -> Roof:
    """The largest size that was measured, every figure with its source."""
    held = [(row, row.roofline) for row in subject.rows if row.roofline is not None]
    if not held:
        return Roof(reason=f"{NOT_RUN}: {subject.reason or 'no size was timed'}.")
    row, measured = max(held, key=lambda one: one[1].roof_milliseconds or 0)
    return Roof(size_of(row), _table(_figures(measured, row.by_datasheet)))


def _table(rows: Iterator[tuple[str, str, str]]) -> Table:
    return Table(("Figure", "Value", "Source"), tuple(tuple(words(cell) for cell in row) for row in rows))


def _figures(measured: Roofline, stated: Roofline | None) -> Iterator[tuple[str, str, str]]:
    work = measured.work
    yield "FLOPs", _value(work.flops), work.flops_source
    yield "Bytes", _value(work.bytes), work.bytes_source
    yield "Arithmetic intensity", _value(measured.intensity, "FLOP/B"), "FLOPs over bytes"
    for roof in filter(None, (measured, stated)):
        for figure in (roof.bandwidth, roof.rate):
            yield figure.name, _value(figure.value, figure.unit), _source(figure)
    yield "Ridge point", _value(measured.ridge, "FLOP/B"), "measured rate over measured bandwidth"
    yield "Bound", measured.bound or UNKNOWN, "the slower of the two at the measured rates"
    yield _FIGURES[-2], _value(measured.target_milliseconds, "ms"), "of the measured roof"
    if stated is not None:
        yield "the same by the datasheet", _value(stated.target_milliseconds, "ms"), "of the datasheet's roof"
    yield "Reached", UNKNOWN if measured.reached is None else f"{measured.reached:.0%}", "measured"


def _value(value: float | None, unit: str = "") -> str:
    return UNKNOWN if value is None else f"{value:,.4g} {unit}".strip()


def _source(figure: Figure) -> str:
    if figure.source is None:
        return "none was found"
    quote = f": “{figure.source.quote}”" if figure.source.quote else ""
    note = f" ({figure.note})" if figure.note else ""
    return f"{figure.source.document}, {figure.source.place}{quote}{note}"
