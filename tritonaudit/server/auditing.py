"""Audits of texts that are being edited: each project is read once, and again when its files change."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tritonaudit.config import Config, overlaid, project_config
from tritonaudit.domains.facts import KernelFlow
from tritonaudit.engine import text_checker
from tritonaudit.file_cache import open_cache
from tritonaudit.finding import Audit
from tritonaudit.source.decode import Undecodable, encoding_of
from tritonaudit.source.discover import discover, project_root
from tritonaudit.source.glances import Glances


class Superseded(BaseException):
    """The text that was being audited is not the newest any more."""


@dataclass(frozen=True)
class Audited:
    """What one text came to, and the facts of its kernels, whose places hold until another text is audited."""

    audit: Audit
    kernels: tuple[KernelFlow, ...] = ()

    @property
    def is_read(self) -> bool:
        """Whether it could be parsed."""
        return not self.audit.unread


@dataclass
class _Run:
    """Follows one audit: it ends when `is_stale` says so."""

    is_stale: Callable[[], bool] = bool
    kernels: list[KernelFlow] = field(default_factory=list)

    def step(self) -> None:
        if self.is_stale():
            raise Superseded

    def met(self, kernel: KernelFlow) -> None:
        self.kernels.append(kernel)


class _Project:
    """One folder as `check` of it sees it."""

    def __init__(self, root: Path, glances: Glances | None) -> None:
        """Raises ConfigError."""
        self.config = project_config(root)
        self.glances = glances or _known(self.config)
        self._run = _Run()
        self._check = text_checker(self.config, self.glances, self)
        self._excluding = overlaid(self.config, {"force_exclude": True})
        self._is_excluded: dict[Path, bool] = {}

    def step(self) -> None:
        self._run.step()

    def met(self, kernel: KernelFlow) -> None:
        self._run.met(kernel)

    def audit(self, path: Path, source: str, is_stale: Callable[[], bool]) -> Audited:
        if self._excludes(path):
            return Audited(Audit())
        self._run = _Run(is_stale)
        audit = self._check(encoded(source), path)
        return Audited(audit, tuple(self._run.kernels))

    def _excludes(self, path: Path) -> bool:
        """Whether a check of the folder passes over the file; one that is not on the disk yet is none of these."""
        if path not in self._is_excluded:
            found = discover((path,), self._excluding)
            self._is_excluded[path] = not found.sources and not found.problems
        return self._is_excluded[path]


def _known(config: Config) -> Glances:
    """What earlier runs of `check` read of the files at a glance."""
    cache = open_cache(config)
    return Glances() if cache is None else cache.glances


def encoded(source: str) -> bytes:
    """The text as the bytes of a file, in the encoding that its cookie names where that can write it."""
    data = source.encode("utf-8", "surrogatepass")
    if source.startswith("\ufeff"):
        return data
    try:
        return source.encode(encoding_of(data))
    except (Undecodable, ValueError, LookupError):
        return data


class Auditor:
    """Audits texts of the files in the folders of a workspace, and of others as their own projects."""

    def __init__(self, folders: Sequence[Path] = ()) -> None:
        self._folders = [Path(os.path.abspath(folder)) for folder in folders]
        self._projects: dict[Path, _Project] = {}
        self._glances: dict[Path, Glances] = {}

    def audit(self, path: Path, source: str, is_stale: Callable[[], bool] = bool) -> Audited:
        """What `check` says of the file, if it held this text.

        Raises ConfigError, and Superseded as soon as `is_stale`.
        """
        return self._project(path).audit(path, source, is_stale)

    def refresh(self) -> None:
        """Read the projects again: files on the disk have changed."""
        self._glances = {root: Glances(project.glances.settled()) for root, project in self._projects.items()}
        self._projects.clear()

    def _project(self, path: Path) -> _Project:
        around = [folder for folder in self._folders if path.is_relative_to(folder)]
        root = project_root(max(around, key=lambda folder: len(folder.parts)) if around else path.parent)
        if root not in self._projects:
            self._projects[root] = _Project(root, self._glances.get(root))
        return self._projects[root]
