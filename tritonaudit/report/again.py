"""The commands that show each finding again, and the one that makes the whole report."""

from __future__ import annotations

import shlex

from tritonaudit.finding import Finding, Stage
from tritonaudit.report.evidence import Evidence, by_impact, stage_of

_COMMANDS = {Stage.SOURCE: "check", Stage.COMPILE: "compile", Stage.RUN: "audit", Stage.MEASURE: "audit"}


def commands_of_findings(evidence: Evidence) -> dict[str, list[Finding]]:
    """Each command with the findings that it shows, the worst first."""
    by_command: dict[str, list[Finding]] = {}
    for finding in by_impact(evidence.audit.findings):
        by_command.setdefault(command_of(finding), []).append(finding)
    return by_command


def command_of(finding: Finding) -> str:
    """What shows the finding again."""
    if finding.witness and finding.witness.command:
        return finding.witness.command
    command = _COMMANDS[stage_of(finding.code)]
    return f"tritonaudit {command} {shlex.quote(finding.path)} --select {finding.code}"


def whole_command(evidence: Evidence) -> str:
    """What makes the whole report again."""
    return evidence.about.command or "tritonaudit check --output-format markdown"
