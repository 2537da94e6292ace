"""An operator of torch.library whose body allocates and launches a true kernel.
Fair: the operator wraps a real kernel (twin of N9)
"""

import torch
import triton
import triton.language as tl


@triton.jit
def rms_norm_kernel(x_ptr, out_ptr, n_cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + lanes
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0).to(tl.float32)
        squares += x * x
    root = tl.sqrt(tl.sum(squares, axis=0) / n_cols + eps)
    for start in range(0, n_cols, BLOCK):
        cols = start + lanes
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0).to(tl.float32)
        tl.store(out_ptr + row * n_cols + cols, (x / root).to(out_ptr.dtype.element_ty), mask=cols < n_cols)


def triton_rms_norm(x, eps=1e-5):
    x = x.contiguous()
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    n_cols = x.shape[-1]
    if out.numel():
        rms_norm_kernel[(x.numel() // n_cols,)](x, out, n_cols, eps, BLOCK=512)
    return out


@torch.library.custom_op("honestkernels::rms_norm_rows", mutates_args=())
def rms_norm_rows(x: torch.Tensor) -> torch.Tensor:
    return triton_rms_norm(x)


@rms_norm_rows.register_fake
def _(x):
    return torch.empty(x.shape, dtype=x.dtype, device=x.device)


class Model(torch.nn.Module):
    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + 1e-5)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.ops.honestkernels.rms_norm_rows(x)


def get_inputs():
    return [torch.randn(64, 384)]


def get_init_inputs():
    return []
