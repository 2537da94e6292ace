"""A running sum of integers in steps: each adds what stands 1, 2, 4, … places before."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def step_kernel(source_ptr, target_ptr, n, step, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(source_ptr + offsets, mask=mask, other=0)
    earlier = tl.load(source_ptr + offsets - step, mask=mask & (offsets >= step), other=0)
    tl.store(target_ptr + offsets, x + earlier, mask=mask)


def running_sum(x):
    n = x.shape[0]
    source = x.clone(memory_format=torch.contiguous_format)
    target = torch.empty_like(source)
    step = 1
    while step < n:
        step_kernel[(triton.cdiv(n, 512),)](source, target, n, step, BLOCK=512)
        source, target = target, source
        step *= 2
    return source


running = Subject(
    running_sum,
    reference=lambda x: x.cumsum(dim=0).to(torch.int32),
    inputs=[Tensor("n", dtype="int32", low=-1000, high=1000)],
)
