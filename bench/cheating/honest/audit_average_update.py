"""The running average of a model's parameter, in place: the decay grows with the number of updates so far, which a
tensor holds and the call counts up. Nothing is returned but the tensor that was changed."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def average_kernel(average_ptr, parameter_ptr, updates_ptr, n, most, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    updates = tl.load(updates_ptr).to(tl.float32)
    decay = tl.minimum(most, (1.0 + updates) / (10.0 + updates))
    average = tl.load(average_ptr + offsets, mask=mask, other=0.0)
    parameter = tl.load(parameter_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    tl.store(average_ptr + offsets, decay * average + (1.0 - decay) * parameter, mask=mask)


def average_(average, parameter, updates, most=0.999):
    assert average.shape == parameter.shape
    assert average.dtype == torch.float32
    assert parameter.dtype in (torch.float16, torch.bfloat16, torch.float32)
    assert updates.dtype == torch.int64
    assert updates.numel() == 1
    if any(stride == 0 and size > 1 for size, stride in zip(average.shape, average.stride(), strict=True)):
        raise ValueError("the elements of the average overlap")
    if n := average.numel():
        dense = average.contiguous()
        average_kernel[(triton.cdiv(n, 1024),)](dense, parameter.contiguous(), updates, n, most, BLOCK=1024)
        if dense is not average:
            average.copy_(dense)
    updates.add_(1)
    return average


def reference(average, parameter, updates, most=0.999):
    count = updates.float()
    decay = torch.clamp((1.0 + count) / (10.0 + count), max=most)
    average.copy_(decay * average + (1.0 - decay) * parameter.float())
    updates.add_(1)
    return average


running_average = Subject(
    average_,
    reference=reference,
    inputs=[
        Tensor("rows", "cols", dtype="float32"),
        Tensor("rows", "cols"),
        Tensor(1, dtype="int64", low=0, high=10000),
    ],
    mutates=[0, 2],
)
