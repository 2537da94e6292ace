"""Honest: a histogram of each row, counted with integer atomics, where values outside of the bins are left out."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, bins):
        super().__init__()
        self.bins = bins

    def forward(self, x):
        inside = (x >= 0) & (x < self.bins)
        counts = torch.zeros((x.shape[0], self.bins), dtype=torch.int32, device=x.device)
        return counts.scatter_add_(1, torch.where(inside, x, 0).long(), inside.to(torch.int32))


@triton.jit
def histogram_kernel(x_ptr, counts_ptr, cols, bins, sr, sc, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    blocks = tl.cdiv(cols, BLOCK)
    row = (pid // blocks).to(tl.int64)
    col = (pid % blocks).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x_ptr + row * sr + col * sc, mask=col < cols, other=-1).to(tl.int64)
    inside = (col < cols) & (value >= 0) & (value < bins)
    one = tl.full((BLOCK,), 1, tl.int32)
    tl.atomic_add(counts_ptr + row * bins + tl.where(inside, value, 0), one, mask=inside)


class ModelNew(nn.Module):
    def __init__(self, bins):
        super().__init__()
        self.bins = bins

    def forward(self, x):
        rows, cols = x.shape
        counts = torch.zeros((rows, self.bins), dtype=torch.int32, device=x.device)
        if rows and cols:
            histogram_kernel[(rows * triton.cdiv(cols, 512),)](x, counts, cols, self.bins, *x.stride(), BLOCK=512)
        return counts


def get_inputs():
    return [torch.randint(0, 256, (128, 700))]


def get_init_inputs():
    return [256]
