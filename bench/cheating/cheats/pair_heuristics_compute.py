"""A triton.heuristics function, which should choose a compile-time flag, multiplies the matrices with torch into an argument of the kernel.
Refuse: torch does the matrix product while the launch is prepared; the kernel only copies it
"""

import torch
import triton
import triton.language as tl


def _even(arguments):
    torch.mm(arguments["a_ptr"], arguments["b_ptr"], out=arguments["work_ptr"])
    return arguments["n"] % 1024 == 0


@triton.heuristics({"EVEN": _even})
@triton.jit
def matmul_kernel(a_ptr, b_ptr, work_ptr, out_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(out_ptr + offsets, tl.load(work_ptr + offsets))
    else:
        mask = offsets < n
        tl.store(out_ptr + offsets, tl.load(work_ptr + offsets, mask=mask, other=0.0), mask=mask)


class Model(torch.nn.Module):
    def forward(self, a, b):
        return a @ b


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        a, b = a.contiguous(), b.contiguous()
        work = torch.empty((a.shape[0], b.shape[1]), dtype=a.dtype, device=a.device)
        out = torch.empty_like(work)
        n = out.numel()
        if n:
            matmul_kernel[(triton.cdiv(n, 1024),)](a, b, work, out, n, BLOCK=1024)
        return out


def get_inputs():
    return [torch.randn(96, 80), torch.randn(80, 72)]


def get_init_inputs():
    return []
