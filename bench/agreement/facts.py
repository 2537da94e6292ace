"""What each side says of one launch, and how it goes to a file and back. Imports neither torch nor triton."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

LOAD, STORE = "load", "store"


@dataclass(frozen=True)
class Access:
    """The accesses of one source line as the compile stage tells them: `instructions` of `bytes` per lane.

    `cause` says why they are narrow, "" where they are not, and `could_be` how many bytes they could be. Where lanes
    are to blame, `lane_step` is how many bytes they are apart at least.
    """

    kind: str
    line: int
    bytes: int
    instructions: int
    cause: str = ""
    could_be: int = 0
    lane_step: int = 0


@dataclass(frozen=True)
class Compiled:
    """What the compile stage says, without a GPU: registers, local and spilled bytes per thread, shared per block.

    `occupancy` is in warps per multiprocessor, `program` a digest of the TTIR. `error` says why there is nothing.
    """

    subject: str
    kernel: str = ""
    registers: int | None = None
    local: int | None = None
    shared: int | None = None
    occupancy: int | None = None
    spill_stores: int | None = None
    spill_loads: int | None = None
    matrix: tuple[str, ...] = ()
    program: str = ""
    accesses: tuple[Access, ...] = ()
    error: str = ""


@dataclass(frozen=True)
class Loaded:
    """What the GPU's driver says of the kernel that Triton itself compiled and loaded, in the same units.

    `deviation` is the root mean square of the result's difference from PyTorch's, over that of PyTorch's. `read` and
    `written` are the bytes of the tensors that the wrapper takes and returns.
    """

    subject: str
    kernel: str = ""
    registers: int | None = None
    local: int | None = None
    shared: int | None = None
    occupancy: int | None = None
    program: str = ""
    deviation: float | None = None
    read: int = 0
    written: int = 0
    error: str = ""


@dataclass(frozen=True)
class Gpu:
    """The machine that the kernels ran on; `not_run` says why there is none."""

    name: str = ""
    target: str = ""
    torch: str = ""
    triton: str = ""
    not_run: str = ""


@dataclass(frozen=True)
class Counted:
    """What the profiler counted: requests of the warps to the L1 cache for global memory, and 32-byte sectors."""

    subject: str
    kernel: str
    load_requests: int
    load_sectors: int
    store_requests: int
    store_sectors: int


def write(path: Path, facts: Iterable[Compiled | Loaded | Counted]) -> None:
    """Write facts as JSON."""
    path.write_text(json.dumps([asdict(fact) for fact in facts], indent=1) + "\n", encoding="utf-8")


def read_compiled(path: Path) -> list[Compiled]:
    """What `write` wrote of the compile stage."""
    return [
        Compiled(
            **{
                **entry,
                "matrix": tuple(entry["matrix"]),
                "accesses": tuple(Access(**access) for access in entry["accesses"]),
            }
        )
        for entry in _entries(path)
    ]


def read_loaded(path: Path) -> list[Loaded]:
    """What `write` wrote of the driver."""
    return [Loaded(**entry) for entry in _entries(path)]


def _entries(path: Path) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads(path.read_bytes())
    return entries
