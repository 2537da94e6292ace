"""The lines that changed since a revision of git, those of the working tree included."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tritonaudit.finding import Finding
from tritonaudit.report.sources import Sources
from tritonaudit.revisions import DIFF, commit_of, git, repository

_HUNK = re.compile(rb"@@ -\S+ \+(\d+)(?:,(\d+))? @@")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPED = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}


@dataclass(frozen=True)
class Changed:
    """Lines by file: of each file that `tracked` holds those in `lines`, of all others every one."""

    top: Path
    tracked: frozenset[str]
    lines: Mapping[str, tuple[range, ...]]

    @classmethod
    def since(cls, revision: str, folder: Path) -> Changed:
        """What changed since the revision in the repository that the folder is in. Raises NoRevision."""
        top = repository(folder)
        commit = commit_of(top, revision)
        diff = git(top, *DIFF, "--unified=0", "--text", "--src-prefix=a/", "--dst-prefix=b/", commit, "--")
        tracked = frozenset(map(os.fsdecode, git(top, "ls-files", "-z").split(b"\0")))
        return cls(top, tracked, _lines(diff))

    def holds(self, finding: Finding, sources: Sources) -> bool:
        """Whether a line of the finding changed: of a notebook, a line of its file."""
        path = Path(os.path.relpath(os.path.realpath(finding.path), os.path.realpath(self.top))).as_posix()
        if path not in self.tracked:
            return True
        span = sources.in_file(finding.path, finding.span)
        first, last = span.line, span.end_line
        return any(lines.start <= last and first < lines.stop for lines in self.lines.get(path, ()))


def _lines(diff: bytes) -> dict[str, tuple[range, ...]]:
    """The added lines of a diff without context, by the path of the file."""
    lines: dict[str, tuple[range, ...]] = {}
    path = ""
    rest = iter(diff.split(b"\n"))
    for line in rest:
        if line.startswith(b"+++ "):
            path = os.fsdecode(_unquoted(line[4:].rstrip(b"\t")).removeprefix(b"b/"))
        elif found := _HUNK.match(line):
            start, count = int(found[1]), int(found[2] or 1)
            lines[path] = (*lines.get(path, ()), range(start, start + count))
            _skip(rest, line)
    return lines


def _skip(rest: Iterator[bytes], header: bytes) -> None:
    """Pass over the lines of a hunk, which may look like anything."""
    for side in header.split(b" ")[1:3]:
        _, _, count = side.partition(b",")
        for _ in range(int(count or 1)):
            next(rest, None)


def _unquoted(path: bytes) -> bytes:
    """A path as git quotes it where it holds special characters."""
    if not path.startswith(b'"'):
        return path
    return _ESCAPE.sub(_unescaped, path[1:-1])


def _unescaped(escape: re.Match[bytes]) -> bytes:
    text = escape[1]
    return bytes([int(text, 8)]) if len(text) == 3 else _ESCAPED.get(text, text)
