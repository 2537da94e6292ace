"""SARIF 2.1.0 as GitHub code scanning reads it, within its limits."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from typing import Any

import sarif_om as om

from tritonaudit import __version__
from tritonaudit.finding import Audit, Finding, Problem
from tritonaudit.report.about import About
from tritonaudit.report.address import repository
from tritonaudit.report.escape import visible
from tritonaudit.report.from_root import from_root
from tritonaudit.report.sarif_results import MOST_RELATED, ROOT, Source, folder_location, physical_location, result
from tritonaudit.report.sarif_rules import descriptor
from tritonaudit.report.sarif_walk import plain
from tritonaudit.report.section import Section
from tritonaudit.report.shortfall import incomplete, incomplete_line, not_analysed_lines
from tritonaudit.report.sources import Sources, in_cell
from tritonaudit.rule import Rule
from tritonaudit.rules import all_rules

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_MOST_RESULTS = 25_000
_MOST_BYTES = 10_000_000
"""Of the log when packed by gzip."""


def render(audit: Audit, *, color: bool, sections: Sequence[Section], about: About) -> str:
    """A log of one run. GitHub refuses logs beyond its limits whole, so the least severe findings go first."""
    audit = from_root(audit, about.here)
    kept = _worst(audit.findings, _MOST_RESULTS)
    reported = _verdicts(sections)
    text = _log(audit, kept, reported, about)
    while kept and (size := _packed_size(text)) > _MOST_BYTES:
        kept = _worst(kept, int(len(kept) * 0.9 * _MOST_BYTES / size))
        text = _log(audit, kept, reported, about)
    return text


def _verdicts(sections: Sequence[Section]) -> dict[str, Any] | None:
    """What each subject came to, with what was tried of it, where subjects were run."""
    ran = next((section.data() for section in sections if section.key == "ran"), None)
    if ran is None:
        return None
    kept = ("subject", "path", "verdict", "coverage")
    return {"subjects": [{name: one[name] for name in kept} for one in ran["subjects"]]}


def _worst(findings: Sequence[Finding], most: int) -> Sequence[Finding]:
    """The most severe and surest findings, in the order that they had."""
    if len(findings) <= most:
        return findings
    ranks = [(finding.severity.rank, finding.confidence.rank, place) for place, finding in enumerate(findings)]
    return [findings[place] for place in sorted(place for *_, place in sorted(ranks)[:most])]


def _packed_size(text: str) -> int:
    return len(text) if len(text) <= _MOST_BYTES else len(gzip.compress(text.encode("ascii")))


def _log(audit: Audit, kept: Sequence[Finding], reported: dict[str, Any] | None, about: About) -> str:
    log = om.SarifLog(schema_uri=_SCHEMA, version="2.1.0", runs=[_run(audit, kept, reported, about)])
    return json.dumps(plain(log), indent=2, sort_keys=True, ensure_ascii=True) + "\n"


def _run(audit: Audit, kept: Sequence[Finding], reported: dict[str, Any] | None, about: About) -> om.Run:
    found = {finding.code for finding in kept}
    rules = [rule for rule in all_rules() if rule.code in found]
    indices = {rule.code: index for index, rule in enumerate(rules)}
    sources = {path: Source(text) for path, text in audit.texts.items()}
    unread, places = Source(None), Sources(audit.texts)
    return om.Run(
        tool=om.Tool(driver=_driver(rules)),
        automation_details=om.RunAutomationDetails(id="tritonaudit/"),
        column_kind="unicodeCodePoints",
        original_uri_base_ids=None if about.checkout is None else {ROOT: folder_location(about.checkout)},
        invocations=[_invocation(audit, kept)],
        results=[result(finding, indices, sources.get(finding.path, unread), places) for finding in kept],
        properties=reported,
    )


def _driver(rules: Sequence[type[Rule]]) -> om.ToolComponent:
    address = repository()
    return om.ToolComponent(
        name="tritonaudit",
        version=__version__,
        semantic_version=__version__,
        information_uri=address,
        rules=[descriptor(rule, address) for rule in rules],
    )


def _invocation(audit: Audit, kept: Sequence[Finding]) -> om.Invocation:
    notifications = [
        *map(_of_problem, audit.problems),
        *map(_of_not_analysed, (*map(incomplete_line, incomplete(audit)), *not_analysed_lines(audit))),
        *(om.Notification(level="warning", message=om.Message(text=text)) for text in _cuts(audit, kept)),
    ]
    return om.Invocation(
        execution_successful=not audit.problems,
        tool_execution_notifications=notifications or None,
    )


def _of_problem(problem: Problem) -> om.Notification:
    has_line = problem.line is not None and problem.cell is None
    region = om.Region(start_line=problem.line) if has_line else None
    place = om.Location(physical_location=physical_location(problem.path, region))
    return om.Notification(
        level="error",
        message=om.Message(text=in_cell(problem.line, problem.cell) + visible(problem.full_message)),
        locations=[place] if problem.in_file else None,
    )


def _of_not_analysed(line: str) -> om.Notification:
    return om.Notification(level="note", message=om.Message(text=line))


def _cuts(audit: Audit, kept: Sequence[Finding]) -> Iterator[str]:
    if dropped := len(audit.findings) - len(kept):
        yield (
            f"{dropped} of {len(audit.findings)} findings, the least severe, are left out: "
            f"GitHub takes at most {_MOST_RESULTS} results and {_MOST_BYTES} bytes after gzip."
        )
    if shortened := sum(len(finding.related) > MOST_RELATED for finding in kept):
        findings = "1 finding" if shortened == 1 else f"{shortened} findings"
        yield f"Related places are left out of {findings}: GitHub takes at most {MOST_RELATED + 1} locations in each."
