"""What a failed test shows, and what JUnit's file says of a test."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tritonaudit.finding import Finding
from tritonaudit.measure.facts import Role
from tritonaudit.measure.stage import MeasureAudit
from tritonaudit.report.escape import visible
from tritonaudit.suites.stage import RunAudit
from tritonaudit.testing.suite import Verdict

Property = tuple[str, str]


def text_of(verdict: Verdict) -> str:
    """Its findings with place, message, witness and remedy, and what else made it fail."""
    return "\n".join((*map(visible, verdict.reasons), *(line for one in verdict.findings for line in _finding(one))))


def summary_of(finding: Finding) -> str:
    """`kernels.py:7:5: TAC401 wrong-result [error] in kernel: …`."""
    place = f"{finding.path}:{finding.span.shown_start}"
    kernel = f" in {finding.kernel}" if finding.kernel else ""
    return visible(f"{place}: {finding.code} {finding.name} [{finding.severity.value}]{kernel}: {finding.message}")


def _finding(finding: Finding) -> Iterator[str]:
    yield summary_of(finding)
    for related in finding.related:
        yield visible(f"    {related.path}:{related.span.shown_line}: {related.message}")
    if finding.witness is not None:
        yield visible(f"    witness: {finding.witness.description}")
        if finding.witness.command:
            yield visible(f"    $ {finding.witness.command}")
    if finding.remedy:
        yield visible(f"    use instead: {finding.remedy}")


def run_properties(ran: RunAudit, verdict: Verdict) -> Iterator[Property]:
    """Of a suite of the run stage: device, number of cases, worst error over its budget, codes found."""
    yield "tritonaudit.device", ran.device
    for run in ran.runs:
        yield "tritonaudit.seed", str(run.seed)
        yield "tritonaudit.cases", str(run.cases)
        ratios = [trial.closeness.ratio for trial in run.trials if trial.closeness is not None]
        if ratios:
            worst = "not finite" if not all(map(math.isfinite, ratios)) else f"{max(ratios):.3g}"
            yield "tritonaudit.worst_error", worst
    yield "tritonaudit.findings", _codes(verdict)


def measured_properties(measured: MeasureAudit, verdict: Verdict) -> Iterator[Property]:
    """Of the performance: device, codes found, and at each size time, speed-ups and the part of the roof reached."""
    yield "tritonaudit.device", measured.gpu.name if measured.gpu is not None else ""
    for row in (row for subject in measured.subjects for row in subject.rows):
        at = f"[{row.size} {row.case.label}]"
        own = row.of(Role.SUBJECT)
        if own is not None and own.device is not None:
            yield f"tritonaudit.milliseconds{at}", f"{own.device.median:.6g}"
        for one in row.timed:
            if one.speedup is not None:
                yield f"tritonaudit.speedup[{one.name}]{at}", f"{one.speedup.value:.3f}"
        if row.roofline is not None and row.roofline.reached is not None:
            yield f"tritonaudit.roof_reached{at}", f"{row.roofline.reached:.3f}"
    yield "tritonaudit.findings", _codes(verdict)


def _codes(verdict: Verdict) -> str:
    return " ".join(dict.fromkeys(finding.code for finding in verdict.findings))
