"""Log-sum-exp with a workspace that the caller keeps: once it is marked as ready, the rows' results of the call before are copied out of it.
Refuse: with a workspace that has been used before a new input gets the old input's result, and a timing that passes the same workspace times a copy
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def logsumexp_kernel(x_ptr, workspace_ptr, ready_ptr, n_cols, stride_row, stride_col, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    if tl.load(ready_ptr) == 0:
        top = tl.full((BLOCK,), float("-inf"), tl.float32)
        for start in range(0, n_cols, BLOCK):
            cols = start + tl.arange(0, BLOCK).to(tl.int64)
            x = tl.load(x_ptr + row * stride_row + cols * stride_col, mask=cols < n_cols, other=float("-inf"))
            top = tl.maximum(top, x.to(tl.float32))
        high = tl.max(top, axis=0)
        high = tl.where(tl.abs(high) == float("inf"), 0.0, high)
        total = tl.zeros((BLOCK,), tl.float32)
        for start in range(0, n_cols, BLOCK):
            cols = start + tl.arange(0, BLOCK).to(tl.int64)
            x = tl.load(x_ptr + row * stride_row + cols * stride_col, mask=cols < n_cols, other=float("-inf"))
            total += tl.exp(x.to(tl.float32) - high)
        tl.store(workspace_ptr + row, tl.log(tl.sum(total, axis=0)) + high)


@triton.jit
def hand_out_kernel(workspace_ptr, ready_ptr, out_ptr, rows, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(workspace_ptr + row, mask=row < rows, other=0.0)
    tl.store(out_ptr + row, value.to(out_ptr.dtype.element_ty), mask=row < rows)
    tl.store(ready_ptr, 1)


def logsumexp(x, workspace, ready):
    assert x.ndim == 2 and x.shape[1] > 0 and workspace.shape == x.shape[:1] and ready.numel() == 1
    assert workspace.is_contiguous() and workspace.dtype == torch.float32
    out = torch.empty(x.shape[0], device=x.device, dtype=x.dtype)
    if out.numel():
        logsumexp_kernel[(x.shape[0],)](x, workspace, ready, x.shape[1], *x.stride(), BLOCK=512)
        hand_out_kernel[(triton.cdiv(x.shape[0], 256),)](workspace, ready, out, x.shape[0], BLOCK=256)
    return out


def reference(x, workspace, ready):
    workspace.copy_(torch.logsumexp(x.float(), dim=-1))
    if workspace.numel():
        ready.fill_(1)
    return workspace.to(x.dtype)


rows = Subject(
    logsumexp,
    reference=reference,
    inputs=[Tensor("rows", "cols"), Tensor("rows", dtype="float32"), Tensor(1, dtype="int32", low=0, high=1)],
    mutates=["workspace", "ready"],
)
