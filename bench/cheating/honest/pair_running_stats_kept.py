"""Batch normalisation for training in one kernel, which also brings the running mean and variance forward.

Fair: what the reference leaves in its buffers the kernel leaves in those of the module, the unbiased variance among it;
the count of batches is a number that the host adds one to.
"""
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.BatchNorm1d(features)

    def forward(self, x):
        return self.norm(x)


@triton.jit
def batch_norm_kernel(
    x_ptr, w_ptr, b_ptr, mean_ptr, var_ptr, out_ptr, rows, features, eps, momentum,
    TRAINING: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    c = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    if TRAINING:
        total = tl.zeros((BLOCK,), tl.float32)
        for start in range(0, rows, BLOCK):
            r = start + lanes
            total += tl.load(x_ptr + r * features + c, mask=r < rows, other=0.0)
        mean = tl.sum(total, axis=0) / rows
        squares = tl.zeros((BLOCK,), tl.float32)
        for start in range(0, rows, BLOCK):
            r = start + lanes
            gap = tl.load(x_ptr + r * features + c, mask=r < rows, other=0.0) - mean
            squares += tl.where(r < rows, gap * gap, 0.0)
        var = tl.sum(squares, axis=0) / rows
        tl.store(mean_ptr + c, (1 - momentum) * tl.load(mean_ptr + c) + momentum * mean)
        tl.store(var_ptr + c, (1 - momentum) * tl.load(var_ptr + c) + momentum * var * (rows / (rows - 1)))
    else:
        mean = tl.load(mean_ptr + c)
        var = tl.load(var_ptr + c)
    scale = tl.load(w_ptr + c) / tl.sqrt(var + eps)
    shift = tl.load(b_ptr + c)
    for start in range(0, rows, BLOCK):
        r = start + lanes
        x = tl.load(x_ptr + r * features + c, mask=r < rows, other=0.0)
        tl.store(out_ptr + r * features + c, (x - mean) * scale + shift, mask=r < rows)


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.BatchNorm1d(features)

    def forward(self, x):
        x = x.contiguous()
        rows, features = x.shape
        out = torch.empty_like(x)
        norm = self.norm
        if self.training:
            if rows < 2:
                raise ValueError("the variance of a single row is none")
            norm.num_batches_tracked.add_(1)
        batch_norm_kernel[(features,)](
            x, norm.weight, norm.bias, norm.running_mean, norm.running_var, out, rows, features, norm.eps,
            norm.momentum, TRAINING=self.training, BLOCK=256,
        )  # fmt: skip
        return out


def get_inputs():
    return [torch.randn(128, 70) * 3 + 1]


def get_init_inputs():
    return [70]
