"""What became of each launch, and how it goes to a file. Imports neither torch nor triton."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from enum import Enum
from pathlib import Path


class Verdict(Enum):
    """How the GPU's result and the engine's go together."""

    EXACT = "exact"
    BOUNDED = "within bounds"
    EXPLAINED = "explained"
    NOT_SIMULATED = "not simulated"
    UNEXPLAINED = "unexplained"


@dataclass(frozen=True)
class Row:
    """A launch: where it is from, and how its results compare.

    `differing` elements of `tensor`, the one that differs most, are up to `ulps` apart (integers: by that number).
    `operations` are those of the program of which no GPU need round as the engine does. `file` holds the launch.
    """

    source: str
    unit: str
    kernel: str
    place: str
    verdict: Verdict
    reason: str = ""
    tensor: str = ""
    differing: int = 0
    ulps: float = 0.0
    operations: tuple[str, ...] = ()
    seconds: float = 0.0
    file: str = ""


def write(path: Path, rows: Sequence[Row]) -> None:
    """Write rows as tab-separated values."""
    lines = ["\t".join(field.name for field in fields(Row))]
    lines += ["\t".join(_cell(value) for value in astuple(row)) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _cell(value: object) -> str:
    if isinstance(value, Verdict):
        return value.value
    if isinstance(value, tuple):
        return " ".join(value)
    return f"{value:.4g}" if isinstance(value, float) else " ".join(str(value).split())
