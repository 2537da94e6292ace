"""How many findings there are of each rule."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.finding import Audit, Finding
from tritonaudit.report.causes import reported_once
from tritonaudit.report.full import summary
from tritonaudit.report.shortfall import shortfall_lines

FORMATS = ("full", "json")


@dataclass(frozen=True)
class Count:
    """The findings of one rule: all, those with a safe fix, and those that the baseline holds."""

    code: str
    name: str
    findings: int
    fixable: int
    in_baseline: int


def counts(audit: Audit) -> list[Count]:
    """One count for each rule that found something, the most frequent first."""
    found: dict[str, list[Finding]] = {}
    for finding in audit.findings:
        found.setdefault(finding.code, []).append(finding)
    return sorted(map(_count, found.values()), key=lambda count: (-count.findings, count.code))


def statistics(audit: Audit, output_format: str, *, is_brief: bool = False) -> str:
    """The counts as a table with what could not be analysed and, unless it is brief, the summary; or a list in JSON."""
    audit = reported_once(audit)
    if output_format == "json":
        return json.dumps([vars(count) for count in counts(audit)], indent=2) + "\n"
    rest = [*shortfall_lines(audit), *([] if is_brief else [summary(audit)])]
    table = [*_table(counts(audit))]
    return "".join(f"{line}\n" for line in (*table, *([""] if table and rest else []), *rest))


def _count(findings: list[Finding]) -> Count:
    return Count(
        findings[0].code,
        findings[0].name,
        len(findings),
        sum(finding.fix is not None and finding.fix.safe for finding in findings),
        sum(bool(finding.in_baseline) for finding in findings),
    )


def _table(rows: list[Count]) -> Iterator[str]:
    if not rows:
        return
    width = max(len(row.name) for row in rows)
    yield f"{'findings':>8}  {'fixable':>7}  {'known':>5}  rule"
    for row in rows:
        yield f"{row.findings:>8}  {row.fixable:>7}  {row.in_baseline:>5}  {row.code} {row.name:<{width}}".rstrip()
