"""GELU of a sum with a bias, in one pass over memory."""

import torch
import triton
import triton.language as tl


@triton.jit
def bias_gelu_kernel(x_ptr, bias_ptr, out_ptr, n_elements, n_cols, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    bias = tl.load(bias_ptr + offsets % n_cols, mask=mask).to(tl.float32)
    z = x + bias
    gelu = 0.5 * z * (1.0 + tl.erf(z * 0.7071067811865476))
    tl.store(out_ptr + offsets, gelu.to(out_ptr.dtype.element_ty), mask=mask)


def bias_gelu(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """GELU(x + bias): x of (rows, columns), bias of (columns)."""
    x, bias = x.contiguous(), bias.contiguous()
    out = torch.empty_like(x)
    n_elements, n_cols = x.numel(), x.shape[-1]
    if n_elements == 0:
        return out
    block = 1024
    bias_gelu_kernel[(triton.cdiv(n_elements, block),)](x, bias, out, n_elements, n_cols, BLOCK=block)
    return out
