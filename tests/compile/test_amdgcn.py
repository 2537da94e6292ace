"""Reading AMD assembly: single instructions, lines, metadata."""

from __future__ import annotations

import pytest

from tritonaudit.compile import amdgcn
from tritonaudit.compile.accesses import Access
from tritonaudit.compile.facts import AccessKind
from tritonaudit.compile.ttir import Location

FILE = '\t.file\t1 "/project" "kernel.py"'
HERE = "\t.loc\t1 7 9 is_stmt 0                ; kernel.py:7:9"


def read(*lines: str) -> list[Access]:
    return list(amdgcn.accesses("\n".join([FILE, *lines])))


@pytest.mark.parametrize(
    ("instruction", "kind", "width"),
    [
        ("\tglobal_load_dwordx4 v[2:5], v[0:1], off", AccessKind.LOAD, 16),
        ("\tglobal_load_dword v7, v[4:5], off", AccessKind.LOAD, 4),
        ("\tbuffer_load_dwordx2 v[2:3], v0, s[0:3], 0 offen", AccessKind.LOAD, 8),
        ("\tbuffer_load_ushort v1, v0, s[0:3], 0 offen", AccessKind.LOAD, 2),
        ("\tglobal_load_short_d16_hi v1, v[0:1], off", AccessKind.LOAD, 2),
        ("\tglobal_load_ubyte v1, v[0:1], off offset:16", AccessKind.LOAD, 1),
        ("\tflat_load_dwordx3 v[0:2], v[4:5]", AccessKind.LOAD, 12),
        ("\tbuffer_store_dwordx4 v[2:5], v0, s[4:7], 0 offen", AccessKind.STORE, 16),
        ("\tglobal_store_byte v[0:1], v2, off", AccessKind.STORE, 1),
        ("\tglobal_store_short_d16_hi v[0:1], v2, off", AccessKind.STORE, 2),
        ("\tbuffer_atomic_add_f32 v4, v0, s[4:7], 0 offen", AccessKind.ATOMIC, 4),
        ("\tglobal_atomic_pk_add_bf16 v[0:1], v2, off", AccessKind.ATOMIC, 4),
        ("\tglobal_atomic_add_f64 v[0:1], v[2:3], off", AccessKind.ATOMIC, 8),
        ("\tglobal_atomic_cmpswap v2, v[4:5], v[6:7], off glc", AccessKind.ATOMIC, 4),
        ("\tglobal_atomic_cmpswap_x2 v[0:1], v[4:5], v[6:9], off glc", AccessKind.ATOMIC, 8),
        ("\tbuffer_load_dwordx4 v0, s[0:3], 0 offen lds", AccessKind.ASYNC_COPY, 16),
        ("\tglobal_load_lds_dwordx4 v[0:1], off", AccessKind.ASYNC_COPY, 16),
    ],
)
def test_an_access(instruction: str, kind: AccessKind, width: int) -> None:
    assert read(HERE, instruction) == [Access(Location("/project/kernel.py", 7, 9), kind, width)]


@pytest.mark.parametrize(
    "instruction",
    [
        "\ts_load_dwordx8 s[4:11], s[0:1], 0x8",
        "\tds_read_b128 v[0:3], v4",
        "\tscratch_store_dword off, v1, s32 offset:4 ; 4-byte Folded Spill",
        "\tbuffer_store_dword v1, off, s[0:3], 0 offset:4 ; 4-byte Folded Spill",
        "\tbuffer_load_dword v1, off, s[0:3], 0 offset:4 ; 4-byte Folded Reload",
        "\tbuffer_wbl2 sc1",
        "\tbuffer_inv sc1",
    ],
)
def test_no_access(instruction: str) -> None:
    assert read(HERE, instruction) == []


@pytest.mark.parametrize("location", ["", "\t.loc\t1 0 0 is_stmt 0", "\t.loc\t3 7 9"])
def test_an_access_without_a_line_is_left_out(location: str) -> None:
    assert read(location, "\tglobal_load_dword v7, v[4:5], off") == []


METADATA = """
	.amdgpu_metadata
---
amdhsa.kernels:
  - .agpr_count:     128
    .args:
      - .offset:         0
        .size:           8
    .private_segment_fixed_size: 16
    .sgpr_count:     30
    .sgpr_spill_count: 0
    .vgpr_count:     288
    .vgpr_spill_count: 3
    .wavefront_size: 64
...
	.end_amdgpu_metadata
"""


def test_registers() -> None:
    assert amdgcn.registers(METADATA) == amdgcn.Registers(
        vector=288, accumulators=128, scalar=30, vector_spills=3, scratch=16
    )


def test_assembly_without_metadata_tells_no_registers() -> None:
    assert amdgcn.registers("s_endpgm") is None


def test_matrix_instructions_once_each() -> None:
    text = "\tv_mfma_f32_32x32x8_f16 v[0:15], v[16:17], v[18:19], v[0:15]\n" * 3 + "\tv_add_f32 v0, v1, v2\n"
    assert amdgcn.matrix_instructions(text) == ("v_mfma_f32_32x32x8_f16",)
