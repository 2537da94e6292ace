"""How findings that a baseline holds are shown, where they are shown at all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tritonaudit.finding import Audit, Finding
from tritonaudit.report.causes import reported_once


def known_mark(finding: Finding) -> str:
    """What stands behind a finding that is known."""
    return " (in the baseline)" if finding.in_baseline else ""


def without_known(audit: Audit) -> Audit:
    """The audit with the findings that a baseline holds counted, and no longer shown."""
    new = tuple(finding for finding in audit.findings if not finding.in_baseline)
    known = [finding for finding in audit.findings if finding.in_baseline]
    return replace(audit, findings=new, known=shown_count(audit, known))


def shown_count(audit: Audit, findings: Iterable[Finding]) -> int:
    """How many findings a report would show of these."""
    return len(reported_once(replace(audit, findings=tuple(findings))).findings)
