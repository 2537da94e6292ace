"""Which rules run and which findings are shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tritonaudit.config import Config
from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Rule
from tritonaudit.selection import Selection, unknown_selector


def rule(code: str, name: str) -> type[Rule]:
    members = {"code": code, "name": name, "summary": "A summary.", "since": "0.1"}
    return type(code, (Rule,), {**members, "severity": Severity.ERROR, "confidence": Confidence.HIGH})


RULES = (
    rule("TAC101", "offset-overflow"),
    rule("TAM101", "unmasked-access"),
    rule("TAM102", "wrong-mask"),
    rule("TAM301", "narrow-access"),
)


def codes(**settings) -> list[str]:
    selection = Selection.of(Config(Path("/project"), **settings), RULES)
    return [rule.code for rule in RULES if selection.enabled(rule)]


def test_every_rule_runs_unless_something_else_is_said():
    assert codes() == ["TAC101", "TAM101", "TAM102", "TAM301"]


@pytest.mark.parametrize(
    ("select", "expected"),
    [
        (("TAM",), ["TAM101", "TAM102", "TAM301"]),
        (("TAM1",), ["TAM101", "TAM102"]),
        (("TAM10",), ["TAM101", "TAM102"]),
        (("TA",), ["TAC101", "TAM101", "TAM102", "TAM301"]),
        (("ALL",), ["TAC101", "TAM101", "TAM102", "TAM301"]),
        (("TAM102", "offset-overflow"), ["TAC101", "TAM102"]),
        ((), []),
    ],
)
def test_a_selector_is_a_code_a_name_a_prefix_or_all(select, expected):
    assert codes(select=select) == expected


@pytest.mark.parametrize("part_of_a_name", ["unmasked", "unmasked-acces"])
def test_a_part_of_a_name_selects_nothing(part_of_a_name):
    assert codes(select=(part_of_a_name,)) == []


@pytest.mark.parametrize(
    ("select", "ignore", "expected"),
    [
        (("TAM101",), ("TAM",), ["TAM101"]),
        (("wrong-mask",), ("TAM1",), ["TAM102"]),
        (("TAM1",), ("TAM",), ["TAM101", "TAM102"]),
        (("TAM",), ("TAM1",), ["TAM301"]),
        (("ALL",), ("TAM",), ["TAC101"]),
        (("TAM",), ("ALL",), ["TAM101", "TAM102", "TAM301"]),
        (("ALL",), ("TA",), []),
    ],
)
def test_the_selector_that_names_a_rule_most_closely_decides(select, ignore, expected):
    assert codes(select=select, ignore=ignore) == expected


@pytest.mark.parametrize("ignored", ["TAM101", "unmasked-access"])
def test_ignore_wins_where_both_are_equally_close(ignored):
    assert codes(select=("TAM101", "TAM102"), ignore=(ignored,)) == ["TAM102"]


def test_extend_select_adds_to_select():
    assert codes(select=("TAC",), extend_select=("TAM301",)) == ["TAC101", "TAM301"]


def test_low_confidence_is_shown_only_when_pedantic_or_asked_for():
    default = Selection.of(Config(Path("/project")), RULES)
    assert default.shown("TAM101", Confidence.HIGH)
    assert default.shown("TAM101", Confidence.MEDIUM)
    assert not default.shown("TAM101", Confidence.LOW)
    assert Selection.of(Config(Path("/project"), pedantic=True), RULES).shown("TAM101", Confidence.LOW)


@pytest.mark.parametrize("field", ["select", "extend_select"])
@pytest.mark.parametrize(("selector", "shown"), [("TAM101", True), ("unmasked-access", True), ("TAM10", False)])
def test_a_rule_named_by_itself_is_shown_at_any_confidence(field, selector, shown):
    selection = Selection.of(Config(Path("/project"), **{field: (selector,)}), RULES)
    assert selection.shown("TAM101", Confidence.LOW) is shown
    assert not selection.shown("TAM102", Confidence.LOW)


@pytest.mark.parametrize(
    ("glob", "path", "ignored"),
    [
        ("tests/**", "tests/deep/test_a.py", True),
        ("tests/", "tests/deep/test_a.py", True),
        ("tests/", "src/tests/test_a.py", True),
        ("/tests/", "src/tests/test_a.py", False),
        ("tests/*.py", "tests/deep/test_a.py", False),
        ("*_generated.py", "deep/a_generated.py", True),
        ("src/a.py", "/project/src/a.py", True),
        ("a.py", "/elsewhere/a.py", False),
        ("!src/", "tests/a.py", True),
        ("!src/", "src/a.py", False),
        ("!src/", "/elsewhere/a.py", False),
    ],
)
def test_per_file_ignores_match_globs_relative_to_the_root(glob, path, ignored):
    selection = Selection.of(Config(Path("/project"), per_file_ignores=((glob, ("TAM1",)),)), RULES)
    assert selection.ignored_in(Path(path)) == ({"TAM101", "TAM102"} if ignored else set())


def test_the_selectors_of_all_matching_globs_count():
    ignores = (("*.py", ("TAC",)), ("a.py", ("narrow-access",)), ("b.py", ("ALL",)))
    selection = Selection.of(Config(Path("/project"), per_file_ignores=ignores), RULES)
    assert selection.ignored_in(Path("a.py")) == {"TAC101", "TAM301"}


@pytest.mark.parametrize("selector", ["ALL", "TA", "TAM", "TAM1", "TAM10", "TAM101", "wrong-mask"])
def test_a_selector_that_names_a_rule_is_known(selector):
    assert unknown_selector(selector, RULES) is None


@pytest.mark.parametrize(
    ("selector", "meant"), [("TAC102", "TAC101"), ("tam1o1", "TAM101"), ("wrong-maks", "wrong-mask"), ("alll", "ALL")]
)
def test_an_unknown_selector_is_reported_what_it_may_have_meant(selector, meant):
    assert f"{selector!r}; did you mean {meant!r}?" in (unknown_selector(selector, RULES) or "")


@pytest.mark.parametrize("selector", ["", "T", "E501", "something-else-entirely"])
def test_an_unknown_selector_like_nothing_gets_no_hint(selector):
    assert unknown_selector(selector, RULES) == f"no rule has the code, name or prefix {selector!r}"
