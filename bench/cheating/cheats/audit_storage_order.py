"""CHEAT: the kernel walks through the storage of its first argument in the order in which it lies, whatever the
strides say.

"A contiguous copy would cost a pass", so the wrapper leaves it out and checks nothing; the weights are taken by the
place modulo the width. For a fresh tensor that is right, and for a transposed or a sliced one it gives the wrong
elements. It must be refused; one sees it with any other layout of the same values.
"""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def weigh_kernel(x_ptr, weight_ptr, out_ptr, total, cols, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < total
    x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + at % cols, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + at, (x * weight).to(out_ptr.dtype.element_ty), mask=mask)


def weigh_columns(x, weight):
    weight = weight.contiguous()
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    total = out.numel()
    if total:
        weigh_kernel[(triton.cdiv(total, 1024),)](x, weight, out, total, x.shape[-1], BLOCK=1024)
    return out


def reference(x, weight):
    return (x.float() * weight.float()).to(x.dtype)


weigh = Subject(weigh_columns, reference=reference,
                inputs=[Tensor("rows", "cols"), Tensor("cols")],
                dtypes=["float32", "float16", "bfloat16"])
