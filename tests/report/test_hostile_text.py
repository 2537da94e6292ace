"""Whatever a message, a path or a source holds, no format breaks."""

from __future__ import annotations

import json
import re
from typing import Any
from xml.etree import ElementTree

from hypothesis import given, settings
from hypothesis import strategies as st

from tritonaudit.finding import Audit, Confidence, Finding, Outcome, Problem, Related, Severity, Span, Status, Witness
from tritonaudit.report import FORMATS, render

try:
    from sarif_kit.validate import assert_valid
except ImportError:  # it needs Python 3.11
    assert_valid = None

NASTY = [
    "\x00",
    "\x1b[2J",
    "\x9b",
    "\r",
    "\n",
    "\t",
    "\x0b",
    "\x0c",
    "\x85",
    "\u2028",
    "\u202e",
    "\ufeff",
    "\ud800",
    "\udcff",
]
NASTY += ["[red]", "](1)", "[", "::error::", "%0A", ":", ",", "幅", "e\u0301", "\U000e0001", "..", "/", "\\"]
anything = st.lists(st.one_of(st.sampled_from(NASTY), st.text(st.characters(), max_size=5)), max_size=8).map("".join)
# Names come from parsed source, which holds no lone surrogates.
encodable = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)


@st.composite
def spans(draw: st.DrawFn) -> Span:
    line, column = draw(st.integers(1, 5)), draw(st.integers(1, 300))
    lines, columns = draw(st.integers(0, 3)), draw(st.integers(0, 200))
    return Span(line, column, line + lines, column + columns if not lines else columns + 1)


findings = st.builds(
    Finding,
    code=st.sampled_from(["TAM101", "TAN101", "TAB999"]),
    name=anything,
    severity=st.sampled_from(Severity),
    confidence=st.sampled_from(Confidence),
    message=anything,
    path=anything,
    span=spans(),
    kernel=st.none() | encodable,
    remedy=st.none() | anything,
    related=st.lists(st.builds(Related, anything, spans(), anything), max_size=2).map(tuple),
    witness=st.none() | st.builds(Witness, anything, st.none() | anything),
    expression=encodable,
)


@st.composite
def audits(draw: st.DrawFn) -> Audit:
    found = tuple(draw(st.lists(findings, max_size=3)))
    return Audit(
        findings=found,
        problems=tuple(draw(st.lists(st.builds(Problem, anything, anything, st.none() | st.just(3)), max_size=2))),
        outcomes=(Outcome("source", draw(anything), Status.NOT_RUN, reason=draw(anything)),),
        texts={finding.path: draw(anything) * draw(st.sampled_from([1, 40])) for finding in found},
        files=len(found),
    )


def unprintable(text: str) -> list[str]:
    return [character for character in text if character != "\n" and not character.isprintable()]


@settings(deadline=None, max_examples=60)
@given(audits())
def test_no_format_breaks(audit: Audit) -> None:
    texts = {format: render(audit, format, color=False) for format in FORMATS}
    for text in texts.values():
        assert not unprintable(text)
        text.encode("utf-8")
    assert len(texts["concise"].splitlines()) == len(audit.findings) + len(audit.problems) + 1
    commands = texts["github"].splitlines()
    assert len(commands) == len(audit.findings) + len(audit.problems)
    assert all(re.match(r"::(error|warning|notice) file=[^,:]*,[^:]*title=[^,:]*::", line) for line in commands)
    check_json(json.loads(texts["json"]), audit)
    check_sarif(json.loads(texts["sarif"]), audit)
    said = len(audit.findings) + len(audit.problems) + 1
    assert len(json.loads(texts["rdjson"])["diagnostics"]) == said
    assert len(json.loads(texts["gitlab"])) <= said
    assert ElementTree.fromstring(texts["junit"]).get("tests") == str(said + 1)


@settings(deadline=None, max_examples=30)
@given(audits())
def test_colour_adds_only_escape_sequences(audit: Audit) -> None:
    assert re.sub(r"\x1b\[[0-9;]*m", "", render(audit, "full", color=True)) == render(audit, "full", color=False)


def check_json(report: dict[str, Any], audit: Audit) -> None:
    assert [finding["message"] for finding in report["findings"]] == [finding.message for finding in audit.findings]


def check_sarif(log: dict[str, Any], audit: Audit) -> None:
    assert len(log["runs"][0]["results"]) == len(audit.findings)
    if assert_valid:
        assert_valid(log)
