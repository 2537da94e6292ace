"""Where journals are kept: each in a file that is named after all that its subject's findings depend on."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from tritonaudit import __version__
from tritonaudit.compile.installed import triton_path, triton_version
from tritonaudit.config import Config
from tritonaudit.source.discover import discover, project_root
from tritonaudit.suites.journal import Journal

_KEPT_SECONDS = 14 * 24 * 3600.0
"""Since an audit wrote to it last: then a journal is removed."""
_SUFFIX = ".journal"


@dataclass(frozen=True)
class Runs:
    """The journals of a folder; without one they are kept in memory alone.

    `settings` are those of the audit that findings depend on.
    """

    folder: Path | None
    config: Config
    settings: tuple[object, ...] = ()
    resumes: bool = False

    def journal(self, path: Path, subject: str, part: str = "") -> Journal:
        """The journal of a part of a subject of a file: what is known of it where the audit resumes, else empty."""
        if self.folder is None:
            return Journal()
        return Journal(self.folder / f"{self._key(path, subject)}{part}{_SUFFIX}", resumes=self.resumes)

    def tidy(self) -> None:
        """Remove what nobody came back to."""
        oldest = time.time() - _KEPT_SECONDS
        with suppress(OSError):
            for path in self.folder.glob(f"*{_SUFFIX}") if self.folder is not None else ():
                if path.stat().st_mtime < oldest:
                    path.unlink()

    def _key(self, path: Path, subject: str) -> str:
        place = str(path.absolute())
        own = _digest_of((path,) if path.is_file() else sorted(path.rglob("*.py")))
        content = [place, subject, own, self._project(path), *map(str, self.settings), *_installed()]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    def _project(self, path: Path) -> str:
        """The Python of the subject's whole project, any file of which it may import."""
        root = project_root(path)
        return _project(root, replace(self.config, root=root))


@cache
def _project(root: Path, config: Config) -> str:
    return _digest_of(discover((root,), config).files)


def _digest_of(files: tuple[Path, ...] | list[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        with suppress(OSError):
            data = path.read_bytes()
            digest.update(f"{path}\0{len(data)}\0".encode(errors="surrogateescape") + data)
    return digest.hexdigest()


@cache
def _installed() -> tuple[str, ...]:
    """What executes it, and what it is executed with."""
    return (__version__, _ours(), sys.version, _version("torch"), triton_version(), str(triton_path()))


@cache
def _ours() -> str:
    here = Path(__file__).parent.parent
    return _digest_of(sorted(here.rglob("*.py")))


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""
