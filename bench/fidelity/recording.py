"""A launch as a GPU ran it: its program, its arguments before, and what lay in their memory after."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from tritonaudit.simulator.engine import Argument


@dataclass(frozen=True, eq=False)
class Recorded:
    """One launch.

    `arguments` are those that the program has, tensors on the CPU as they were before the launch, aliases of each other
    where they were; `after` holds the bytes of each of their storages after it, in the order of `storages_of`.
    `options` are those of Triton's backend that the launch was compiled with. `contracts` says that sums may take in
    products unrounded, `repeats` that the GPU gave the same bytes a second time.
    `error` says why there is no program, `crash` how the GPU ended.
    """

    source: str
    unit: str
    kernel: str
    path: str
    line: int
    ttir: str = ""
    grid: tuple[int, int, int] = (1, 1, 1)
    arguments: Sequence[Argument] = ()
    after: Sequence[torch.Tensor] = field(default=())
    options: tuple[tuple[str, Any], ...] = ()
    contracts: bool = True
    repeats: bool = True
    error: str = ""
    crash: str = ""


def save(recorded: Recorded, path: Path) -> None:
    """Write it to a file, which is there in full or not at all."""
    unfinished = path.with_suffix(".part")
    torch.save(recorded, unfinished)
    unfinished.replace(path)


def load(path: Path) -> Recorded:
    """What `save` wrote."""
    recorded: Recorded = torch.load(path, weights_only=False)
    return recorded


def storages_of(values: Iterable[Any]) -> list[torch.UntypedStorage]:
    """The storages of the tensors among the values, each once, as they come."""
    found: dict[int, torch.UntypedStorage] = {}
    for value in values:
        if isinstance(value, torch.Tensor):
            storage = value.untyped_storage()
            found.setdefault(storage._cdata, storage)
    return list(found.values())


def bytes_of(storage: torch.UntypedStorage) -> torch.Tensor:
    """A storage as bytes, without a copy."""
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage, 0, (storage.nbytes(),))
