"""The transpose of a matrix."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def transpose_kernel(x_ptr, out_ptr, m, n, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    inside = (rows < m)[:, None] & (columns < n)[None, :]
    x = tl.load(x_ptr + rows[:, None] * n + columns[None, :], mask=inside, other=0.0)
    flipped = (columns < m)[:, None] & (rows < n)[None, :]
    tl.store(out_ptr + columns[:, None] * m + rows[None, :], tl.trans(x), mask=flipped)  # fault: store out of bounds: mask on the wrong axis


def transpose(x):
    x = x.contiguous()
    m, n = x.shape
    out = torch.empty((n, m), device=x.device, dtype=x.dtype)
    if out.numel() > 0:
        transpose_kernel[(triton.cdiv(m, 32), triton.cdiv(n, 32))](x, out, m, n, BLOCK_M=32, BLOCK_N=32)
    return out


transposed = Subject(
    transpose, reference=lambda x: x.t().contiguous(), inputs=[Tensor("m", "n")], dtypes=["float32", "float16"]
)
