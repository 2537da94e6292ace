"""What to do, in the order of what it brings: mend what was found, then have checked what was not."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Finding, Stage
from tritonaudit.report.markdown.evidence import Evidence, by_impact, cases_left_out, level, place
from tritonaudit.report.markdown.text import among, code, prose


def recommendations(evidence: Evidence) -> Iterator[str]:
    steps = [*_mend(evidence), *_check(evidence)]
    yield from (f"{number}. {step}" for number, step in enumerate(steps, 1))
    if not steps:
        yield "None."


def _mend(evidence: Evidence) -> Iterator[str]:
    """One step for each remedy, whether one finding asks for it or several."""
    by_remedy: dict[tuple[str, str], list[Finding]] = {}
    for finding in by_impact(evidence.audit.findings):
        by_remedy.setdefault((finding.code, finding.remedy or finding.message), []).append(finding)
    for (rule, remedy), findings in by_remedy.items():
        places = among(code(place(finding)) for finding in findings)
        yield f"**[{level(findings[0])}]** {places}: {prose(remedy)} ({rule} {prose(findings[0].name)})"


def _check(evidence: Evidence) -> Iterator[str]:
    if evidence.audit.problems:
        yield "Make readable what could not be read or done: the summary lists it."
    if Stage.RUN not in evidence.about.stages:
        yield "Have the kernels run: `tritonaudit audit`, which needs no GPU."
    elif evidence.never_launched or not evidence.runs:
        names = among(code(kernel.name) for kernel in evidence.never_launched)
        kernels = f" {names}" if names else " the kernels, of which no subject was found"
        yield f"Have{kernels} run: `tritonaudit init` writes a subject for each wrapper."
    cut_short = [
        evidence.label(run)
        for run in evidence.runs
        if cases_left_out(run) and any("time" in why for _, why in run.left_out)
    ]
    if cut_short:
        yield f"Give {among(map(code, cut_short))} more time, by `--budget`: not every case was tried."
    yield "Measure on a GPU: nothing here says how fast the kernels are."
