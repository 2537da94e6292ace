"""The GPU that stands in for a target where host code asks what it runs on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from tritonaudit.hardware.targets import GpuTarget, gpu_target


@dataclass(frozen=True)
class Device:
    """A product of the target's architecture: memory in bytes, `capability` as torch tells it."""

    target: GpuTarget
    name: str
    capability: tuple[int, int]
    multiprocessors: int
    memory: int


Answer = TypeVar("Answer")


@dataclass
class _Told:
    is_apart: bool = False


_told = _Told()


def tell_apart(answer: Answer) -> Answer:
    """The answer, which would be another one on another GPU, and which this process has been given from now on."""
    are_apart()
    return answer


def are_apart() -> None:
    """Note that what this process has run would be something else on another GPU."""
    _told.is_apart = True


def has_told_apart() -> bool:
    """Whether anything that this process has run was told what could be otherwise on another GPU."""
    return _told.is_apart


@dataclass
class _Reported:
    multiprocessors: int | None = None
    asked: bool = False


_reported = _Reported()


def report_multiprocessors(multiprocessors: int | None) -> None:
    """From now on show this process's host code so many multiprocessors; None for what the device has."""
    global _reported
    _reported = _Reported(multiprocessors)


def has_asked() -> bool:
    """Whether host code has asked since how many there are."""
    return _reported.asked


def multiprocessors_reported(device: Device) -> int:
    """The answer to host code that asks how many the device has."""
    _reported.asked = True
    return tell_apart(device.multiprocessors if _reported.multiprocessors is None else _reported.multiprocessors)


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
