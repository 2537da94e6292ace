"""Inline assembly, executed for all elements: what Triton passes in registers, and what instructions make of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton", reason="triton makes the programs")

import torch
import triton
import triton.language as tl
from torch import Tensor

from tritonaudit import simulate
from tritonaudit.simulator.faults import FaultKind
from tritonaudit.simulator.machine import NotSimulated

LANES = 64


@triton.jit
def unary(x_ptr, out_ptr, ASM: tl.constexpr, CONSTRAINTS: tl.constexpr, PACK: tl.constexpr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    x = tl.load(x_ptr + lanes)
    y = tl.inline_asm_elementwise(ASM, CONSTRAINTS, [x], out_ptr.dtype.element_ty, is_pure=True, pack=PACK)
    tl.store(out_ptr + lanes, y)


@triton.jit
def ternary(
    a_ptr, b_ptr, c_ptr, out_ptr, ASM: tl.constexpr, CONSTRAINTS: tl.constexpr, PACK: tl.constexpr, N: tl.constexpr
):
    lanes = tl.program_id(0) * N + tl.arange(0, N)
    a, b, c = tl.load(a_ptr + lanes), tl.load(b_ptr + lanes), tl.load(c_ptr + lanes)
    y = tl.inline_asm_elementwise(ASM, CONSTRAINTS, [a, b, c], out_ptr.dtype.element_ty, is_pure=True, pack=PACK)
    tl.store(out_ptr + lanes, y)


@triton.jit
def sum_and_difference(x_ptr, out_ptr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    x = tl.load(x_ptr + lanes)
    sums, differences = tl.inline_asm_elementwise(
        """
        {   // both at once
            .reg .f32 two;
            mov.f32 two, 0f40000000;
            add.f32 $0, $2, two; /* of $2 */
            sub.f32 $1, $2, two;
        }
        """,
        "=f,=f,f",
        [x],
        (tl.float32, tl.float32),
        is_pure=True,
        pack=1,
    )
    tl.store(out_ptr + lanes, sums)
    tl.store(out_ptr + N + lanes, differences)


@triton.jit
def waiting(x_ptr, out_ptr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.inline_asm_elementwise("griddepcontrol.wait; // dummy $0", "=r", [], tl.int32, is_pure=False, pack=1)
    x = tl.load(x_ptr + lanes)
    tl.inline_asm_elementwise("bar.sync 0;", "=r", [], tl.int32, is_pure=False, pack=1)
    tl.store(out_ptr + lanes, x)


@triton.jit
def what_is_not_set(out_ptr):
    tl.store(out_ptr, tl.inline_asm_elementwise("fence.proxy.alias;", "=r", [], tl.int32, is_pure=False, pack=1))


def floats(dtype: torch.dtype = torch.float32, seed: int = 0) -> Tensor:
    return torch.randn(LANES, generator=torch.Generator().manual_seed(seed)).to(dtype)


def bits(seed: int = 0, dtype: torch.dtype = torch.int32) -> Tensor:
    edges = torch.iinfo(dtype)
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(edges.min, edges.max + 1, (LANES,), generator=generator, dtype=torch.int64).to(dtype)


def assembled(x: Tensor, asm: str, constraints: str, dtype: torch.dtype | None = None, pack: int = 1) -> Tensor:
    out = torch.zeros(LANES, dtype=dtype or x.dtype)
    found = simulate(unary, (1,), x, out, ASM=asm, CONSTRAINTS=constraints, PACK=pack, N=LANES)
    assert found.faults == ()
    return out


@pytest.mark.parametrize(
    ("asm", "expected"),
    [
        ("mov.b32 $0, $1;", lambda x: x),
        ("add.f32 $0, $1, $1;", lambda x: x + x),
        ("fma.rn.f32 $0, $1, $1, 0f3F800000;", lambda x: (x.double() * x.double() + 1).float()),
        ("{ .reg .f32 t; neg.f32 t, $1; max.f32 $0, t, $1; }", torch.abs),
        ("ex2.approx.ftz.f32 $0, $1;", torch.exp2),
        ("rcp.approx.ftz.f32 $0, $1;", torch.reciprocal),
        ("tanh.approx.f32 $0, $1;", torch.tanh),
        ("{ .reg .f32 t; abs.f32 t, $1; lg2.approx.f32 $0, t; }", lambda x: x.abs().log2()),
        ("cvt.rzi.s32.f32 $0, $1; cvt.rn.f32.s32 $0, $0;", torch.trunc),
        ("{ .reg .pred p; setp.gt.f32 p, $1, 0f00000000; selp.f32 $0, $1, 0f00000000, p; }", torch.relu),
        ("{ .reg .pred p; setp.gt.f32 p, $1, 0f00000000; mov.f32 $0, $1; @!p mov.f32 $0, 0f00000000; }", torch.relu),
        ("{ .reg .pred p; mov.f32 $0, $1; setp.gt.f32 p, $1, 0; @p bra over; neg.f32 $0, $1; over: }", torch.abs),
    ],
)  # fmt: skip
def test_floats(asm: str, expected: Callable[[Tensor], Tensor]) -> None:
    x = floats()
    assert torch.allclose(assembled(x, asm, "=f,f"), expected(x), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("asm", "expected"),
    [
        ("and.b32 $0, $1, 0xFF;", lambda x: x & 255),
        ("shr.u32 $0, $1, 28;", lambda x: (x >> 28) & 15),
        ("{ .reg .b32 low, high; and.b32 low, $1, 7; xor.b32 high, low, -1; or.b32 $0, high, 1; }",
         lambda x: ~(x & 7) | 1),
        ("{ .reg .b16 low, high; mov.b32 {low, high}, $1; mov.b32 $0, {high, low}; }",
         lambda x: (x << 16) | ((x >> 16) & 0xFFFF)),
        ("{ .reg .b8 a, b, c, d; mov.b32 {a, b, c, d}, $1; cvt.u32.u8 $0, c; }", lambda x: (x >> 16) & 255),
        ("prmt.b32 $0, $1, 0, 0x4441;", lambda x: (x >> 8) & 255),
        ("prmt.b32 $0, $1, $1, 0x0123;", lambda x: x.view(torch.int8).reshape(-1, 4).flip(1).contiguous().view(-1)
         .view(torch.int32)),
        ("prmt.b32 $0, $1, 0, 0x8880;", lambda x: ((x & 255) ^ 128) - 128 - (((x & 255) ^ 128) - 128) % 256
         + (x & 255)),
        ("bfi.b32 $0, $1, 0, 4, 8;", lambda x: (x & 255) << 4),
    ],
)  # fmt: skip
def test_bits(asm: str, expected: Callable[[Tensor], Tensor]) -> None:
    x = bits()
    assert assembled(x, asm, "=r,r").tolist() == expected(x).tolist()


@pytest.mark.parametrize(("table", "expected"), [(0xE8, "majority"), (0x96, "parity"), (0xCA, "choice")])
def test_functions_of_three_bits(table: int, expected: str) -> None:
    a, b, c = (bits(seed) for seed in range(3))
    wanted = {"majority": a & b | b & c | a & c, "parity": a ^ b ^ c, "choice": a & b | ~a & c}[expected]
    out = torch.zeros(LANES, dtype=torch.int32)
    asm = f"lop3.b32 $0, $1, $2, $3, {table:#x};"
    simulate(ternary, (4,), a, b, c, out, ASM=asm, CONSTRAINTS="=r,r,r,r", PACK=1, N=LANES // 4)
    assert torch.equal(out, wanted)


def test_numbers_of_8_bits_come_four_to_a_register() -> None:
    x = bits(dtype=torch.int8)
    assert torch.equal(assembled(x, "xor.b32 $0, $1, 0x01010101;", "=r,r", pack=4), x ^ 1)
    assert torch.equal(
        assembled(x, "shr.u32 $0, $1, 8;", "=r,r", pack=4).reshape(-1, 4)[:, :3], x.reshape(-1, 4)[:, 1:]
    )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_pairs_of_halves(dtype: torch.dtype) -> None:
    a, b, c = (floats(dtype, seed) for seed in range(3))
    out = torch.zeros_like(a)
    kind = {torch.float16: "f16x2", torch.bfloat16: "bf16x2"}[dtype]
    asm = f"fma.rn.{kind} $0, $1, $2, $3;"
    simulate(ternary, (1,), a, b, c, out, ASM=asm, CONSTRAINTS="=r,r,r,r", PACK=2, N=LANES)
    assert torch.equal(out, (a.double() * b.double() + c.double()).to(dtype))


def test_a_register_of_a_wider_result() -> None:
    x = floats()
    made = assembled(x, "{ .reg .b32 t; cvt.rn.f16x2.f32 t, $2, $1; mov.b32 $0, t; }", "=r,f,f", torch.float16, pack=2)
    assert torch.equal(made, x.half())
    made = assembled(x, "cvt.rn.satfinite.e4m3x2.f32 $0, $2, $1;", "=h,f,f", torch.float8_e4m3fn, pack=2)
    assert torch.equal(made.view(torch.int8), x.to(torch.float8_e4m3fn).view(torch.int8))
    made = assembled(bits(), "cvt.u64.u32 $0, $1;", "=l,r", torch.int64)
    assert torch.equal(made, bits().to(torch.int64) & 0xFFFFFFFF)


def test_tf32_is_rounded_away_from_zero() -> None:
    x = torch.tensor([1 + 2.0**-11, -1 - 2.0**-11, 1 + 2.0**-12, float("inf")]).repeat(LANES // 4)
    expected = [1 + 2.0**-10, -1 - 2.0**-10, 1.0, float("inf")]
    assert assembled(x, "cvt.rna.tf32.f32 $0, $1;", "=r,r")[:4].tolist() == expected


def test_several_results() -> None:
    x, out = floats(), torch.zeros(2 * LANES)
    assert simulate(sum_and_difference, (1,), x, out, N=LANES).faults == ()
    assert torch.equal(out, torch.cat([x + 2, x - 2]))


def test_what_waits_for_others_has_nothing_to_wait_for() -> None:
    x, out = floats(), torch.zeros(LANES)
    assert simulate(waiting, (1,), x, out, N=LANES).faults == ()
    assert torch.equal(out, x)


def test_a_register_that_is_not_set_means_nothing() -> None:
    (found,) = simulate(what_is_not_set, (1,), torch.zeros(1, dtype=torch.int32)).faults
    assert found.kind is FaultKind.UNDEFINED_STORED


@pytest.mark.parametrize(
    ("asm", "constraints", "named"),
    [
        ("frobnicate.b32 $0, $1;", "=r,r", "frobnicate.b32"),
        ("cvt.rn.satfinite.e2m1x2.f32 $0, $1, $1;", "=r,f", "e2m1x2"),
        ("mov.u32 $0, %tid.x;", "=r,r", "%tid.x"),
        ("mov.u32 $0, %smid;", "=r,r", "%smid"),
        ("ld.global.b32 $0, [$1];", "=r,r", "ld.global.b32"),
        ("mov.b32 $0, $1;", "=Q,r", "constraint Q"),
        ("mov.b32 $0, $1;", "=r,r,r", "1 registers for 2 operands"),
        ("@q mov.b32 $0, $1;", "=r,r", "q"),
        ("bra away;", "=r,r", "bra away"),
        ("again: bra again;", "=r,r", "a loop without an end"),
    ],
)
def test_what_is_not_known_is_said(asm: str, constraints: str, named: str) -> None:
    with pytest.raises(NotSimulated, match="elementwise_inline_asm") as error:
        assembled(floats(), asm, constraints)
    assert named in str(error.value)


gdc: Any = pytest.importorskip("triton.language.extra.cuda")


@triton.jit
def after_the_launch_before(x_ptr, out_ptr, N: tl.constexpr):
    gdc.gdc_wait()
    x = tl.load(x_ptr + tl.arange(0, N))
    gdc.gdc_launch_dependents()
    tl.store(out_ptr + tl.arange(0, N), x)


@pytest.mark.skipif(not hasattr(gdc, "gdc_wait"), reason="this Triton has none")
def test_a_launch_begins_when_the_one_before_has_ended() -> None:
    x, out = floats(), torch.zeros(LANES)
    assert simulate(after_the_launch_before, (1,), x, out, N=LANES).faults == ()
    assert torch.equal(out, x)
