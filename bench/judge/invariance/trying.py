"""One file under every edit: which of its findings are still there, and what is there that was not."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from bench.judge.invariance.changes import Text
from bench.judge.invariance.edits import EDITS, Edited, edited
from bench.judge.invariance.source import Package, Source
from tritonaudit.config import Config
from tritonaudit.engine import text_checker
from tritonaudit.finding import Audit, Finding
from tritonaudit.source.decode import Undecodable, decode
from tritonaudit.source.glances import Glance, Glances, Stamp
from tritonaudit.source.outline import Unparsable, may_hold_kernels, outline


@dataclass(frozen=True)
class Task:
    """A file of a package, its path from the package's folder; packages are copied into `copies`, to be edited."""

    package: Path
    file: str
    copies: Path


@dataclass(frozen=True)
class Kernels:
    """The kernels of a file, and those with a finding in them."""

    names: tuple[str, ...]
    found: frozenset[str]


@dataclass(frozen=True)
class Reported:
    """A finding, by the lines of the unedited file that it is about."""

    code: str
    severity: str
    kernel: str
    lines: frozenset[int]
    message: str


@dataclass(frozen=True)
class Compared:
    """What an edit did to the findings of the kernels that it touched.

    `kernels` and `findings` are those before the edit; `lost` are no longer found, and `new` were not found before.
    """

    edit: str
    kernels: tuple[str, ...]
    findings: tuple[Reported, ...]
    lost: tuple[Reported, ...]
    new: tuple[Reported, ...]


@dataclass(frozen=True)
class Tried:
    """A file's kernels with findings and without, and what each edit did that changed the file."""

    path: str
    kernels: Kernels
    compared: tuple[Compared, ...]
    reason: str = ""


Check = Callable[[Path], Sequence[Finding]]
"""The findings of a file as it is on the disk."""


class Copy:
    """A copy of a package which is this process's own, and what a glance at its files has shown."""

    def __init__(self, package: Path, copies: Path) -> None:
        folder = copies / str(os.getpid())
        self.path = Path(shutil.copytree(package, folder / package.name))
        self.package = Package.read(folder)
        self._known: dict[str, tuple[Stamp, Glance]] = {}

    def found_in(self, path: Path) -> Sequence[Finding]:
        """What the source stage finds in a file. Raises ValueError where it fails."""
        glances = Glances(self._known)
        found = _findings(text_checker(Config(path.parent), glances)(path.read_bytes(), path))
        self._known = glances.settled()
        return found


def _findings(audit: Audit) -> Sequence[Finding]:
    if audit.problems:
        raise ValueError(audit.problems[0].message)
    return audit.findings


@lru_cache(maxsize=1)
def _copy(package: Path, copies: Path) -> Copy:
    shutil.rmtree(copies / str(os.getpid()), ignore_errors=True)
    return Copy(package, copies)


@lru_cache(maxsize=1)
def _checker(package: Path) -> Callable[[bytes, Path], Audit]:
    return text_checker(Config(package))


def kernels_of(task: Task) -> Kernels:
    """The kernels of a file, which is only looked at; none where it cannot be read."""
    path = task.package / task.file
    data = path.read_bytes()
    if not may_hold_kernels(data):
        return Kernels((), frozenset())
    try:
        names = tuple(kernel.qualname for kernel in outline(str(path), decode(data)).jit)
        findings = _findings(_checker(task.package)(data, path)) if names else ()
    except (Undecodable, Unparsable, ValueError):
        return Kernels((), frozenset())
    return Kernels(names, frozenset(one.kernel for one in findings if one.kernel) & frozenset(names))


def try_file(task: Task, check: Check | None = None) -> Tried:
    """All edits of a file, each in a copy of its package; a file that cannot be tried says why."""
    copy = _copy(task.package, task.copies)
    check, path = check or copy.found_in, copy.path / task.file
    try:
        source = Source(path, decode(path.read_bytes()), copy.package)
        before = [_reported(one, Text(source.text, _own_lines(source.text)), {}) for one in check(path)]
        compared = tuple(_compared(source, before, check))
    except (Undecodable, Unparsable, ValueError) as error:
        return Tried(task.file, Kernels((), frozenset()), (), f"{type(error).__name__}: {error}")
    names = tuple(kernel.qualname for kernel in source.kernels)
    found = frozenset(one.kernel for one in before) & frozenset(names)
    return Tried(f"{task.package.name}/{task.file}", Kernels(names, found), compared)


def _compared(source: Source, before: Sequence[Reported], check: Check) -> Iterator[Compared]:
    for name in EDITS:
        change = edited(source, name)
        if change is not None and change.kernels:
            try:
                after = _after(source, change, check)
            except ValueError:
                if change.is_python:
                    raise
                continue
            mine = tuple(one for one in before if _is_of(one, change))
            lost = tuple(one for one in mine if not any(_is_same(one, other) for other in after))
            new = tuple(one for one in after if not any(_is_same(one, other) for other in before))
            yield Compared(name, change.kernels, mine, lost, new)


def _is_of(finding: Reported, change: Edited) -> bool:
    """Whether the finding is in a kernel that the edit touches; those of no kernel are of the whole file."""
    return not finding.kernel or finding.kernel in change.kernels


def _is_same(one: Reported, other: Reported) -> bool:
    """Whether both are one finding: at one place, or in the same words of one kernel, shown where the launch is not."""
    is_at_it = bool(one.lines & other.lines) or (one.kernel, one.message) == (other.kernel, other.message)
    return one.code == other.code and is_at_it


def _after(source: Source, change: Edited, check: Check) -> list[Reported]:
    """What is found in the edited file and in the new ones; the old file is there again afterwards."""
    texts = {source.path: change.text, **{source.path.parent / name: text for name, text in change.files.items()}}
    try:
        for path, text in texts.items():
            path.write_text(text.text, encoding="utf-8")
        return [_reported(one, text, change.names) for path, text in texts.items() for one in check(path)]
    finally:
        for path in texts:
            path.unlink()
        source.path.write_text(source.text, encoding="utf-8")


def _reported(finding: Finding, text: Text, names: dict[str, str]) -> Reported:
    kernel = ".".join(names.get(part, part) for part in (finding.kernel or "").split("."))
    shown = range(finding.span.line, finding.span.end_line + 1)
    lines = frozenset(line for at in shown if at <= len(text.origins) for line in text.origins[at - 1])
    return Reported(finding.code, finding.severity.value, kernel, lines, finding.message)


def _own_lines(text: str) -> tuple[frozenset[int], ...]:
    return tuple(frozenset((number,)) for number, _ in enumerate(text.split("\n"), 1))
