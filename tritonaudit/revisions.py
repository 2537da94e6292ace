"""What git says of a repository and its revisions, asked by its own command."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

DIFF = ("diff", "--no-color", "--no-ext-diff", "--no-textconv", "--find-renames")
"""A diff that nothing in the repository's or the user's configuration turns into something else."""


class NoRevision(Exception):
    """There is no git, no repository or no such revision."""


def repository(folder: Path) -> Path:
    """The top of the repository that the folder is in. Raises NoRevision."""
    return Path(os.fsdecode(git(folder, "rev-parse", "--show-toplevel").rstrip(b"\n")))


def commit_of(top: Path, revision: str) -> str:
    """The commit that a revision stands for. Raises NoRevision."""
    try:
        return git(top, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}").decode().strip()
    except NoRevision as error:
        is_shallow = (top / ".git" / "shallow").is_file()
        hint = "; this clone is shallow: fetch it first (in CI, check out with `fetch-depth: 0`)" if is_shallow else ""
        raise NoRevision(f"there is no revision {revision!r} here{hint}") from error


def git(folder: Path, *arguments: str, input: bytes | None = None) -> bytes:
    """What git prints. Raises NoRevision with the first line of what it complains of."""
    try:
        ran = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, check=False, input=input)
    except OSError as error:
        raise NoRevision(f"git cannot be run: {error.strerror or error}") from error
    if ran.returncode:
        said = ran.stderr.decode("utf-8", "replace").strip().splitlines() or ["git gives no reason"]
        raise NoRevision(said[0].removeprefix("fatal: "))
    return ran.stdout
