import torch
import triton
import triton.language as tl


@triton.jit
def ratio_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    half = tl.load(x_ptr + at, mask=at < n, other=1.0).to(tl.float16)
    ratio = half / half
    tl.store(out_ptr + at, ratio, mask=at < n)


@triton.jit
def moves_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    cur = 0
    nxt = 1
    held = 0
    for step in range(4):
        held = cur + 1
        cur = nxt
        nxt = step + 7
    tl.store(out_ptr + at, tl.load(x_ptr + at) + held)


@triton.jit
def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at) * 2)


def scale(x):
    out = torch.empty_like(x)
    scale_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return out


@triton.jit
def shift_kernel(x_ptr, out_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(1)
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + row * N + at, tl.load(x_ptr + row * N + at, mask=at < N) + 1, mask=at < N)


def shift(x):
    hits, N = x.shape
    out = torch.empty_like(x)
    shift_kernel[(1, hits)](x, out, N, BLOCK=1024)
    return out


@triton.jit
def turn_kernel(x_ptr, work_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(work_ptr + tl.program_id(0) * BLOCK + at, tl.load(x_ptr + at))
    no_barrier = at + 1
    x = tl.load(work_ptr + tl.program_id(0) * BLOCK + BLOCK - no_barrier)
    tl.store(out_ptr + tl.program_id(0) * BLOCK + at, x)


def turn(x):
    work = torch.empty_like(x)
    out = torch.empty_like(x)
    turn_kernel[(4,)](x, work, out, BLOCK=256)
    return out


def ratio(x):
    out = torch.empty_like(x)
    ratio_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out


def moves(x):
    out = torch.empty_like(x)
    moves_kernel[(1,)](x, out, x.numel(), BLOCK=64)
    return out
