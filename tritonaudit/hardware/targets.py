"""The GPUs that kernels are compiled for, and what of them limits a kernel. Every figure has its source."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

DEFAULT_TARGETS = ("sm_80", "sm_90", "sm_100", "gfx942")
"""What a compile audit compiles for unless told otherwise."""


@dataclass(frozen=True)
class Source:
    """Where a figure stands: the document, the place in it, and its words there."""

    document: str
    place: str
    quote: str


@dataclass(frozen=True)
class GpuTarget:
    """A GPU as Triton names it, and its limits; None is a figure that no source was found for.

    A multiprocessor is NVIDIA's SM or AMD's compute unit, a block NVIDIA's thread block or AMD's work-group, a warp
    AMD's wavefront. Memory is in bytes; `shared_per_block` is the most a block can ask for, which on NVIDIA takes
    opting in. Registers are of 32 bits; a multiprocessor's are split evenly over `partitions` (AMD: SIMDs), and a
    warp is given a multiple of `register_unit`. `tensor_memory_columns` is 0 where there is no tensor memory.
    """

    name: str
    backend: str
    arch: int | str
    warp_size: int
    shared_per_block: int | None = None
    shared_per_multiprocessor: int | None = None
    shared_reserved_per_block: int | None = None
    shared_unit: int | None = None
    registers_per_multiprocessor: int | None = None
    registers_per_thread: int | None = None
    register_unit: int | None = None
    partitions: int | None = None
    warps_per_multiprocessor: int | None = None
    blocks_per_multiprocessor: int | None = None
    tensor_memory_columns: int = 0
    sources: Mapping[str, Source] = field(default_factory=dict, compare=False, repr=False)


def known_targets() -> tuple[str, ...]:
    """The names that `gpu_target` knows, NVIDIA's first, oldest first."""
    return tuple(_data()["targets"])


@cache
def gpu_target(name: str) -> GpuTarget:
    """The target of that name, such as `sm_90` or `gfx942`; ValueError names the known ones."""
    targets = _data()["targets"]
    if name not in targets:
        close = difflib.get_close_matches(name.lower(), targets, 1, cutoff=0.7)
        hint = f"; did you mean {close[0]!r}?" if close else "."
        raise ValueError(f"there is no target {name!r}{hint} Known are {', '.join(targets)}.")
    target = targets[name]
    figures: dict[str, Any] = {**_data()["families"][target["family"]], **target["figures"]}
    return GpuTarget(
        name,
        backend=target["family"],
        arch=target["arch"],
        sources={
            figure: Source(_data()["sources"][entry["source"]], entry["place"], entry["quote"])
            for figure, entry in figures.items()
        },
        **{figure: entry["value"] for figure, entry in figures.items()},
    )


def unsupported(target: str, triton_version: str) -> str | None:
    """Why that version of Triton cannot compile for the target, as found by trying; None where it can or may."""
    entry = _data()["unsupported"].get(target)
    if entry is None or _release(triton_version) > _release(entry["through"]):
        return None
    return f"Triton {triton_version} cannot compile for {target}: {entry['reason']}"


def _release(version: str) -> tuple[int, int]:
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


@cache
def _data() -> Any:
    return json.loads(files(__package__).joinpath("targets.json").read_text("utf-8"))
