"""Scales a gradient down, in place, where its norm is above 1, and returns the norm. One kernel leaves at most 256 sums
of squares in double precision, torch makes the norm and the factor of these, and a second kernel scales."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def squares_kernel(g_ptr, partial_ptr, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float64)
    step = tl.num_programs(0).to(tl.int64) * BLOCK
    for start in range(tl.program_id(0).to(tl.int64) * BLOCK, n, step):
        i = start + tl.arange(0, BLOCK)
        g = tl.load(g_ptr + i, mask=i < n, other=0.0).to(tl.float64)
        total += g * g
    tl.store(partial_ptr + tl.program_id(0), tl.sum(total, axis=0))


@triton.jit
def scale_kernel(g_ptr, factor_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    g = tl.load(g_ptr + i, mask=i < n, other=0.0).to(tl.float64) * tl.load(factor_ptr)
    tl.store(g_ptr + i, g.to(tl.float32).to(g_ptr.dtype.element_ty), mask=i < n)


def clip_norm_(gradient):
    assert gradient.dtype in (torch.float16, torch.bfloat16, torch.float32)
    packed = gradient.contiguous()
    programs = min(256, triton.cdiv(packed.numel(), 1024))
    partials = torch.zeros(max(programs, 1), device=packed.device, dtype=torch.float64)
    if programs:
        squares_kernel[(programs,)](packed, partials, packed.numel(), BLOCK=1024)
    norm = partials.sum().sqrt()
    if programs:
        factor = (1.0 / (norm + 1e-6)).clamp(max=1.0)
        scale_kernel[(triton.cdiv(packed.numel(), 1024),)](packed, factor, packed.numel(), BLOCK=1024)
        if packed is not gradient:
            gradient.copy_(packed)
    return norm.float()


def reference(gradient):
    norm = torch.linalg.vector_norm(gradient.double())
    gradient.copy_(gradient.double() * (1.0 / (norm + 1e-6)).clamp(max=1.0))
    return norm.float()


clipping = Subject(clip_norm_, reference=reference, inputs=[Tensor("rows", "cols")], mutates=["gradient"])
