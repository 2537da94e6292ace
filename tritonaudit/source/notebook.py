"""Notebooks (`.ipynb`): their Python as one module, where its lines stand, and edits that leave the rest as it is.

Jupyter runs the code cells in the notebook's own names, so that they are read as one module, in the order in which
they stand. A place in one is a cell, which counts from 1 with those of text, and a line in it.
"""

from __future__ import annotations

import json
import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import PurePath
from typing import Any

from tritonaudit.finding import Edit, Span
from tritonaudit.source.magics import cell_magic, python_of
from tritonaudit.source.outline import Unparsable, may_hold_kernels, parse

SUFFIX = ".ipynb"
_BLANK = re.compile(r"[ \t\r\n]*")
_NEWLINE = re.compile(r"\r\n|\r|\n")
_SURROGATES = r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_CHARACTER = re.compile(rf"{_SURROGATES}|\\u[0-9a-fA-F]{{4}}|\\.|.", re.DOTALL)
"""How one character of a text is written in a JSON string."""
_DECODER = json.JSONDecoder()


def is_notebook(path: PurePath) -> bool:
    """Whether the file is one, by its name."""
    return path.suffix == SUFFIX


class NotANotebook(Exception):
    """The file is no JSON, or not what a notebook is; `line` is where, if one line is to blame."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


@dataclass(frozen=True)
class Cell:
    """A code cell: its text, and where in the file the strings stand that it is written as, without their quotes."""

    number: int
    text: str
    strings: tuple[tuple[int, int], ...]
    between: str | None
    """What stands between two of them, the quotes included; None where the whole text is one."""
    language: str | None = None
    """What it is written in, if not what the notebook's kernel runs."""

    @cached_property
    def lines(self) -> list[str]:
        """As an editor shows them."""
        return _NEWLINE.split(self.text)

    @cached_property
    def starts(self) -> list[int]:
        """The place in the text at which each line starts."""
        return [0, *(found.end() for found in _NEWLINE.finditer(self.text))]

    @cached_property
    def newline(self) -> str:
        """How its lines end."""
        return found[0] if (found := _NEWLINE.search(self.text)) else "\n"


@dataclass(frozen=True)
class Broken:
    """A cell that is no Python, what the parser says of it, and where in the cell."""

    cell: int
    message: str
    line: int
    column: int


@dataclass(frozen=True)
class Notebook:
    """A notebook as it stands in its file. `is_python` says whether its kernel's language is Python."""

    raw: str
    cells: tuple[Cell, ...]
    is_python: bool = True

    @classmethod
    def read(cls, raw: str) -> Notebook:
        """The notebook that a file holds. Raises NotANotebook."""
        try:
            whole: Any = json.loads(raw)
        except json.JSONDecodeError as error:
            raise NotANotebook(f"it is not JSON: {error.msg}", error.lineno) from error
        except RecursionError as error:
            raise NotANotebook("its JSON is nested too deeply") from error
        except ValueError as error:  # an integer of more digits than Python converts
            raise NotANotebook(f"it is not JSON that Python can read: {error}") from error
        if not isinstance(whole, dict):
            raise NotANotebook("it is JSON, but not a notebook")
        if not isinstance(whole.get("cells"), list):
            old = isinstance(whole.get("worksheets"), list)
            raise NotANotebook(
                "it is a notebook of version 3 or before; `jupyter nbconvert --to notebook` brings it up to date"
                if old
                else "it is JSON, but has no list of cells"
            )
        return cls(raw, tuple(_cells(raw)), _is_python(whole.get("metadata")))

    def cell(self, number: int) -> Cell:
        """The code cell of that number."""
        return self._numbered[number]

    @cached_property
    def _numbered(self) -> dict[int, Cell]:
        return {cell.number: cell for cell in self.cells}

    @cached_property
    def _python(self) -> dict[int, str | None]:
        """The Python of each code cell; None of one that is handed to something else."""
        return {
            cell.number: python_of("\n".join(cell.lines)) if self.is_python and cell.language is None else None
            for cell in self.cells
        }

    @cached_property
    def broken(self) -> tuple[Broken, ...]:
        """The cells of which Python can make nothing, which are left out of the module."""
        found: list[Broken] = []
        for number, text in self._python.items():
            try:
                parse(text or "")
            except Unparsable as error:
                found.append(Broken(number, error.message, error.line or 1, error.column or 1))
        return tuple(found)

    @cached_property
    def elsewhere(self) -> tuple[tuple[int, str], ...]:
        """The cells that may hold kernels and are not for Python to run, each with what they are for."""
        return tuple(
            (cell.number, cell.language or (cell_magic(cell.text) if self.is_python else "another language"))
            for cell in self.cells
            if self._python[cell.number] is None and may_hold_kernels(cell.text.encode("utf-8", "replace"))
        )

    @cached_property
    def _parts(self) -> list[tuple[int, str]]:
        """The cells that make up the module, each with its Python."""
        broken = {one.cell for one in self.broken}
        return [(number, text) for number, text in self._python.items() if text is not None and number not in broken]

    @property
    def module(self) -> str:
        """The cells of Python as one module, in their order."""
        return "\n".join(text for _, text in self._parts)

    @cached_property
    def _firsts(self) -> list[int]:
        """The line of the module at which each part starts, and the one past the last part."""
        return list(accumulate((text.count("\n") + 1 for _, text in self._parts), initial=1))

    def place(self, line: int) -> tuple[int, int]:
        """The cell of a line of the module, and the line in it."""
        part = max(min(bisect_right(self._firsts, line), len(self._parts)) - 1, 0)
        return self._parts[part][0], line - self._firsts[part] + 1

    def placed(self, span: Span) -> Span:
        """A stretch of the module as one of a cell, which it may be already."""
        if span.cell is not None:
            return span
        cell, line = self.place(span.line)
        return Span(line, span.column, line + span.end_line - span.line, span.end_column, cell)

    def placed_edit(self, edit: Edit) -> Edit:
        """An edit of the module as one of a cell."""
        return Edit(self.placed(edit.span), edit.replacement)

    # -- the file -------------------------------------------------------------------------------------------------

    def in_file(self, span: Span) -> Span:
        """Where in the file itself, which is JSON, a stretch of a cell is written."""
        assert span.cell is not None
        cell = self.cell(span.cell)
        first, past = _place_in(cell, span.line, span.column), _place_in(cell, span.end_line, span.end_column)
        places = self._places_of(cell)
        start, end = places[min(first, len(places) - 1)], places[min(max(past, first), len(places) - 1)]
        return Span(*self._line_and_column(start), *self._line_and_column(end))

    def edited(self, edits: Iterable[Edit]) -> str:
        """The file with edits of its cells, none of which touches another, done; all else is as it was."""
        parts: list[str] = []
        place = 0
        for start, end, text in sorted(map(self._change, dict.fromkeys(edits))):
            parts += (self.raw[place:start], text)
            place = end
        return "".join((*parts, self.raw[place:]))

    def edit_in_file(self, edit: Edit) -> Edit:
        """An edit of a cell as one of the file."""
        start, end, text = self._change(edit)
        return Edit(Span(*self._line_and_column(start), *self._line_and_column(end)), text)

    def _change(self, edit: Edit) -> tuple[int, int, str]:
        span = edit.span
        assert span.cell is not None
        cell = self.cell(span.cell)
        first, past = _place_in(cell, span.line, span.column), _place_in(cell, span.end_line, span.end_column)
        places = self._places_of(cell)
        return places[first], places[past], self._written(cell, edit.replacement.replace("\n", cell.newline))

    def _written(self, cell: Cell, text: str) -> str:
        """Text as it stands in a JSON string of the cell, of which each line has one of its own."""
        lines = (json.dumps(line, ensure_ascii=self.raw.isascii())[1:-1] for line in text.split("\n"))
        return f"\\n{cell.between or ''}".join(lines)

    def _places_of(self, cell: Cell) -> Sequence[int]:
        """Where in the file each character of a cell is written, and where the last one ends."""
        if cell.number not in self._places:
            found = array("Q")
            for start, end in cell.strings:
                found.extend(character.start() for character in _CHARACTER.finditer(self.raw, start, end))
            found.append(cell.strings[-1][1] if cell.strings else 0)
            self._places[cell.number] = found
        return self._places[cell.number]

    @cached_property
    def _places(self) -> dict[int, array[int]]:
        """What `_places_of` has found."""
        return {}

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(found.end() for found in re.finditer("\n", self.raw))]

    def _line_and_column(self, place: int) -> tuple[int, int]:
        line = bisect_right(self._line_starts, place)
        return line, place - self._line_starts[line - 1] + 1


def edited(raw: str, edits: Iterable[Edit]) -> str:
    """A notebook's file with edits of its cells done."""
    return Notebook.read(raw).edited(edits)


def _place_in(cell: Cell, line: int, column: int) -> int:
    start = cell.starts[min(line, len(cell.starts)) - 1]
    return min(start + column - 1, len(cell.text))


def _is_python(metadata: Any) -> bool:
    """Whether the kernel that runs the notebook is one of Python; one that says nothing is taken for it."""
    said = metadata if isinstance(metadata, dict) else {}
    named = [said.get("language_info"), said.get("kernelspec")]
    languages = [one.get(key) for one, key in zip(named, ("name", "language"), strict=True) if isinstance(one, dict)]
    known = [language.lower() for language in languages if isinstance(language, str)]
    return not known or known[0] in ("python", "ipython", "python3")


def _cells(raw: str) -> Iterator[Cell]:
    """The code cells of the file."""
    _, list_start = _members(raw, _past_blank(raw, 0))["cells"]
    for number, (whole, start) in enumerate(_items(raw, list_start), 1):
        if not isinstance(whole, dict) or whole.get("cell_type") != "code" or "source" not in whole:
            continue
        language = _language(whole.get("metadata"))
        source, place = _members(raw, start)["source"]
        if isinstance(source, str):
            _, end = _DECODER.raw_decode(raw, place)
            yield Cell(number, source, ((place + 1, end - 1),), None, language)
        elif isinstance(source, list) and all(isinstance(line, str) for line in source):
            strings = tuple(_strings(raw, place))
            yield Cell(number, "".join(source), strings, _between(raw, place, strings), language)
        else:
            line = raw.count("\n", 0, place) + 1
            raise NotANotebook(f"the source of cell {number} is neither a string nor a list of strings", line)


def _language(metadata: Any) -> str | None:
    """The language of a cell, if it is not the notebook's: editors write down where a cell has one of its own."""
    editor = metadata.get("vscode") if isinstance(metadata, dict) else None
    language = editor.get("languageId") if isinstance(editor, dict) else None
    return language if isinstance(language, str) and language != "python" else None


def _strings(raw: str, start: int) -> Iterator[tuple[int, int]]:
    for _, place in _items(raw, start):
        _, end = _DECODER.raw_decode(raw, place)
        yield place + 1, end - 1


def _between(raw: str, start: int, strings: tuple[tuple[int, int], ...]) -> str:
    """What a new line of a cell has to be parted by from the one before it."""
    if len(strings) > 1:
        return raw[strings[0][1] : strings[1][0]]
    lead = raw[start + 1 : _past_blank(raw, start + 1)]
    return f'",{lead or " "}"'


def _members(raw: str, start: int) -> dict[str, tuple[Any, int]]:
    """The members of a JSON object that starts there: their values, and where these start."""
    found: dict[str, tuple[Any, int]] = {}
    place = _past_blank(raw, start + 1)
    while raw[place] != "}":
        key, place = _DECODER.raw_decode(raw, place)
        place = _past_blank(raw, _past_blank(raw, place) + 1)
        value, end = _DECODER.raw_decode(raw, place)
        found[key] = (value, place)
        place = _next(raw, end)
    return found


def _items(raw: str, start: int) -> Iterator[tuple[Any, int]]:
    """The items of a JSON list that starts there, and where they start."""
    place = _past_blank(raw, start + 1)
    while raw[place] != "]":
        value, end = _DECODER.raw_decode(raw, place)
        yield value, place
        place = _next(raw, end)


def _next(raw: str, end: int) -> int:
    """Past the comma after a value, or at the bracket that closes."""
    place = _past_blank(raw, end)
    return _past_blank(raw, place + 1) if raw[place] == "," else place


def _past_blank(raw: str, place: int) -> int:
    found = _BLANK.match(raw, place)
    assert found is not None
    return found.end()


def is_as_sound(raw: str, other: str) -> bool:
    """Whether as many cells of a notebook are Python as of another state of it."""
    try:
        return len(Notebook.read(raw).broken) <= len(Notebook.read(other).broken)
    except NotANotebook:
        return False
