"""Whether edits mean nothing: what edited wrappers compute on the CPU engine. Imports torch where it is called."""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.judge.executing import executed, loaded, small_cases
from bench.judge.invariance.edits import edited
from bench.judge.invariance.source import Package, Source
from bench.judge.noted import noted

_SECONDS = 60.0


@dataclass(frozen=True)
class Edition:
    """A folder with one file of kernels and a spec, and the edit that is made of the kernels; none for an empty one."""

    folder: Path
    edit: str


@dataclass(frozen=True)
class Computed:
    """What each subject of an edition gives, or why it gives nothing; `kernels` are those that were touched."""

    kernels: int
    results: tuple[str, ...]


def computed(edition: Edition) -> Computed:
    """Make the edit in a copy of the folder, and call every subject there; for worker processes."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(shutil.copytree(edition.folder, Path(place, edition.folder.name)))
        (folder / "__init__.py").touch()
        touched = _made(folder, edition.edit) if edition.edit else 0
        spec = next(folder.glob("audit_*.py"))
        try:
            return Computed(touched, tuple(_results(spec)))
        finally:
            _forget(folder)


def _made(folder: Path, name: str) -> int:
    """Make an edit in the folder, and say how many kernels it touches."""
    path = next(path for path in folder.glob("*.py") if not path.name.startswith(("audit_", "__")))
    change = edited(Source(path, path.read_text(encoding="utf-8"), Package.read(folder)), name)
    if change is None:
        return 0
    path.write_text(change.text.text, encoding="utf-8")
    for file, text in change.files.items():
        (folder / file).write_text(text.text, encoding="utf-8")
    return len(change.kernels)


def _results(spec: Path) -> Iterator[str]:
    subjects, reason = loaded(spec)
    if not subjects:
        yield reason
    for subject in subjects:
        found = executed(subject, noted(next(small_cases(subject))), _SECONDS)
        bits = hashlib.sha256()
        for tensor in found.results:
            bits.update(f"{tensor.dtype}{tuple(tensor.shape)}{tensor.tolist()}".encode())
        yield f"{subject.name}: {found.error or found.faults or bits.hexdigest()[:16]}"


def _forget(folder: Path) -> None:
    """The next edition has files of the same names."""
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(str(folder)):
            del sys.modules[name]
