"""The first of each four numbers of a row: results have a quarter of the elements that are given."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def firsts_kernel(x_ptr, out_ptr, cols, quarter, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    start = (row.to(tl.int64) if WIDE else row) * quarter
    for first in range(0, quarter, BLOCK):
        at = first.to(tl.int64) + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row.to(tl.int64) * cols + 4 * at, mask=at < quarter)
        tl.store(out_ptr + start + at, x, mask=at < quarter)


def firsts(x, is_wide):
    x = x.contiguous()
    rows, cols = x.shape
    quarter = triton.cdiv(cols, 4)
    out = torch.empty((rows, quarter), device=x.device, dtype=x.dtype)
    firsts_kernel[(rows,)](x, out, cols, quarter, is_wide, BLOCK=128)
    return out


def narrow(x):
    return firsts(x, False)


def wide(x):
    return firsts(x, True)


def reference(x):
    return x[:, ::4].clone()


ROWS = Tensor("rows", "cols")
firsts_narrow = Subject(narrow, reference, [ROWS], dtypes=["float32"], name="firsts_narrow")
firsts_wide = Subject(wide, reference, [ROWS], dtypes=["float32"], name="firsts_wide")
