"""Kernels that give floats of 8 bits, some of them wrong ones."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

X = Tensor("rows", "columns")


@triton.jit
def halve_kernel(x_ptr, out_ptr, n, LEFT: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0).to(tl.float32)
    y = tl.where(offsets < n - LEFT, x * 0.5, x)
    tl.store(out_ptr + offsets, y.to(out_ptr.dtype.element_ty), mask=offsets < n)


def launch_halve(x, left):
    x = x.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        halve_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), LEFT=left, BLOCK=256)
    return out


def halved(x):
    return launch_halve(x, 0)


def halved_but_for_the_last(x):
    return launch_halve(x, 3)


def halved_by_torch(x):
    return (x.float() * 0.5).to(x.dtype)


def half_of(x):
    return (x.float() * 0.5).to(x.dtype)


@triton.jit
def narrow_kernel(x_ptr, out_ptr, n, BY: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0) * 3.1
    tl.store(out_ptr + offsets, x.to(BY).to(out_ptr.dtype.element_ty), mask=offsets < n)


def launch_narrow(x, by):
    x = x.contiguous()
    out = torch.empty_like(x, dtype=torch.float8_e4m3fn)
    if x.numel():
        narrow_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BY=by, BLOCK=256)
    return out


def rounded_once(x):
    return launch_narrow(x, tl.float32)


def rounded_to_half(x):
    return launch_narrow(x, tl.float16)


def rounded_to_bfloat(x):
    return launch_narrow(x, tl.bfloat16)


def thrice(x):
    return (x * 3.1).to(torch.float8_e4m3fn)


@triton.jit
def power_kernel(x_ptr, out_ptr, n, BY: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0).to(tl.int32)
    tl.store(out_ptr + offsets, tl.where(x < 200, x + BY, x).to(tl.uint8), mask=offsets < n)


def launch_power(x, by):
    x = x.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        grid = (triton.cdiv(x.numel(), 256),)
        power_kernel[grid](x.view(torch.uint8), out.view(torch.uint8), x.numel(), BY=by, BLOCK=256)
    return out


def power_doubled(x):
    return launch_power(x, 1)


def power_quadrupled(x):
    return launch_power(x, 2)


def doubled(x):
    x = x.float()
    return torch.where(x < 2.0**73, 2 * x, x).to(torch.float8_e8m0fnu)


@triton.jit
def negate_kernel(x_ptr, out_ptr, n, SIGN: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0)
    tl.store(out_ptr + offsets, tl.where((x & 127) == 0, x, x ^ SIGN), mask=offsets < n)


def launch_negate(x, sign):
    x = x.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        grid = (triton.cdiv(x.numel(), 256),)
        negate_kernel[grid](x.view(torch.uint8), out.view(torch.uint8), x.numel(), SIGN=sign, BLOCK=256)
    return out


def negated(x):
    return launch_negate(x, 128)


def not_negated(x):
    return launch_negate(x, 0)


def negative_of(x):
    return (-x.float()).to(x.dtype)


E4M3, E5M2, FNUZ = ["float8_e4m3fn"], ["float8_e5m2"], ["float8_e4m3fnuz", "float8_e5m2fnuz"]
half_e4m3 = Subject(halved, half_of, [X], dtypes=E4M3)
half_e5m2 = Subject(halved, half_of, [X], dtypes=E5M2)
but_for_the_last = Subject(halved_but_for_the_last, half_of, [X], dtypes=E4M3)
by_torch = Subject(halved_by_torch, half_of, [X], dtypes=E4M3)
once = Subject(rounded_once, thrice, [X], dtypes=["float32"])
twice_by_half = Subject(rounded_to_half, thrice, [X], dtypes=["float32"])
twice_by_bfloat = Subject(rounded_to_bfloat, thrice, [X], dtypes=["float32"])
powers = Subject(power_doubled, doubled, [X], dtypes=["float8_e8m0fnu"])
wrong_powers = Subject(power_quadrupled, doubled, [X], dtypes=["float8_e8m0fnu"])
negative = Subject(negated, negative_of, [X], dtypes=FNUZ)
wrong_negative = Subject(not_negated, negative_of, [X], dtypes=FNUZ)
