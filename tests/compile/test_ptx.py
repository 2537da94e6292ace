"""Reading PTX: single instructions, and the lines that they belong to."""

from __future__ import annotations

import pytest

from tritonaudit.compile import ptx
from tritonaudit.compile.accesses import Access
from tritonaudit.compile.facts import AccessKind
from tritonaudit.compile.ttir import Location

FILES = '.file\t1 "/project/kernel.py"\n.file 2 "/project" "helper.py"\n'


def read(*lines: str) -> list[Access]:
    return list(ptx.accesses("\n".join([*lines, FILES])))


@pytest.mark.parametrize(
    ("instruction", "kind", "width"),
    [
        ("@%p1 ld.global.b16 { %rs1 }, [ %rd1 + 0 ];", AccessKind.LOAD, 2),
        ("ld.global.v4.b32 { %r1, %r2, %r3, %r4 }, [ %rd1 + 0 ];", AccessKind.LOAD, 16),
        (
            "@!%p1 ld.global.L1::evict_last.L2::cache_hint.v2.b64 { %rd1, %rd2 }, [ %rd3 + 0 ], %rd4;",
            AccessKind.LOAD,
            16,
        ),
        ("ld.global.nc.L2::128B.v8.b32 {%r1}, [%rd1];", AccessKind.LOAD, 32),
        ("ld.volatile.global.u8 \t%rs1, [%rd1];", AccessKind.LOAD, 1),
        ("ld.acquire.gpu.global.b32 %r1, [%rd1];", AccessKind.LOAD, 4),
        ("\tst.global.v2.f32 [%rd1], {%f1, %f2};", AccessKind.STORE, 8),
        ("st.global.b128 [%rd1], %rq1;", AccessKind.STORE, 16),
        ("@%p3 atom.global.gpu.acq_rel.add.f32 %r9, [ %rd3 + 0 ], %r10;", AccessKind.ATOMIC, 4),
        ("atom.global.gpu.acq_rel.add.noftz.f16x2 %r1, [%rd1], %r2;", AccessKind.ATOMIC, 4),
        ("atom.global.acq_rel.gpu.cas.b64 %rd1, [%rd2], %rd3, %rd4;", AccessKind.ATOMIC, 8),
        ("red.global.gpu.relaxed.add.noftz.v4.bf16x2 [%rd1], {%r1, %r2, %r3, %r4};", AccessKind.ATOMIC, 16),
        ("cp.async.ca.shared.global [ %r1 + 0 ], [ %rd1 + 0 ], 0x8, %r2;", AccessKind.ASYNC_COPY, 8),
        ("@%p1 cp.async.cg.shared::cta.global.L2::128B [%r1], [%rd1], 16;", AccessKind.ASYNC_COPY, 16),
        (
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r8], [%rd7, {%r9}], [%r7];",
            AccessKind.BULK_COPY,
            0,
        ),
        ("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd8, {%r9}], [%r8];", AccessKind.BULK_COPY, 0),
        (
            "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%rd8, {%r9}], [%r8];",
            AccessKind.BULK_COPY,
            0,
        ),
    ],
)
def test_an_access(instruction: str, kind: AccessKind, width: int) -> None:
    assert read(".loc 1 7 9", instruction) == [Access(Location("/project/kernel.py", 7, 9), kind, width)]


@pytest.mark.parametrize(
    "instruction",
    [
        "ld.param.b64 %rd1, [kernel_param_0];",
        "ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [%r5];",
        "st.shared::cta.b32 [ %r1 + 0 ], %r4;",
        "atom.shared.add.f32 %f1, [%r1], %f2;",
        "cp.async.commit_group;",
        "cp.async.wait_group 0;",
        "cp.async.bulk.wait_group.read 0 ;",
        "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd1, {%r1, %r2}];",
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd3], [%rd1], 0x80;",
        "prefetch.global.L2 [%rd1];",
        "cvta.global.u64 %rd7, %rd3;",
        "// ld.global.b32 %r1, [%rd1];",
        ".extern .global .align 16 .b8 scratch[];",
    ],
)
def test_no_access(instruction: str) -> None:
    assert read(".loc 1 7 9", instruction) == []


def test_several_instructions_in_one_line() -> None:
    line = "{ .reg .pred p; setp.eq.b32 p, %r1, 0; @p ld.global.b32 %r2, [%rd1]; @p st.global.b64 [%rd2], %rd3; }"
    assert [(access.kind, access.bytes) for access in read(".loc 1 7 9", line)] == [
        (AccessKind.LOAD, 4),
        (AccessKind.STORE, 8),
    ]


def test_a_location_holds_until_the_next() -> None:
    found = read(
        ".loc 1 7 9 // kernel.py:7:9",
        "ld.global.b32 %r1, [%rd1];",
        "ld.global.b32 %r2, [%rd2];",
        "\t.loc\t2 3 5, function_name $L__info_string0, inlined_at 1 8 9 // helper.py:3:5",
        "st.global.b32 [%rd1], %r1;",
    )
    assert [access.location for access in found] == [
        Location("/project/kernel.py", 7, 9),
        Location("/project/kernel.py", 7, 9),
        Location("/project/helper.py", 3, 5),
    ]


def test_lines_within_inline_assembly_are_not_the_source_s() -> None:
    found = read(
        ".loc 1 7 9",
        "// begin inline asm",
        ".loc 1 11 29",
        "mov.u32 %r1, 0x0;",
        ".loc 1 12 29",
        "@%p1 ld.global.b32 { %r1 }, [ %rd1 + 0 ];",
        "// end inline asm",
        "ld.global.b32 %r2, [%rd2];",
        ".loc 1 20 5",
        "ld.global.b32 %r3, [%rd3];",
    )
    assert [access.location.line for access in found] == [11, 11, 20]


@pytest.mark.parametrize("location", ["", ".loc 1 0 0", ".loc 9 7 9"])
def test_an_access_without_a_line_is_left_out(location: str) -> None:
    assert read(location, "ld.global.b32 %r1, [%rd1];") == []


def test_matrix_instructions_once_each() -> None:
    text = """
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 { %r1 };
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 { %r2 };
        wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 { %r3 };
        wgmma.commit_group.sync.aligned;
        @%p1 tcgen05.mma.cta_group::1.kind::f16 [ %r1 + 0 ], %rd1, %rd2, %r2, %p2;
        tcgen05.ld.sync.aligned.32x32b.x64.b32 { %r4 };
    """
    assert ptx.matrix_instructions(text) == (
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
        "tcgen05.mma.cta_group::1.kind::f16",
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16",
    )


def test_the_source_of_a_line_of_ptx() -> None:
    text = ".loc 1 7 9\nmov.u32 %r1, 0;\n.loc 1 8 5\nfrobnicate;\n" + FILES
    assert ptx.location_of_line(text, 2) == Location("/project/kernel.py", 7, 9)
    assert ptx.location_of_line(text, 4) == Location("/project/kernel.py", 8, 5)
    assert ptx.location_of_line(text, 99) is None
