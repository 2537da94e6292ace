"""The performance audit and the roofline: what was measured, what is not known, and what compiling showed."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.report.compiled import CompiledSection
from tritonaudit.report.evidence import Evidence
from tritonaudit.report.markdown.text import code, fenced, inline, prose, row, table
from tritonaudit.report.timings import (
    HOW,
    NOT_RUN,
    Table,
    doubts_of,
    found_of_performance,
    no_figures,
    no_times,
    roof_of,
    times_of,
)


def performance(evidence: Evidence) -> Iterator[str]:
    """A table for each subject, a row for each size; what is not in it, and why, below."""
    for subject in evidence.timed:
        yield code(subject.name)
        yield ""
        yield from _shown(times_of(subject))
        yield from (f"* {inline(doubt)}" for doubt in doubts_of(subject))
        yield ""
    if not evidence.timed:
        yield from _shown(no_times())
        yield ""
    yield f"{NOT_RUN}: {prose(evidence.why_nothing_measured)}." if evidence.why_nothing_measured else prose(HOW)
    if found := found_of_performance(evidence):
        yield ""
        yield inline(found)
    yield from _compiled(evidence)


def roofline(evidence: Evidence) -> Iterator[str]:
    """For each subject the largest size that was measured, every figure with its source."""
    if evidence.why_nothing_measured:
        yield from _shown(no_figures())
        yield ""
        yield f"{NOT_RUN}: {prose(evidence.why_nothing_measured)}."
        return
    for number, subject in enumerate(evidence.timed):
        if number:
            yield ""
        roof = roof_of(subject)
        if roof.figures is None:
            yield f"{code(subject.name)}: {prose(roof.reason)}"
        else:
            yield f"{code(subject.name)}, {prose(roof.size)}"
            yield ""
            yield from _shown(roof.figures)


def _shown(shown: Table) -> Iterator[str]:
    yield from table(*map(prose, shown.heads))
    yield from (row(*map(inline, cells)) for cells in shown.rows)


def _compiled(evidence: Evidence) -> Iterator[str]:
    if evidence.compiled is not None and evidence.compiled.kernels:
        lines = ["".join(text for text, _ in line) for line in CompiledSection(evidence.compiled).lines()]
        yield ""
        yield f"What the compiler ({prose(f'Triton {evidence.compiled.triton}')}) made of the launches, without a GPU:"
        yield ""
        yield from fenced(lines[:-1], "text")
