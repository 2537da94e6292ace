"""The clock of the GPU of this process, and its driver, as nvidia-smi tells them. Imports torch: for workers."""

from __future__ import annotations

import subprocess
from functools import cache

import torch

_SECONDS = 10.0
_BUSY_CYCLES = 400_000_000
"""For which the GPU is kept at work while it is asked: one that has none slows down."""
_UNKNOWN = "unknown"


def clocks() -> tuple[int, int] | None:
    """The clock of the multiprocessors under load and the highest that they can have, in MHz, if that can be told."""
    torch.cuda._sleep(_BUSY_CYCLES)
    told = _ask("clocks.sm,clocks.max.sm")
    torch.cuda.synchronize()
    try:
        now, highest = map(int, told.split(","))
    except ValueError:
        return None
    return now, highest


@cache
def driver_version() -> str:
    """The version of the driver, or "unknown"."""
    return _ask("driver_version") or _UNKNOWN


def _ask(what: str) -> str:
    """The answer for this process's GPU; empty where there is none."""
    unit = str(getattr(torch.cuda.get_device_properties(), "uuid", ""))
    which = [] if not unit else [f"--id=GPU-{unit.removeprefix('GPU-')}"]
    command = ["nvidia-smi", f"--query-gpu={what}", "--format=csv,noheader,nounits", *which]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout.strip().splitlines()[0].strip() if answer.stdout.strip() else ""
