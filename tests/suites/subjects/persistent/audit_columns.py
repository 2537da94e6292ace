"""Sums of columns by as many programs as the GPU had multiprocessors when this was imported."""

import torch
import triton
import triton.language as tl
from counted import COUNT

from tritonaudit import Subject, Tensor


@triton.jit
def columns_kernel(x_ptr, out_ptr, rows, cols, IS_RESET: tl.constexpr, BLOCK: tl.constexpr):
    total = 0.0
    for col in range(tl.program_id(0), cols, tl.num_programs(0)):
        if IS_RESET:
            total = 0.0
        for start in range(0, rows, BLOCK):
            lanes = start + tl.arange(0, BLOCK)
            x = tl.load(x_ptr + lanes * cols + col, mask=lanes < rows, other=0.0)
            total += tl.sum(x, axis=0)
        tl.store(out_ptr + col, total)


def sums(x, is_reset):
    x = x.contiguous()
    out = torch.empty(x.shape[1], dtype=x.dtype, device=x.device)
    columns_kernel[(COUNT,)](x, out, x.shape[0], x.shape[1], IS_RESET=is_reset, BLOCK=64)
    return out


def at_import(x):
    return sums(x, False)


def at_import_reset(x):
    return sums(x, True)


shape = {"inputs": [Tensor("rows", "cols")], "sizes": {"rows": [37], "cols": [100]}, "dtypes": ["float32"]}
at_import_subject = Subject(at_import, reference=lambda x: x.sum(0), **shape)
at_import_reset_subject = Subject(at_import_reset, reference=lambda x: x.sum(0), **shape)
