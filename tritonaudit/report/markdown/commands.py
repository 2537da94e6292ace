"""The commands that show each finding again, and that make the whole report."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from tritonaudit.finding import Finding, Stage
from tritonaudit.report.escape import visible
from tritonaudit.report.markdown.evidence import Evidence, by_impact, place, stage_of
from tritonaudit.report.markdown.text import fenced

_COMMANDS = {Stage.SOURCE: "check", Stage.COMPILE: "compile", Stage.RUN: "audit", Stage.MEASURE: "audit"}


def commands(evidence: Evidence) -> Iterator[str]:
    by_command: dict[str, list[Finding]] = {}
    for finding in by_impact(evidence.audit.findings):
        by_command.setdefault(_command(finding), []).append(finding)
    lines: list[str] = []
    for command, findings in by_command.items():
        lines += [visible(f"# {finding.code} {finding.name} at {place(finding)}") for finding in findings]
        lines += [visible(command), ""]
    whole = evidence.about.command or "tritonaudit check --output-format markdown"
    yield from fenced([*lines, "# the whole audit", visible(whole)], "sh")


def _command(finding: Finding) -> str:
    if finding.witness and finding.witness.command:
        return finding.witness.command
    command = _COMMANDS[stage_of(finding.code)]
    return f"tritonaudit {command} {shlex.quote(finding.path)} --select {finding.code}"
