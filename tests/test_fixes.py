"""Fixes applied to a text: which together, in which order, and what of the text they leave alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tritonaudit.finding import Confidence, Edit, Finding, Fix, Severity, Span
from tritonaudit.fixes.applying import MOST_ROUNDS, FixedText, apply_fixes, edited


def finding(*edits: Edit, safe: bool = True) -> Finding:
    """A finding at its first edit, with a fix of these edits."""
    fix = Fix("fix it", edits, safe)
    span = edits[0].span
    return Finding(
        "TAC999", "some-name", Severity.ERROR, Confidence.HIGH, "bad", "k.py", span, expression=str(span), fix=fix
    )


def word(text: str, old: str, new: str) -> Edit:
    """The edit that replaces the first occurrence of a word."""
    start = text.index(old)
    line, column = text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
    return Edit(Span(line, column, line, column + len(old)), new)


def renaming(**names: str) -> Callable[[str], Sequence[Finding]]:
    """Finds old names, with a fix for each that writes the new one."""
    return lambda text: [finding(word(text, old, new)) for old, new in names.items() if old in text]


def test_several_fixes_are_one_round() -> None:
    assert apply_fixes("a = 1\nb = 2\n", renaming(a="xx", b="y")) == FixedText("xx = 1\ny = 2\n", fixed=2)


def test_a_fix_may_make_room_for_another() -> None:
    assert apply_fixes("a = 1\n", renaming(a="b", b="c")) == FixedText("c = 1\n", fixed=2)


def test_fixes_that_overlap_wait_for_another_round() -> None:
    def look(text: str) -> list[Finding]:
        wide = [finding(word(text, "a + b", "total"))] if "a + b" in text else []
        return [*wide, *renaming(b="c")(text)]

    assert apply_fixes("x = a + b\n", look) == FixedText("x = total\n", fixed=1)


def test_two_findings_may_want_the_same_edit() -> None:
    def look(text: str) -> list[Finding]:
        return [finding(word(text, "a", "b")), finding(word(text, "a", "b"))] if "a" in text else []

    assert apply_fixes("a = 1\n", look) == FixedText("b = 1\n", fixed=2)


def test_unsafe_fixes_are_asked_for() -> None:
    def look(text: str) -> list[Finding]:
        return [finding(word(text, "a", "b"), safe=False)] if "a" in text else []

    assert apply_fixes("a = 1\n", look) == FixedText("a = 1\n")
    assert apply_fixes("a = 1\n", look, unsafe=True) == FixedText("b = 1\n", fixed=1)


def test_a_fix_that_breaks_the_syntax_is_dropped_and_the_others_are_not() -> None:
    result = apply_fixes("a = 1\nb = 2\n", renaming(a="(", b="c"))
    assert (result.text, result.fixed, result.settled) == ("a = 1\nc = 2\n", 1, True)
    assert [dropped.span.line for dropped in result.dropped] == [1]


def test_fixes_that_never_end_are_stopped() -> None:
    result = apply_fixes("a = 1\n", lambda text: [finding(Edit(Span(1, 5, 1, 5), "-"))])
    assert result == FixedText(f"a = {'-' * MOST_ROUNDS}1\n", fixed=MOST_ROUNDS, settled=False)


def test_newlines_stay_and_new_ones_are_like_the_first() -> None:
    edit = Edit(Span(2, 6, 2, 6), "\nc = 3")
    assert edited("a = 1\r\nb = 2\nd = 4\r", [edit]) == "a = 1\r\nb = 2\r\nc = 3\nd = 4\r"


def test_columns_count_code_points_and_comments_stay() -> None:
    text = "x = '𝛼𝛽'; a = 1  # a: why\n"
    assert edited(text, [Edit(Span(1, 11, 1, 12), "bb")]) == "x = '𝛼𝛽'; bb = 1  # a: why\n"


def test_an_edit_may_go_over_lines() -> None:
    assert edited("f(\n  a,\n  b)\n", [Edit(Span(1, 3, 3, 4), "c")]) == "f(c)\n"
