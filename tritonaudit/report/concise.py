"""One line a finding, for eyes, editors and grep."""

from __future__ import annotations

from collections.abc import Sequence

from tritonaudit.finding import Audit, Finding
from tritonaudit.report.about import About
from tritonaudit.report.escape import visible
from tritonaudit.report.full import done
from tritonaudit.report.known import known_mark
from tritonaudit.report.section import Section
from tritonaudit.report.shortfall import shortfall_lines


def render(audit: Audit, *, color: bool, sections: Sequence[Section], about: About) -> str:
    """`path:line:column: CODE [severity] message`, then what was not analysed, sections, and what was fixed."""
    added = ("".join(text for text, _ in line) for section in sections for line in section.short_lines())
    lines = [*map(_line, audit.findings), *shortfall_lines(audit), *added, *done(audit)]
    return "".join(f"{line}\n" for line in lines)


def _line(finding: Finding) -> str:
    place = f"{visible(finding.path)}:{finding.span.shown_start}"
    return f"{place}: {finding.code} [{finding.severity.value}] {visible(finding.message)}{known_mark(finding)}"
