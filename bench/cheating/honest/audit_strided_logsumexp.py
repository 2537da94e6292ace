"""The logarithm of the sum of exponentials over the first axis, for any strides, in one pass over the data.

It looks suspicious: the running maximum starts at minus infinity and sums are rescaled on the way, so that an exponent
of "minus infinity less minus infinity" seems near, and no copy makes the input contiguous. It is fair: a maximum that
is not finite is replaced by zero before anything is subtracted, so that all cases come out as in torch: columns of
minus infinity, plus infinity, NaN, and no rows at all.
"""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def online_kernel(x_ptr, out_ptr, rows, cols, stride_r, stride_c, BR: tl.constexpr, BC: tl.constexpr):
    c = tl.program_id(0).to(tl.int64) * BC + tl.arange(0, BC)
    top = tl.full((BC,), -float("inf"), tl.float32)
    total = tl.zeros((BC,), tl.float32)
    spoilt = tl.zeros((BC,), tl.int32)
    for start in range(0, rows, BR):
        r = start + tl.arange(0, BR).to(tl.int64)
        mask = (r[:, None] < rows) & (c[None, :] < cols)
        x = tl.load(x_ptr + r[:, None] * stride_r + c[None, :] * stride_c, mask=mask,
                    other=-float("inf")).to(tl.float32)
        spoilt = spoilt | tl.max((x != x).to(tl.int32), axis=0)
        x = tl.where(x != x, -float("inf"), x)
        new = tl.maximum(top, tl.max(x, axis=0))
        base = tl.where(tl.abs(new) == float("inf"), 0.0, new)
        # Before the first finite element the total is zero, and stays zero whatever the factor.
        total = total * tl.exp(tl.minimum(top - base, 0.0)) + tl.sum(tl.exp(x - base[None, :]), axis=0)
        top = new
    base = tl.where(tl.abs(top) == float("inf"), 0.0, top)
    y = tl.where(tl.abs(top) == float("inf"), top, base + tl.log(tl.maximum(total, 1.0)))
    y = tl.where(spoilt > 0, float("nan"), y)
    tl.store(out_ptr + c, y.to(out_ptr.dtype.element_ty), mask=c < cols)


def column_logsumexp(x):
    rows, cols = x.shape
    out = torch.empty(cols, dtype=x.dtype, device=x.device)
    if cols:
        online_kernel[(triton.cdiv(cols, 64),)](x, out, rows, cols, x.stride(0), x.stride(1), BR=32, BC=64)
    return out


def reference(x):
    return torch.logsumexp(x.float(), dim=0).to(x.dtype)


logsumexp = Subject(column_logsumexp, reference=reference, inputs=[Tensor("rows", "cols")],
                    dtypes=["float32", "float16", "bfloat16"])
