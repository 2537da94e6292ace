"""An earlier revision's Python files and configurations in a folder of their own, to be audited beside today's."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tritonaudit.baseline import Baseline
from tritonaudit.finding import Finding
from tritonaudit.revisions import DIFF, NoRevision, commit_of, git, repository

_READ = frozenset((".py", ".ipynb", ".toml", ".cfg", ".txt"))
"""What the source stage reads: kernels, what calls them, configurations and declared requirements."""
_REGULAR = (b"100644", b"100755")


@dataclass(frozen=True)
class Earlier:
    """The files of a revision below `folder`, as they lie below `top` in the repository.

    `renamed` has what a file is called today, by what it was called, both from the top.
    """

    top: Path
    folder: Path
    renamed: Mapping[str, str]

    def of(self, path: Path) -> Path | None:
        """Where the revision has what is at `path` today; None where it has nothing there."""
        place = Path(os.path.relpath(os.path.realpath(path), os.path.realpath(self.top)))
        if place.parts[:1] == ("..",):
            return None
        names = {today: before for before, today in self.renamed.items()}
        found = self.folder / names.get(place.as_posix(), place)
        return found if found.exists() else None

    def baseline(self, findings: tuple[Finding, ...], root: Path) -> Baseline:
        """What was found in the revision's files, under today's paths from the root of the project."""
        within = os.path.relpath(os.path.realpath(root), os.path.realpath(self.top))
        found = Baseline.of(findings, self.folder / within)
        renamed = {
            os.path.relpath(before, within): os.path.relpath(now, within) for before, now in self.renamed.items()
        }
        return Baseline({renamed.get(path, path): entries for path, entries in found.files.items()})


@contextmanager
def checked_out(revision: str, folder: Path) -> Iterator[Earlier]:
    """The revision of the repository that the folder is in, for a while. Raises NoRevision.

    Its files are written as they are stored: no hook and no filter of the repository runs.
    """
    top = repository(folder)
    commit = commit_of(top, revision)
    with tempfile.TemporaryDirectory(prefix="tritonaudit-") as name:
        earlier = Path(os.path.realpath(name))
        (earlier / ".git").mkdir()  # where a project ends
        _write(_blobs(top, commit), top, earlier)
        yield Earlier(top, earlier, _renamed(top, commit))


def _blobs(top: Path, commit: str) -> Iterator[tuple[bytes, str]]:
    """The object and the path of each file that matters."""
    for line in filter(None, git(top, "ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")):
        about, _, raw = line.partition(b"\t")
        mode, _, digest = about.split(b" ")
        path = os.fsdecode(raw)
        if mode in _REGULAR and PurePosixPath(path).suffix in _READ:
            yield digest, path


def _write(blobs: Iterator[tuple[bytes, str]], top: Path, folder: Path) -> None:
    listed = list(blobs)
    rest = git(top, "cat-file", "--batch", "--buffer", input=b"".join(digest + b"\n" for digest, _ in listed))
    start = 0
    for _, path in listed:
        head, _, size = rest[start : rest.index(b"\n", start)].rpartition(b" ")
        if not head.endswith(b" blob"):
            raise NoRevision(f"git has no contents of {path}")
        start = rest.index(b"\n", start) + 1
        place = Path(os.path.normpath(folder / path))
        if place.is_relative_to(folder) and place != folder:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(rest[start : start + int(size)])
        start += int(size) + 1


def _renamed(top: Path, commit: str) -> dict[str, str]:
    said = git(top, *DIFF, "--name-status", "-z", "--diff-filter=R", commit, "--").split(b"\0")
    names = [os.fsdecode(name) for name in said]
    return dict(zip(names[1::3], names[2::3], strict=False))
