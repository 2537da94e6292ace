"""The texts that findings stand in: whole files, and of a notebook its cells, wherever these stand in its file."""

from __future__ import annotations

from collections.abc import Mapping

from tritonaudit.finding import Edit, Finding, Span
from tritonaudit.source.notebook import Notebook


class Sources:
    """The texts of an audit, each taken apart once."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._lines: dict[tuple[str, int | None], list[str]] = {}
        self._notebooks: dict[str, Notebook] = {}

    def lines(self, finding: Finding) -> list[str]:
        """The lines that its place counts in; none where the text is not known."""
        return self.lines_of(finding.path, finding.span.cell)

    def lines_of(self, path: str, cell: int | None) -> list[str]:
        """The lines of a file, or of a notebook's cell; none where the text is not known."""
        key = path, cell
        if key not in self._lines:
            self._lines[key] = self._split(*key)
        return self._lines[key]

    def in_file(self, path: str, span: Span) -> Span:
        """A place as one of the file: of a notebook's cell, where its JSON holds it; 1 where that is not known."""
        if span.cell is None:
            return span
        if path not in self._texts:
            return Span(1, 1, 1, 1)
        return self._notebook(path).in_file(span)

    def edit_in_file(self, path: str, edit: Edit) -> Edit:
        """An edit of a notebook's cell as one of its file."""
        return edit if edit.span.cell is None else self._notebook(path).edit_in_file(edit)

    def _split(self, path: str, cell: int | None) -> list[str]:
        if path not in self._texts:
            return []
        return self._texts[path].split("\n") if cell is None else self._notebook(path).cell(cell).lines

    def _notebook(self, path: str) -> Notebook:
        if path not in self._notebooks:
            self._notebooks[path] = Notebook.read(self._texts[path])
        return self._notebooks[path]


def in_cell(line: int | None, cell: int | None) -> str:
    """What begins a message whose place cannot name the cell of a notebook: `cell 3, line 12: `."""
    return "" if cell is None else f"cell {cell}, line {line or 1}: "
