"""The performance audit and the roofline: what was measured, what is not known, and what compiling told."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Category
from tritonaudit.hardware.roofline import TARGET, Figure
from tritonaudit.measure.facts import Role, Row, Timed
from tritonaudit.measure.gather import MeasuredSubject
from tritonaudit.report.evidence import Evidence, place
from tritonaudit.report.markdown.text import fenced, inline, prose, row, table
from tritonaudit.report.measured import size_of
from tritonaudit.report.words import Code, among, words

_UNKNOWN = "UNKNOWN"
_MISSING = "➖"


def performance(evidence: Evidence) -> Iterator[str]:
    """A table for each subject, a row for each size; what is not in it, and why, below."""
    for subject in evidence.timed:
        yield from _measured(subject)
        yield ""
    if not evidence.timed:
        yield from table(*_COLUMNS)
        yield row("NOT RUN", *[_MISSING] * (len(_COLUMNS) - 1))
        yield ""
    if evidence.why_nothing_measured:
        yield f"NOT RUN: {prose(evidence.why_nothing_measured)}."
    else:
        yield prose(_HOW)
    yield from _compiled(evidence)


_COLUMNS = ("Size", "Triton (ms)", "PyTorch (ms)", "torch.compile (ms)", "Speedup", "HW Efficiency")
_HOW = (
    "Times are for how long the GPU was busy with a call, the median with its 95 % interval, caches flushed before each"
    " call and contenders taking turns; the speed-up is over PyTorch, the efficiency of what this GPU was measured to"
    " reach and, behind the slash, of its datasheet."
)


def _measured(subject: MeasuredSubject) -> Iterator[str]:
    baselines = list(dict.fromkeys(one.name for row in subject.rows for one in row.timed if one.role is Role.BASELINE))
    yield f"`{subject.name}`"
    yield ""
    yield from table(*_COLUMNS[:4], *(f"{name} (ms)" for name in baselines), *_COLUMNS[4:])
    for one in subject.rows:
        named = {timed.name: timed for timed in one.timed if timed.role is Role.BASELINE}
        contenders = [*(one.of(role) for role in _ROLES), *map(named.get, baselines)]
        times = [_time(contender) if one.timed else "NOT RUN" for contender in contenders]
        yield row(prose(size_of(one)), *times, _speedup(one), _efficiency(one))
    for one in subject.rows:
        for said in filter(None, (one.reason, *(timed.reason or "; ".join(timed.doubts) for timed in one.timed))):
            yield f"* {prose(size_of(one))}: {prose(said)}"
    if subject.reason:
        yield f"* {prose(subject.reason)}"


_ROLES = (Role.SUBJECT, Role.PYTORCH, Role.COMPILED)


def _time(timed: Timed | None) -> str:
    if timed is None or timed.device is None:
        return _MISSING
    device = timed.device
    return f"{device.median:#.3g} ({device.low:#.3g} to {device.high:#.3g})"


def _speedup(row: Row) -> str:
    pytorch = row.of(Role.PYTORCH)
    if pytorch is None or pytorch.speedup is None:
        return _MISSING
    ratio = pytorch.speedup
    return f"{ratio.value:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"


def _efficiency(row: Row) -> str:
    found = [None if roof is None else roof.reached for roof in (row.roofline, row.by_datasheet)]
    if all(reached is None for reached in found):
        return _MISSING if not row.timed else _UNKNOWN
    return " / ".join(_UNKNOWN if reached is None else f"{reached:.0%}" for reached in found)


def _compiled(evidence: Evidence) -> Iterator[str]:
    findings = [finding for finding in evidence.audit.findings if finding.category is Category.PERFORMANCE]
    if findings:
        named = among((words(f"{finding.code} at ", Code(place(finding))) for finding in findings), most=10)
        yield ""
        yield f"What was found without measuring is among the detailed findings: {inline(named)}."
    if evidence.compiled is not None and evidence.compiled.kernels:
        from tritonaudit.report.compiled import CompiledSection

        lines = ["".join(text for text, _ in line) for line in CompiledSection(evidence.compiled).lines()]
        yield ""
        yield f"What the compiler ({prose(f'Triton {evidence.compiled.triton}')}) made of the launches, without a GPU:"
        yield ""
        yield from fenced(lines[:-1], "text")


def roofline(evidence: Evidence) -> Iterator[str]:
    """For each subject the largest size that was measured, every figure with its source."""
    if evidence.why_nothing_measured:
        yield from table("Figure", "Value", "Source")
        for figure in _FIGURES:
            yield row(figure, _UNKNOWN, "none: nothing was measured")
        yield ""
        yield f"NOT RUN: {prose(evidence.why_nothing_measured)}."
        return
    for number, subject in enumerate(evidence.timed):
        if number:
            yield ""
        yield from _roof_of(subject)


_FIGURES = (
    *("FLOPs", "Bytes", "Arithmetic intensity", "Ridge point", "Bound"),
    *(f"Target ({TARGET:.0%} of the roof)", "Reached"),
)


def _roof_of(subject: MeasuredSubject) -> Iterator[str]:
    held = [one for one in subject.rows if one.roofline is not None]
    if not held:
        yield f"`{subject.name}`: NOT RUN: {prose(subject.reason or 'no size was timed')}."
        return
    largest = max(held, key=lambda one: one.roofline.roof_milliseconds or 0 if one.roofline is not None else 0)
    measured, stated = largest.roofline, largest.by_datasheet
    assert measured is not None
    yield f"`{subject.name}`, {prose(size_of(largest))}"
    yield ""
    yield from table("Figure", "Value", "Source")
    work = measured.work
    yield row("FLOPs", _figure(work.flops), prose(work.flops_source))
    yield row("Bytes", _figure(work.bytes), prose(work.bytes_source))
    yield row("Arithmetic intensity", _figure(measured.intensity, "FLOP/B"), "FLOPs over bytes")
    for roof in filter(None, (measured, stated)):
        for figure in (roof.bandwidth, roof.rate):
            yield row(prose(figure.name), _figure(figure.value, figure.unit), _source(figure))
    yield row("Ridge point", _figure(measured.ridge, "FLOP/B"), "measured rate over measured bandwidth")
    yield row("Bound", measured.bound or _UNKNOWN, "the slower of the two at the measured rates")
    target = measured.target_milliseconds
    yield row(f"Target ({TARGET:.0%} of the roof)", _figure(target, "ms"), "of the measured roof")
    if stated is not None:
        yield row("the same by the datasheet", _figure(stated.target_milliseconds, "ms"), "of the datasheet's roof")
    yield row("Reached", _UNKNOWN if measured.reached is None else f"{measured.reached:.0%}", "measured")


def _figure(value: float | None, unit: str = "") -> str:
    return _UNKNOWN if value is None else f"{value:,.4g} {unit}".strip()


def _source(figure: Figure) -> str:
    if figure.source is None:
        return "none was found"
    quote = f": “{figure.source.quote}”" if figure.source.quote else ""
    note = f" ({figure.note})" if figure.note else ""
    return prose(f"{figure.source.document}, {figure.source.place}{quote}{note}")
