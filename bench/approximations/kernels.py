"""Kernels that execute one instruction on every element."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def one_operand(source, target, count, ASSEMBLY: tl.constexpr, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(source + places, mask=places < count)
    y = tl.inline_asm_elementwise(ASSEMBLY, "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1)
    tl.store(target + places, y, mask=places < count)


@triton.jit
def two_operands(left, right, target, count, ASSEMBLY: tl.constexpr, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(left + places, mask=places < count)
    b = tl.load(right + places, mask=places < count)
    y = tl.inline_asm_elementwise(ASSEMBLY, "=f,f,f", [a, b], dtype=tl.float32, is_pure=True, pack=1)
    tl.store(target + places, y, mask=places < count)
