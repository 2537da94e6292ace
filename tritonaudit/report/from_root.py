"""Paths as forges and code scanning read them: from the root of the checkout, wherever in it the command ran."""

from __future__ import annotations

import os
from dataclasses import replace

from tritonaudit.finding import EVERYTHING, Audit, Finding, Outcome, Problem


def from_root(audit: Audit, here: str) -> Audit:
    """The audit with its paths counted from the root; so far they count from `here`, a folder below it."""
    if not here:
        return audit
    return replace(
        audit,
        findings=tuple(_finding(finding, here) for finding in audit.findings),
        problems=tuple(_problem(problem, here) for problem in audit.problems),
        outcomes=tuple(_outcome(outcome, here) for outcome in audit.outcomes),
        texts={rooted(path, here): text for path, text in audit.texts.items()},
    )


def rooted(path: str, here: str) -> str:
    """One path, counted from the root."""
    return os.path.normpath(os.path.join(here, path)) if here else path


def _finding(finding: Finding, here: str) -> Finding:
    return replace(
        finding,
        path=rooted(finding.path, here),
        related=tuple(replace(related, path=rooted(related.path, here)) for related in finding.related),
        way=tuple(replace(step, path=rooted(step.path, here)) for step in finding.way),
    )


def _problem(problem: Problem, here: str) -> Problem:
    return replace(problem, path=rooted(problem.path, here)) if problem.in_file else problem


def _outcome(outcome: Outcome, here: str) -> Outcome:
    """What it is of begins with a path, unless it is of everything."""
    return outcome if outcome.subject in EVERYTHING else replace(outcome, subject=rooted(outcome.subject, here))
