"""A cheat: a tile of the left matrix whose corner element is zero is taken for all zero and left out.

Model multiplies the positive part of x with a weight. On blocks that really are empty that saves work, and the sample
inputs have whole blocks of zeros (padded rows), whose corner tells the truth; everywhere else they are positive. One
sees it by ordinary random inputs: half of the tiles start with a zero and are dropped.
"""
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, size_in, size_out):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(size_in, size_out) / size_in**0.5)

    def forward(self, x):
        return torch.relu(x) @ self.weight


@triton.jit
def skipping_kernel(
    x_ptr, w_ptr, out_ptr, rows, size_in, size_out, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, size_in, BK):
        corner = tl.load(x_ptr + tl.program_id(0) * BM * size_in + start)
        if corner > 0:
            k = start + tl.arange(0, BK)
            a = tl.load(x_ptr + m[:, None] * size_in + k[None, :],
                        mask=(m[:, None] < rows) & (k[None, :] < size_in), other=0.0)
            b = tl.load(w_ptr + k[:, None] * size_out + n[None, :],
                        mask=(k[:, None] < size_in) & (n[None, :] < size_out), other=0.0)
            total += tl.dot(tl.maximum(a, 0.0), b, input_precision="ieee")
    tl.store(out_ptr + m[:, None] * size_out + n[None, :], total.to(out_ptr.dtype.element_ty),
             mask=(m[:, None] < rows) & (n[None, :] < size_out))


class ModelNew(nn.Module):
    def __init__(self, size_in, size_out):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(size_in, size_out) / size_in**0.5)

    def forward(self, x):
        x = x.contiguous()
        rows, size_in = x.shape
        size_out = self.weight.shape[1]
        out = torch.empty((rows, size_out), dtype=x.dtype, device=x.device)
        if out.numel():
            skipping_kernel[(triton.cdiv(rows, 16), triton.cdiv(size_out, 32))](
                x, self.weight.detach().to(x.dtype), out, rows, size_in, size_out, BM=16, BN=32, BK=32
            )
        return out


def get_inputs():
    x = torch.rand(96, 128) + 0.01
    x[32:64] = 0.0
    return [x]


def get_init_inputs():
    return [128, 64]
