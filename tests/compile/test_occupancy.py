"""Occupancy against NVIDIA's calculator, worked by hand, and against LLVM's own count."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tritonaudit.compile.occupancy import Occupancy, occupancy
from tritonaudit.hardware.targets import gpu_target


@pytest.mark.parametrize(
    ("target", "registers", "shared", "warps", "expected"),
    [
        # 32 registers: 1024 a warp, 16 warps in each of 4 partitions
        ("sm_80", 32, 0, 4, Occupancy(64, 64, "")),
        # 33 registers: 1056, rounded up to 1280; 16384 // 1280 = 12 warps a partition
        ("sm_80", 33, 0, 4, Occupancy(48, 64, "registers")),
        ("sm_80", 255, 0, 8, Occupancy(8, 64, "registers")),
        # 168 registers: 5376 a warp, 3 a partition, 12 together: one block of 8
        ("sm_90", 168, 0, 8, Occupancy(8, 64, "registers")),
        # 64 KiB + 1 KiB reserved: 3 of 228 KiB
        ("sm_90", 32, 65536, 8, Occupancy(24, 64, "shared memory")),
        ("sm_90", 32, 232448, 8, Occupancy(8, 64, "shared memory")),
        # 16 blocks of one warp
        ("sm_86", 32, 0, 1, Occupancy(16, 48, "blocks")),
        # 48 warps hold one block of 32
        ("sm_86", 32, 0, 32, Occupancy(32, 48, "warps")),
        # 512 registers a SIMD; 65 need 72
        ("gfx942", 64, 0, 4, Occupancy(32, 32, "")),
        ("gfx942", 65, 0, 4, Occupancy(28, 32, "registers")),
        ("gfx942", 128, 32768, 4, Occupancy(8, 32, "shared memory")),
        # a wave alone needs no barrier, so that nothing limits blocks of one
        ("gfx942", 64, 0, 1, Occupancy(32, 32, "")),
        ("gfx942", 64, 0, 2, Occupancy(32, 32, "")),
    ],
)
def test_occupancy(target: str, registers: int, shared: int, warps: int, expected: Occupancy) -> None:
    assert occupancy(gpu_target(target), registers, shared, warps) == expected


def test_what_cannot_be_launched_has_none() -> None:
    assert occupancy(gpu_target("sm_80"), None, 200_000, 4) == Occupancy(0, 64, "shared memory")


def test_unknown_figures_give_no_occupancy() -> None:
    target = gpu_target("sm_80")
    assert occupancy(target, None, 0, 4) is None
    assert occupancy(replace(target, register_unit=None), 32, 0, 4) is None
    assert occupancy(replace(target, shared_unit=None), 32, 0, 4) is None
    assert occupancy(replace(target, blocks_per_multiprocessor=None), 32, 0, 4) is None
    assert occupancy(replace(target, warps_per_multiprocessor=None), 32, 0, 4) is None
