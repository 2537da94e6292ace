"""`simulate(as_gpu=True)`: sums in the order of a GPU's threads, here spelled out thread by thread."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton", reason="triton makes the programs")

import torch
import triton
import triton.language as tl

from tests.simulator.kernels import VERSION
from tritonaudit import simulate
from tritonaudit.simulator.numerics.fma import fma

LANES, WARPS = 32, 4


@triton.jit
def sum_of_all(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out, tl.sum(a))
    tl.store(out + 1, tl.sum(a * b))


@triton.jit
def sum_of_columns(x, out, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    tl.store(out + j, tl.sum(tl.load(x + i[:, None] * N + j[None, :]), 0))


@triton.jit
def sum_over_rounds(x, out, M: tl.constexpr, N: tl.constexpr, rounds):
    i, j = tl.arange(0, M), tl.arange(0, N)
    total = tl.full([M], 1.5, tl.float32)
    for k in range(rounds):
        total += tl.sum(tl.load(x + k * M * N + i[:, None] * N + j[None, :]), 1)
    tl.store(out + i, total)


@triton.jit
def running_sums(x, y, out, N: tl.constexpr, REVERSE: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, tl.cumsum(a, 0, reverse=REVERSE))
    tl.store(out + N + i, tl.cumsum(a * b, 0, reverse=REVERSE))


def numbers(count: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(count, generator=torch.Generator().manual_seed(seed))


def by_thread(x: torch.Tensor) -> torch.Tensor:
    """Elements as threads hold them, four neighbours each: (warps, lanes, registers)."""
    parts = x.reshape(-1, WARPS, LANES, 4)
    return parts.permute(1, 2, 0, 3).reshape(WARPS, LANES, -1)


def in_threads(held: torch.Tensor) -> torch.Tensor:
    """The sum of each thread's elements, which come last."""
    if VERSION < (3, 7):
        total = held[..., 0]
        for number in range(1, held.shape[-1]):
            total = total + held[..., number]
        return total
    while held.shape[-1] > 1:
        held = held[..., ::2] + held[..., 1::2]
    return held[..., 0]


def among(values: torch.Tensor) -> torch.Tensor:
    """The sum over the last axis, that of lanes or of warps."""
    while (size := values.shape[-1]) > 1:
        values = values[..., : size // 2] + values[..., size // 2 :]
    return values[..., 0]


def test_a_sum_goes_through_threads_then_lanes_then_warps() -> None:
    x, out = numbers(2048), torch.zeros(2)
    simulate(sum_of_all, (1,), x, torch.ones(2048), out, 2048, as_gpu=True)
    assert out[0] == among(among(in_threads(by_thread(x))))


def test_without_the_mode_another_order_gives_other_bits() -> None:
    differing = 0
    for seed in range(8):
        out, plain = torch.zeros(2), torch.zeros(2)
        simulate(sum_of_all, (1,), numbers(2048, seed), numbers(2048, 9), out, 2048, as_gpu=True)
        simulate(sum_of_all, (1,), numbers(2048, seed), numbers(2048, 9), plain, 2048)
        differing += int((out != plain).any())
    assert differing


def test_a_thread_takes_products_into_its_sum() -> None:
    x, y, out = numbers(2048), numbers(2048, 1), torch.zeros(2)
    simulate(sum_of_all, (1,), x, y, out, 2048, as_gpu=True)
    a, b = by_thread(x), by_thread(y)
    if VERSION < (3, 7):
        held = fma(a[..., 0], b[..., 0], a[..., 1] * b[..., 1])
        for number in range(2, a.shape[-1]):
            held = fma(a[..., number], b[..., number], held)
    else:
        held = in_threads(fma(a[..., ::2], b[..., ::2], a[..., 1::2] * b[..., 1::2]))
    assert out[1] == among(among(held))


def test_a_lane_with_one_product_takes_in_its_own() -> None:
    x, y, out = numbers(128), numbers(128, 1), torch.zeros(2)
    simulate(sum_of_all, (1,), x, y, out, 128, as_gpu=True)
    a, b = x.reshape(WARPS, LANES), y.reshape(WARPS, LANES)
    held = fma(a[:, :16], b[:, :16], a[:, 16:] * b[:, 16:])
    assert out[1] == among(among(held))


def test_products_stay_apart_where_fusion_is_off() -> None:
    x, y, out = numbers(128), numbers(128, 1), torch.zeros(2)
    simulate(sum_of_all, (1,), x, y, out, 128, as_gpu=True, enable_fp_fusion=False)
    assert out[1] == among(among((x * y).reshape(WARPS, LANES)))


def test_columns_are_summed_row_by_row_then_by_warp() -> None:
    x, out = numbers(32 * 128), torch.zeros(128)
    simulate(sum_of_columns, (1,), x, out, 32, 128, as_gpu=True)
    rows = x.reshape(8, WARPS, 128)  # of a warp, every fourth row
    assert torch.equal(out, among(in_threads(rows.permute(2, 1, 0))))


def test_each_thread_keeps_its_own_sum_over_the_rounds_of_a_loop() -> None:
    x, out = numbers(8 * 16 * 128), torch.zeros(16)
    simulate(sum_over_rounds, (1,), x, out, 16, 128, 8, as_gpu=True)
    own = torch.zeros(16, LANES)
    for held in x.reshape(8, 16, LANES, 4):
        own = own + in_threads(held)
    assert torch.equal(out, among(own) + 1.5)


def running(x: torch.Tensor, y: torch.Tensor | None = None) -> torch.Tensor:
    """Sums of 1024 elements with all before them, or of products: two parts of 4 warps of 32 lanes of 4 neighbours."""
    shape = (2 * WARPS, LANES, 4)
    a, b = x.reshape(shape), (torch.ones_like(x) if y is None else y).reshape(shape)
    p = a * b
    second = torch.where(
        (torch.arange(2 * WARPS) < WARPS)[:, None],
        fma(a[..., 1], b[..., 1], p[..., 0]),
        fma(a[..., 0], b[..., 0], p[..., 1]),
    )
    third = fma(a[..., 2], b[..., 2], second)
    last = fma(a[..., 3], b[..., 3], third)
    for step in (1, 2, 4, 8, 16):
        last = torch.cat([last[:, :step], last[:, step:] + last[:, :-step]], 1)
    before = last[0, -1]
    for warp in range(1, 2 * WARPS):
        total = before + last[warp, -1]
        last[warp] = before + last[warp]
        before = total
    ends = last.reshape(-1)
    second, third = second.reshape(-1), third.reshape(-1)
    a0, b0 = a[..., 0].reshape(-1), b[..., 0].reshape(-1)
    others = [fma(a0[1:], b0[1:], ends[:-1]), second[1:] + ends[:-1], third[1:] + ends[:-1]]
    starts = [p.reshape(-1, 4)[:1, 0], second[:1], third[:1]]
    columns = [torch.cat([start, other]) for start, other in zip(starts, others, strict=True)]
    return torch.stack([*columns, ends], 1).reshape(-1)


def test_a_scan_goes_through_threads_then_lanes_then_warps() -> None:
    x, y, out = numbers(1024), numbers(1024, 1), torch.zeros(2048)
    simulate(running_sums, (1,), x, y, out, 1024, False, as_gpu=True)
    assert torch.equal(out[:1024], running(x))
    assert torch.equal(out[1024:], running(x, y))


def test_a_scan_in_reverse_is_one_of_what_is_turned_round() -> None:
    x, out = numbers(1024), torch.zeros(2048)
    simulate(running_sums, (1,), x, torch.ones(1024), out, 1024, True, as_gpu=True)
    assert torch.equal(out[:1024], running(x.flip(0)).flip(0))
