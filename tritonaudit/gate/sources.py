"""The user's files, each read once."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tritonaudit.kernel.project import Project
from tritonaudit.source.decode import Undecodable, decode
from tritonaudit.source.outline import Module, Unparsable, outline


class Sources:
    """The files of a project."""

    def __init__(self, root: Path) -> None:
        self.project = Project(root)
        self.module = cache(_module)
        """The file at a path; None where it cannot be read."""


def _module(path: str) -> Module | None:
    try:
        return outline(path, decode(Path(path).read_bytes()))
    except (OSError, Undecodable, Unparsable):
        return None
