"""Each row's smallest and largest element and the distance between them, as a dict of three tensors.

Looks suspicious: starts from infinities, counts NaN apart, and returns a dict whose third part is computed from the other two.
It is fair: Triton's own reductions pass over NaN where torch's return it, so that a row with one is marked afterwards.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def extremes_kernel(x, low, high, span, cols, xr, xc, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    least = tl.full((BLOCK,), float("inf"), tl.float32)
    most = tl.full((BLOCK,), float("-inf"), tl.float32)
    bad = tl.zeros((BLOCK,), tl.int32)
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK).to(tl.int64)
        keep = c < cols
        value = tl.load(x + row * xr + c * xc, mask=keep, other=0.0).to(tl.float32)
        bad = bad | (keep & (value != value)).to(tl.int32)
        least = tl.where(keep & (value < least), value, least)
        most = tl.where(keep & (value > most), value, most)
    a = tl.min(least, axis=0)
    b = tl.max(most, axis=0)
    broken = tl.max(bad, axis=0) > 0
    a = tl.where(broken, float("nan"), a)
    b = tl.where(broken, float("nan"), b)
    tl.store(low + row, a)
    tl.store(high + row, b)
    tl.store(span + row, b - a)


def extremes(x):
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16) or x.dim() != 2 or x.shape[1] == 0:
        raise ValueError("extremes takes (rows, cols) of float32, float16 or bfloat16 with at least one column")
    low, high, span = (torch.empty(x.shape[0], dtype=x.dtype, device=x.device) for _ in range(3))
    if x.shape[0]:
        extremes_kernel[(x.shape[0],)](x, low, high, span, x.shape[1], *x.stride(), BLOCK=128)
    return {"low": low, "high": high, "span": span}


def reference(x):
    low, high = x.amin(1), x.amax(1)
    return {"low": low, "high": high, "span": (high.float() - low.float()).to(x.dtype)}


found = Subject(extremes, reference=reference, inputs=[Tensor("rows", "cols")])
