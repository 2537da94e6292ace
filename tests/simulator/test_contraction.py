"""Sums take in products where Triton's compiler makes one fused multiply-add of them."""

from __future__ import annotations

import re
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton", reason="triton makes the programs")

import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from tests.simulator.kernels import VERSION
from tritonaudit import simulate
from tritonaudit.simulator.contraction import plan_of
from tritonaudit.simulator.faults import FaultKind
from tritonaudit.simulator.numerics.fma import fma
from tritonaudit.simulator.parse import parse_module

BLOCK = 128
"""A lane for each thread, so that an instruction of a program's text is one for all of a block."""


@triton.jit
def multiply_add(x, y, z, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i) * tl.load(y + i) + tl.load(z + i))


@triton.jit
def subtract(x, y, z, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a, b, c = tl.load(x + i), tl.load(y + i), tl.load(z + i)
    tl.store(out + i, c - a * b)
    tl.store(out + i + BLOCK, a * b - c)


@triton.jit
def subtract_negated(x, y, z, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(z + i) - (-(tl.load(x + i) * tl.load(y + i))))


@triton.jit
def of_two_products(x, y, z, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a, b, c = tl.load(x + i), tl.load(y + i), tl.load(z + i)
    tl.store(out + i, b * c + a * b)  # the one that is known first
    p = a * c
    tl.store(out + i + BLOCK, p)
    tl.store(out + i + 2 * BLOCK, p - c * c)  # the one that has no other use


@triton.jit
def of_functions(x, y, z, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a, b, c = tl.load(x + i), tl.load(y + i), tl.load(z + i)
    first = tl.exp(a)
    second = tl.exp(b)
    tl.store(out + i, second * c + first * c)
    tl.store(out + i + BLOCK, first)
    tl.store(out + i + 2 * BLOCK, second)


@triton.jit
def of_a_sum(x, y, z, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a, b, c = tl.load(x + i), tl.load(y + i), tl.load(z + i)
    tl.store(out + i, (a * b + c) * a + b * c + a * a)


@triton.jit
def with_a_row(x, y, z, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    scale = tl.load(x) * tl.load(y)
    tl.store(out + i, tl.load(z + i) + scale)


@triton.jit
def in_a_loop(x, y, z, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for k in range(n):
        total += tl.load(x + i + k) * tl.load(y + i + k)
    tl.store(out + i, total)


@triton.jit
def around_a_loop(x, y, z, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    before = tl.load(x + i) * tl.load(y + i)
    total = tl.load(z + i)
    for k in range(n):
        total = total * 0.3 + tl.load(x + i + k)
    tl.store(out + i, total + before)


@triton.jit
def with_a_choice(x, y, z, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    product = tl.load(x + i) * tl.load(y + i)
    tl.store(out + i, tl.where(i < n, product, 0.0) + tl.load(z + i))


@triton.jit
def of_the_round_before(x, y, z, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total, product = tl.zeros([BLOCK], tl.float32), tl.zeros([BLOCK], tl.float32)
    for k in range(n):
        total += product
        product = tl.load(x + i + k) * tl.load(y + i)
    tl.store(out + i, total)


@triton.jit
def that_a_loop_does_not_change(x, y, z, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a, b = tl.load(x + i), tl.load(y + i)
    for k in range(n):
        tl.store(out + i + k * BLOCK, tl.load(z + i + k) + a * b)


@triton.jit
def in_a_branch(x, y, z, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    product = tl.load(x + i) * tl.load(y + i)
    if n > 1:
        tl.store(out + i, product + tl.load(z + i))


@triton.jit
def behind_a_branch(x, y, z, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    product = tl.load(x + i) * tl.load(y + i)
    if n > 1:
        tl.store(out + BLOCK + i, product)
    tl.store(out + i, product + tl.load(z + i))


@triton.jit
def behind_a_return(x, y, z, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    product = tl.load(x + i) * tl.load(y + i)
    if n > 1000:
        return
    tl.store(out + i, product + tl.load(z + i))


KERNELS = (
    multiply_add, subtract, subtract_negated, of_two_products, of_a_sum, with_a_row, in_a_loop, around_a_loop,
    with_a_choice, of_the_round_before, that_a_loop_does_not_change, in_a_branch, behind_a_branch, behind_a_return,
)  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_as_many_sums_are_contracted_as_in_the_machine_code(kernel: Any) -> None:
    compiled = _compiled(kernel)
    sums = plan_of(parse_module(compiled["ttir"])).sums
    assert len(sums) == len(re.findall(r"\bfma\.rn\.f32\b", compiled["ptx"]))


def _compiled(kernel: Any) -> Any:
    signature = {"x": "*fp32", "y": "*fp32", "z": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    if VERSION >= (3, 3):
        source = ASTSource(fn=kernel, signature=signature, constexprs={(5,): BLOCK})
    else:
        del signature["BLOCK"]
        source = ASTSource(fn=kernel, signature=signature, constants={"BLOCK": BLOCK})
    return triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm


DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_product_is_not_rounded_on_its_way_into_a_sum(dtype: torch.dtype) -> None:
    a, b, c = _inputs(dtype)
    once, twice = fma(a, b, c), a * b + c
    assert not torch.equal(once, twice)
    assert torch.equal(_run(multiply_add, a, b, c)[0], once)
    assert torch.equal(_run(multiply_add, a, b, c, enable_fp_fusion=False)[0], twice)


def test_signs_of_differences() -> None:
    a, b, c = _inputs(torch.float32)
    first, second, _ = _run(subtract, a, b, c)
    assert torch.equal(first, fma(-a, b, c))
    assert torch.equal(second, fma(a, b, -c))


def test_what_functions_give_is_known_one_after_the_other() -> None:
    a, b, c = _inputs(torch.float32)
    total, first, second = _run(of_functions, a, b, c)
    assert torch.equal(total, fma(first, c, second * c))


def test_the_other_of_two_products_is_rounded() -> None:
    a, b, c = _inputs(torch.float32)
    first, second, third = _run(of_two_products, a, b, c)
    assert torch.equal(first, fma(a, b, b * c))
    assert torch.equal(second, a * c)
    assert torch.equal(third, fma(-c, c, a * c))
    assert torch.equal(_run(of_a_sum, a, b, c)[0], fma(a, a, fma(b, c, fma(a, b, c) * a)))


def test_factors_in_another_shape_than_the_sum() -> None:
    a, b, c = _inputs(torch.float32)
    assert torch.equal(_run(with_a_row, a, b, c)[0], fma(a[:1], b[:1], c))


@triton.jit
def store_what_a_mask_left_out(x, y, z, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * tl.load(y + i) + tl.load(z + i))


def test_a_product_that_is_not_computed_is_in_doubt_all_the_same() -> None:
    a, b, c = _inputs(torch.float32)
    found = simulate(store_what_a_mask_left_out, (1,), a, b, c, torch.zeros(BLOCK), 100, BLOCK)
    assert [(fault.kind, fault.lane) for fault in found.faults] == [(FaultKind.MASKED_STORED, (100,))]


def _inputs(dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    a, b, c = (torch.randn(BLOCK, generator=generator, dtype=torch.float64).to(dtype) for _ in range(3))
    return a, b, c


def _run(kernel: Any, x: torch.Tensor, y: torch.Tensor, z: torch.Tensor, **options: Any) -> list[torch.Tensor]:
    out = torch.zeros(3 * BLOCK, dtype=x.dtype)
    simulate(kernel, (1,), x, y, z, out, 5, BLOCK, **options)
    return list(out.split(BLOCK))
