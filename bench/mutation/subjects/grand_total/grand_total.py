"""The sum of all elements: the program that comes last adds up what the others found, always in the same order."""

import torch
import triton
import triton.language as tl


@triton.jit
def grand_total_kernel(
    x_ptr, partial_ptr, count_ptr, out_ptr, n_elements, n_programs, BLOCK: tl.constexpr, BLOCK_PROGRAMS: tl.constexpr
):
    program = tl.program_id(0)
    first = program.to(tl.int64) * BLOCK
    offsets = first + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n_elements, other=0.0).to(tl.float32)
    tl.store(partial_ptr + program, tl.sum(x, axis=0))
    finished = tl.atomic_add(count_ptr, 1, sem="acq_rel")
    if finished == n_programs - 1:
        total = tl.zeros((BLOCK_PROGRAMS,), dtype=tl.float32)
        for start in range(0, n_programs, BLOCK_PROGRAMS):
            programs = start + tl.arange(0, BLOCK_PROGRAMS)
            total += tl.load(partial_ptr + programs, mask=programs < n_programs, other=0.0)
        tl.store(out_ptr, tl.sum(total, axis=0).to(out_ptr.dtype.element_ty))


def grand_total(x: torch.Tensor) -> torch.Tensor:
    """The sum of all elements of x, as a scalar tensor."""
    x = x.contiguous()
    out = torch.zeros((), dtype=x.dtype, device=x.device)
    n_elements = x.numel()
    if n_elements == 0:
        return out
    block = 512
    n_programs = triton.cdiv(n_elements, block)
    partial = torch.empty(n_programs, dtype=torch.float32, device=x.device)
    count = torch.zeros(1, dtype=torch.int32, device=x.device)
    grand_total_kernel[(n_programs,)](x, partial, count, out, n_elements, n_programs, BLOCK=block, BLOCK_PROGRAMS=64)
    return out
