"""Results of files from earlier runs, given back where nothing that they rest on has changed."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import tritonaudit
from tritonaudit.cache_folder import cache_folder, write_whole
from tritonaudit.config import Config
from tritonaudit.data import NotData, decode, encode
from tritonaudit.requirements import asked_target
from tritonaudit.rules import installed
from tritonaudit.source.basis import Basis, Folders, digest, digest_of_texts
from tritonaudit.source.discover import project_root
from tritonaudit.source.glances import Glance, Glances, Stamp, Users

_KEPT_SECONDS = 30 * 24 * 3600.0
"""From the last run with a configuration on, its results are kept so long."""
_GLANCES = dict[str, tuple[Stamp, Glance]]


@dataclass(frozen=True)
class _Kept:
    """Of which project a result is, and what it rests on."""

    place: str
    basis: Basis


def open_cache(config: Config) -> FileCache | None:
    """The results kept from runs like this one.

    None where rules of others are installed, which change unnoticed, or where this release is unknown.
    """
    if installed():
        return None
    with suppress(OSError):
        return FileCache(config)
    return None


class FileCache:
    """One run's view of the results, a file of its own for each in the user's cache folder.

    It is of this release, this Python and this configuration; several runs may use it at once. Where the folder cannot
    be written, nothing is kept.
    """

    def __init__(self, config: Config) -> None:
        self._folder = cache_folder("source") / digest_of_texts((_release(), repr(config), os.getcwd()))
        self._config = config
        self._places: dict[str, str] = {}
        self._roots: dict[str, str] = {}
        self.glances = Glances(self._read_glances())
        self._users = Users(self.glances)
        self._folders = Folders()
        self._is_new = not self._folder.is_dir()
        with suppress(OSError):
            os.utime(self._folder)

    def get(self, kind: Any, path: Path, text: str) -> Any:
        """What was kept of the file, whose text has this digest; None where it is not to be had any more."""
        try:
            line, _, result = Path(self._entry(path)).read_bytes().partition(b"\n")
            kept: _Kept = decode(_Kept, line)
            is_of_now = kept.place == self._place(path) and kept.basis.text == text and self._holds(path, kept.basis)
            return decode(kind, result) if is_of_now else None
        except (OSError, NotData):  # none is there, or it was cut short
            return None

    def put(self, path: Path, basis: Basis, result: object) -> None:
        """Keep the result of the file."""
        self._write(self._entry(path), encode(_Kept(self._place(path), basis)) + b"\n" + encode(result))

    def close(self) -> None:
        """Keep what was read of files at a glance."""
        if self.glances.learnt:
            self._write(self._glances_file, encode(self.glances.settled()))

    def _write(self, place: str, data: bytes) -> None:
        with suppress(OSError):
            self._prepare()
            write_whole(Path(place), data)

    @property
    def _glances_file(self) -> str:
        return os.path.join(self._folder, "glances")

    def _read_glances(self) -> dict[str, tuple[Stamp, Glance]]:
        try:
            known: dict[str, tuple[Stamp, Glance]] = decode(_GLANCES, Path(self._glances_file).read_bytes())
        except (OSError, NotData):  # none is there, or it was cut short
            return {}
        return known

    def _prepare(self) -> None:
        """Make the folder, and let go of those that no run has used for long."""
        if not self._is_new:
            return
        self._is_new = False
        self._folder.mkdir(parents=True, exist_ok=True)
        for other in self._folder.parent.iterdir():
            if time.time() - other.stat().st_mtime > _KEPT_SECONDS:
                shutil.rmtree(other, ignore_errors=True)

    def _entry(self, path: Path) -> str:
        name = digest(os.path.abspath(path).encode("utf-8", "surrogateescape"))
        return os.path.join(self._folder, name)

    def _place(self, path: Path) -> str:
        """The project that the file belongs to, the releases of Triton that it asks for, and its own configuration."""
        root = self._root(os.path.abspath(path))
        if root not in self._places:
            self._places[root] = f"{root} {asked_target(Path(root))!r}"
        governing = self._config.of(path)
        return self._places[root] + ("" if governing is self._config else f" {governing!r}")

    def _root(self, path: str) -> str:
        folder = os.path.dirname(path)
        if folder not in self._roots:
            self._roots[folder] = str(project_root(Path(folder)))
        return self._roots[folder]

    def _holds(self, path: Path, basis: Basis) -> bool:
        """Whether all that the result rests on is as it was."""
        here = os.path.abspath(path)
        return (
            all(self.glances.digest(file) == known for file, known in basis.files)
            and all(digest_of_texts(self._folders.holding(word, file)) == known for file, word, known in basis.beside)
            and all(self._using(here, name) == known for name, known in basis.users)
        )

    def _using(self, path: str, name: str) -> str:
        return digest_of_texts(other for other in self._users.naming(name, self._root(path)) if other != path)


def _release() -> str:
    """What tells this Python, LibCST and tritonaudit from any others; that one may be a checkout under change."""
    parser = find_spec("libcst")
    stamps = [] if parser is None or parser.origin is None else [_stamp(parser.origin)]
    for folder in tritonaudit.__path__:
        stamps.extend(_stamps(os.path.join(folder, "rules") if folder != tritonaudit.__path__[0] else folder))
    return f"{sys.version} {stamps}"


def _stamps(folder: str) -> Iterator[str]:
    """Those of the files in the folder and below, in the order of their names."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _stamps(entry.path) if entry.name != "__pycache__" else ()
        else:
            yield _stamp(entry.path)


def _stamp(path: str) -> str:
    status = os.stat(path)
    return f"{path} {status.st_size} {status.st_mtime_ns}"
