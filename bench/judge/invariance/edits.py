"""All edits, and what one makes of a file."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from bench.judge.invariance.changes import Edit, Text, assembled, changed, line_at
from bench.judge.invariance.helping import helpers, inlined
from bench.judge.invariance.layout import reformatted, reordered, uncommented
from bench.judge.invariance.moving import moved
from bench.judge.invariance.renaming import renamed
from bench.judge.invariance.source import Source
from bench.judge.invariance.swapping import swapped
from bench.judge.invariance.temporaries import folded, temporaries
from bench.judge.invariance.wrappers import keywords, parameter, printed, split, unrelated

EDITS: dict[str, Callable[[Source], Edit]] = {
    edit.__name__: edit
    for edit in (
        *(renamed, temporaries, folded, swapped, helpers, inlined, uncommented),
        *(printed, parameter, unrelated, split, moved, keywords, reordered, reformatted),
    )
}


@dataclass(frozen=True)
class Edited:
    """A file after an edit: its text, the new files by their names, and the kernels that were touched.

    `names` maps new names of functions to those that they had, or speak for.
    """

    text: Text
    files: dict[str, Text]
    names: dict[str, str]
    kernels: tuple[str, ...]

    @property
    def is_python(self) -> bool:
        try:
            for each in (self.text, *self.files.values()):
                ast.parse(each.text)
        except (SyntaxError, ValueError):
            return False
        return True


def edited(source: Source, name: str) -> Edited | None:
    """What the edit makes of a file; None where it changes nothing, or its changes overlap."""
    edit = EDITS[name](source)
    if not edit.changes:
        return None
    try:
        text = changed(source.text, edit.changes)
        files = {one.name: assembled(source.text, one.parts) for one in edit.moved}
    except ValueError:
        return None
    return Edited(text, files, dict(edit.names), _touched(source, edit))


def _touched(source: Source, edit: Edit) -> tuple[str, ...]:
    """The kernels with a change in them, or in a function that launches them, or calls them."""
    lines = {line_at(source.starts, change.start) for change in edit.changes}
    lines |= {line_at(source.starts, max(change.start, change.end - 1)) for change in edit.changes}
    names: set[str] = set()
    for function in source.functions:
        start, end = source.lines_of(function)
        if any(line_at(source.starts, start) <= line <= line_at(source.starts, end - 1) for line in lines):
            names |= {node.id for node in ast.walk(function) if isinstance(node, ast.Name)} | {function.name}
    within = (
        kernel.qualname
        for kernel in source.kernels
        if kernel.name in names or any(kernel.first_line <= line <= kernel.last_line for line in lines)
    )
    return tuple(dict.fromkeys(within))
