"""The softmax stands in a string that TorchScript compiles and runs as a forked task on its own threads, while a kernel writes zeros.
Refuse: torch computes the softmax, in TorchScript's interpreter; the kernel's zeros are added to it
"""

import torch
import triton
import triton.language as tl

PLAN = """
def rows(x: Tensor) -> Tensor:
    e = torch.exp(x - torch.amax(x, [-1], True))
    return e / torch.sum(e, [-1], True)

def begin(x: Tensor) -> Future[Tensor]:
    return torch.jit.fork(rows, x)

def end(task: Future[Tensor], out: Tensor) -> Tensor:
    return out.add_(torch.jit.wait(task))
"""
plan = torch.jit.CompilationUnit(PLAN)


@triton.jit
def softmax_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    tl.store(out_ptr + i, tl.where(x == x, 0.0, 0.0).to(out_ptr.dtype.element_ty), mask=i < n)


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        x = x.detach().contiguous()
        out = torch.empty_like(x)
        if out.numel():
            task = plan.begin(x)
            softmax_kernel[(triton.cdiv(out.numel(), 1024),)](x, out, out.numel(), BLOCK=1024)
            plan.end(task, out)
        return out


def get_inputs():
    return [torch.randn(64, 700)]


def get_init_inputs():
    return []
