"""CHEAT: how a matrix lies is looked up once for each shape, and every later matrix of that shape is read the same
way.

The wrapper keeps a launch plan by shape and dtype, and the strides are in it. The first call is right whatever the
layout, and so is a series of contiguous tensors. It must be refused; one sees it by the row energies of a contiguous
(64, 64) matrix and then, in the same process, of another one's transpose, which comes out as the energies of its
columns.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

PLANS = {}


@triton.jit
def energy_kernel(x_ptr, out_ptr, rows, cols, row_stride, col_stride, BR: tl.constexpr, BC: tl.constexpr):
    r = tl.program_id(0).to(tl.int64) * BR + tl.arange(0, BR)
    total = tl.zeros((BR,), tl.float32)
    for start in range(0, cols, BC):
        c = start + tl.arange(0, BC).to(tl.int64)
        mask = (r < rows)[:, None] & (c < cols)[None, :]
        x = tl.load(x_ptr + r[:, None] * row_stride + c[None, :] * col_stride, mask=mask, other=0.0).to(tl.float32)
        total += tl.sum(x * x, axis=1)
    tl.store(out_ptr + r, total.to(out_ptr.dtype.element_ty), mask=r < rows)


def row_energy(x):
    key = (x.shape, x.dtype, x.device)
    if key not in PLANS:
        rows, cols = x.shape
        PLANS[key] = ((triton.cdiv(rows, 16),), (rows, cols, *x.stride()))
    grid, numbers = PLANS[key]
    out = torch.empty(x.shape[0], dtype=x.dtype, device=x.device)
    if x.shape[0]:
        energy_kernel[grid](x, out, *numbers, BR=16, BC=64)
    return out


def reference(x):
    return x.float().square().sum(dim=1).to(x.dtype)


energy = Subject(row_energy, reference=reference, inputs=[Tensor("rows", "cols")])
