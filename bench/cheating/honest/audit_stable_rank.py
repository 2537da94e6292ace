"""The rank of each element in its row, as for a rank correlation: equal elements rank as they stand, and nan ranks last,
as torch.sort has it. The result is int64."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def rank_kernel(x_ptr, out_ptr, cols, blocks, stride_row, stride_col, BLOCK: tl.constexpr, CHUNK: tl.constexpr):
    pid = tl.program_id(0)
    row = (pid // blocks).to(tl.int64)
    mine = (pid % blocks).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mine_mask = mine < cols
    x = tl.load(x_ptr + row * stride_row + mine * stride_col, mask=mine_mask, other=0.0).to(tl.float32)
    x_nan = x != x
    rank = tl.zeros((BLOCK,), tl.int32)
    for start in range(0, cols, CHUNK):
        other = start + tl.arange(0, CHUNK).to(tl.int64)
        y = tl.load(x_ptr + row * stride_row + other * stride_col, mask=other < cols, other=0.0).to(tl.float32)
        y_nan = y != y
        less = (y[None, :] < x[:, None]) | (x_nan[:, None] & (y_nan[None, :] == 0))
        same = (y[None, :] == x[:, None]) | (x_nan[:, None] & y_nan[None, :])
        before = less | (same & (other[None, :] < mine[:, None]))
        rank += tl.sum((before & (other < cols)[None, :]).to(tl.int32), axis=1)
    tl.store(out_ptr + row * cols + mine, rank.to(tl.int64), mask=mine_mask)


def stable_rank(x):
    rows, cols = x.shape
    out = torch.empty((rows, cols), dtype=torch.int64, device=x.device)
    if out.numel():
        blocks = triton.cdiv(cols, 64)
        rank_kernel[(rows * blocks,)](x, out, cols, blocks, *x.stride(), BLOCK=64, CHUNK=64)
    return out


def reference(x):
    order = torch.sort(x, dim=1, stable=True).indices
    place = torch.arange(x.shape[1], device=x.device).expand_as(order)
    return torch.empty_like(order).scatter_(1, order, place)


rank = Subject(stable_rank, reference=reference, inputs=[Tensor("rows", "cols")],
               sizes={"cols": [1, 8, 63, 64, 130, 520]}, dtypes=["float32", "float16", "bfloat16"])
