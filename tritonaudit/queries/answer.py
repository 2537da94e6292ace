"""The three answers: proven for all sizes that the host lets through, refuted by some of them, or unknown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

Shown = TypeVar("Shown")


@dataclass(frozen=True)
class Proven:
    pass


@dataclass(frozen=True)
class Refuted(Generic[Shown]):
    """It does not hold at these `sizes`, by the names of inputs: the host code was run with them, and launches."""

    sizes: Mapping[str, int]
    shown: Shown


@dataclass(frozen=True)
class Unknown:
    """Nobody can tell, and why; `held`: it did hold at all sizes that were tried, and some were."""

    reason: str
    held: bool = False
