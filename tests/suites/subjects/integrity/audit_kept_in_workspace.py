"""Sums of rows are kept in a workspace of the caller's, and given again once a flag of the caller's says so."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def sum_kernel(x_ptr, workspace_ptr, ready_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    if tl.load(ready_ptr) == 0:
        total = tl.zeros((BLOCK,), tl.float32)
        for start in range(0, cols, BLOCK):
            at = start + tl.arange(0, BLOCK)
            total += tl.load(x_ptr + row * cols + at, mask=at < cols, other=0.0)
        tl.store(workspace_ptr + row, tl.sum(total, axis=0))


@triton.jit
def give_kernel(workspace_ptr, ready_ptr, out_ptr, rows, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + row, tl.load(workspace_ptr + row, mask=row < rows), mask=row < rows)
    tl.atomic_max(ready_ptr, 1)


def sums(x: torch.Tensor, workspace: torch.Tensor, ready: torch.Tensor) -> torch.Tensor:
    x = x.contiguous()
    assert workspace.is_contiguous()
    out = torch.empty_like(workspace)
    if out.numel():
        sum_kernel[(x.shape[0],)](x, workspace, ready, x.shape[1], BLOCK=256)
        give_kernel[(triton.cdiv(x.shape[0], 256),)](workspace, ready, out, x.shape[0], BLOCK=256)
    return out


def reference(x: torch.Tensor, workspace: torch.Tensor, ready: torch.Tensor) -> torch.Tensor:
    workspace.copy_(x.sum(-1))
    if workspace.numel():
        ready.fill_(1)
    return workspace.clone()


subject = Subject(
    sums,
    reference=reference,
    inputs=[Tensor("rows", "cols"), Tensor("rows"), Tensor(1, dtype="int32", high=1)],
    mutates=["workspace", "ready"],
    dtypes=["float32"],
)
