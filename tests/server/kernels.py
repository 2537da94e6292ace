"""Kernels that are typed into an editor."""

RIGHT = """\
import torch
import triton
import triton.language as tl


@triton.jit
def double_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(out_ptr + at, 2 * x, mask=at < n)


def double(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    n = x.numel()
    double_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
    return out
"""
WRONG = RIGHT.replace("2 * x, mask=at < n", "2 * x")
"""Its store runs past the end: TAM101."""
MIXED = RIGHT.replace("mask=at < n)\n    tl", "mask=at >= 0 and at < n)\n    tl")
"""`and` with a block: TAC107, which has a safe fix."""
