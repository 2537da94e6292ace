"""Launches with matrix products as an H100 computes them: the instructions that Triton takes, and what they cut off."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton", reason="triton makes the programs")

import torch
import triton
import triton.language as tl

from tritonaudit import simulate
from tritonaudit.simulator.numerics.tensor_cores import Instruction
from tritonaudit.simulator.tensor_products import instructions_of

TINY = 2.0**-13


@triton.jit
def product(a_ptr, b_ptr, c_ptr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr):
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    a = tl.load(a_ptr + n[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    tl.store(c_ptr + n[:, None] * N + n[None, :], tl.dot(a, b, input_precision=PRECISION))


@pytest.mark.parametrize("warps", [2, 4])
@pytest.mark.parametrize("size", [16, 64])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_sums_are_cut_off(dtype: torch.dtype, size: int, warps: int) -> None:
    """1 and three quarters of what float32 tells apart above it."""
    a = torch.zeros((size, 16), dtype=dtype)
    a[:, 0], a[:, 1] = 1, 1.5 * TINY
    b = torch.zeros((16, size), dtype=dtype)
    b[0], b[1] = 1, 2.0**-11
    cut, rounded = torch.zeros((2, size, size)).unbind()
    for as_gpu, c in ((True, cut), (False, rounded)):
        simulate(product, (1,), a, b, c, size, 16, "tf32", num_warps=warps, as_gpu=as_gpu)
    assert bool((cut == 1).all())
    assert bool((rounded == 1 + 2.0**-23).all())


def test_float32_that_no_tensor_core_multiplies_is_added_in_order() -> None:
    a = torch.zeros((16, 16))
    a[:, 0], a[:, 1:8] = TINY, TINY
    a[:, 8] = 1
    b = a.t().contiguous()
    c = torch.zeros((16, 16))
    simulate(product, (1,), a, b, c, 16, 16, "ieee", as_gpu=True)
    assert bool((c == 1 + 2.0**-23).all())


TTGIR = """
  %1 = tt.dot %a, %b, %c : tensor<16x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>> * tensor<32x8xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>> -> tensor<16x8xf32, #mma> loc(#loc1)
  %2 = ttng.warp_group_dot %d, %e, %f {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x128xf16, #shared1, #smem, mutable> -> tensor<64x128xf32, #mma1> loc(#loc2)
  %3 = tt.dot %g, %h, %i : tensor<16x16xf32, #ttg.dot_op<{opIdx = 0, parent = #blocked}>> * tensor<16x16xf32, #ttg.dot_op<{opIdx = 1, parent = #blocked}>> -> tensor<16x16xf32, #blocked> loc(#loc3)
  %4 = tt.dot %j, %k, %l : tensor<2x16x16xf16, #ttg.dot_op<{opIdx = 0, parent = #mma2, kWidth = 2}>> * tensor<2x16x16xf16, #ttg.dot_op<{opIdx = 1, parent = #mma2, kWidth = 2}>> -> tensor<2x16x16xf32, #mma2> loc(#loc4)
"""  # noqa: E501
AGAIN = TTGIR.splitlines()[1].replace("kWidth = 4", "kWidth = 2")


def test_instructions_are_found_by_their_sizes() -> None:
    warp, group = Instruction(is_for_group=False, width=4), Instruction(is_for_group=True, width=0)
    batched = Instruction(is_for_group=False, width=2)
    assert instructions_of(TTGIR) == {(16, 8, 32): warp, (64, 128, 64): group, (2, 16, 16, 16): batched}


def test_two_instructions_for_the_same_sizes_are_none() -> None:
    assert (16, 8, 32) not in instructions_of(TTGIR + AGAIN)
