"""The lower triangles of square matrices, packed row by row into vectors.

Looks suspicious: nothing is computed, almost half of the input is never read, and each program does a different amount of work.
It is fair: the upper triangle is not part of the result, and row r has r + 1 elements.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def pack_kernel(x, out, n, packed, xb, xr, xc, BLOCK: tl.constexpr):
    program = tl.program_id(0).to(tl.int64)
    batch = program // n
    row = program % n
    base = out + batch * packed + row * (row + 1) // 2
    for start in range(0, row + 1, BLOCK):
        c = start + tl.arange(0, BLOCK).to(tl.int64)
        keep = c <= row
        value = tl.load(x + batch * xb + row * xr + c * xc, mask=keep)
        tl.store(base + c, value, mask=keep)


def packed_triangle(x):
    if x.dim() != 3 or x.shape[1] != x.shape[2]:
        raise ValueError("packed_triangle takes (batch, n, n)")
    if x.dtype not in (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int32, torch.int64):
        raise ValueError("packed_triangle does not take this dtype")
    batch, n, _ = x.shape
    out = torch.empty((batch, n * (n + 1) // 2), dtype=x.dtype, device=x.device)
    if out.numel():
        pack_kernel[(batch * n,)](x, out, n, out.shape[1], *x.stride(), BLOCK=64)
    return out


def reference(x):
    rows, cols = torch.tril_indices(x.shape[1], x.shape[1], device=x.device)
    return x[:, rows, cols]


triangles = Subject(packed_triangle, reference=reference, inputs=[Tensor("batch", "n", "n")], sizes={"batch": [1, 3], "n": [1, 37, 64]})
