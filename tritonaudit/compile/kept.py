"""Keeps what calling subjects, inferring launches and judging came to, while all is as it was that they depend on.

That is the Python of the file's project and of its folder, what is installed, this release, the working directory, and
the environment variables that Triton and torch heed or that the project names where it reads some. It is not: what
else user code reads, such as files of data, the clock or the network; Python that git ignores in other folders of the
project; Python outside the project that is not installed, or is installed as a link to where it is edited. Nothing is
kept that did not come to its end, so that what went wrong is tried again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from tritonaudit.cache_folder import cache_folder, write_whole
from tritonaudit.capture.infer_task import Inferred, InferTask
from tritonaudit.capture.launch import Launch, Program
from tritonaudit.capture.task import Captured
from tritonaudit.compile.cache import compiling_variables
from tritonaudit.compile.installed import digest_of, installed
from tritonaudit.config import Config
from tritonaudit.data import NotData, decode, encode
from tritonaudit.execute.starting import variables_read_at_start
from tritonaudit.finding import Audit
from tritonaudit.source.discover import discover, project_root

_KEPT_SECONDS = 14 * 24 * 3600.0
"""Since it was used last: then an entry is removed."""
_MOST_BYTES = 256 << 20
"""Of all entries: those that were not used for longest are removed."""
_DISTRIBUTIONS = (".dist-info", ".egg-info", ".egg-link", ".pth")
_READERS = (b"environ", b"getenv")
_READS_VARIABLES = re.compile(rb"\b(?:%s)\b" % b"|".join(_READERS))
_NAME = re.compile(rb"""["'](\w+)["']""")

_Kind = TypeVar("_Kind")
_Found = TypeVar("_Found")
_What = tuple[str, tuple[Path, ...], tuple[object, ...]]
"""The kind of an entry, the files that it is about, and what else tells it from others."""


@dataclass
class KeptLaunches:
    """Launches in files of a folder, each named after all that it depends on.

    What is to be kept is written in the end, unless the project has changed meanwhile. An entry that cannot be read is
    none, and where the folder cannot be written nothing is kept.
    """

    folder: Path = field(default_factory=lambda: cache_folder("capture"))
    _new: list[tuple[_What, str, bytes]] = field(default_factory=list)
    _projects: dict[Path, tuple[object, ...]] = field(default_factory=dict)
    _folders: dict[Path, str] = field(default_factory=dict)

    def captured(self, path: Path, target: str, *, is_brief: bool) -> tuple[Captured, ...] | None:
        """What calling the subjects of the file on the target came to; None if that is not known."""
        return self._read(_Captured, ("captured", (path,), (target, is_brief)), _joined)

    def keep_captured(self, path: Path, target: str, captured: Sequence[Captured], *, is_brief: bool) -> None:
        """Keep what calling the subjects came to, if every call came to its end."""
        if all(one.failed == one.unswept == 0 for one in captured):
            programs = _programs(launch for one in captured for launch in one.launches)
            bare = tuple(replace(one, launches=_without(one.launches)) for one in captured)
            uses = tuple(_uses(programs, one.launches) for one in captured)
            self._keep(("captured", (path,), (target, is_brief)), _Captured(tuple(programs), uses, bare))

    def inferred(self, task: InferTask, target: str) -> Inferred | None:
        """What inferring launches came to; None if that is not known."""
        return self._read(
            _Inferred,
            ("inferred", (task.path,), (target, str(task.root), task.kernel)),
            lambda entry: replace(entry.inferred, launches=_with(entry.programs, entry.inferred.launches, entry.uses)),
        )

    def keep_inferred(self, target: str, inferred: Inferred) -> None:
        """Keep what inferring launches came to."""
        task = inferred.task
        programs = _programs(inferred.launches)
        bare = replace(inferred, launches=_without(inferred.launches))
        entry = _Inferred(tuple(programs), _uses(programs, inferred.launches), bare)
        self._keep(("inferred", (task.path,), (target, str(task.root), task.kernel)), entry)

    def judged(self, paths: Sequence[Path], about: bytes) -> Audit | None:
        """What judging what was compiled, in which these files have a part, came to; None if that is not known."""
        return self._read(Audit, _judging(paths, about), lambda audit: audit)

    def keep_judged(self, paths: Sequence[Path], about: bytes, audit: Audit) -> None:
        """Keep what judging came to."""
        self._keep(_judging(paths, about), audit)

    def write(self) -> None:
        """Write what is to be kept, if it depends on what is there now; let go of what nobody came back to."""
        now = KeptLaunches(self.folder)
        for what, name, content in self._new:
            if now._name(what) == name:
                write_whole(self.folder / name, content)
        if self._new:
            self._tidy()
        self._new.clear()

    def _read(self, kind: type[_Kind], what: _What, joined: Callable[[_Kind], _Found]) -> _Found | None:
        path = self.folder / self._name(what)
        try:
            found = joined(decode(kind, path.read_bytes()))
        except (OSError, NotData, ValueError, TypeError, LookupError):
            return None
        with suppress(OSError):
            os.utime(path)
        return found

    def _keep(self, what: _What, entry: object) -> None:
        with suppress(NotData):  # an argument that is none
            self._new.append((what, self._name(what), encode(entry)))

    def _tidy(self) -> None:
        oldest = time.time() - _KEPT_SECONDS
        left = _MOST_BYTES
        with suppress(OSError):
            entries = [(path.stat(), path) for path in self.folder.iterdir()]
            for about, path in sorted(entries, key=lambda entry: entry[0].st_mtime, reverse=True):
                left -= about.st_size
                if about.st_mtime < oldest or left < 0:
                    path.unlink()

    def _name(self, what: _What) -> str:
        kind, paths, others = what
        roots = sorted({project_root(path) for path in paths})
        for root in roots:
            if root not in self._projects:
                self._projects[root] = _project(root)
        folders = sorted({path.absolute().parent for path in paths})
        for folder in folders:
            if folder not in self._folders:
                self._folders[folder] = digest_of(sorted(folder.glob("*.py")))
        beside = [self._folders[folder] for folder in folders]
        absolute = [str(path.absolute()) for path in paths]
        content = (kind, absolute, others, beside, [self._projects[root] for root in roots], self._machine)
        return f"{hashlib.sha256(json.dumps(content).encode()).hexdigest()}.json"

    @cached_property
    def _machine(self) -> tuple[object, ...]:
        """What everything here depends on."""
        return installed(), _distributions(), compiling_variables(), variables_read_at_start(), os.getcwd()


def _judging(paths: Sequence[Path], about: bytes) -> _What:
    return "judged", tuple(paths), (hashlib.sha256(about).hexdigest(),)


def _project(root: Path) -> tuple[object, ...]:
    """The Python of a project, any file of which another one may import, and the variables that it may read."""
    names: set[bytes] = set()
    digest = digest_of(discover((root,), Config(root=root)).files, lambda data: names.update(_variables_named(data)))
    variables = sorted(item for item in os.environ.items() if os.fsencode(item[0]) in names)
    return str(root), digest, variables


def _variables_named(data: bytes) -> Iterable[bytes]:
    """What may be the names of environment variables in a file that reads some."""
    may_read = any(word in data for word in _READERS)  # quicker than the search, which few files need
    return _NAME.findall(data) if may_read and _READS_VARIABLES.search(data) else ()


def _distributions() -> list[tuple[str, int]]:
    """What is installed where this process finds its modules: names with versions, and when each came there."""
    found: list[tuple[str, int]] = []
    for folder in sys.path:
        with suppress(OSError), os.scandir(folder or ".") as entries:
            found += [(one.path, one.stat().st_mtime_ns) for one in entries if one.name.endswith(_DISTRIBUTIONS)]
    return sorted(found)


# -- entries -------------------------------------------------------------------------------------------------------

_Uses = tuple[int | None, ...]
"""Of launches that are written without their programs the number of each one's."""


@dataclass(frozen=True)
class _Captured:
    """Programs, each once however many launches make it, which of them the launches of each subject do, and these."""

    programs: tuple[Program, ...]
    uses: tuple[_Uses, ...]
    captured: tuple[Captured, ...]


@dataclass(frozen=True)
class _Inferred:
    """The same of the launches of one kernel."""

    programs: tuple[Program, ...]
    uses: _Uses
    inferred: Inferred


def _programs(launches: Iterable[Launch]) -> dict[Program, int]:
    """The programs of the launches, numbered."""
    programs = dict.fromkeys(launch.program for launch in launches if launch.program is not None)
    return {program: number for number, program in enumerate(programs)}


def _uses(programs: dict[Program, int], launches: Iterable[Launch]) -> _Uses:
    return tuple(None if launch.program is None else programs[launch.program] for launch in launches)


def _without(launches: Iterable[Launch]) -> tuple[Launch, ...]:
    return tuple(replace(launch, program=None) for launch in launches)


def _with(programs: Sequence[Program], launches: Sequence[Launch], uses: _Uses) -> tuple[Launch, ...]:
    numbered = dict(enumerate(programs))
    return tuple(
        launch if number is None else replace(launch, program=numbered[number])
        for launch, number in zip(launches, uses, strict=True)
    )


def _joined(entry: _Captured) -> tuple[Captured, ...]:
    return tuple(
        replace(one, launches=_with(entry.programs, one.launches, uses))
        for one, uses in zip(entry.captured, entry.uses, strict=True)
    )
