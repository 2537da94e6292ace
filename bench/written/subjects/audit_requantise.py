"""Accumulators of an 8-bit layer to 8 bits, by a fixed-point multiplier and a shift for each channel, in integers."""

import torch
import triton
import triton.language as tl

from tritonaudit import Case, Subject

BLOCK = 256


@triton.jit
def requantise_kernel(
    acc_ptr,
    multiplier_ptr,
    shift_ptr,
    out_ptr,
    n,
    channels,
    length,
    zero_point,
    lowest,
    acc_batch_stride,
    acc_channel_stride,
    acc_length_stride,
    multiplier_stride,
    shift_stride,
    BLOCK: tl.constexpr,
):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    i = at % length
    channel = at // length % channels
    batch = at // length // channels
    acc_at = batch * acc_batch_stride + channel * acc_channel_stride + i * acc_length_stride
    acc = tl.load(acc_ptr + acc_at, mask=mask, other=0).to(tl.int64)
    multiplier = tl.load(multiplier_ptr + channel * multiplier_stride, mask=mask, other=0).to(tl.int64)
    shift = tl.load(shift_ptr + channel * shift_stride, mask=mask, other=0).to(tl.int64) + 31
    half = tl.full((BLOCK,), 1, tl.int64) << (shift - 1)
    product = acc * multiplier
    # To the nearest, and from the middle away from zero.
    rounded = (tl.abs(product) + half) >> shift
    value = tl.where(product < 0, -rounded, rounded) + zero_point
    value = tl.minimum(tl.maximum(value, lowest), 127)
    tl.store(out_ptr + at, value.to(tl.int8), mask=mask)


def requantise(
    acc: torch.Tensor, multiplier: torch.Tensor, shift: torch.Tensor, zero_point: int, relu: bool
) -> torch.Tensor:
    """acc, (batch, channels, length), multiplier, (channels), not negative, and shift, (channels), 0 to 30, int32:
    acc * multiplier / 2 ** (31 + shift), rounded to the nearest, the middle away from zero, plus zero_point, -128 to
    127, and cut to int8, with relu at zero_point from below."""
    if acc.ndim != 3 or multiplier.shape != acc.shape[1:2] or shift.shape != multiplier.shape:
        raise ValueError("shapes do not fit")
    if any(tensor.dtype != torch.int32 for tensor in (acc, multiplier, shift)):
        raise ValueError("all are int32")
    if not -128 <= zero_point <= 127:
        raise ValueError("zero_point does not fit 8 bits")
    out = torch.empty(acc.shape, dtype=torch.int8, device=acc.device)
    n = out.numel()
    if n:
        requantise_kernel[(triton.cdiv(n, BLOCK),)](
            acc,
            multiplier,
            shift,
            out,
            n,
            acc.shape[1],
            acc.shape[2],
            zero_point,
            zero_point if relu else -128,
            *acc.stride(),
            multiplier.stride(0),
            shift.stride(0),
            BLOCK=BLOCK,
        )
    return out


def reference(
    acc: torch.Tensor, multiplier: torch.Tensor, shift: torch.Tensor, zero_point: int, relu: bool
) -> torch.Tensor:
    product = acc.long() * multiplier.long()[:, None]
    divisor = (2 ** (shift.long() + 31))[:, None]
    size = product.abs()
    whole = size // divisor
    whole += size - whole * divisor >= divisor // 2
    value = product.sign() * whole + zero_point
    return value.clamp(zero_point if relu else -128, 127).to(torch.int8)


def inputs(case: Case) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, int, bool]:
    """Results mostly within 8 bits; with an odd seed, every fourth accumulator or so any integer; and in the first
    channel a multiplier of a half and no shift, so that middles are frequent."""
    batch, channels, length = case["batch"], case["channels"], case["length"]
    generator = torch.Generator().manual_seed(case.seed)
    multiplier = torch.randint(2**30, 2**31, (channels,), generator=generator)
    shift = torch.randint(0, case["most_shift"] + 1, (channels,), generator=generator)
    if case["halves"]:
        multiplier[:1] = 2**30
        shift[:1] = 0
    acc = torch.randint(-127, 128, (batch, channels, length), generator=generator) * (2**shift)[:, None]
    acc = acc.clamp(-(2**31), 2**31 - 1)
    if case.seed % 2:
        anything = torch.randint(-(2**31), 2**31, acc.shape, generator=generator)
        acc = torch.where(torch.rand(acc.shape, generator=generator) < 0.25, anything, acc)
    tensors = tuple(tensor.int().to(case.device) for tensor in (acc, multiplier, shift))
    return *tensors, case["zero_point"] - 128, bool(case["relu"])


requantised = Subject(
    requantise,
    reference=reference,
    inputs=inputs,
    name="requantise",
    sizes={
        "batch": [2, 1, 3, 0],
        "channels": [8, 1, 5],
        "length": [32, 1, 33, 100, 0],
        "most_shift": [0, 8, 30],
        "halves": [0, 1],
        "zero_point": [128, 0, 255, 120],
        "relu": [0, 1],
    },
    dtypes=["float32"],
)
