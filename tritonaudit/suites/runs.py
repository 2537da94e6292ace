"""Where journals are kept: each in a file that is named after all that its subject's findings depend on."""

from __future__ import annotations

import hashlib
import json
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from tritonaudit.compile.installed import digest_of, installed
from tritonaudit.config import Config
from tritonaudit.source.discover import discover, project_root
from tritonaudit.suites.journal import Journal

_KEPT_SECONDS = 14 * 24 * 3600.0
"""Since an audit wrote to it last: then a journal is removed."""
_SUFFIX = ".journal"


@dataclass(frozen=True)
class Runs:
    """The journals of a folder; without one they are kept in memory alone.

    `settings` are those of the audit that findings depend on. With a `seed` journals of others do not count.
    """

    folder: Path | None
    config: Config
    settings: tuple[object, ...] = ()
    resumes: bool = False
    seed: int | None = None

    def journal(self, path: Path, subject: str, part: str = "") -> Journal:
        """The journal of a part of a subject of a file: what is known of it where the audit resumes, else empty."""
        if self.folder is None:
            return Journal()
        file = self.folder / f"{self.key(path, subject)}{part}{_SUFFIX}"
        return Journal(file, resumes=self.resumes, seed=self.seed)

    def tidy(self) -> None:
        """Remove what nobody came back to."""
        oldest = time.time() - _KEPT_SECONDS
        with suppress(OSError):
            for path in self.folder.glob(f"*{_SUFFIX}") if self.folder is not None else ():
                if path.stat().st_mtime < oldest:
                    path.unlink()

    def key(self, path: Path, subject: str) -> str:
        """A digest of all that trying a subject of a file depends on."""
        place = str(path.absolute())
        own = digest_of((path,) if path.is_file() else sorted(path.rglob("*.py")))
        content = [place, subject, own, self._project(path), *map(str, self.settings), *installed()]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    def _project(self, path: Path) -> str:
        """The Python of the subject's whole project, any file of which it may import."""
        root = project_root(path)
        return _project(root, replace(self.config, root=root))


@cache
def _project(root: Path, config: Config) -> str:
    return digest_of(discover((root,), config).files)
