"""What a rule says of itself is complete, unique and in its place."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Rule
from tritonaudit.rules import all_rules

COMPLETE: dict[str, Any] = {
    "code": "TAM199",
    "name": "some-name",
    "summary": "Something is wrong.",
    "severity": Severity.ERROR,
    "confidence": Confidence.HIGH,
    "since": "0.1",
}
OWN = [rule for rule in all_rules() if rule.__module__.startswith("tritonaudit.rules.")]


@pytest.mark.parametrize("label", ["code", "name", "summary"])
def test_nothing_is_used_twice(label: str) -> None:
    values = [getattr(rule, label) for rule in all_rules()]
    assert sorted(values) == sorted(set(values))


@pytest.mark.parametrize("rule", OWN, ids=lambda rule: rule.code)
def test_a_rule_stands_in_the_folder_of_its_category(rule: type[Rule]) -> None:
    *_, category, module = rule.__module__.split(".")
    assert category == rule.category().name.lower()
    assert module == rule.name.replace("-", "_")
    assert rule.__name__ == rule.name.title().replace("-", "")


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_a_summary_is_one_sentence(rule: type[Rule]) -> None:
    assert re.fullmatch(r"[A-Z`][^\n]*\.", rule.summary)
    assert ". " not in rule.summary
    assert len(rule.summary) <= 120


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_since_is_a_version(rule: type[Rule]) -> None:
    assert re.fullmatch(r"\d+\.\d+", rule.since)


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_check_says_which_facts_it_reads(rule: type[Rule]) -> None:
    assert isinstance(rule.facts(), type)


def test_complete_metadata_make_a_rule() -> None:
    assert issubclass(type("SomeName", (Rule,), COMPLETE), Rule)


@pytest.mark.parametrize("missing", COMPLETE)
def test_a_gap_raises(missing: str) -> None:
    given = {name: value for name, value in COMPLETE.items() if name != missing}
    with pytest.raises(TypeError, match=f"SomeName does not declare its {missing}"):
        type("SomeName", (Rule,), given)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("code", "TAQ199"),
        ("code", "TAM99"),
        ("code", "TAM699"),
        ("code", "tam199"),
        ("name", "Some-Name"),
        ("name", "some_name"),
        ("name", ""),
        ("summary", "No full stop"),
    ],
)
def test_what_is_not_metadata_raises(field: str, value: str) -> None:
    with pytest.raises(TypeError, match="SomeName"):
        type("SomeName", (Rule,), {**COMPLETE, field: value})
