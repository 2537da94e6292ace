"""Kernels of a small project, right and wrong."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@triton.jit
def double_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)  # expect: TAM401
    tl.store(out_ptr + offsets, x * 2, mask=offsets < n - 1)


@triton.jit
def total_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.store(out_ptr, tl.load(out_ptr) + tl.sum(x))  # expect: TAM402


@triton.jit
def rows_kernel(x_ptr, out_ptr, stride, n, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    offsets = tl.program_id(0) * stride + columns
    x = tl.load(x_ptr + offsets, mask=columns < n)  # expect: TAN402
    tl.store(out_ptr + tl.program_id(0).to(tl.int64) * stride + columns, x, mask=columns < n)


@triton.jit
def lower_half_kernel(out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, offsets.to(tl.float32), mask=offsets < n // 2)


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)  # expect: TAM403
    tl.store(out_ptr + offsets, x, mask=offsets < n)


@triton.autotune(configs=[triton.Config({"BLOCK": block}) for block in (64, 128, 256)], key=["n"])
@triton.jit
def tuned_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x + BLOCK // 256, mask=offsets < n)  # expect: TAC401


def add(x, y):
    out = torch.empty_like(x)
    n = x.numel()
    add_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, out, n, BLOCK=256)
    return out


def double(x):
    out = torch.empty_like(x)
    double_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out


def total(x):
    out = torch.zeros(1, device=x.device)
    total_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out


def copied(x):
    out = torch.empty_like(x)
    rows_kernel[(x.shape[0],)](x, out, x.stride(0), x.shape[1], BLOCK=128)
    return out


def counted(n):
    """Copies what the first kernel has written in part."""
    half, out = (torch.empty(n, device="cuda") for _ in range(2))
    lower_half_kernel[(triton.cdiv(n, 256),)](half, n, BLOCK=256)
    copy_kernel[(triton.cdiv(n, 256),)](half, out, n, BLOCK=256)
    return out


def tuned(x):
    out = torch.empty_like(x)
    tuned_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, out, x.numel())
    return out
