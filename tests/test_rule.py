"""A rule without complete metadata is no rule."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Category, Confidence, Severity, Stage
from tritonaudit.rule import Hit, Rule

METADATA: dict[str, Any] = {
    "code": "TAM199",
    "name": "some-rule",
    "summary": "What is wrong.",
    "severity": Severity.ERROR,
    "confidence": Confidence.HIGH,
    "since": "0.1",
}


def rule(**changes: Any) -> type[Rule]:
    """A rule with this metadata; None leaves an entry out."""
    entries = {name: value for name, value in {**METADATA, **changes}.items() if value is not None}
    return type("SomeRule", (Rule,), entries)


def test_complete_metadata_make_a_rule() -> None:
    assert rule().code == "TAM199"


@pytest.mark.parametrize("missing", METADATA)
def test_each_gap_is_named(missing: str) -> None:
    with pytest.raises(TypeError, match=f"SomeRule does not declare its {missing}"):
        rule(**{missing: None})


@pytest.mark.parametrize(
    "code", ["", "TAM", "TAM1", "TAM10", "TAM1000", "tam101", "TAZ101", "TAM001", "TAM601", "TAM901", " TAM101", "M101"]
)
def test_a_wrong_code_is_refused(code: str) -> None:
    with pytest.raises(TypeError, match="is not a code"):
        rule(code=code)


@pytest.mark.parametrize("name", ["", "Some-Rule", "some_rule", "some rule", "-some", "some-", "some--rule", "größe"])
def test_a_wrong_name_is_refused(name: str) -> None:
    with pytest.raises(TypeError, match="is not a name"):
        rule(name=name)


def test_a_summary_is_a_sentence() -> None:
    with pytest.raises(TypeError, match="one sentence"):
        rule(summary="What is wrong")


@pytest.mark.parametrize(
    ("code", "category", "stage"),
    [
        ("TAC101", Category.CORRECTNESS, Stage.SOURCE),
        ("TAP201", Category.PERFORMANCE, Stage.SOURCE),
        ("TAM301", Category.MEMORY, Stage.COMPILE),
        ("TAN401", Category.STABILITY, Stage.RUN),
        ("TAB501", Category.PRACTICE, Stage.MEASURE),
        ("TAX001", Category.TOOL, Stage.SOURCE),
        ("TAX301", Category.TOOL, Stage.SOURCE),
    ],
)
def test_a_code_says_the_category_and_the_stage(code: str, category: Category, stage: Stage) -> None:
    assert (rule(code=code).category(), rule(code=code).stage()) == (category, stage)


class Checks(Rule):
    """A rule over kernels."""

    code, name, summary, since = "TAM198", "checks", "It checks.", "0.1"
    severity, confidence = Severity.INFO, Confidence.LOW

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        yield Hit(kernel.tree.function, "found")


def test_the_annotation_names_the_facts() -> None:
    assert Checks.facts() is KernelFlow


def test_metadata_may_be_inherited() -> None:
    class More(Checks):
        code, name = "TAM197", "more"

    assert More.summary == Checks.summary


def test_a_rule_without_a_check_says_so() -> None:
    with pytest.raises(NotImplementedError):
        rule()().check(None)


def test_a_rule_without_a_page_says_so() -> None:
    with pytest.raises(FileNotFoundError):
        Checks.page()
