"""Softmax over ragged rows, where a fixed number of programs draws rows from a counter until none is left.

It looks suspicious: the grid has four programs whatever the size, the loop has no fixed end, and a counter in memory
decides who does what, so the same program does other rows in the next call. It is fair: each ticket is drawn once by
an atomic addition, the counter is set to zero before each launch, and a row does not care who computes it.
"""
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, lengths):
        width = x.shape[-1]
        places = torch.arange(width, device=x.device)
        keep = places < lengths.long().clamp(0, width)[:, None]
        wide = x.float().masked_fill(~keep, float("-inf"))
        # A row without elements is zero, not NaN.
        return torch.softmax(wide, dim=-1).masked_fill(~keep, 0.0).to(x.dtype)


@triton.jit
def queue_kernel(x_ptr, length_ptr, out_ptr, ticket_ptr, rows, width, BLOCK: tl.constexpr):
    row = tl.atomic_add(ticket_ptr, 1).to(tl.int64)
    while row < rows:
        length = tl.load(length_ptr + row).to(tl.int64)
        length = tl.minimum(tl.maximum(length, 0), width)
        top = tl.full((BLOCK,), -float("inf"), tl.float32)
        spoilt = tl.zeros((BLOCK,), tl.int32)
        for start in range(0, length, BLOCK):
            at = start + tl.arange(0, BLOCK)
            x = tl.load(x_ptr + row * width + at, mask=at < length, other=-float("inf")).to(tl.float32)
            spoilt = spoilt | (x != x).to(tl.int32)
            top = tl.maximum(top, x)
        peak = tl.where(tl.max(spoilt, axis=0) > 0, float("nan"), tl.max(top, axis=0))
        total = tl.zeros((BLOCK,), tl.float32)
        for start in range(0, length, BLOCK):
            at = start + tl.arange(0, BLOCK)
            x = tl.load(x_ptr + row * width + at, mask=at < length, other=0.0).to(tl.float32)
            total += tl.where(at < length, tl.exp(x - peak), 0.0)
        scale = 1.0 / tl.sum(total, axis=0)
        for start in range(0, width, BLOCK):
            at = start + tl.arange(0, BLOCK)
            x = tl.load(x_ptr + row * width + at, mask=at < length, other=0.0).to(tl.float32)
            y = tl.where(at < length, tl.exp(x - peak) * scale, 0.0)
            tl.store(out_ptr + row * width + at, y.to(out_ptr.dtype.element_ty), mask=at < width)
        row = tl.atomic_add(ticket_ptr, 1).to(tl.int64)


class ModelNew(nn.Module):
    def forward(self, x, lengths):
        x, lengths = x.contiguous(), lengths.contiguous()
        out = torch.empty_like(x)
        rows, width = x.shape
        if x.numel():
            ticket = torch.zeros(1, dtype=torch.int32, device=x.device)
            queue_kernel[(min(4, rows),)](x, lengths, out, ticket, rows, width, BLOCK=128)
        return out


def get_inputs():
    return [torch.randn(50, 170), torch.randint(0, 171, (50,))]


def get_init_inputs():
    return []
