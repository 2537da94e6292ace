"""What a search of a file's bytes tells before anything is parsed; each file is read once."""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from dataclasses import dataclass

from tritonaudit.source.basis import digest
from tritonaudit.source.outline import may_hold_kernels

_LAUNCH = re.compile(rb"\]\s*\(")
_NAME_BEFORE = re.compile(rb"(\w+)\s*$")
_OPEN, _CLOSE = b"[]"
_LONGEST_GRID, _LONGEST_NAME = 400, 100
_IMPORTED = re.compile(
    rb"^[ \t]*from[ \t]+[\w.]+[ \t]+import[ \t]*(\([^)]*\)|[^\n(\\]*(?:\\\r?\n[^\n\\]*)*)", re.MULTILINE
)
_WORD = re.compile(rb"\w+")
_SETTLED_NS = 2 * 10**9
"""A file that was changed so shortly before it was read may change again within one tick of the clock."""

Stamp = tuple[int, int, int]
"""The size of a file, and when it and what the file system says of it were last changed, in nanoseconds."""


@dataclass(frozen=True)
class Glance:
    """A file's size in bytes and its digest, whether it may hold kernels, and the names that it may use others' by."""

    size: int
    digest: str
    may_hold_kernels: bool
    used: tuple[str, ...]


_of_process: dict[str, tuple[Stamp, Glance]] = {}
"""Those of earlier runs in this process, of files that had not just been changed: texts may be checked one by one."""


class Glances:
    """Those of one run; what an earlier one knew of a file counts as long as its stamp is the same."""

    def __init__(self, known: dict[str, tuple[Stamp, Glance]] | None = None) -> None:
        self._known = known or {}
        self._seen: dict[str, tuple[Stamp, Glance]] = {}
        self._missing: set[str] = set()
        self.learnt = False

    def of(self, path: str) -> Glance:
        """The glance at a file. Raises OSError where it cannot be read."""
        if path not in self._seen:
            self._seen[path] = self._taken(path)
        return self._seen[path][1]

    def digest(self, path: str) -> str:
        """The digest of the file; empty where there is none to be read."""
        if path not in self._seen and path not in self._missing:
            try:
                self.of(path)
            except OSError:
                self._missing.add(path)
        return self._seen[path][1].digest if path in self._seen else ""

    def _taken(self, path: str) -> tuple[Stamp, Glance]:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        stamp = (status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        known = self._known.get(path)
        if known is not None and known[0] == stamp:
            return known
        self.learnt = True
        known = _of_process.get(path)
        if known is not None and known[0] == stamp:
            return known
        last = time.time_ns() - _SETTLED_NS
        with open(path, "rb") as file:
            taken = stamp, _glance(file.read())
        if max(stamp[1:]) < last:
            _of_process[path] = taken
        return taken

    def settled(self) -> dict[str, tuple[Stamp, Glance]]:
        """All that a later run may go by."""
        last = time.time_ns() - _SETTLED_NS
        return {
            path: (stamp, glance)
            for path, (stamp, glance) in {**self._known, **self._seen}.items()
            if max(stamp[1:]) < last
        }


def _glance(data: bytes) -> Glance:
    holds_kernels = may_hold_kernels(data)
    return Glance(len(data), digest(data), holds_kernels, _used_in(data))


def _used_in(data: bytes) -> tuple[str, ...]:
    """The names that stand before `[grid](`, and those that are imported: of kernels, and of what launches them."""
    found = {name for launch in _LAUNCH.finditer(data) if (name := _name_before(data, launch.start()))}
    for names in _IMPORTED.findall(data):
        found.update(_WORD.findall(names))
    return tuple(sorted(name.decode("utf-8", "replace") for name in found))


def _name_before(data: bytes, end: int) -> bytes:
    """The name before the bracket that is closed at `end`."""
    depth = 0
    for place in range(end, max(end - _LONGEST_GRID, -1), -1):
        depth += (data[place] == _CLOSE) - (data[place] == _OPEN)
        if depth == 0:
            name = _NAME_BEFORE.search(data, max(place - _LONGEST_NAME, 0), place)
            return b"" if name is None else name[1]
    return b""


_PASSED_OVER = frozenset({"__pycache__", "node_modules", "site-packages"})
_MOST_FOLDERS = 5_000
_MOST_FILES = 20_000


def python_files(root: str) -> list[str]:
    """The Python files below a folder, in the order of their names; none where there are too many to look through.

    Hidden folders and virtual environments are skipped, and links to folders are not followed.
    """
    found: list[str] = []
    pending = [root]
    for folder in pending:  # which grows while it is read
        if len(pending) > _MOST_FOLDERS or len(found) > _MOST_FILES:
            return []
        try:
            with os.scandir(folder) as entries:
                inside = list(entries)
        except OSError:
            continue
        if any(entry.name == "pyvenv.cfg" for entry in inside):
            continue
        for entry in inside:
            if entry.name.endswith(".py"):
                found.append(entry.path)
            elif entry.name[0] != "." and entry.name not in _PASSED_OVER and _is_folder(entry):
                pending.append(entry.path)
    return sorted(found)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


class Users:
    """The files of a project by the names that they may launch kernels, or call jit functions, by."""

    def __init__(self, glances: Glances) -> None:
        self._glances = glances
        self._by_root: dict[str, dict[str, list[str]]] = {}

    def naming(self, name: str, root: str) -> list[str]:
        """The files below the root that may use a jit function by the name."""
        if root not in self._by_root:
            self._by_root[root] = self._index(root)
        return self._by_root[root].get(name, [])

    def _index(self, root: str) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in python_files(root):
            try:
                used = self._glances.of(path).used
            except OSError:
                continue
            for name in used:
                found.setdefault(name, []).append(path)
        return found
