"""The operations that a command names, and the variants in their folders. Nothing of the user's is imported."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tritonaudit.finding import Problem

KERNELS = "kernels"
"""The folder below which an operation may be named alone."""

_VARIANT = re.compile(r"v(\d+).*\.py")


@dataclass(frozen=True)
class Operation:
    """An operation: the name of its folder, and the files there that are named as variants are, in their order."""

    name: str
    folder: Path
    files: tuple[Path, ...]

    @property
    def wrapper(self) -> str:
        """The function that each variant defines."""
        return f"triton_{self.name}"


def operations_named(names: Sequence[str]) -> tuple[tuple[Operation, ...], tuple[Problem, ...]]:
    """The operations, each once, and the names that are none."""
    found: dict[str, Operation] = {}
    problems: list[Problem] = []
    for name in names:
        folder = _folder(name)
        if folder is None:
            problems.append(Problem(name, f"there is no such folder, here or in {KERNELS}/"))
            continue
        operation = Operation(folder.absolute().name, folder, variants_in(folder))
        other = found.setdefault(operation.name, operation)
        if not operation.files:
            problems.append(Problem(str(folder), "there are no variants, `v1….py`, `v2….py`, …"))
        elif not other.folder.samefile(folder):
            problems.append(Problem(str(folder), f"{other.folder} is of the same name, and so would be the log"))
    return tuple(operation for operation in found.values() if operation.files), tuple(problems)


def variants_in(folder: Path) -> tuple[Path, ...]:
    """The files that are named as variants are: by number, then by name."""
    named = [(path, found) for path in folder.glob("v*.py") if (found := _VARIANT.fullmatch(path.name))]
    files = [(int(found[1]), path.name, path) for path, found in named if path.is_file()]
    return tuple(path for *_, path in sorted(files))


def _folder(name: str) -> Path | None:
    candidates = (Path(name), Path(KERNELS) / name)
    return next((folder for folder in candidates if folder.is_dir()), None)
