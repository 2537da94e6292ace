"""What git says of a project."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

_SECONDS = 30


def commit_of(project: Path, apart: Path) -> dict[str, Any] | None:
    """The commit that is checked out there, and whether files differ from it, those in the folder `apart` left out.

    None where the project is in no repository, has no commit yet, or there is no git.
    """
    top = _git(project, "rev-parse", "--show-toplevel")
    commit = _git(project, "rev-parse", "--verify", "HEAD")
    if not top or not commit:
        return None
    changed = _git(Path(top), "status", "--porcelain", "--", ".", *_without(Path(top), apart))
    return {"id": commit, "dirty": changed != ""}


def _without(top: Path, apart: Path) -> list[str]:
    relative = os.path.relpath(apart.resolve(), top.resolve())
    is_inside = relative != "." and not relative.startswith("..")
    return [f":(top,exclude,literal){Path(relative).as_posix()}"] if is_inside else []


def _git(folder: Path, *arguments: str) -> str | None:
    """What a command says; None where it fails."""
    command = ["git", "--no-optional-locks", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
