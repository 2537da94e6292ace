"""The kernels of `subjects/`, and the mutants beside each: what is replaced by what, and why that is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomllib

SUBJECTS = Path(__file__).resolve().parent / "subjects"
_PREFIX = "audit_"


@dataclass(frozen=True)
class Kernel:
    """A subject's file, by the name behind `audit_`."""

    name: str

    @property
    def file(self) -> Path:
        return SUBJECTS / f"{_PREFIX}{self.name}.py"

    @property
    def source(self) -> str:
        return self.file.read_text()


@dataclass(frozen=True)
class Mutant:
    """One fault in a kernel's file: texts that occur in it once each, in their order, and what takes their places."""

    kernel: str
    name: str
    kind: str
    why: str
    edits: Sequence[tuple[str, str]]

    @property
    def id(self) -> str:
        return f"{self.kernel}/{self.name}"

    def source_of(self, original: str) -> str:
        """The file with the fault. Raises ValueError where a text does not occur exactly once."""
        for old, new in self.edits:
            if (times := original.count(old)) != 1:
                raise ValueError(f"{self.id}: {old!r} occurs {times} times")
            original = original.replace(old, new)
        return original


def kernels() -> list[Kernel]:
    """All, by name."""
    return [Kernel(path.stem.removeprefix(_PREFIX)) for path in sorted(SUBJECTS.glob(f"{_PREFIX}*.py"))]


def mutants(kernel: Kernel) -> list[Mutant]:
    """A kernel's mutants, in the order in which they are written down."""
    written = tomllib.loads((SUBJECTS / f"{kernel.name}.mutants.toml").read_text())
    return [_mutant(kernel, one) for one in written["mutant"]]


def _mutant(kernel: Kernel, written: Mapping[str, Any]) -> Mutant:
    edits = list(zip(_texts(written["old"]), _texts(written["new"]), strict=True))
    return Mutant(kernel.name, written["name"], written["kind"], written["why"], edits)


def _texts(written: str | list[str]) -> list[str]:
    return [written] if isinstance(written, str) else written
