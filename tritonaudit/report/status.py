"""What an audit means for whoever waits for its exit code."""

from __future__ import annotations

from enum import IntEnum

from tritonaudit.finding import Audit, Severity, Status


class Exit(IntEnum):
    """Why a command that audits leaves as it does; the value is its exit code."""

    CLEAN = 0
    FOUND = 1
    ERROR = 2
    INCOMPLETE = 3


def exit_of(audit: Audit, fail_on: Severity) -> Exit:
    """ERROR where something could not be read or done, FOUND where something new was found at the level.

    Else INCOMPLETE where a subject's verdict is: of what has to be tried something was not.
    """
    if audit.problems:
        return Exit.ERROR
    if any(finding.severity.rank <= fail_on.rank for finding in audit.findings if not finding.in_baseline):
        return Exit.FOUND
    is_incomplete = any(outcome.status is Status.INCOMPLETE for outcome in audit.outcomes)
    return Exit.INCOMPLETE if is_incomplete else Exit.CLEAN
