"""What each format prints, literally."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tritonaudit.finding import (
    EVERY_KERNEL,
    Audit,
    Confidence,
    Edit,
    Finding,
    Fix,
    Outcome,
    Problem,
    Related,
    Severity,
    Span,
    Status,
)
from tritonaudit.report import render
from tritonaudit.report.about import About

EXPECTED = Path(__file__).parent / "expected"
FILES = {
    "full": "full.txt",
    "concise": "concise.txt",
    "json": "findings.json",
    "github": "github.txt",
    "gitlab": "gitlab.json",
    "rdjson": "rdjson.json",
    "junit": "junit.xml",
    "sarif": "log.sarif",
    "markdown": "report.md",
}
"""All but the page in HTML, which has tests of its own."""
Expected = Callable[[Path, str], None]


@pytest.mark.parametrize("format", FILES)
def test_prints_the_audit(format: str, audit: Audit, expected: Expected) -> None:
    expected(EXPECTED / FILES[format], render(audit, format, color=False))


def test_colour_adds_only_escape_sequences(audit: Audit) -> None:
    coloured = render(audit, "full", color=True)
    assert "\x1b[1;31merror\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render(audit, "full", color=False)


@pytest.mark.parametrize(
    ("audit", "summary"),
    [
        (Audit(), "Nothing was checked.\n"),
        (Audit(files=1, kernels=2), "No findings in 1 file, 2 kernels.\n"),
        (
            Audit(outcomes=(Outcome("source", "a.py", Status.NOT_RUN),), files=1),
            "a.py: not analysed\n\nNo kernel was analysed in 1 file. 1 not analysed.\n",
        ),
    ],
)
def test_says_when_there_is_nothing(audit: Audit, summary: str) -> None:
    assert render(audit, "full", color=False) == summary


@pytest.mark.parametrize("format", ["concise", "github"])
def test_prints_nothing_where_every_line_is_a_finding(format: str) -> None:
    assert render(Audit(files=1), format, color=False) == ""


def finding_at(span: Span, **more: Any) -> Finding:
    values: dict[str, Any] = {"code": "TAM101", "name": "unmasked-access", "message": "past the end", **more}
    return Finding(severity=Severity.ERROR, confidence=Confidence.HIGH, path="a.py", span=span, **values)


def test_columns_of_rdjson_count_bytes() -> None:
    text = "größe = tl.load(x)\n"
    edit = Edit(Span(1, 9, 1, 16), "tl.load")
    finding = finding_at(Span(1, 9, 1, 19), fix=Fix("write it", (edit,), safe=True))
    (said,) = json.loads(render(Audit((finding,), texts={"a.py": text}), "rdjson", color=False))["diagnostics"]
    assert said["location"]["range"] == {"start": {"line": 1, "column": 11}, "end": {"line": 1, "column": 21}}
    assert said["suggestions"] == [
        {"range": {"start": {"line": 1, "column": 11}, "end": {"line": 1, "column": 18}}, "text": "tl.load"}
    ]


def test_equal_findings_are_two_issues_of_gitlab() -> None:
    findings = tuple(finding_at(Span(line, 1, line, 5), ordinal=line) for line in (1, 2))
    issues = json.loads(render(Audit(findings, texts={"a.py": "load\nload\n"}), "gitlab", color=False))
    assert len({issue["fingerprint"] for issue in issues}) == 2


def test_junit_fails_for_errors_and_for_what_was_not_done() -> None:
    warning = replace(finding_at(Span(1, 1, 1, 5)), severity=Severity.WARNING)
    known = replace(finding_at(Span(2, 1, 2, 5)), in_baseline=True)
    audit = Audit(
        (finding_at(Span(3, 1, 3, 5)), warning, known),
        problems=(Problem("b.py", "no such file or folder"),),
        outcomes=(Outcome("source", "c.py", Status.NOT_RUN),),
        files=3,
    )
    suites = ElementTree.fromstring(render(audit, "junit", color=False))
    assert suites.attrib == {"name": "tritonaudit", "tests": "6", "failures": "1", "errors": "1"}
    assert sum(int(suite.attrib["skipped"]) for suite in suites) == 3


@pytest.mark.parametrize("format", ["gitlab", "rdjson", "junit"])
def test_what_was_not_looked_at_is_in_every_format(format: str) -> None:
    audit = Audit(
        problems=(Problem("b.py", "not UTF-8", 3),),
        outcomes=(
            Outcome("source", "c.py", Status.NOT_RUN),
            Outcome("core", "d.py", Status.INCOMPLETE, "1 of 2 core trials"),
        ),
    )
    text = render(audit, format, color=False)
    for said in ("not UTF-8", "c.py: not analysed", "d.py: INCOMPLETE, 1 of 2 core trials"):
        assert said in text


@pytest.mark.parametrize("format", ["github", "gitlab", "rdjson", "sarif"])
def test_what_a_forge_reads_has_paths_from_the_root(format: str) -> None:
    audit = Audit(
        (finding_at(Span(1, 1, 1, 5), related=(Related("near.py", Span(2, 1, 2, 2), "here too"),)),),
        problems=(Problem("b.py", "not UTF-8", 3), Problem("a configuration", "is wrong", in_file=False)),
        outcomes=(Outcome("source", "../c.py", Status.NOT_RUN), Outcome("run", EVERY_KERNEL, Status.NOT_RUN)),
        texts={"a.py": "load\n"},
    )
    text = render(audit, format, color=False, about=About(here="src/kernels"))
    assert "src/kernels/a.py" in text
    assert "src/kernels/b.py" in text
    assert "src/kernels/a configuration" not in text
    if format != "github":
        assert "src/c.py: not analysed" in text
        assert "kernels/every kernel" not in text
    if format in ("rdjson", "sarif"):
        assert "src/kernels/near.py" in text


@pytest.mark.parametrize("format", FILES)
def test_a_finding_that_is_known_is_marked(format: str) -> None:
    new, known = finding_at(Span(1, 1, 1, 5)), replace(finding_at(Span(2, 1, 2, 5), ordinal=1), in_baseline=True)
    texts = {"a.py": "load\nload\n"}
    without, marked = (render(Audit((one,), texts=texts), format, color=False) for one in (new, known))
    mark = {"json": '"in_baseline": true', "sarif": '"baselineState": "unchanged"'}.get(format, "in the baseline")
    assert mark not in without
    assert mark in marked


def test_refuses_an_unknown_format() -> None:
    with pytest.raises(ValueError, match="'xml' is not a format"):
        render(Audit(), "xml", color=False)


@pytest.mark.parametrize("format", ["concise", "json", "github"])
def test_light_formats_import_nothing_heavy(format: str) -> None:
    script = (
        "import sys; from tritonaudit.finding import Audit; from tritonaudit.report import render;"
        f"render(Audit(), {format!r}, color=False); print(*{{'rich', 'sarif_om', 'libcst'}} & set(sys.modules))"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout == "\n"


def test_one_line_a_finding_also_says_what_was_fixed() -> None:
    assert render(Audit(fixed=2, files=1, kernels=1), "concise", color=False) == "Fixed 2 findings.\n"
    assert render(Audit(files=1, kernels=1), "concise", color=False) == ""
