"""Where the files of TritonBench-G come from. None of them is part of this project."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_DISTRIBUTION = "geak-eval==0.1.5"
_IN_DISTRIBUTION = Path("geak_eval/data/TritonBench/data/TritonBench_G_v1")
_REPOSITORY = "https://github.com/thunlp/TritonBench"
_COMMIT = "603e28a"
_IN_REPOSITORY = Path("data/TritonBench_G_v1")


@dataclass(frozen=True)
class Edition:
    """One state of the 184 files: `name` is what verdicts call it."""

    name: str
    folder: Path

    @property
    def files(self) -> list[Path]:
        return sorted(path for path in self.folder.glob("*.py") if path.name != "__init__.py")

    def chosen(self, names: list[str]) -> list[Path]:
        """The files of these names; all where none is named."""
        return [path for path in self.files if not names or path.stem in names]


def fixed(folder: Path) -> Edition:
    """As geak-eval has it, where some files are fixed; it is installed into the folder where that lacks it."""
    if not (folder / _IN_DISTRIBUTION).is_dir():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), _DISTRIBUTION]
        subprocess.run(pip, check=True)
    return Edition("fixed", folder / _IN_DISTRIBUTION)


def original(folder: Path) -> Edition:
    """As TritonBench's own repository has it; it is cloned into the folder where that lacks it."""
    if not (folder / _IN_REPOSITORY).is_dir():
        clone = folder / "TritonBench"
        if not clone.is_dir():
            subprocess.run(["git", "clone", "--quiet", _REPOSITORY, str(clone)], check=True)
            subprocess.run(["git", "-C", str(clone), "checkout", "--quiet", _COMMIT], check=True)
        folder = clone
    return Edition("original", folder / _IN_REPOSITORY)
