"""The commands that show each finding again, and that make the whole report."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.report.again import commands_of_findings, whole_command
from tritonaudit.report.escape import visible
from tritonaudit.report.evidence import Evidence, place
from tritonaudit.report.markdown.text import fenced


def commands(evidence: Evidence) -> Iterator[str]:
    lines: list[str] = []
    for command, findings in commands_of_findings(evidence).items():
        lines += [visible(f"# {finding.code} {finding.name} at {place(finding)}") for finding in findings]
        lines += [visible(command), ""]
    yield from fenced([*lines, "# the whole audit", visible(whole_command(evidence))], "sh")
