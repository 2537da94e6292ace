"""Dropout whose mask is a function of the seed, so that none is stored."""

import torch
import triton
import triton.language as tl


@triton.jit
def dropout_kernel(x_ptr, out_ptr, n_elements, p, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    is_kept = tl.rand(seed, offsets) >= p
    out = tl.where(is_kept, x / (1.0 - p), 0.0)
    tl.store(out_ptr + offsets, out.to(out_ptr.dtype.element_ty), mask=mask)


def dropout(x: torch.Tensor, p: float, seed: int) -> torch.Tensor:
    """x with a share p of its elements zero, the others scaled by 1 / (1 - p)."""
    x = x.contiguous()
    out = torch.empty_like(x)
    n_elements = x.numel()
    if n_elements == 0:
        return out
    if n_elements >= 2**31:
        raise ValueError("the generator tells no more than 2^31 elements apart")
    block = 1024
    dropout_kernel[(triton.cdiv(n_elements, block),)](x, out, n_elements, p, seed, BLOCK=block)
    return out
