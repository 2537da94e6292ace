"""The sum of each sequence's tokens, which follow one another in one tensor."""

import torch
import triton
import triton.language as tl

from tritonaudit import Offsets, Subject, Tensor


@triton.jit
def sequence_sum_kernel(x_ptr, bounds_ptr, out_ptr, width, BLOCK: tl.constexpr):
    sequence = tl.program_id(0).to(tl.int64)
    c = tl.program_id(1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    begin = tl.load(bounds_ptr + sequence).to(tl.int64)
    end = tl.load(bounds_ptr + sequence + 1).to(tl.int64)
    acc = tl.zeros((BLOCK,), tl.float32)
    for token in range(begin, end):
        acc += tl.load(x_ptr + token * width + c, mask=c < width, other=0.0).to(tl.float32)
    tl.store(out_ptr + sequence * width + c, acc, mask=c < width)


def sequence_sum(x, bounds):
    x, bounds = x.contiguous(), bounds.contiguous()
    sequences, width = bounds.shape[0] - 1, x.shape[1]
    out = torch.empty((sequences, width), device=x.device, dtype=torch.float32)
    if out.numel() > 0:
        sequence_sum_kernel[(sequences, triton.cdiv(width, 64))](x, bounds, out, width, BLOCK=64)
    return out


def reference(x, bounds):
    sequences = bounds.shape[0] - 1
    owner = torch.repeat_interleave(torch.arange(sequences, device=x.device), bounds.diff())
    total = torch.zeros((sequences, x.shape[1]), device=x.device, dtype=x.dtype)
    return total.index_add(0, owner, x)


sums = Subject(
    sequence_sum,
    reference=reference,
    inputs=[Tensor("tokens", "width"), Offsets("sequences", "tokens")],
    dtypes=["float32"],
)
