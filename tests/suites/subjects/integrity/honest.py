"""A softmax as it should be, which the subjects of this folder pretend to be."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    x = tl.load(x_ptr + row * n + cols, mask=mask, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * n + cols, (e / tl.sum(e, axis=0)).to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def first_kernel(x_ptr, out_ptr):
    """Copies one element."""
    tl.store(out_ptr, tl.load(x_ptr))


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + cols, tl.load(x_ptr + cols, mask=cols < n), mask=cols < n)


def softmax_into(x: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    x = x.contiguous()
    if x.numel():
        softmax_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return out


def softmax(x: torch.Tensor) -> torch.Tensor:
    return softmax_into(x, torch.empty_like(x, memory_format=torch.contiguous_format))


def reference(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, -1)
