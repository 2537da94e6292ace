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
    assert ran.out == find_rule("TAM101").page()


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
    assert out.startswith(first.page())
    assert out.endswith(second.page())


@pytest.mark.parametrize(
    ("mistaken", "meant"), [("TAM1O1", "TAM101"), ("tam101", "TAM101"), ("unmasked-acess", "unmasked-access")]
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
