"""Honest: a float32 linear layer with ReLU whose weight is laid out column by column once, in the constructor, and stays a
parameter, so that weights loaded later are used as well; no TF32, and a NaN comes through the ReLU as in PyTorch."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, features_in, features_out):
        super().__init__()
        self.linear = nn.Linear(features_in, features_out)

    def forward(self, x):
        return torch.relu(self.linear(x))


@triton.jit
def linear_relu_kernel(
    x_ptr, w_ptr, b_ptr, out_ptr, m, n, k, sxm, sxk, swn, swk, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    pid = tl.program_id(0)
    tiles_n = tl.cdiv(n, BLOCK_N)
    rm = (pid // tiles_n).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = (pid % tiles_n).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, k, BLOCK_K):
        rk = start + tl.arange(0, BLOCK_K).to(tl.int64)
        x = tl.load(x_ptr + rm[:, None] * sxm + rk[None, :] * sxk, mask=(rm < m)[:, None] & (rk < k)[None, :], other=0.0)
        w = tl.load(w_ptr + rn[None, :] * swn + rk[:, None] * swk, mask=(rn < n)[None, :] & (rk < k)[:, None], other=0.0)
        acc = tl.dot(x, w, acc, input_precision="ieee")
    acc += tl.load(b_ptr + rn, mask=rn < n, other=0.0).to(tl.float32)[None, :]
    acc = tl.where(acc < 0, 0.0, acc)
    tl.store(out_ptr + rm[:, None] * n + rn[None, :], acc, mask=(rm < m)[:, None] & (rn < n)[None, :])


class ModelNew(nn.Module):
    def __init__(self, features_in, features_out):
        super().__init__()
        self.linear = nn.Linear(features_in, features_out)
        with torch.no_grad():
            # the same values and shape; only the memory is the other way round
            self.linear.weight = nn.Parameter(self.linear.weight.detach().t().contiguous().t())

    def forward(self, x):
        weight, bias = self.linear.weight, self.linear.bias
        m, k = x.shape
        n = weight.shape[0]
        out = torch.empty((m, n), dtype=x.dtype, device=x.device)
        if m and n:
            linear_relu_kernel[(triton.cdiv(m, 64) * triton.cdiv(n, 64),)](
                x, weight, bias, out, m, n, k, *x.stride(), *weight.stride(), BLOCK_M=64, BLOCK_N=64, BLOCK_K=32
            )
        return out


def get_inputs():
    return [torch.randn(130, 200)]


def get_init_inputs():
    return [200, 192]
