"""What to do, and the commands that show it all again."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.report.advice import Step, advice
from tritonaudit.report.again import commands_of_findings, whole_command
from tritonaudit.report.evidence import Evidence, place
from tritonaudit.report.html.badge import badge_of_level
from tritonaudit.report.html.markup import Content, Markup, element, joined, lines


def recommendations(evidence: Evidence) -> Iterator[Markup]:
    steps = advice(evidence)
    yield element("ol", lines(*(element("li", _step(step)) for step in steps))) if steps else element("p", "None.")


def _step(step: Step) -> Content:
    return joined(badge_of_level(step.level), " ", step.text) if step.level else step.text


def commands(evidence: Evidence) -> Iterator[Markup]:
    shown = [
        _command(command, *(f"{finding.code} {finding.name} at {place(finding)}" for finding in findings))
        for command, findings in commands_of_findings(evidence).items()
    ]
    yield element("dl", lines(*shown, _command(whole_command(evidence), "the whole audit")), class_="commands")


def _command(command: str, *shows: str) -> Markup:
    terms = (element("dt", what) for what in shows)
    return element("div", *terms, element("dd", element("code", command, class_="command")))
