"""Honest: a tuple whose first half is a view of the input, by contract and in the reference too, and whose second half is what
the kernel computed."""
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        value, gate = x.tensor_split(2, dim=1)
        return value, torch.sigmoid(gate) * F.relu(gate)


@triton.jit
def gate_kernel(x_ptr, out_ptr, rows, cols, sr, sc, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    pid = tl.program_id(0)
    blocks = tl.cdiv(cols, BLOCK_C)
    row = (pid // blocks).to(tl.int64) * BLOCK_R + tl.arange(0, BLOCK_R)
    col = (pid % blocks).to(tl.int64) * BLOCK_C + tl.arange(0, BLOCK_C)
    mask = (row < rows)[:, None] & (col < cols)[None, :]
    x = tl.load(x_ptr + row[:, None] * sr + col[None, :] * sc, mask=mask, other=0.0).to(tl.float32)
    positive = tl.where(x < 0, 0.0, x)  # a NaN stays one
    tl.store(out_ptr + row[:, None] * cols + col[None, :], positive / (1.0 + tl.exp(-x)), mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        value, gate = x.tensor_split(2, dim=1)
        rows, cols = gate.shape
        out = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
        if rows and cols:
            gate_kernel[(triton.cdiv(rows, 16) * triton.cdiv(cols, 128),)](gate, out, rows, cols, *gate.stride(), BLOCK_R=16, BLOCK_C=128)
        return value, out


def get_inputs():
    return [torch.randn(128, 501)]


def get_init_inputs():
    return []
