"""The summary: what each category came to, and what the audit could not do."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.report.evidence import CATEGORIES, Evidence
from tritonaudit.report.markdown.text import code, inline, prose, row, table
from tritonaudit.report.shortfall import shortfall_lines
from tritonaudit.report.standing import standing_of, verdict_of_kernel


def summary(evidence: Evidence) -> Iterator[str]:
    yield from table("Category", "Status", "Issues")
    for category in CATEGORIES:
        standing = standing_of(category, evidence)
        yield row(category.title, standing.verdict.shown, inline(standing.issues))
    if len(evidence.kernels) > 1:
        yield ""
        yield from table("Kernel", *(category.title for category in CATEGORIES))
        for kernel in evidence.kernels:
            verdicts = (verdict_of_kernel(category, kernel, evidence) for category in CATEGORIES)
            yield row(f"{code(kernel.name)} ({prose(kernel.path)})", *(verdict.shown for verdict in verdicts))
    if missed := shortfall_lines(evidence.audit):
        yield ""
        yield "Not done:"
        yield ""
        yield from (f"* {prose(line)}" for line in missed)
