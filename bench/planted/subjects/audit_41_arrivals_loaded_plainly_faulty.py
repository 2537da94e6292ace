"""The mean of all elements: the program that arrives last adds up what the others left."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def mean_kernel(x_ptr, parts_ptr, arrived_ptr, out_ptr, n, BLOCK: tl.constexpr, PARTS: tl.constexpr):
    pid = tl.program_id(0)
    programs = tl.num_programs(0)
    offsets = pid.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0).to(tl.float32)
    tl.store(parts_ptr + pid, tl.sum(x, axis=0))
    tl.debug_barrier()
    tl.atomic_add(arrived_ptr, 1, sem="acq_rel")
    arrived = tl.load(arrived_ptr)  # fault: race: a plain load beside the atomics of other programs
    if arrived == programs:
        tl.debug_barrier()
        acc = tl.zeros((PARTS,), tl.float32)
        for start in range(0, programs, PARTS):
            part = start + tl.arange(0, PARTS)
            acc += tl.load(parts_ptr + part, mask=part < programs, other=0.0)
        tl.store(out_ptr, tl.sum(acc, axis=0) / n)


def mean(x):
    x = x.contiguous()
    n = x.numel()
    assert n > 0
    programs = triton.cdiv(n, 256)
    parts = torch.empty(programs, device=x.device, dtype=torch.float32)
    arrived = torch.zeros(1, device=x.device, dtype=torch.int32)
    out = torch.empty((), device=x.device, dtype=torch.float32)
    mean_kernel[(programs,)](x, parts, arrived, out, n, BLOCK=256, PARTS=64)
    return out


means = Subject(mean, reference=lambda x: x.float().mean(), inputs=[Tensor("rows", "columns")], dtypes=["float32"])
