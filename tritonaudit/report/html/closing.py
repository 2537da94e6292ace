"""What to do, and the commands that show it all again."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Finding
from tritonaudit.report.advice import Step, advice
from tritonaudit.report.again import commands_of_findings, whole_command
from tritonaudit.report.evidence import Evidence, place
from tritonaudit.report.html.badge import badge_of_level
from tritonaudit.report.html.markup import Content, Markup, element, joined, lines
from tritonaudit.report.words import among

_MOST_COMMANDS = 500


def recommendations(evidence: Evidence) -> Iterator[Markup]:
    if steps := advice(evidence):
        yield element("ol", lines(*(element("li", _step(step)) for step in steps)))


def _step(step: Step) -> Content:
    return joined(badge_of_level(step.level), " ", step.text) if step.level else step.text


def commands(evidence: Evidence) -> Iterator[Markup]:
    commands = list(commands_of_findings(evidence).items())
    shown = [_command(command, among(map(_reported, findings))) for command, findings in commands[:_MOST_COMMANDS]]
    yield element("dl", lines(*shown, _command(whole_command(evidence), "the whole audit")), class_="commands")
    if further := commands[_MOST_COMMANDS:]:
        yield element("p", f"{len(further)} further commands, for the least severe findings, are left out.")


def _reported(finding: Finding) -> str:
    return f"{finding.code} {finding.name} at {place(finding)}"


def _command(command: str, shows: Content) -> Markup:
    return element("div", element("dt", shows), element("dd", element("code", command, class_="command")))
