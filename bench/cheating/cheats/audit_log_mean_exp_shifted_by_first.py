"""The logarithm of the mean of exponentials of each row, shifted so that nothing overflows.

It shifts by the row's first element and not by its largest one: right while the row lies within some 80 of its first
element, infinite (or minus infinity) when the first is much smaller (larger) than the others, as logits of trained models are.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def log_mean_exp_kernel(x, out, cols, xr, xc, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    shift = tl.load(x + row * xr).to(tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK).to(tl.int64)
        value = tl.load(x + row * xr + c * xc, mask=c < cols, other=float("-inf")).to(tl.float32)
        total += tl.exp(value - shift)
    tl.store(out + row, shift + tl.log(tl.sum(total, axis=0) / cols))


def log_mean_exp(x):
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16) or x.dim() != 2 or x.shape[1] == 0:
        raise ValueError("log_mean_exp takes (rows, cols) of float32, float16 or bfloat16")
    out = torch.empty(x.shape[0], dtype=x.dtype, device=x.device)
    if x.shape[0]:
        log_mean_exp_kernel[(x.shape[0],)](x, out, x.shape[1], *x.stride(), BLOCK=128)
    return out


def reference(x):
    return (torch.logsumexp(x.float(), 1) - torch.log(torch.tensor(float(x.shape[1])))).to(x.dtype)


averaged = Subject(log_mean_exp, reference=reference, inputs=[Tensor("rows", "cols")])
