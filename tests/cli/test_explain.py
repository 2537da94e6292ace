"""`tritonaudit explain`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tritonaudit.rules import all_rules, find_rule

Command = Callable[..., Any]


@pytest.mark.parametrize("label", ["TAM101", "unmasked-access"])
def test_a_pipe_gets_the_page_as_it_was_written(tritonaudit: Command, label: str) -> None:
    ran = tritonaudit("explain", label)
    assert (ran.code, ran.err) == (0, "")
    title, _, page = find_rule("TAM101").page().partition("\n")
    assert ran.out.startswith(
        f"{title}\n\n- Severity: error\n- Confidence: high\n- Fix: safe, with `--fix`, or else unsafe"
    )
    assert ran.out.endswith(page)


def test_what_a_rule_says_of_itself_stands_under_its_title(tritonaudit: Command) -> None:
    out = tritonaudit("explain", "TAM106").out
    assert out.split("\n## ")[0] == (
        "# TAM106 strided-lanes\n\n"
        "- Severity: info\n"
        "- Confidence: low; shown only with `--pedantic`, or `--select` and its code\n"
        "- Fix: none\n"
        "- Found by: `tritonaudit check` (Memory patterns, since 0.1)\n"
        '- Suppress: `# tritonaudit: ignore[TAM106] why`, or `ignore = ["TAM106"]` in the configuration\n'
        f"- Page: <{find_rule('TAM106').page_file().as_uri()}>\n"
    )


@pytest.mark.parametrize("label", ["tam101", "Unmasked-Access"])
def test_a_rule_is_known_in_any_case(tritonaudit: Command, label: str) -> None:
    assert tritonaudit("explain", label) == tritonaudit("explain", "TAM101")


def test_a_terminal_gets_the_page_rendered(tritonaudit: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tritonaudit.cli.terminal.is_terminal", lambda: True)
    ran = tritonaudit("explain", "TAM101")
    assert ran.code == 0
    assert "What it does" in ran.out
    assert "## " not in ran.out
    assert "```" not in ran.out


def test_several_rules(tritonaudit: Command) -> None:
    first, second = all_rules()[:2]
    out = tritonaudit("explain", first.code, second.name).out
    assert out.startswith(first.page().partition("\n")[0])
    assert out.endswith(second.page().partition("\n")[2])


@pytest.mark.parametrize(
    ("mistaken", "meant"), [("TAM1O1", "TAM101"), ("tam1o1", "TAM101"), ("unmasked-acess", "unmasked-access")]
)
def test_an_unknown_rule_is_guessed(tritonaudit: Command, mistaken: str, meant: str) -> None:
    ran = tritonaudit("explain", mistaken)
    assert (ran.code, ran.out) == (2, "")
    assert meant in ran.err
    assert ran.err.count("\n") == 1


def test_an_unknown_rule_like_no_other(tritonaudit: Command) -> None:
    ran = tritonaudit("explain", "?")
    assert ran.code == 2
    assert "tritonaudit rules" in ran.err


def test_nothing_is_explained_when_one_is_unknown(tritonaudit: Command) -> None:
    assert tritonaudit("explain", "TAM101", "?").out == ""
