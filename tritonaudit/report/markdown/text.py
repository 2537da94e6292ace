"""Text put into Markdown so that it shows as it is, whatever is in it."""

from __future__ import annotations

import re

from tritonaudit.report.escape import visible
from tritonaudit.report.words import CODE_SPAN, Code, Words

_SPECIAL = re.compile(r"[\\`*|~]|<(?=[A-Za-z/!?])|&(?=#?\w+;)|\](?=[(\[])|(?<!\w)_|_(?!\w)|(?<!\w)@(?=\w)|#(?=\d)")
_START = re.compile(r"^(?=[-+=>#\[])|(?<=^\d)(?=[.)])|(?<=^\d\d)(?=[.)])")
"""Where a line would begin a list, a heading, a quotation or a definition."""


def prose(text: str) -> str:
    """Text whose `code` stays code, and in which nothing else is markup."""
    shown = visible(text)
    parts: list[str] = []
    end = 0
    for span in CODE_SPAN.finditer(shown):
        parts += [_escaped(shown[end : span.start()]), span[0]]
        end = span.end()
    return _START.sub(r"\\", "".join((*parts, _escaped(shown[end:]))), count=1)


def _escaped(text: str) -> str:
    return _SPECIAL.sub(_literal, text)


def _literal(special: re.Match[str]) -> str:
    # A backslash would not keep GitHub from taking these for a user and an issue.
    return {"@": "&#64;", "#": "&#35;"}.get(special[0], f"\\{special[0]}")


def code(text: str) -> str:
    """Text as a code span."""
    shown = visible(text)
    ticks = "`" * (1 + max(map(len, re.findall("`+", shown)), default=0))
    padding = " " * (shown.startswith(("`", " ")) or shown.endswith(("`", " ")))
    return f"{ticks}{padding}{shown}{padding}{ticks}" if shown else ""


def inline(words: Words) -> str:
    """Words as they stand in a line."""
    return "".join(code(piece.text) if isinstance(piece, Code) else prose(piece) for piece in words)


def row(*cells: str) -> str:
    """A row of a table, of cells in Markdown."""
    return f"| {' | '.join(_cell(cell) for cell in cells)} |"


def _cell(text: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\|", text)


def table(*heads: str) -> tuple[str, str]:
    """The two rows that a table begins with."""
    return row(*heads), f"|{'---|' * len(heads)}"


def fenced(lines: list[str], language: str = "", indent: str = "") -> list[str]:
    """Lines as a block of code."""
    ticks = "`" * max(3, 1 + max((len(run) for line in lines for run in re.findall("`+", line)), default=0))
    return [f"{indent}{line}".rstrip() for line in (f"{ticks}{language}", *lines, ticks)]
