"""What only IPython understands in a cell of a notebook, kept out of the parser's way; every line stays where it is."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

_IN_PYTHON = frozenset({"capture", "debug", "prun", "pyinstrument", "snakeviz", "time", "timeit"})
"""Magics of a whole cell that run it, in the notebook's own names, as the Python that it is."""
_ESCAPES = ("%", "!", "?", ",", ";", "/")
"""No statement of Python begins with any of these."""


def _options(flags: str, valued: str) -> str:
    """The options of a magic: letters that stand for themselves, and such as take a value."""
    return rf"(?:-(?:[{flags}]*[{valued}][ \t]*\S+|[{flags}]+)\s+)*"


_RUNS = re.compile(
    r"%{1,2}(?:(?P<time>time)\s+(?:--no-raise-error\s+)?"
    rf"|timeit\s+{_options('tcqov', 'nrp')}|prun\s+{_options('rq', 'DlsT')})(?P<statement>\S.*)",
    re.DOTALL,
)
"""Magics that run a statement, which follows their options."""
_ASKED = re.compile(r"%{0,2}[\w.*]+(?:\[[^][]*\][\w.*]*)*\?{1,2}")
_VALUE = "get_ipython()"
"""What IPython itself makes of an escape is a call of this; nothing is known of what it returns."""
_UNKNOWN = "eval("
"""A call that returns as little known, short enough to stand for the name of a magic before what it runs."""
_PART = re.compile(
    r"\"\"\"|'''|\"|'|[([{]|[)\]}]|#[^\n]*|\\(?:\r\n|.)?|\n|[=!<>]?=|[!<>]|[^\"'()\[\]{}#\\\n=!<>]+", re.DOTALL
)
_ASSIGNED = re.compile(r"(?:[ \t]|\\\r?\n)*(?=[%!])")
"""What may stand between the sign of an assignment and an escape."""
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
        lines[first] = _run(lines[first]) or ""
    return "\n".join(_without_escapes("\n".join(lines)))


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


def _without_escapes(text: str) -> Iterator[str]:
    """The statements, those lines that are escapes among them."""
    place = 0
    while True:
        end = _end_of_line(text, place)
        if _is_escape(text[place:end]):
            end = _end_of_escape(text, place)
            indent = _indent(text[place:end])
            escape = text[place + len(indent) : end]
            yield indent + (_run(escape) or "pass" + _newlines(escape))
        else:
            end, value = _statement(text, place)
            if value is None:
                yield text[place:end]
            else:
                end = _end_of_escape(text, value)
                escape = text[value:end]
                yield text[place:value] + (_value_of_run(escape) or _VALUE + _newlines(escape))
        if end == len(text):
            return
        place = end + 1


def _run(escape: str) -> str | None:
    """What a magic such as `%time` runs, in its own place; None if it runs nothing that can stand there."""
    found = _RUNS.fullmatch(escape)
    if found is None:
        return None
    statement = found["statement"]
    run = "pass;".ljust(found.start("statement")) + statement
    return run if parses(run) and (found["time"] or _names_nothing(statement)) else None


def _value_of_run(escape: str) -> str | None:
    """What a magic runs whose value is assigned: only `%time` gives that of what it runs."""
    found = _RUNS.fullmatch(escape)
    if found is None:
        return None
    start = found.start("statement")
    value = " " * start + found["statement"] if found["time"] else _UNKNOWN.ljust(start) + found["statement"] + ")"
    return value if parses(f"({value}\n)") else None


def _names_nothing(statement: str) -> bool:
    """Whether it only evaluates something: a name that `%timeit` assigns is gone after it."""
    return all(isinstance(one, ast.Expr) for one in ast.parse(statement).body)


def _is_escape(line: str) -> bool:
    stripped = line.strip()
    return stripped.startswith(_ESCAPES) or _ASKED.fullmatch(stripped) is not None


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _newlines(text: str) -> str:
    return "\n" * text.count("\n")


def _end_of_line(text: str, place: int) -> int:
    end = text.find("\n", place)
    return len(text) if end < 0 else end


def _end_of_escape(text: str, place: int) -> int:
    """Where an escape ends, which goes on after a backslash."""
    end = _end_of_line(text, place)
    while text[place:end].rstrip("\r").endswith("\\") and end < len(text):
        place = end + 1
        end = _end_of_line(text, place)
    return end


def _statement(text: str, place: int) -> tuple[int, int | None]:
    """Where the statement ends, which brackets, strings and backslashes carry on; or where an escape is assigned."""
    depth = 0
    is_assigned = False
    while place < len(text):
        part = _PART.match(text, place)
        assert part is not None
        place = part.end()
        said = part[0]
        if said in _IN_STRING:
            place = _end_of_string(text, place, said)
        elif said == "\n":
            if depth <= 0:
                return part.start(), None
        elif said in ("(", "[", "{"):
            depth += 1
        elif said in (")", "]", "}"):
            depth -= 1
        elif said == "=" and depth == 0 and not is_assigned:
            is_assigned = True
            if escape := _ASSIGNED.match(text, place):
                return place, escape.end()
    return len(text), None


def _end_of_string(text: str, place: int, quote: str) -> int:
    """Where a string ends whose quote was opened: one of a single line at the latest before that line's end."""
    for part in _IN_STRING[quote].finditer(text, place):
        if part[0] == quote:
            return part.end()
        if part[0] == "\n" and len(quote) == 1:
            return part.start()
    return len(text)
