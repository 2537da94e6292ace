"""The summary: what each category came to, and what the audit could not do."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.report.evidence import CATEGORIES, Evidence
from tritonaudit.report.html.badge import badge
from tritonaudit.report.html.markup import Markup, element, joined, lines, prose
from tritonaudit.report.html.table import table
from tritonaudit.report.shortfall import shortfall_lines
from tritonaudit.report.standing import Verdict, standing_of, verdict_of_kernel
from tritonaudit.report.words import Code

_CLASSES = {
    Verdict.FAIL: "fail",
    Verdict.WARN: "warn",
    Verdict.INCOMPLETE: "warn",
    Verdict.NOT_RUN: "none",
    Verdict.PASS: "pass",
}


def summary(evidence: Evidence) -> Iterator[Markup]:
    rows = []
    for category in CATEGORIES:
        standing = standing_of(category, evidence)
        rows.append((category.title, _badge(standing.verdict), standing.issues))
    yield table("What each category came to", ("Category", "Status", "Issues"), rows, class_="standings")
    if len(evidence.kernels) > 1:
        heads = ("Kernel", *(category.title for category in CATEGORIES))
        yield table("What it came to for each kernel", heads, _kernels(evidence), class_="standings")
    if missed := shortfall_lines(evidence.audit):
        yield element("h3", "Not done")
        yield element("ul", lines(*(element("li", prose(line)) for line in missed)))


def _kernels(evidence: Evidence) -> Iterator[tuple[Markup, ...]]:
    for kernel in evidence.kernels:
        name = joined(Code(kernel.name), " ", element("small", kernel.path))
        verdicts = (verdict_of_kernel(category, kernel, evidence) for category in CATEGORIES)
        yield name, *map(_badge, verdicts)


def _badge(verdict: Verdict) -> Markup:
    return badge(verdict.shown, _CLASSES[verdict])
