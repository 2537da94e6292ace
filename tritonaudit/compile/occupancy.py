"""How many warps of a kernel a multiprocessor can hold."""

from __future__ import annotations

from dataclasses import dataclass

from tritonaudit.hardware.targets import GpuTarget


@dataclass(frozen=True)
class Occupancy:
    """`warps` can be resident of the `of` that there is room for; `limit` names what allows no more, "" at the full."""

    warps: int
    of: int
    limit: str


def occupancy(target: GpuTarget, registers: int | None, shared: int, warps: int) -> Occupancy | None:
    """The occupancy of a kernel with blocks of `warps` warps, `registers` per thread and `shared` bytes per block.

    None where a figure of the target or the kernel is unknown. The formula is that of NVIDIA's cuda_occupancy.h
    (cudaOccMaxBlocksPerSMRegsLimit, ...SmemLimit, ...WarpsLimit; CUDA 13.1), which with AMD's figures is also that of
    LLVM's AMDGPUBaseInfo.cpp (getNumWavesPerEUWithNumVGPRs, getMaxWorkGroupsPerCU). Barriers, clusters and registers
    that warps reallocate among themselves are left out: it is an estimate.
    """
    room = target.warps_per_multiprocessor
    limits = {
        "shared memory": _blocks_by_shared(target, shared),
        "registers": _blocks_by_registers(target, registers, warps),
        "blocks": _most_blocks(target, warps),
        "warps": room // warps if room is not None else None,
    }
    if room is None:
        return None
    if limits["shared memory"] == 0:
        return Occupancy(0, room, "shared memory")
    known = {name: blocks for name, blocks in limits.items() if blocks is not None}
    if len(known) < len(limits):
        return None
    blocks = min(known.values())
    full = blocks * warps == room
    return Occupancy(blocks * warps, room, "" if full else next(name for name in known if known[name] == blocks))


def _blocks_by_shared(target: GpuTarget, shared: int) -> int | None:
    unit, reserved = target.shared_unit, target.shared_reserved_per_block
    whole, most = target.shared_per_multiprocessor, target.shared_per_block
    if unit is None or reserved is None or whole is None or most is None:
        return None
    if shared > most:
        return 0
    return whole // max(_rounded_up(shared + reserved, unit), 1)


def _blocks_by_registers(target: GpuTarget, registers: int | None, warps: int) -> int | None:
    unit, partitions, whole = target.register_unit, target.partitions, target.registers_per_multiprocessor
    if registers is None or unit is None or partitions is None or whole is None:
        return None
    per_warp = _rounded_up(max(registers, 1) * target.warp_size, unit)
    if _rounded_up(warps, partitions) * per_warp > whole:
        return 0
    return whole // partitions // per_warp * partitions // warps


def _most_blocks(target: GpuTarget, warps: int) -> int | None:
    """AMD's limit is on barriers, which a block of one warp needs none of (LLVM, getMaxWorkGroupsPerCU)."""
    if target.backend == "hip" and warps == 1:
        return target.warps_per_multiprocessor
    return target.blocks_per_multiprocessor


def _rounded_up(number: int, unit: int) -> int:
    return -(-number // unit) * unit
