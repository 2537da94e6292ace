"""How the engine's time and memory grow: with the programs, their block, and the rounds of their loops.

    python -m bench.simulating.growth

is the process that measures: a line of JSON for each launch, with and without checks.
"""

from __future__ import annotations

import ctypes
import gc
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from bench.fidelity.tables import table
from bench.processes import run
from bench.simulating.sides import search_path
from bench.simulating.tables import seconds

if TYPE_CHECKING:
    from bench.simulating.kernels import Launch

_ELEMENTS = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
_BLOCKS = (64, 256, 1024, 4096, 16384, 65536)
_ROUNDS = (4, 16, 64, 256, 1024)
_TILE = 32
_LEAST, _MOST, _ENOUGH_SECONDS = 3, 9, 1.0
_LIMIT = 600.0
_MIB = 1 << 20


@dataclass(frozen=True)
class Point:
    """One launch: what grew to what, the bytes of its tensors, its seconds, and the most bytes that it held besides.

    `held` is None where the system does not tell.
    """

    series: str
    label: str
    is_checked: bool
    tensors: int
    seconds: float
    held: int | None


def tables(rounds: int) -> str:
    """Measure so often, each time in a fresh process, and tabulate the medians."""
    return tabulated([point for _ in range(max(rounds, 1)) for point in _measured()])


def tabulated(points: Sequence[Point]) -> str:
    """One row for each launch; the greatest of what it held, the median of its seconds."""
    groups: dict[tuple[str, str], list[Point]] = {}
    for point in points:
        groups.setdefault((point.series, point.label), []).append(point)
    head = ("grows", "to", "tensors:", "all checks:", "checks=False:", "held besides:", "checks=False:")
    return table(
        head,
        (
            (
                series,
                label,
                _mib(group[0].tensors),
                *(seconds(median(one.seconds for one in some)) for some in _by_checks(group)),
                *(_most([one.held for one in some]) for some in _by_checks(group)),
            )
            for (series, label), group in groups.items()
        ),
    )


def _by_checks(group: Sequence[Point]) -> tuple[list[Point], list[Point]]:
    return [one for one in group if one.is_checked], [one for one in group if not one.is_checked]


def _most(held: Sequence[int | None]) -> str:
    known = [one for one in held if one is not None]
    return _mib(max(known)) if known else "-"


def _mib(size: int) -> str:
    return f"{size / _MIB:.1f} MiB"


def _measured() -> list[Point]:
    command = (sys.executable, "-m", "bench.simulating.growth")
    ran = run(command, limit=_LIMIT, variables={"TRITON_INTERPRET": "0", **search_path(Path(sys.executable))})
    if ran.code != 0:
        print(f"growth: exit code {ran.code}\n{ran.err.decode(errors='replace')[-2000:]}", file=sys.stderr)
    return [Point(**json.loads(line)) for line in ran.out.decode().splitlines()]


def _series() -> Mapping[str, Mapping[str, Callable[[], Launch]]]:
    from bench.simulating.kernels import add, matmul

    return {
        "programs of 256 (add)": {f"{-(-n // 256):,}": partial(add, n) for n in _ELEMENTS},
        "block (add of 1,000,000)": {f"{block:,}": partial(add, 1_000_000, block) for block in _BLOCKS},
        f"rounds (matrix product, {_TILE} x {_TILE} x {_TILE} each)": {
            f"{count:,}": partial(matmul, 2 * _TILE, 2 * _TILE, count * _TILE, _TILE) for count in _ROUNDS
        },
    }


def _measure() -> Iterator[Point]:
    import torch

    torch.set_num_threads(1)
    for series, launches in _series().items():
        for label, make in launches.items():
            for is_checked in (True, False):
                yield _point(series, label, is_checked, make())


def _point(series: str, label: str, is_checked: bool, launch: Launch) -> Point:
    from tritonaudit import simulate

    execute = partial(simulate, launch.kernel, launch.grid, *launch.arguments, checks=is_checked, **launch.constants)
    execute()
    tensors = sum(one.nbytes for one in launch.arguments if hasattr(one, "nbytes"))
    return Point(series, label, is_checked, tensors, _median_seconds(execute), _held(execute))


def _median_seconds(execute: Callable[[], object]) -> float:
    found: list[float] = []
    while len(found) < _LEAST or (len(found) < _MOST and sum(found) < _ENOUGH_SECONDS):
        gc.collect()
        started = time.perf_counter()
        execute()
        found.append(time.perf_counter() - started)
    return median(found)


def _held(execute: Callable[[], object]) -> int | None:
    """The most bytes of memory that the process holds while it executes, beyond what it held before.

    What was freed before is given back to the system first, where it would not be seen to be taken again.
    """
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
        before = _status("VmRSS")
        execute()
        return _status("VmHWM") - before
    except (OSError, AttributeError, LookupError):
        return None


def _status(key: str) -> int:
    """A figure of this process, in bytes. Raises LookupError."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) * 1024
    raise LookupError(key)


if __name__ == "__main__":
    for measured in _measure():
        print(json.dumps(asdict(measured)), flush=True)
