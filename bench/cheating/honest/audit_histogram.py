"""Counts of the 256 byte values in an int64 tensor; other values are not counted."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

BINS = 256


@triton.jit
def histogram_kernel(values_ptr, counts_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(values_ptr + offsets, mask=offsets < n, other=-1)
    counted = (values >= 0) & (values < BINS)
    counts = tl.histogram(tl.where(counted, values, 0).to(tl.int32), BINS, mask=counted)
    bins = tl.arange(0, BINS)
    tl.atomic_add(counts_ptr + bins, counts.to(tl.int64), mask=counts > 0, sem="relaxed")


def histogram(values):
    assert values.dtype == torch.int64
    values = values.reshape(-1)
    counts = torch.zeros(BINS, device=values.device, dtype=torch.int64)
    if values.numel() > 0:
        grid = (triton.cdiv(values.numel(), 1024),)
        histogram_kernel[grid](values.contiguous(), counts, values.numel(), BINS=BINS, BLOCK=1024)
    return counts


def reference(values):
    return torch.bincount(values.reshape(-1), minlength=BINS)


count = Subject(histogram, reference=reference, inputs=[Tensor("rows", "columns", dtype="int64", low=0, high=BINS)])
