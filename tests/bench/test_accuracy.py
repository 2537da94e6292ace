"""What reading the findings in published packages came to: no rule may become worse than it is written here."""

from __future__ import annotations

from collections import Counter

import pytest

from bench.accuracy.rows import FALSE, TRUE, VERDICTS, read
from tritonaudit.finding import Severity
from tritonaudit.rules import all_rules

WANTED = {Severity.ERROR: 0.9, Severity.WARNING: 0.8, Severity.INFO: 0.8}
"""The share of a rule's findings that must be true."""

_SEVERITIES = {rule.code: rule.severity for rule in all_rules()}
_JUDGED = Counter((row.code, row.verdict) for row in read(VERDICTS).rows)
_CODES = sorted({code for code, _ in _JUDGED})


@pytest.mark.parametrize("code", _CODES)
def test_enough_of_what_a_rule_finds_is_true(code: str) -> None:
    true, false = _JUDGED[code, TRUE], _JUDGED[code, FALSE]
    assert true >= WANTED[_SEVERITIES[code]] * (true + false)


def test_nothing_is_left_unread() -> None:
    assert not [row.place for row in read(VERDICTS).rows if not row.verdict]


def test_a_verdict_has_a_reason() -> None:
    assert not [row.place for row in read(VERDICTS).rows if row.verdict and not row.reason]
