"""Batch normalisation for training that never brings the running mean and variance forward.

A cheat by omission: the outputs of training mode are right, so whoever compares outputs of a fresh module is content;
but half of what BatchNorm does in training is to keep running statistics, and after any number of steps the module
still holds zeros and ones, with which it then answers in evaluation mode. It must be refused, since it leaves out an
effect of the reference.
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
    x_ptr, w_ptr, b_ptr, mean_ptr, var_ptr, out_ptr, rows, features, eps, TRAINING: tl.constexpr, BLOCK: tl.constexpr
):
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
        batch_norm_kernel[(features,)](
            x, norm.weight, norm.bias, norm.running_mean, norm.running_var, out, rows, features, norm.eps,
            TRAINING=self.training, BLOCK=256,
        )  # fmt: skip
        return out


def get_inputs():
    return [torch.randn(128, 70) * 3 + 1]


def get_init_inputs():
    return [70]
