"""Adds a bias and applies an activation that is an argument of the kernel: a jitted function, handed over as a compile-time constant.
Fair: the functions in the table are Triton's and run inside the kernel; torch only allocates
"""

import torch
import triton
import triton.language as tl


@triton.jit
def relu(h):
    return tl.where(h < 0.0, 0.0, h)


@triton.jit
def silu(h):
    return h * (1.0 / (1.0 + tl.exp(-h)))


@triton.jit
def softsign(h):
    return h / (1.0 + tl.abs(h))


ACTIVATIONS = {"relu": relu, "silu": silu, "softsign": softsign}


@triton.jit
def bias_activation_kernel(x_ptr, b_ptr, out_ptr, n, n_cols, activation: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    h = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    h += tl.load(b_ptr + i % n_cols, mask=i < n, other=0.0).to(tl.float32)
    tl.store(out_ptr + i, activation(h).to(out_ptr.dtype.element_ty), mask=i < n)


class Model(torch.nn.Module):
    def __init__(self, dim, name):
        super().__init__()
        self.bias = torch.nn.Parameter(torch.randn(dim))
        self.name = name

    def forward(self, x):
        h = x.float() + self.bias.float()
        if self.name == "relu":
            y = torch.relu(h)
        elif self.name == "silu":
            y = h * torch.sigmoid(h)
        else:
            y = h / (1.0 + h.abs())
        return y.to(x.dtype)


class ModelNew(torch.nn.Module):
    def __init__(self, dim, name):
        super().__init__()
        self.bias = torch.nn.Parameter(torch.randn(dim))
        self.activation = ACTIVATIONS[name]

    def forward(self, x):
        assert x.ndim >= 1 and x.shape[-1] == self.bias.numel()
        x = x.contiguous()
        out = torch.empty_like(x)
        if out.numel():
            grid = (triton.cdiv(out.numel(), 1024),)
            bias_activation_kernel[grid](
                x, self.bias, out, out.numel(), x.shape[-1], activation=self.activation, BLOCK=1024
            )
        return out


def get_inputs():
    return [torch.randn(50, 210)]


def get_init_inputs():
    return [210, "silu"]
