"""Suppressions written for findings: each a comment at the end of the statement's line, as an edit of the text."""

from __future__ import annotations

import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tritonaudit.finding import Edit, Finding, Fix, Span
from tritonaudit.source.notebook import Notebook

_LIST = re.compile(r"# tritonaudit: ignore\[(?P<selectors>[^\[\]]*)\]")


@dataclass(frozen=True)
class _Line:
    """A logical line: its first and last physical one, and the comment that ends it."""

    first: int
    last: int
    end: int
    comment: str


def with_suppressions(findings: Sequence[Finding], text: str, reason: str) -> list[Finding]:
    """The findings, each with a comment that suppresses it in place of its fix; without a fix where none can."""
    lines: dict[int | None, list[_Line]] = {}
    asked: defaultdict[tuple[int | None, _Line], list[Finding]] = defaultdict(list)
    left = []
    for finding in findings:
        cell = finding.span.cell
        if cell not in lines:
            lines[cell] = _lines_of(text, cell)
        line = next((one for one in lines[cell] if one.first <= finding.span.line <= one.last), None)
        if line is None or finding.code.startswith("TAX"):
            left.append(replace(finding, fix=None))
        else:
            asked[cell, line].append(finding)
    reported = [replace(one, fix=_fix(key, group, reason)) for key, group in asked.items() for one in group]
    return [*reported, *left]


def _lines_of(text: str, cell: int | None) -> list[_Line]:
    source = text if cell is None else "\n".join(Notebook.read(text).cell(cell).lines)
    try:
        return list(_logical_lines(source))
    except (tokenize.TokenError, SyntaxError):
        return []


def _logical_lines(source: str) -> Iterator[_Line]:
    first: int | None = None
    comment = ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            comment = token.string
        elif token.type == tokenize.NEWLINE and first is not None:
            yield _Line(first, token.start[0], token.start[1] + 1, comment)
            first, comment = None, ""
        elif token.type == tokenize.NL:
            comment = ""
        elif token.type not in (tokenize.INDENT, tokenize.DEDENT, tokenize.NEWLINE) and first is None:
            first = token.start[0]


def _fix(key: tuple[int | None, _Line], findings: Sequence[Finding], reason: str) -> Fix:
    cell, line = key
    codes = list(dict.fromkeys(finding.code for finding in findings))
    if known := _LIST.search(line.comment):
        column = line.end - len(line.comment) + known.end("selectors")
        text = "".join(f", {code}" for code in codes)
    else:
        column = line.end
        text = f"  # tritonaudit: ignore[{', '.join(codes)}] {reason}"
    edit = Edit(Span(line.last, column, line.last, column, cell), text)
    return Fix("Suppress it.", (edit,), safe=True)
