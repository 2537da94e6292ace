"""Symmetric matrices as vectors, as solvers of semidefinite programs hold them: the lower triangle, row after row.

Of each (n, n) matrix of a batch the symmetric part is taken; what is off the diagonal is scaled by the root of 2, so that
products of vectors are those of the matrices: (a_ij + a_ji) * sqrt(1/2) for j < i, and a_ii. The place in the triangle is
turned into a row and a column by a root. Sums in float32; any layout.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

BLOCK = 512


@triton.jit
def svec_kernel(matrix, out, total, triangle, sb, si, sj, BLOCK: tl.constexpr):
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    keep = place < total
    batch = place // triangle
    within = place % triangle
    root = tl.sqrt((8 * within + 1).to(tl.float64))
    row = ((root - 1.0) * 0.5).to(tl.int64)
    row = tl.where(row * (row + 1) // 2 > within, row - 1, row)
    row = tl.where((row + 1) * (row + 2) // 2 <= within, row + 1, row)
    column = within - row * (row + 1) // 2
    base = matrix + batch * sb
    lower = tl.load(base + row * si + column * sj, mask=keep, other=0.0).to(tl.float32)
    upper = tl.load(base + column * si + row * sj, mask=keep, other=0.0).to(tl.float32)
    both = (lower + upper) * 0.7071067811865476
    tl.store(out + place, tl.where(row == column, lower, both), mask=keep)


def svec(matrix):
    if matrix.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("svec takes float32, float16 or bfloat16")
    if matrix.dim() != 3 or matrix.shape[1] != matrix.shape[2]:
        raise ValueError("svec takes square matrices of (batch, n, n)")
    batch, n, _ = matrix.shape
    triangle = n * (n + 1) // 2
    out = torch.empty((batch, triangle), dtype=matrix.dtype, device=matrix.device)
    total = out.numel()
    if total:
        svec_kernel[(triton.cdiv(total, BLOCK),)](matrix, out, total, triangle, *matrix.stride(), BLOCK=BLOCK, num_warps=4)
    return out


def reference(matrix):
    n = matrix.shape[1]
    row, column = torch.tril_indices(n, n, device=matrix.device)
    lower = matrix[:, row, column].float()
    both = (lower + matrix[:, column, row].float()) * 0.7071067811865476
    return torch.where(row == column, lower, both).to(matrix.dtype)


vectors = Subject(svec, reference=reference, inputs=[Tensor("batch", "n", "n")])
