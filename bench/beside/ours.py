"""tritonaudit with its default settings."""

from __future__ import annotations

import sys
from pathlib import Path

import bench.api
import bench.language.published
from bench.beside.reports import Report
from tritonaudit.config import Config
from tritonaudit.engine import check
from tritonaudit.finding import Finding, Severity

LANGUAGE = bench.api.CODES | bench.language.published.CODES
"""Rules on what a release of Triton takes, whatever the kernel is for: its names, and its language."""


def reports(folder: Path) -> list[Report]:
    """What it finds in the folder; what it cannot read goes to the standard error."""
    audit = check([folder], Config(folder), jobs=1)
    for problem in audit.problems:
        print(f"{problem.path}: {problem.message}", file=sys.stderr)
    return [_report(finding) for finding in audit.findings]


def _report(finding: Finding) -> Report:
    is_error = finding.severity is Severity.ERROR
    return Report(Path(finding.path).resolve(), finding.span.line, finding.code, is_error, finding.kernel)
