"""What real kernels' assembly comes to: widths by line, on NVIDIA and AMD, on every version of Triton."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("triton")

from tests.compile import kernels
from tests.compile.programs import VERSION, Pointer, accesses, analysed, line, supported, widths
from tritonaudit.compile.accesses import Access, at_operations
from tritonaudit.compile.facts import AccessKind
from tritonaudit.compile.ttir import Location

NVIDIA = supported("sm_80", "sm_90", "sm_100")
HALF, FULL = Pointer("fp16"), Pointer("fp32")


def loads_and_stores(kernel: Any, target: str, **arguments: Any) -> tuple[dict[int, int], dict[int, int]]:
    """The widths of the one line that loads, and of the one that stores."""
    found = widths(kernel, target, **arguments)
    (load,) = (found[key] for key in found if key[1] == "LOAD")
    (store,) = (found[key] for key in found if key[1] == "STORE")
    return load, store


@pytest.mark.parametrize("target", NVIDIA)
@pytest.mark.parametrize(
    ("dtype", "block", "expected"),
    [
        ("fp32", 1024, {16: 2}),
        ("fp16", 1024, {16: 1}),
        ("bf16", 2048, {16: 2}),
        ("fp8e5", 2048, {16: 1}),
        ("i8", 1024, {8: 1}),
        ("i16", 256, {4: 1}),
        ("fp64", 1024, {16: 4}),
        ("i64", 1024, {16: 4}),
        ("fp32", 128, {4: 1}),
        ("fp16", 128, {2: 1}),
    ],
)
def test_contiguous_lanes(target: str, dtype: str, block: int, expected: dict[int, int]) -> None:
    """128 lanes: a lane's share of the block, in instructions of at most 16 bytes."""
    pointer = Pointer(dtype)
    found = loads_and_stores(kernels.copy_unmasked, target, src=pointer, dst=pointer, BLOCK=block)
    assert found == (expected, expected)


@pytest.mark.parametrize("target", supported("gfx90a", "gfx942", "gfx950"))
@pytest.mark.parametrize(
    ("dtype", "block", "expected"),
    [
        ("fp32", 1024, {16: 1}),
        ("fp16", 1024, {8: 1}),
        ("i64", 1024, {16: 2}),
        ("i8", 256, {1: 1}),
        ("i16", 256, {2: 1}),
    ],
)
def test_contiguous_lanes_of_amd(target: str, dtype: str, block: int, expected: dict[int, int]) -> None:
    """256 lanes."""
    pointer = Pointer(dtype)
    found = loads_and_stores(kernels.copy_unmasked, target, src=pointer, dst=pointer, BLOCK=block)
    assert found == (expected, expected)


@pytest.mark.parametrize("target", [*NVIDIA, "gfx942"])
def test_a_mask_that_is_known_to_change_rarely_keeps_the_width(target: str) -> None:
    wide = loads_and_stores(kernels.copy, target, src=FULL, dst=FULL, n=1024, BLOCK=1024)
    narrow = loads_and_stores(kernels.copy, target, src=FULL, dst=FULL, n=1001, BLOCK=1024)
    number = 4 if target == "gfx942" else 8
    assert wide == ({16: number // 4}, {16: number // 4})
    assert narrow == ({4: number}, {4: number})


@pytest.mark.parametrize("target", [*NVIDIA, "gfx942"])
def test_casts_leave_each_side_its_own_width(target: str) -> None:
    load, store = loads_and_stores(kernels.cast, target, src=Pointer("i32"), dst=Pointer("i64"), BLOCK=2048)
    assert min(load) == 16
    assert min(store) == 16
    assert sum(width * number for width, number in store.items()) == 2 * sum(w * number for w, number in load.items())


@pytest.mark.parametrize("target", NVIDIA)
def test_lanes_apart_load_one_element_each(target: str) -> None:
    load, store = loads_and_stores(kernels.copy_lanes, target, src=FULL, dst=FULL, stride=48, BLOCK=1024)
    assert (load, store) == ({4: 8}, {16: 2})


@pytest.mark.parametrize("target", [*NVIDIA, "gfx942"])
def test_a_transposed_store_is_wide_too(target: str) -> None:
    found = accesses(kernels.transpose, target, src=HALF, dst=HALF, stride_src=1024, stride_dst=1024, TILE=64)
    assert {width for access in found for width, _ in access.widths} == {16}


@pytest.mark.parametrize("target", NVIDIA)
def test_atomics(target: str) -> None:
    kernel = kernels.histogram
    found = widths(kernel, target, src=Pointer("i32"), counts=FULL, n=1024, bins=16, BLOCK=1024)
    number = line(kernel, "tl.atomic_add")
    assert found == {(line(kernel, "tl.load"), "LOAD"): {16: 2}, (number, "ATOMIC"): {4: 8}}


def test_atomics_of_amd() -> None:
    kernel = kernels.histogram
    found = widths(kernel, "gfx942", src=Pointer("i32"), counts=FULL, n=1024, bins=16, BLOCK=1024)
    assert found[line(kernel, "tl.atomic_add"), "ATOMIC"] == {4: 4}


@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_the_loads_of_a_pipelined_product_are_asynchronous_copies(target: str) -> None:
    found = widths(kernels.matmul, target, **MATMUL)
    for text in ("left = tl.load", "right = tl.load"):
        assert set(found[line(kernels.matmul, text), "ASYNC_COPY"]) == {16}
    assert set(found[line(kernels.matmul, "tl.store"), "STORE"]) == {16}


MATMUL = {
    **dict.fromkeys(("a", "b", "c"), HALF),
    **dict.fromkeys(("m", "n", "k", "stride_am", "stride_bk", "stride_cm"), 1024),
    "TILE_M": 64,
    "TILE_N": 64,
    "TILE_K": 32,
}
INSTRUCTIONS = {
    "sm_80": "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    "sm_90": "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16",
    "sm_100": "tcgen05.mma.cta_group::1.kind::f16",
    "gfx942": "v_mfma_f32_32x32x8_f16",
}


@pytest.mark.parametrize("target", supported(*INSTRUCTIONS))
def test_matrix_instructions(target: str) -> None:
    assert analysed(kernels.matmul, target, **MATMUL).matrix == (INSTRUCTIONS[target],)


def test_products_by_the_type_of_their_operands() -> None:
    assert analysed(kernels.square, "sm_80", a=FULL, b=FULL, c=FULL, TILE=32).dots == (("fp32", 1),)
    bf16 = Pointer("bf16")
    assert analysed(kernels.square, "sm_80", a=bf16, b=bf16, c=FULL, TILE=32).dots == (("bf16", 1),)
    assert analysed(kernels.square, "sm_90", a=Pointer("fp8e5"), b=Pointer("fp8e5"), c=FULL, TILE=32).dots == (
        ("fp8e5", 1),
    )


@pytest.mark.skipif(VERSION >= (3, 9), reason="Triton 3.9 has no block pointers")
@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_block_pointers(target: str) -> None:
    arguments = {"src": HALF, "dst": HALF, "rows": 1024, "columns": 1024, "stride": 1024, "TILE": 64}
    found = loads_and_stores(kernels.copy_block_pointer, target, **arguments)
    assert found == ({16: 4}, {16: 4})


@pytest.mark.skipif(VERSION < (3, 6), reason="Triton 3.3 has no tensor descriptors")
def test_descriptors_are_copied_in_bulk_where_the_hardware_can() -> None:
    kernel = kernels.copy_descriptor
    arguments = {"src": HALF, "dst": HALF, "rows": 1024, "columns": 1024, "stride": 1024, "TILE": 64}
    load, store = line(kernel, "source.load"), line(kernel, "target.store")
    assert widths(kernel, "sm_90", **arguments) == {
        (load, "BULK_COPY"): {0: 1},
        (store, "BULK_COPY"): {0: 1},
    }
    assert widths(kernel, "sm_80", **arguments) == {(load, "LOAD"): {16: 4}, (store, "STORE"): {16: 4}}


# -- which line --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [*NVIDIA, "gfx942"])
def test_an_access_belongs_to_the_helper_that_holds_it(target: str) -> None:
    arguments = {"src": HALF, "dst": HALF, "stride": 1024, "n": 1024, "BLOCK": 1024}
    lines = {key[0] for key in widths(kernels.copy_by_helper, target, **arguments)}
    assert lines == {line(kernels.load_row, "return tl.load"), line(kernels.copy_by_helper, "tl.store")}


@pytest.mark.parametrize("target", NVIDIA)
def test_inline_assembly_of_several_lines_does_not_move_what_follows(target: str) -> None:
    kernel = kernels.add_assembly
    found = widths(kernel, target, src=Pointer("i32"), dst=Pointer("i32"), BLOCK=1024)
    lines = {line(kernel, "x = tl.load"), line(kernel, "z = tl.load"), line(kernel, "tl.store")}
    assert {key[0] for key in found} == lines


@pytest.mark.parametrize("target", [*NVIDIA, "gfx942"])
def test_a_column_lies_in_the_call(target: str) -> None:
    for access in accesses(kernels.softmax, target, src=HALF, dst=HALF, stride=1000, n=1000, BLOCK=1024):
        text = kernels.source_line(access.span.line)
        assert text.index("tl.") < access.span.column <= len(text.rstrip())
        if VERSION >= (3, 9):
            assert text[access.span.column - 1 :].startswith("tl.")


@pytest.mark.parametrize("target", ["sm_80", "gfx90a", "gfx942"])
def test_loads_without_anything_between_them_stay_at_their_line(target: str) -> None:
    """Up to Triton 3.3 LLVM gives AMD's loads here the location of the store."""
    kernel = kernels.copy_strided_tile
    found = widths(kernel, target, src=FULL, dst=FULL, rows=4096, columns=64, TILE=64)
    assert {key: set(value) for key, value in found.items()} == {
        (line(kernel, "tl.load"), "LOAD"): {4},
        (line(kernel, "tl.store"), "STORE"): {16},
    }


def test_an_access_of_no_operation_goes_to_the_only_one_without() -> None:
    load, other, store = (Location("/project/kernel.py", number, 5) for number in (7, 8, 9))
    operations = {load: "tt.load", store: "tt.store"}
    misplaced = Access(store, AccessKind.LOAD, 4)
    stored = Access(store, AccessKind.STORE, 16)
    assert at_operations([misplaced, stored], operations) == [stored, Access(load, AccessKind.LOAD, 4)]
    assert at_operations([misplaced, stored], {**operations, other: "tt.load"}) == [stored]
    assert at_operations([Access(load, AccessKind.LOAD, 4)], {load: "tt.atomic_cas"}) == [
        Access(load, AccessKind.LOAD, 4)
    ]


# -- registers ---------------------------------------------------------------------------------------------------------


def test_spills_are_counted() -> None:
    arguments = {**MATMUL, "TILE_M": 128, "TILE_N": 256, "num_stages": 2}
    nvidia = analysed(kernels.matmul, "sm_80", **arguments).resources
    assert nvidia is not None
    assert nvidia.registers == 255
    assert nvidia.spill_stores is not None
    assert nvidia.spill_stores > 0
    assert nvidia.spill_loads is not None
    assert nvidia.spill_loads > 0
    assert nvidia.stack is not None
    assert nvidia.stack > 0


def test_spills_of_amd_are_counted_and_are_no_accesses() -> None:
    variant = analysed(kernels.matmul, "gfx90a", **MATMUL, waves_per_eu=8, num_warps=1)
    assert variant.resources is not None
    assert variant.resources.spill_stores is not None
    assert variant.resources.spill_stores > 0
    texts = ("left = tl.load", "right = tl.load", "tl.store")
    assert {access.span.line for access in variant.accesses} == {line(kernels.matmul, text) for text in texts}


@pytest.mark.parametrize("target", supported("gfx90a", "gfx942", "gfx950"))
def test_registers_of_amd(target: str) -> None:
    resources = analysed(kernels.matmul, target, **MATMUL).resources
    assert resources is not None
    assert resources.registers is not None
    assert resources.scalar_registers is not None
    assert resources.accumulators is not None
    assert 0 < resources.registers <= 512
    assert 0 < resources.scalar_registers <= 102
    assert 0 <= resources.accumulators < resources.registers
    assert resources.spill_stores == 0
