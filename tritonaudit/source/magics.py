"""What only IPython understands in a cell of a notebook, kept out of the parser's way; every line stays where it is."""

from __future__ import annotations

import ast
import re
import warnings

_IN_PYTHON = frozenset({"capture", "debug", "prun", "pyinstrument", "snakeviz", "time", "timeit"})
"""Magics of a whole cell that run it, in the notebook's own names, as the Python that it is."""
_ESCAPES = ("%", "!", "?", ",", ";", "/")
"""No statement of Python begins with any of these."""
_ASKED = re.compile(r"[%\w.*\[\]'\"]+\?{1,2}")
_ASSIGNED = re.compile(r"(?P<target>[^=#]*[^=!<>#]=\s*)(?P<escape>[%!].*)", re.DOTALL)
_VALUE = "get_ipython()"
"""What IPython itself makes of an escape is a call of this; nothing is known of what it returns."""
_PART = re.compile(r"\"\"\"|'''|\"|'|[([{]|[)\]}]|#[^\n]*|\\(?:\r\n|.)?|\n|[^\"'()\[\]{}#\\\n]+", re.DOTALL)
_IN_STRING = {quote: re.compile(rf"\\.|{quote}|\n|.", re.DOTALL) for quote in ('"""', "'''", '"', "'")}


def python_of(text: str) -> str | None:
    """The Python of a cell, with as many lines; None where the cell is handed to something else than Python.

    What IPython alone understands is a `pass` there, or a value that nothing is known of.
    """
    if parses(text):
        return text
    lines = text.split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    if lines[first].startswith("%%"):
        name = lines[first][2:].split(maxsplit=1)
        if not name or name[0] not in _IN_PYTHON:
            return None
        lines[first] = ""
    return "\n".join(_without_escapes(lines))


def cell_magic(text: str) -> str:
    """`%%bash` of a cell that is handed to bash."""
    return text.lstrip().split(maxsplit=1)[0]


def parses(text: str) -> bool:
    """Whether it is Python as it stands."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True


def _without_escapes(lines: list[str]) -> list[str]:
    kept: list[str] = []
    while len(kept) < len(lines):
        at = len(kept)
        if _is_escape(lines[at]):
            end = _continued(lines, at)
            kept.append(_indent(lines[at]) + "pass")
        else:
            end = _end_of_statement(lines, at)
            statement = "\n".join(lines[at : end + 1])
            found = _ASSIGNED.fullmatch(statement)
            if found is None:
                kept += lines[at : end + 1]
                continue
            end = _continued(lines, at)
            kept += (found["target"] + _VALUE).split("\n")
        kept += [""] * (end + 1 - len(kept))
    return kept


def _is_escape(line: str) -> bool:
    stripped = line.strip()
    return stripped.startswith(_ESCAPES) or _ASKED.fullmatch(stripped) is not None


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _continued(lines: list[str], at: int) -> int:
    """The last line of an escape, which goes on after a backslash."""
    while lines[at].rstrip("\r").endswith("\\") and at + 1 < len(lines):
        at += 1
    return at


def _end_of_statement(lines: list[str], at: int) -> int:
    """The last line of the statement that begins at a line: brackets, strings and backslashes carry it on."""
    text = "\n".join(lines[at:])
    place = depth = line = 0
    while place < len(text):
        part = _PART.match(text, place)
        assert part is not None
        place = part.end()
        said = part[0]
        if said in _IN_STRING:
            place = _end_of_string(text, place, said)
        elif said == "\n":
            if depth <= 0:
                return at + line
        elif said in ("(", "[", "{"):
            depth += 1
        elif said in (")", "]", "}"):
            depth -= 1
        line += text.count("\n", part.start(), place)
    return len(lines) - 1


def _end_of_string(text: str, place: int, quote: str) -> int:
    """Where a string ends whose quote was opened: one of a single line at the latest before that line's end."""
    for part in _IN_STRING[quote].finditer(text, place):
        if part[0] == quote:
            return part.end()
        if part[0] == "\n" and len(quote) == 1:
            return part.start()
    return len(text)
