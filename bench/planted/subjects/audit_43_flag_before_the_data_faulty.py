"""A running sum of integers: each block waits for what the one before it hands on."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def running_sum_kernel(x_ptr, out_ptr, ticket_ptr, carries_ptr, flags_ptr, n, BLOCK: tl.constexpr):
    block = tl.atomic_add(ticket_ptr, 1)
    offsets = block.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0)
    within = tl.cumsum(x, axis=0)
    while tl.atomic_add(flags_ptr + block, 0) == 0:
        pass
    tl.debug_barrier()
    before = tl.load(carries_ptr + block)
    tl.atomic_xchg(flags_ptr + block + 1, 1)
    tl.store(carries_ptr + block + 1, before + tl.sum(x, axis=0))  # fault: race: the flag is up before the data is there
    tl.store(out_ptr + offsets, before + within, mask=offsets < n)


def running_sum(x):
    x = x.contiguous()
    n = x.shape[0]
    out = torch.empty_like(x)
    if n > 0:
        blocks = triton.cdiv(n, 256)
        ticket = torch.zeros(1, device=x.device, dtype=torch.int32)
        carries = torch.zeros(blocks + 1, device=x.device, dtype=torch.int32)
        flags = torch.zeros(blocks + 1, device=x.device, dtype=torch.int32)
        flags[0] = 1
        running_sum_kernel[(blocks,)](x, out, ticket, carries, flags, n, BLOCK=256)
    return out


running = Subject(
    running_sum,
    reference=lambda x: x.cumsum(dim=0).to(torch.int32),
    inputs=[Tensor("n", dtype="int32", low=-1000, high=1000)],
)
