"""The verdict, which comes before all else: what the audit came to, and what each category did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from tritonaudit.compile.phrases import listed
from tritonaudit.finding import Category, Finding
from tritonaudit.report.evidence import LEVELS, Evidence, level
from tritonaudit.report.html.markup import Markup, element, joined
from tritonaudit.report.standing import Standing, Verdict, verdict_of_all

CLASSES = {
    Verdict.FAIL: "fail",
    Verdict.WARN: "warn",
    Verdict.INCOMPLETE: "warn",
    Verdict.NOT_RUN: "none",
    Verdict.PASS: "pass",
}
_SAID = {
    Verdict.FAIL: "Fails",
    Verdict.INCOMPLETE: "Incomplete",
    Verdict.WARN: "Warns",
    Verdict.NOT_RUN: "Not run",
    Verdict.PASS: "Passes",
}


def verdict(standings: Mapping[Category, Standing], evidence: Evidence) -> Markup:
    """One word for all, the number of findings, and the categories by what they came to.

    It is no pass where something could not be read or done.
    """
    whole = verdict_of_all(standing.verdict for standing in standings.values())
    if evidence.audit.problems:
        whole = min(whole, Verdict.INCOMPLETE)
    reported = joined(*_reported(standings, evidence), by=". ")
    word, rest = element("strong", whole.shown), element("span", reported, ".")
    return element("p", joined(word, rest, by=" "), class_=f"verdict {CLASSES[whole]}")


def _reported(standings: Mapping[Category, Standing], evidence: Evidence) -> Iterator[str]:
    yield _counts(evidence.audit.findings)
    for verdict in Verdict:
        categories = [category.title for category, one in standings.items() if one.verdict is verdict]
        if categories:
            yield f"{_SAID[verdict]}: {listed(categories)}"
    if evidence.audit.problems:
        yield "Not all could be read or done"


def _counts(findings: tuple[Finding, ...]) -> str:
    """`3 findings: 1 CRITICAL, 2 LOW`."""
    counts = Counter(map(level, findings))
    reported = ", ".join(f"{counts[word]} {word}" for word in LEVELS if counts[word])
    noun = "finding" if len(findings) == 1 else "findings"
    return f"{len(findings)} {noun}: {reported}" if findings else "No findings"
