"""Where findings of an earlier text stand in a later one."""

from __future__ import annotations

import pytest

pytest.importorskip("pygls")

from tritonaudit.finding import Confidence, Finding, Related, Severity, Span
from tritonaudit.server.diagnostics import moved
from tritonaudit.server.texts import Text

BEFORE = Text("first\nsecond\nthird\nfourth\n", 1)


def finding(line: int, *related: Related) -> Finding:
    span = Span(line, 1, line, 3)
    return Finding("TAC101", "name", Severity.ERROR, Confidence.HIGH, "said", "a.py", span, related=related)


def there(path: str, line: int) -> Related:
    return Related(path, Span(line, 1, line, 3), "beside it")


def lines_in(later: str, *findings: Finding) -> list[int]:
    return [one.span.line for one in moved(findings, BEFORE, Text(later, 2))]


def test_what_is_below_a_change_moves_and_what_has_changed_is_left_out() -> None:
    findings = finding(1), finding(2), finding(4)
    assert lines_in("first\nother\nnew\nthird\nfourth\n", *findings) == [1, 5]
    assert lines_in("first\nthird\nfourth\n", *findings) == [1, 3]


def test_the_places_beside_a_finding_move_with_their_own_lines() -> None:
    one = finding(1, there("a.py", 2), there("a.py", 4), there("other.py", 4))
    (later,) = moved((one,), BEFORE, Text("first\nother\nnew\nthird\nfourth\n", 2))
    assert later.related == (there("a.py", 5), there("other.py", 4))
