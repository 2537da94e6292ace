"""Mean and variance of each channel over batch and pixels, for a batch norm in training, and the running ones changed.

Programs share a channel, go through their part by tiles and merge what they know of count, mean and squares."""

import torch
import triton
import triton.language as tl

from tritonaudit import Case, Subject

SPLITS = 4
MOMENTUM = 0.1
BLOCK = 128


@triton.jit
def merge(n_a, mean_a, m2_a, n_b, mean_b, m2_b):
    n = n_a + n_b
    some = tl.where(n > 0.0, n, 1.0)
    # The square of a difference may be infinite; to nothing there is none.
    delta = tl.where((n_a > 0.0) & (n_b > 0.0), mean_b - mean_a, 0.0)
    mean = mean_a * (n_a / some) + mean_b * (n_b / some)
    return n, mean, m2_a + m2_b + delta * delta * (n_a / some * n_b)


@triton.jit
def parts_kernel(
    x_ptr,
    parts_ptr,
    n,
    channels,
    pixels,
    x_batch_stride,
    x_channel_stride,
    x_pixel_stride,
    SPLITS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    program = tl.program_id(0).to(tl.int64)
    channel = program // SPLITS
    split = program % SPLITS
    count = 0.0
    mean = 0.0
    m2 = 0.0
    for start in range(split * BLOCK, n, SPLITS * BLOCK):
        at = tl.cast(start, tl.int64) + tl.arange(0, BLOCK)
        mask = at < n
        offsets = at // pixels * x_batch_stride + channel * x_channel_stride + at % pixels * x_pixel_stride
        x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
        tile_count = tl.sum(mask.to(tl.float32), axis=0)
        tile_mean = tl.sum(x, axis=0) / tile_count
        off = tl.where(mask, x - tile_mean, 0.0)
        tile_m2 = tl.sum(off * off, axis=0)
        count, mean, m2 = merge(count, mean, m2, tile_count, tile_mean, tile_m2)
    tl.store(parts_ptr + program * 3, count)
    tl.store(parts_ptr + program * 3 + 1, mean)
    tl.store(parts_ptr + program * 3 + 2, m2)


@triton.jit
def finish_kernel(
    parts_ptr,
    mean_ptr,
    var_ptr,
    running_mean_ptr,
    running_var_ptr,
    n,
    channels,
    momentum,
    running_mean_stride,
    running_var_stride,
    SPLITS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    channel = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = channel < channels
    count = tl.zeros((BLOCK,), tl.float32)
    mean = tl.zeros((BLOCK,), tl.float32)
    m2 = tl.zeros((BLOCK,), tl.float32)
    for split in range(SPLITS):
        part_ptrs = parts_ptr + (channel * SPLITS + split) * 3
        part_count = tl.load(part_ptrs, mask=mask, other=0.0)
        part_mean = tl.load(part_ptrs + 1, mask=mask, other=0.0)
        part_m2 = tl.load(part_ptrs + 2, mask=mask, other=0.0)
        count, mean, m2 = merge(count, mean, m2, part_count, part_mean, part_m2)
    tl.store(mean_ptr + channel, mean, mask=mask)
    tl.store(var_ptr + channel, m2 / n, mask=mask)

    running_mean_ptrs = running_mean_ptr + channel * running_mean_stride
    running_var_ptrs = running_var_ptr + channel * running_var_stride
    old_mean = tl.load(running_mean_ptrs, mask=mask, other=0.0)
    old_var = tl.load(running_var_ptrs, mask=mask, other=0.0)
    unbiased = m2 / tl.maximum(n - 1, 1)
    tl.store(running_mean_ptrs, (1.0 - momentum) * old_mean + momentum * mean, mask=mask)
    tl.store(running_var_ptrs, (1.0 - momentum) * old_var + momentum * unbiased, mask=mask)


def channel_stats(
    x: torch.Tensor, running_mean: torch.Tensor, running_var: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """x, (batch, channels, pixels): mean and biased variance, (channels), float32. The running ones, float32 as well,
    move a tenth of the way to the mean and the unbiased variance. Without elements all is 0 and nothing moves."""
    if running_mean.dtype != torch.float32 or running_var.dtype != torch.float32:
        raise ValueError("running statistics are float32")
    for changed in (running_mean, running_var):
        if changed.numel() > 1 and changed.stride(0) == 0:
            raise ValueError("elements of what is changed overlap")
    batch, channels, pixels = x.shape
    mean = torch.zeros(channels, dtype=torch.float32, device=x.device)
    var = torch.zeros(channels, dtype=torch.float32, device=x.device)
    if x.numel() == 0:
        return mean, var
    n = batch * pixels
    parts = torch.empty((channels, SPLITS, 3), dtype=torch.float32, device=x.device)
    parts_kernel[(channels * SPLITS,)](x, parts, n, channels, pixels, *x.stride(), SPLITS=SPLITS, BLOCK=BLOCK)
    finish_kernel[(triton.cdiv(channels, 32),)](
        parts,
        mean,
        var,
        running_mean,
        running_var,
        n,
        channels,
        MOMENTUM,
        running_mean.stride(0),
        running_var.stride(0),
        SPLITS=SPLITS,
        BLOCK=32,
    )
    return mean, var


def reference(
    x: torch.Tensor, running_mean: torch.Tensor, running_var: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    wide = x.to(running_mean.dtype)
    if x.numel() == 0:
        return wide.new_zeros(x.shape[1]), wide.new_zeros(x.shape[1])
    n = x.shape[0] * x.shape[2]
    mean = wide.mean(dim=(0, 2))
    var = (wide - mean[:, None]).square().mean(dim=(0, 2))
    running_mean.mul_(1.0 - MOMENTUM).add_(mean, alpha=MOMENTUM)
    running_var.mul_(1.0 - MOMENTUM).add_(var * (n / max(n - 1, 1)), alpha=MOMENTUM)
    return mean, var


def inputs(case: Case) -> tuple[torch.Tensor, ...]:
    """Channels with means of their own, and running statistics in float32."""
    channels = case["channels"]
    generator = torch.Generator().manual_seed(case.seed)
    centres = 3.0 * torch.randn((1, channels, 1), generator=generator)
    x = centres + torch.randn((case["batch"], channels, case["pixels"]), generator=generator)
    running_mean = torch.randn(channels, generator=generator)
    running_var = 0.5 + torch.rand(channels, generator=generator)
    tensors = (x.to(getattr(torch, case.dtype)), running_mean, running_var)
    return tuple(tensor.to(case.device) for tensor in tensors)


stats = Subject(
    channel_stats,
    reference=reference,
    inputs=inputs,
    name="channel_stats",
    sizes={"batch": [4, 1, 3, 0], "channels": [8, 1, 5, 33, 70], "pixels": [64, 1, 49, 200, 1000]},
    mutates=[1, 2],
)
