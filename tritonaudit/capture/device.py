"""The GPU that stands in for a target where host code asks what it runs on."""

from __future__ import annotations

import functools
import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType, FrameType

from tritonaudit.hardware.targets import GpuTarget, gpu_target


@dataclass(frozen=True)
class Device:
    """A product of the target's architecture: memory in bytes, `capability` as torch tells it."""

    target: GpuTarget
    name: str
    capability: tuple[int, int]
    multiprocessors: int
    memory: int


@dataclass
class Told:
    """What host code is told of the device's multiprocessors: so many, or (None) what it has; whether it `asked`."""

    multiprocessors: int | None = None
    asked: bool = False


_told = Told()
_askers: set[CodeType] = set()
"""Functions that asked, and those that called them."""
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


@contextmanager
def telling(multiprocessors: int | None) -> Iterator[Told]:
    """While this lasts, host code is told of so many; what it yields says whether it asked.

    What functions keep since they were told of another number is forgotten.
    """
    global _told
    before, _told = _told, Told(multiprocessors)
    is_another = before.multiprocessors != multiprocessors
    if is_another:
        _forget_answers()
    try:
        yield _told
    finally:
        _told = before
        if is_another:
            _forget_answers()


def has_asked() -> bool:
    """Whether host code has ever asked."""
    return bool(_askers)


def modules_that_asked() -> frozenset[str]:
    """The files of modules that asked while they were imported, and of those that imported them."""
    return frozenset(code.co_filename for code in _askers if code.co_name == "<module>")


def multiprocessors_told(device: Device) -> int:
    """The answer to host code that asks how many the device has."""
    _told.asked = True
    _askers.update(_callers())
    return device.multiprocessors if _told.multiprocessors is None else _told.multiprocessors


def _callers() -> Iterator[CodeType]:
    """The host code that is being executed: from what called into this package up to what this package called."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    while frame is not None and not frame.f_code.co_filename.startswith(_OURS):
        yield frame.f_code
        frame = frame.f_back


def _forget_answers() -> None:
    """Empty the caches of functions that asked."""
    for one in gc.get_objects() if _askers else ():
        if type(one) is functools._lru_cache_wrapper and getattr(one.__wrapped__, "__code__", None) in _askers:
            one.cache_clear()


_GIB = 1 << 30

# Multiprocessors: T4 40, A100 108, A10 72, L40 142, RTX 5090 170 (NVIDIA's architecture whitepapers and data sheets),
# H100 SXM 132 (as PyTorch reports it), B200 and B300 148; MI210 104, MI300X 304, MI355X 256 compute units (ROCm, "GPU
# architecture hardware specifications").
_PRODUCTS = {
    "sm_75": ("Tesla T4", (7, 5), 40, 16),
    "sm_80": ("NVIDIA A100-SXM4-80GB", (8, 0), 108, 80),
    "sm_86": ("NVIDIA A10", (8, 6), 72, 24),
    "sm_89": ("NVIDIA L40", (8, 9), 142, 48),
    "sm_90": ("NVIDIA H100 80GB HBM3", (9, 0), 132, 80),
    "sm_100": ("NVIDIA B200", (10, 0), 148, 180),
    "sm_103": ("NVIDIA B300", (10, 3), 148, 270),
    "sm_120": ("NVIDIA GeForce RTX 5090", (12, 0), 170, 32),
    "gfx90a": ("AMD Instinct MI210", (9, 0), 104, 64),
    "gfx942": ("AMD Instinct MI300X", (9, 4), 304, 192),
    "gfx950": ("AMD Instinct MI355X", (9, 5), 256, 288),
}


def device_for(target: str) -> Device:
    """The device that stands in for a target. Raises ValueError for an unknown one."""
    name, capability, multiprocessors, memory = _PRODUCTS[(known := gpu_target(target)).name]
    return Device(known, name, capability, multiprocessors, memory * _GIB)
