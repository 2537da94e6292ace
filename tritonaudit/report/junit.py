"""JUnit's XML, as Jenkins, GitLab and Azure show it among the results of tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from tritonaudit.finding import Audit, Finding, Outcome, Problem, Severity, Status, place_of
from tritonaudit.report.about import About
from tritonaudit.report.escape import visible
from tritonaudit.report.full import summary
from tritonaudit.report.known import known_mark
from tritonaudit.report.section import Section
from tritonaudit.report.shortfall import missed


def render(audit: Audit, *, color: bool, sections: Sequence[Section], about: About) -> str:
    """A suite for each file with findings, and one for the run, which fails where something was not done.

    An error is a failed test. What does not fail the command by default, and what was not looked at, is a skipped one,
    whose reason is shown.
    """
    suites = Element("testsuites", name="tritonaudit")
    for path, findings in groupby(sorted(audit.findings, key=lambda one: one.path), key=lambda one: one.path):
        _suite(suites, visible(path), map(_of_finding, findings))
    _suite(suites, "tritonaudit", _of_run(audit))
    _count(suites, suites.iter("testcase"))
    del suites.attrib["skipped"]  # Jenkins' schema has it for a suite only
    indent(suites)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{tostring(suites, encoding="unicode")}\n'


def _suite(suites: Element, name: str, cases: Iterator[Element]) -> None:
    suite = SubElement(suites, "testsuite", name=name)
    suite.extend(cases)
    _count(suite, iter(suite))


def _count(element: Element, cases: Iterator[Element]) -> None:
    said = [case[0].tag if len(case) else "" for case in cases]
    for key, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(key, str(said.count(tag)))
    element.set("tests", str(len(said)))


def _of_finding(finding: Finding) -> Element:
    place = f"{finding.path}:{finding.span.shown_start}"
    text = f"{visible(place)}: {visible(finding.message)}{known_mark(finding)}"
    if finding.remedy:
        text += f"\nhelp: {visible(finding.remedy)}"
    fails = finding.severity is Severity.ERROR and not finding.in_baseline
    name = f"{finding.code} {finding.name} at {finding.span.shown_start}"
    return _case(name, finding.path, "failure" if fails else "skipped", finding.severity.value, text)


def _of_run(audit: Audit) -> Iterator[Element]:
    yield _case(summary(audit), "tritonaudit")
    yield from map(_of_problem, audit.problems)
    yield from (_of_outcome(outcome, text) for outcome, text in missed(audit))


def _of_problem(problem: Problem) -> Element:
    text = visible(f"{place_of(problem)}: {problem.message}")
    return _case(f"problem at {place_of(problem)}", problem.path, "error", "problem", text)


def _of_outcome(outcome: Outcome, text: str) -> Element:
    tag = "failure" if outcome.status is Status.INCOMPLETE else "skipped"
    return _case(f"{outcome.check} {outcome.case}".strip(), outcome.subject, tag, outcome.status.value, text)


def _case(name: str, place: str, tag: str = "", kind: str = "", text: str = "") -> Element:
    case = Element("testcase", name=visible(name), classname=visible(place))
    if tag:
        attributes = {"message": text.partition("\n")[0], **({} if tag == "skipped" else {"type": kind})}
        SubElement(case, tag, attributes).text = text
    return case
