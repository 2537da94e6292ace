"""The clock of the GPU of this process, and its driver, as NVIDIA's tools tell them. Imports torch: for workers."""

from __future__ import annotations

import ctypes
import subprocess
from functools import cache
from typing import Any

import torch

_SECONDS = 10.0
_BUSY_CYCLES, _BUSY_FOR_LONG = 100_000_000, 400_000_000
"""For which the GPU is kept at work while the library is asked, or nvidia-smi: one that has none slows down."""
_UNKNOWN = "unknown"
_LIBRARY = "libnvidia-ml.so.1"
_MULTIPROCESSORS = 1
"""Of which clock the library is asked."""
_WORD_BYTES = 96


def clocks() -> tuple[int, int] | None:
    """The clock of the multiprocessors under load and the highest that they can have, in MHz, if that is known."""
    torch.cuda._sleep(_BUSY_CYCLES)
    library = _library()
    reported = None if library is None else _clocks_by(library, _unit())
    if reported is None:
        torch.cuda._sleep(_BUSY_FOR_LONG)
        reported = _clocks_in(_ask("clocks.sm,clocks.max.sm"))
    torch.cuda.synchronize()
    return reported


@cache
def driver_version() -> str:
    """The version of the driver, or "unknown"."""
    library = _library()
    return (_driver_by(library) if library is not None else "") or _ask("driver_version") or _UNKNOWN


@cache
def _library() -> Any | None:
    """What nvidia-smi asks, too, which alone takes a process and up to a second; None where it is not there."""
    try:
        library = ctypes.CDLL(_LIBRARY)
        return None if library.nvmlInit_v2() else library
    except (OSError, AttributeError):
        return None


def _clocks_by(library: Any, unit: str) -> tuple[int, int] | None:
    """The clock now and the highest, as the library says; None where it refuses."""
    device, now, highest = ctypes.c_void_p(), ctypes.c_uint(), ctypes.c_uint()
    failed = (
        library.nvmlDeviceGetHandleByUUID(unit.encode(), ctypes.byref(device))
        or library.nvmlDeviceGetClockInfo(device, _MULTIPROCESSORS, ctypes.byref(now))
        or library.nvmlDeviceGetMaxClockInfo(device, _MULTIPROCESSORS, ctypes.byref(highest))
    )
    return None if failed else (now.value, highest.value)


def _driver_by(library: Any) -> str:
    word = ctypes.create_string_buffer(_WORD_BYTES)
    return "" if library.nvmlSystemGetDriverVersion(word, _WORD_BYTES) else word.value.decode()


def _clocks_in(reported: str) -> tuple[int, int] | None:
    try:
        now, highest = map(int, reported.split(","))
    except ValueError:
        return None
    return now, highest


def _unit() -> str:
    """What names this process's GPU; empty where nothing does."""
    unit = str(getattr(torch.cuda.get_device_properties(), "uuid", ""))
    return unit and f"GPU-{unit.removeprefix('GPU-')}"


def _ask(what: str) -> str:
    """The answer for this process's GPU; empty where there is none."""
    unit = _unit()
    which = [f"--id={unit}"] if unit else []
    command = ["nvidia-smi", f"--query-gpu={what}", "--format=csv,noheader,nounits", *which]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout.strip().splitlines()[0].strip() if answer.stdout.strip() else ""
