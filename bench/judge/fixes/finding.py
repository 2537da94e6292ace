"""What the source stage finds in the files of real bugs, before and after the fix, as `score` reads it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from tritonaudit.config import project_config
from tritonaudit.engine import check
from tritonaudit.report.causes import reported_once
from tritonaudit.source.discover import project_root


@dataclass(frozen=True)
class Asked:
    """A file, by its path from the folder that holds it and what of its repository it is seen with."""

    folder: Path
    file: str


@dataclass(frozen=True)
class Found:
    """Of each finding its code, file and line, and the files and lines that it is related to."""

    findings: tuple[tuple[str, str, int, tuple[tuple[str, int], ...]], ...]

    def printed(self) -> dict[str, object]:
        """As `tritonaudit check --output-format json` says it, as far as `score` asks."""
        return {
            "findings": [
                {"code": code, "path": path, "line": line, "related": [{"path": at, "line": of} for at, of in related]}
                for code, path, line, related in self.findings
            ]
        }


def found_in(asked: Asked) -> Found:
    """For worker processes, which are in the folder then, as a command that `score` runs would be."""
    os.chdir(asked.folder)
    config = project_config(project_root((asked.folder / asked.file).parent))
    findings = reported_once(check([Path(asked.file)], config, jobs=1)).findings
    return Found(
        tuple(
            (one.code, one.path, one.span.line, tuple((at.path, at.span.line) for at in one.related))
            for one in findings
        )
    )
