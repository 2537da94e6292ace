"""What an audit means for whoever waits for its exit code."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING

from tritonaudit.finding import Audit, Finding, Status

if TYPE_CHECKING:
    from tritonaudit.config import Config


class Exit(IntEnum):
    """Why a command that audits leaves as it does; the value is its exit code."""

    CLEAN = 0
    FOUND = 1
    ERROR = 2
    INCOMPLETE = 3


def fails(findings: Iterable[Finding], config: Config) -> bool:
    """Whether one of them is new, and at the level that the configuration of its file sets."""
    new = (finding for finding in findings if not finding.in_baseline)
    return any(finding.severity.rank <= config.of(Path(finding.path)).fail_on.rank for finding in new)


def exit_of(audit: Audit, config: Config) -> Exit:
    """ERROR where something could not be read or done, FOUND where something new was found at the level of its file.

    Else INCOMPLETE where a subject's verdict is: of what has to be tried something was not.
    """
    if audit.problems:
        return Exit.ERROR
    if fails(audit.findings, config):
        return Exit.FOUND
    is_incomplete = any(outcome.status is Status.INCOMPLETE for outcome in audit.outcomes)
    return Exit.INCOMPLETE if is_incomplete else Exit.CLEAN
