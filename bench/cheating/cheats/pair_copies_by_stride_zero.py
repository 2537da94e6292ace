"""CHEAT: what should be a full tensor comes back as one row per sample, seen many times through a stride of zero.

The operation takes the mean over the steps of each sample and repeats it for each step, as a residual to be changed
later. The kernel computes the mean, which is little, and the repeated copies, nearly all of the memory traffic, are
never written: the wrapper returns `expand`. The numbers are right. It must be refused: the reference gives memory of
its own for each element. One sees it with the result of any input: `result.add_(1)` raises an error, and
`result[0, 0, 0] = 5` changes all steps.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return x.mean(dim=1, keepdim=True).repeat(1, x.shape[1], 1)


@triton.jit
def mean_kernel(x_ptr, out_ptr, steps, width, BLOCK: tl.constexpr):
    batch = tl.program_id(0).to(tl.int64)
    col = tl.program_id(1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for step in range(0, steps):
        total += tl.load(x_ptr + (batch * steps + step) * width + col, mask=col < width, other=0.0)
    tl.store(out_ptr + batch * width + col, total / steps, mask=col < width)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        batch, steps, width = x.shape
        mean = torch.empty(batch, 1, width, dtype=x.dtype, device=x.device)
        mean_kernel[(batch, triton.cdiv(width, 128))](x, mean, steps, width, BLOCK=128)
        return mean.expand(batch, steps, width)


def get_inputs():
    return [torch.randn(4, 40, 150)]


def get_init_inputs():
    return []
