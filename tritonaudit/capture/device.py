"""The GPU that stands in for a target where host code asks what it runs on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Device:
    """A product of the target's architecture: memory in bytes, `capability` as torch tells it."""

    name: str
    backend: str
    arch: int | str
    warp_size: int
    capability: tuple[int, int]
    multiprocessors: int
    memory: int
    shared_per_block: int
    shared_per_multiprocessor: int


_GIB = 1 << 30
_KIB = 1 << 10

# Multiprocessors: A100 108 and L40 142 (NVIDIA's architecture whitepapers), H100 SXM 132 (as PyTorch reports it),
# B200 148, MI210 104 and MI300X 304 compute units (ROCm, "GPU architecture hardware specifications").
_DEVICES = {
    "sm_80": Device("NVIDIA A100-SXM4-80GB", "cuda", 80, 32, (8, 0), 108, 80 * _GIB, 163 * _KIB, 164 * _KIB),
    "sm_89": Device("NVIDIA L40", "cuda", 89, 32, (8, 9), 142, 48 * _GIB, 99 * _KIB, 100 * _KIB),
    "sm_90": Device("NVIDIA H100 80GB HBM3", "cuda", 90, 32, (9, 0), 132, 80 * _GIB, 227 * _KIB, 228 * _KIB),
    "sm_100": Device("NVIDIA B200", "cuda", 100, 32, (10, 0), 148, 180 * _GIB, 227 * _KIB, 228 * _KIB),
    "gfx90a": Device("AMD Instinct MI210", "hip", "gfx90a", 64, (9, 0), 104, 64 * _GIB, 64 * _KIB, 64 * _KIB),
    "gfx942": Device("AMD Instinct MI300X", "hip", "gfx942", 64, (9, 4), 304, 192 * _GIB, 64 * _KIB, 64 * _KIB),
}


def device_for(target: str) -> Device:
    """The device that stands in for a target. Raises KeyError for a target that has none."""
    return _DEVICES[target]
