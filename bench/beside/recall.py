"""Bugs that were fixed: a checker has seen one if it speaks up at the changed lines before the fix and not after."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.beside.reports import Checker, Report
from bench.corpus import kernel_modules

_REACH = 3
"""How many lines a finding may lie from a changed one."""


@dataclass(frozen=True)
class Bug:
    """A row of the table; `lines` are those that the fix changed and their neighbours, in the file before it."""

    name: str
    kind: str
    visible: str
    lines: frozenset[int]
    before: Path
    after: Path


@dataclass(frozen=True)
class Tried:
    """What a checker says of a bug's file: before the fix, and after it."""

    bug: Bug
    before: tuple[Report, ...]
    after: tuple[Report, ...]

    def only(self, wanted: Callable[[Report], bool]) -> Tried:
        """The same with some of the findings alone."""
        return Tried(self.bug, tuple(filter(wanted, self.before)), tuple(filter(wanted, self.after)))

    @property
    def caught(self) -> frozenset[str]:
        """The codes that saw the bug.

        A finding near the changed lines counts if its line is no longer found afterwards, and if its code is found
        less often in the whole file: what flags every line would else be right by chance.
        """
        fewer = Counter(one.code for one in self.before) - Counter(one.code for one in self.after)
        near = [one for one in _without_twins(self.before, self.after) if one.line in self.bug.lines]
        return frozenset(one.code for one in near) & fewer.keys()


def read_bugs(table: Path, folder: Path) -> list[Bug]:
    """The bugs of the table that the folder holds, as `<id>/before/<file>` and `<id>/after/<file>`."""
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    bugs = [_bug(row, folder.resolve() / row["id"]) for row in rows]
    return [bug for bug in bugs if bug.before.is_dir() and bug.after.is_dir()]


def tried(checker: Checker, bugs: Sequence[Bug]) -> list[Tried]:
    """Run the checker over each file before and after, each alone in its folder."""
    return [Tried(bug, tuple(checker.reports(bug.before)), tuple(checker.reports(bug.after))) for bug in bugs]


def fixed_kernels(bugs: Iterable[Bug]) -> int:
    """How many jit functions the files hold after the fixes."""
    return sum(len(module.jit) for bug in bugs for _, module in kernel_modules(bug.after))


def _bug(row: dict[str, str], folder: Path) -> Bug:
    lines = near(row["lines_before"])
    return Bug(row["id"], row["class"], row["visible"], lines, folder / "before", folder / "after")


def near(ranges: str) -> frozenset[int]:
    """The lines of `12,40-43` and those within reach of them; an ellipsis says that there are more."""
    spans = [(int(first), int(last or first)) for first, last in re.findall(r"(\d+)(?:-(\d+))?", ranges)]
    return frozenset(line for first, last in spans for line in range(first - _REACH, last + _REACH + 1))


def _without_twins(before: Sequence[Report], after: Sequence[Report]) -> list[Report]:
    """The findings before that have none of the same code on a line of the same text afterwards."""
    left = Counter(_keys(after))
    alone = []
    for one, key in zip(before, _keys(before), strict=True):
        if left[key]:
            left[key] -= 1
        else:
            alone.append(one)
    return alone


def _keys(reports: Sequence[Report]) -> list[tuple[str, str]]:
    texts = {path: path.read_text(encoding="utf-8", errors="replace").split("\n") for path in {r.path for r in reports}}
    return [(one.code, texts[one.path][one.line - 1].strip()) for one in reports]
