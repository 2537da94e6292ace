"""What to do, in the order of what it brings: fix what was found, then have the rest checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.finding import Finding, Stage
from tritonaudit.report.evidence import Evidence, by_impact, cases_left_out, level, place
from tritonaudit.report.words import Code, Words, among, words


@dataclass(frozen=True)
class Step:
    """Something to do. `level` is that of the worst finding it fixes; empty where it fixes none."""

    text: Words
    level: str = ""


def advice(evidence: Evidence) -> list[Step]:
    """The steps, the most worthwhile first."""
    return [*_fix(evidence), *map(Step, _check(evidence))]


def _fix(evidence: Evidence) -> Iterator[Step]:
    """One step for each remedy, whether one finding asks for it or several."""
    by_remedy: dict[tuple[str, str], list[Finding]] = {}
    for finding in by_impact(evidence.audit.findings):
        by_remedy.setdefault((finding.code, finding.remedy or finding.message), []).append(finding)
    for (rule, remedy), findings in by_remedy.items():
        places = among(Code(place(finding)) for finding in findings)
        yield Step(words(places, ": ", remedy, f" ({rule} {findings[0].name})"), level(findings[0]))


def _check(evidence: Evidence) -> Iterator[Words]:
    if evidence.audit.problems:
        yield words("Make readable what could not be read or done: the summary lists it.")
    if Stage.RUN not in evidence.about.stages:
        yield words("Have the kernels run: `tritonaudit audit`, which needs no GPU.")
    elif evidence.never_launched or not evidence.runs:
        names = among(Code(kernel.name) for kernel in evidence.never_launched)
        kernels = names or words("the kernels, of which no subject was found")
        yield words("Have ", kernels, " run: `tritonaudit init` writes a subject for each wrapper.")
    cut_short = [
        Code(evidence.label(run))
        for run in evidence.runs
        if cases_left_out(run) and any("time" in why for _, why in run.left_out)
    ]
    if cut_short:
        yield words("Give ", among(cut_short), " more time, by `--budget`: not every case was tried.")
    if evidence.why_nothing_measured:
        yield words("Measure on a GPU: nothing here says how fast the kernels are.")
