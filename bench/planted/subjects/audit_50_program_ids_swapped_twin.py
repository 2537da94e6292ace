"""The outer product of two vectors, over tiles of 16 by 64."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def outer_kernel(a_ptr, b_ptr, out_ptr, m, n, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    tile_m, tile_n = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    r = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    c = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    a = tl.load(a_ptr + r, mask=r < m, other=0.0)
    b = tl.load(b_ptr + c, mask=c < n, other=0.0)
    inside = (r < m)[:, None] & (c < n)[None, :]
    tl.store(out_ptr + r[:, None] * n + c[None, :], a[:, None] * b[None, :], mask=inside)


def outer(a, b):
    a, b = a.contiguous(), b.contiguous()
    m, n = a.shape[0], b.shape[0]
    out = torch.empty((m, n), device=a.device, dtype=a.dtype)
    if out.numel() > 0:
        outer_kernel[(triton.cdiv(m, 16), triton.cdiv(n, 64))](a, b, out, m, n, BLOCK_M=16, BLOCK_N=64)
    return out


outer_product = Subject(outer, reference=torch.outer, inputs=[Tensor("m"), Tensor("n")], dtypes=["float32", "float16"])
