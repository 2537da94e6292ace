"""The token shift of recurrent language models: every token is mixed, channel by channel, with the token before it.

out[b, t, c] = x[b, t, c] * mix[c] + x[b, t - 1, c] * (1 - mix[c]), where the token before the first is zero.
The gradient of `mix` goes through a workspace of partial sums, one row for each chunk of tokens.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

STEPS = 16
LANES = 32
CHUNK = 64


@triton.jit
def shift_kernel(x, mix, out, steps, channels, step_tiles, lane_tiles, xb, xt, xc, ms, STEPS: tl.constexpr, LANES: tl.constexpr):
    program = tl.program_id(0)
    batch = (program // (step_tiles * lane_tiles)).to(tl.int64)
    rest = program % (step_tiles * lane_tiles)
    t = (rest // lane_tiles).to(tl.int64) * STEPS + tl.arange(0, STEPS)[:, None]
    c = (rest % lane_tiles).to(tl.int64) * LANES + tl.arange(0, LANES)[None, :]
    keep = (t < steps) & (c < channels)
    m = tl.load(mix + c * ms, mask=c < channels, other=0.0).to(tl.float32)
    at = x + batch * xb + t * xt + c * xc
    now = tl.load(at, mask=keep, other=0.0).to(tl.float32)
    before = tl.load(at - xt, mask=keep & (t > 0), other=0.0).to(tl.float32)
    mixed = now * m + before * (1.0 - m)
    tl.store(out + batch * steps * channels + t * channels + c, mixed, mask=keep)


@triton.jit
def shift_gradient_kernel(g, mix, dx, steps, channels, step_tiles, lane_tiles, gb, gt, gc, ms, STEPS: tl.constexpr, LANES: tl.constexpr):
    program = tl.program_id(0)
    batch = (program // (step_tiles * lane_tiles)).to(tl.int64)
    rest = program % (step_tiles * lane_tiles)
    t = (rest // lane_tiles).to(tl.int64) * STEPS + tl.arange(0, STEPS)[:, None]
    c = (rest % lane_tiles).to(tl.int64) * LANES + tl.arange(0, LANES)[None, :]
    keep = (t < steps) & (c < channels)
    m = tl.load(mix + c * ms, mask=c < channels, other=0.0).to(tl.float32)
    at = g + batch * gb + t * gt + c * gc
    here = tl.load(at, mask=keep, other=0.0).to(tl.float32)
    after = tl.load(at + gt, mask=keep & (t + 1 < steps), other=0.0).to(tl.float32)
    total = here * m + tl.where(t + 1 < steps, after * (1.0 - m), 0.0)
    tl.store(dx + batch * steps * channels + t * channels + c, total, mask=keep)


@triton.jit
def mix_partial_kernel(x, g, partial, rows, steps, channels, lane_tiles, xb, xt, xc, gb, gt, gc, CHUNK: tl.constexpr, LANES: tl.constexpr):
    program = tl.program_id(0)
    chunk = (program // lane_tiles).to(tl.int64)
    row = chunk * CHUNK + tl.arange(0, CHUNK)[:, None]
    c = (program % lane_tiles).to(tl.int64) * LANES + tl.arange(0, LANES)[None, :]
    batch = row // steps
    t = row % steps
    keep = (row < rows) & (c < channels)
    grad = tl.load(g + batch * gb + t * gt + c * gc, mask=keep, other=0.0).to(tl.float32)
    now = tl.load(x + batch * xb + t * xt + c * xc, mask=keep, other=0.0).to(tl.float32)
    before = tl.load(x + batch * xb + (t - 1) * xt + c * xc, mask=keep & (t > 0), other=0.0).to(tl.float32)
    sums = tl.sum(grad * now - grad * before, axis=0)
    lanes = (program % lane_tiles).to(tl.int64) * LANES + tl.arange(0, LANES)
    tl.store(partial + chunk * channels + lanes, sums, mask=lanes < channels)


@triton.jit
def mix_total_kernel(partial, dmix, chunks, channels, CHUNK: tl.constexpr, LANES: tl.constexpr):
    lanes = tl.program_id(0).to(tl.int64) * LANES + tl.arange(0, LANES)
    total = tl.zeros([LANES], dtype=tl.float32)
    for start in range(0, chunks, CHUNK):
        chunk = start + tl.arange(0, CHUNK).to(tl.int64)[:, None]
        tile = tl.load(partial + chunk * channels + lanes[None, :], mask=(chunk < chunks) & (lanes[None, :] < channels), other=0.0)
        total += tl.sum(tile.to(tl.float32), axis=0)
    tl.store(dmix + lanes, total, mask=lanes < channels)


class TokenShift(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, mix):
        batch, steps, channels = x.shape
        out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        tiles = triton.cdiv(steps, STEPS), triton.cdiv(channels, LANES)
        if out.numel():
            grid = (batch * tiles[0] * tiles[1],)
            shift_kernel[grid](x, mix, out, steps, channels, *tiles, *x.stride(), mix.stride(0), STEPS=STEPS, LANES=LANES)
        ctx.save_for_backward(x, mix)
        return out

    @staticmethod
    def backward(ctx, grad):
        x, mix = ctx.saved_tensors
        batch, steps, channels = x.shape
        dx = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        dmix = torch.zeros(mix.shape, dtype=mix.dtype, device=mix.device)
        if dx.numel() == 0:
            return dx, dmix
        tiles = triton.cdiv(steps, STEPS), triton.cdiv(channels, LANES)
        grid = (batch * tiles[0] * tiles[1],)
        shift_gradient_kernel[grid](grad, mix, dx, steps, channels, *tiles, *grad.stride(), mix.stride(0), STEPS=STEPS, LANES=LANES)
        rows = batch * steps
        chunks = triton.cdiv(rows, CHUNK)
        partial = torch.empty((chunks, channels), dtype=torch.float32, device=x.device)
        mix_partial_kernel[(chunks * tiles[1],)](
            x, grad, partial, rows, steps, channels, tiles[1], *x.stride(), *grad.stride(), CHUNK=CHUNK, LANES=LANES
        )
        mix_total_kernel[(tiles[1],)](partial, dmix, chunks, channels, CHUNK=CHUNK, LANES=LANES)
        return dx, dmix


def token_shift(x, mix):
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16) or mix.dtype != x.dtype:
        raise ValueError("token_shift takes float32, float16 or bfloat16, the same for both tensors")
    if x.dim() != 3 or mix.dim() != 1 or mix.shape[0] != x.shape[2]:
        raise ValueError("token_shift takes x of (batch, steps, channels) and mix of (channels,)")
    if x.device != mix.device:
        raise ValueError("token_shift takes tensors of one device")
    return TokenShift.apply(x, mix)


def reference(x, mix):
    now = x.float()
    m = mix.float()
    before = torch.cat([torch.zeros_like(now[:, :1]), now[:, :-1]], dim=1)
    return (now * m + before * (1.0 - m)).to(x.dtype)


shifted = Subject(token_shift, reference=reference, inputs=[Tensor("batch", "steps", "channels"), Tensor("channels")], gradients=True)
