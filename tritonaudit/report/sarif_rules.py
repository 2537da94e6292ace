"""The rules as SARIF describes them, in the words that GitHub reads."""

from __future__ import annotations

import re

import sarif_om as om

from tritonaudit.finding import Severity
from tritonaudit.report.address import page_of
from tritonaudit.rule import Rule

LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_PROBLEM_SEVERITIES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "recommendation"}
_LONGEST_DESCRIPTION = 1024
_WHAT_IT_DOES = re.compile(r"^#+ What it does\s*\n(.*?)(?=^#|\Z)", re.MULTILINE | re.DOTALL)


def descriptor(rule: type[Rule], repository: str | None) -> om.ReportingDescriptor:
    """One entry of the driver's `rules`, which leads to its page where the address of the repository is known."""
    page = _page(rule)
    return om.ReportingDescriptor(
        id=rule.code,
        name=rule.name,
        short_description=om.MultiformatMessageString(text=_cut(rule.summary)),
        full_description=om.MultiformatMessageString(text=_cut(_full_description(page) or rule.summary)),
        help=om.MultiformatMessageString(text=page, markdown=page),
        help_uri=page_of(rule, repository),
        default_configuration=om.ReportingConfiguration(level=LEVELS[rule.severity]),
        properties={
            "tags": _tags(rule),
            "precision": rule.confidence.value,
            "problem.severity": _PROBLEM_SEVERITIES[rule.severity],
        },
    )


def _page(rule: type[Rule]) -> str:
    """The rule's page, or its summary: a rule from elsewhere that lacks a page must not cost the report."""
    try:
        return rule.page() or rule.summary
    except OSError:
        return rule.summary


def _full_description(page: str) -> str:
    """What stands under `What it does`, on one line."""
    section = _WHAT_IT_DOES.search(page)
    return " ".join(section[1].split()) if section else ""


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_DESCRIPTION else text[: _LONGEST_DESCRIPTION - 3] + "..."


def _tags(rule: type[Rule]) -> list[str]:
    return ["triton", rule.category().title.lower().replace(" ", "-"), rule.stage().name.lower()]
