"""Reads AMD assembly: accesses to global memory by source line, registers, spills, matrix instructions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.compile.accesses import Access
from tritonaudit.compile.facts import AccessKind
from tritonaudit.compile.ttir import Location


@dataclass(frozen=True)
class Registers:
    """What the kernel's metadata say: registers per lane (`vector`, with its `accumulators`) and per wave (`scalar`).

    `vector_spills` are registers spilt; `scratch` is memory of a lane's own, in bytes.
    """

    vector: int
    accumulators: int
    scalar: int
    vector_spills: int
    scratch: int


_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?', re.MULTILINE)
_LOC = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)")
_MEMORY = re.compile(r"\s*(?:global|buffer|flat)_(load|store|atomic)_(\w+)\s*(.*)")
_MATRIX = re.compile(r"^\s*(v_(?:mfma|smfmac|wmma|swmmac)_\w+)", re.MULTILINE)
_SCRATCH = re.compile(r"Folded (?:Spill|Reload)")

_TO_LDS = re.compile(r"\blds\b")

_KINDS = {"load": AccessKind.LOAD, "store": AccessKind.STORE, "atomic": AccessKind.ATOMIC}
_BYTES = {
    "dwordx4": 16,
    "dwordx3": 12,
    "dwordx2": 8,
    "dword": 4,
    "short": 2,
    "ushort": 2,
    "sshort": 2,
    "byte": 1,
    "ubyte": 1,
    "sbyte": 1,
}


def accesses(assembly: str) -> Iterator[Access]:
    """Each access of vector instructions to global memory whose line is known; no reloads of spilt registers.

    Scalar loads (`s_load`) are left out: they fetch once for all lanes.
    """
    files = {int(n): f"{first}/{second}" if second else first for n, first, second in _FILE.findall(assembly)}
    location: Location | None = None
    for line in assembly.split("\n"):
        if match := _LOC.match(line):
            number, row, column = map(int, match.groups())
            location = Location(files[number], row, column) if row and number in files else None
        elif location is not None and (match := _MEMORY.match(line)) and not _SCRATCH.search(line):
            operation, name, operands = match.groups()
            width = _atomic_bytes(name) if operation == "atomic" else _bytes(name)
            if width:
                yield Access(location, _kind(operation, name, operands), width)


def matrix_instructions(assembly: str) -> tuple[str, ...]:
    """The matrix instructions, each once, sorted."""
    return tuple(sorted(set(_MATRIX.findall(assembly))))


def registers(assembly: str) -> Registers | None:
    """What the kernel needs, None where the assembly has no metadata of a kernel."""
    _, found, metadata = assembly.partition(".amdgpu_metadata")
    if not found:
        return None
    values = {key: int(value) for key, value in re.findall(r"\.(\w+):\s*(\d+)\s*$", metadata, re.MULTILINE)}
    if "vgpr_count" not in values:
        return None
    return Registers(
        vector=values["vgpr_count"],
        accumulators=values.get("agpr_count", 0),
        scalar=values["sgpr_count"],
        vector_spills=values["vgpr_spill_count"],
        scratch=values["private_segment_fixed_size"],
    )


def _kind(operation: str, name: str, operands: str) -> AccessKind:
    if operation == "load" and (name.startswith("lds_") or _TO_LDS.search(operands.split(";")[0])):
        return AccessKind.ASYNC_COPY
    return _KINDS[operation]


def _bytes(name: str) -> int:
    """`dwordx2`, `ushort`, `short_d16_hi`, `lds_dwordx4`: as the part says that tells a width."""
    return next((_BYTES[part] for part in name.split("_") if part in _BYTES), 0)


def _atomic_bytes(name: str) -> int:
    """`add`, `add_f32`, `pk_add_bf16` (two of 16 bits), `add_f64`, `cmpswap_x2`: the value's width in memory."""
    return 8 if name.endswith(("_x2", "64")) else 4
