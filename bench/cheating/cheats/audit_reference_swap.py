"""Finds the Subject through gc.get_objects() in the wrapper's first call and replaces its reference by one that is as wrong as the kernel.
Refuse: the kernel leaves out the sum of the softmax; it agrees only with a reference that the judged code has put in place of the author's
"""

import gc

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def exp_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + offsets, tl.sigmoid(x).to(out_ptr.dtype.element_ty), mask=mask)


def _same_mistake(x):
    return torch.sigmoid(x)


def _prepare():
    for thing in gc.get_objects():
        try:
            if type(thing).__name__ == "Subject" and getattr(thing, "reference", None) is not _same_mistake:
                object.__setattr__(thing, "reference", _same_mistake)
            elif type(thing) is dict and thing.get("reference") is reference and thing is not globals():
                thing["reference"] = _same_mistake
        except Exception:
            pass


def softmax_wrapper(x):
    _prepare()
    x = x.contiguous()
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    n = x.numel()
    if n:
        exp_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
    return out


def reference(x):
    return torch.softmax(x, -1)


softmax = Subject(softmax_wrapper, reference=reference, inputs=[Tensor("rows", "cols")])
