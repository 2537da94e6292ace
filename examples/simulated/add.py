"""A kernel that takes tensors for contiguous, launched on one that is not: what the CPU engine says of it."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

import tritonaudit


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


if __name__ == "__main__":
    x, y = torch.randn(1000), torch.randn(1000, 2)[:, 0]
    out = torch.empty(1000)
    simulation = tritonaudit.simulate(add_kernel, (4,), x, y, out, 1000, BLOCK=256)
    print(*simulation.faults, sep="\n")
