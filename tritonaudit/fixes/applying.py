"""Fixes applied to a text, in rounds: those that overlap wait for the next, and each round looks at the text afresh."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from tritonaudit.finding import Edit, Finding, Fix, Span
from tritonaudit.source.magics import parses

MOST_ROUNDS = 10

_NEWLINE = re.compile(r"\r\n|\r|\n")

Look = Callable[[str], Sequence[Finding]]
"""What is found in a text."""


@dataclass(frozen=True)
class Syntax:
    """How a kind of text takes edits, and whether what they leave can still be read."""

    edited: Callable[[str, Iterable[Edit]], str]
    parses: Callable[[str], bool]


@dataclass(frozen=True)
class FixedText:
    """A text with fixes applied, how many findings they fixed, and what was not done.

    `dropped` are findings whose fix would leave a text that does not parse. A text is `settled` when looking again
    offers no further fix.
    """

    text: str
    fixed: int = 0
    dropped: tuple[Finding, ...] = ()
    settled: bool = True


def apply_fixes(text: str, look: Look, *, unsafe: bool = False, syntax: Syntax | None = None) -> FixedText:
    """Apply the safe fixes, or the `unsafe` ones as well, of what `look` finds until it finds none to apply.

    The newlines of the text stay as they are, and new ones are like its first. It is Python without another `syntax`.
    """
    syntax = syntax or Syntax(edited, parses)
    result = FixedText(text)
    for _ in range(MOST_ROUNDS):
        offered = _offered(result, look, unsafe)
        if not offered:
            return result
        result = _round(result, offered, syntax)
    return replace(result, settled=not _offered(result, look, unsafe))


def is_fixable(finding: Finding, *, unsafe: bool) -> bool:
    """Whether there is a fix, and a safe one where `unsafe` ones are not wanted."""
    return finding.fix is not None and (finding.fix.safe or unsafe)


def _offered(result: FixedText, look: Look, unsafe: bool) -> list[Finding]:
    dropped = {(finding.code, finding.fingerprint) for finding in result.dropped}
    return [
        finding
        for finding in look(result.text)
        if is_fixable(finding, unsafe=unsafe) and (finding.code, finding.fingerprint) not in dropped
    ]


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text with edits, none of which touches another, done."""
    newline = found[0] if (found := _NEWLINE.search(text)) else "\n"
    starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]
    for edit in sorted(dict.fromkeys(edits), key=lambda edit: edit.span, reverse=True):
        span = edit.span
        start, end = starts[span.line - 1] + span.column - 1, starts[span.end_line - 1] + span.end_column - 1
        text = text[:start] + edit.replacement.replace("\n", newline) + text[end:]
    return text


def united(fixes: Sequence[Fix]) -> Fix:
    """One fix that does what the others do, except where their edits touch those of others before them."""
    edits: list[Edit] = []
    for fix in fixes:
        new = [edit for edit in fix.edits if edit not in edits]
        if not any(_touch(edit.span, other.span) for edit in new for other in edits):
            edits.extend(new)
    return replace(fixes[0], edits=tuple(edits))


def _round(result: FixedText, offered: Sequence[Finding], syntax: Syntax) -> FixedText:
    chosen = _compatible(offered)
    text = syntax.edited(result.text, (edit for _, fix in chosen for edit in fix.edits))
    if syntax.parses(text):
        return replace(result, text=text, fixed=result.fixed + len(chosen))
    return _one_by_one(result, chosen, syntax)


def _one_by_one(result: FixedText, chosen: Sequence[tuple[Finding, Fix]], syntax: Syntax) -> FixedText:
    """The fixes that leave a text that parses, also with those before them; those that alone leave none are dropped."""
    edits: list[Edit] = []
    dropped: list[Finding] = []
    done = 0
    for finding, fix in chosen:
        if syntax.parses(syntax.edited(result.text, [*edits, *fix.edits])):
            edits.extend(fix.edits)
            done += 1
        elif not syntax.parses(syntax.edited(result.text, fix.edits)):
            dropped.append(finding)
    return replace(
        result, text=syntax.edited(result.text, edits), fixed=result.fixed + done, dropped=(*result.dropped, *dropped)
    )


def _compatible(offered: Sequence[Finding]) -> list[tuple[Finding, Fix]]:
    """The fixes, in the order of the text, that touch none before them; two that want the same are one."""
    chosen: list[tuple[Finding, Fix]] = []
    taken: set[Edit] = set()
    for finding in sorted(offered, key=lambda finding: finding.sort_key):
        assert finding.fix is not None
        new = [edit for edit in finding.fix.edits if edit not in taken]
        if not any(_touch(edit.span, other.span) for edit in new for other in taken):
            chosen.append((finding, finding.fix))
            taken.update(new)
    return chosen


def _touch(left: Span, right: Span) -> bool:
    return (
        left.cell == right.cell
        and (left.line, left.column) <= (right.end_line, right.end_column)
        and (right.line, right.column)
        <= (
            left.end_line,
            left.end_column,
        )
    )
