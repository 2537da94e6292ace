"""The standard deviation of a whole tensor. Each program leaves the count, the mean and the squared deviations of its
share; torch merges these few triples in double precision.
Fair: the kernel reads and reduces every element; torch merges at most 512 triples
"""

import torch
import triton
import triton.language as tl


@triton.jit
def moments_kernel(x_ptr, parts_ptr, n, share, BLOCK: tl.constexpr):
    program = tl.program_id(0).to(tl.int64)
    first = program * share
    last = tl.minimum(first + share, n)
    count = tl.maximum(last - first, 0).to(tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(first, last, BLOCK):
        places = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + places, mask=places < last, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / tl.maximum(count, 1.0)
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(first, last, BLOCK):
        places = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + places, mask=places < last, other=0.0).to(tl.float32)
        away = tl.where(places < last, x - mean, 0.0)
        squares += away * away
    tl.store(parts_ptr + 3 * program, count)
    tl.store(parts_ptr + 3 * program + 1, mean)
    tl.store(parts_ptr + 3 * program + 2, tl.sum(squares, axis=0))


class Model(torch.nn.Module):
    def forward(self, x):
        return x.float().std()


class ModelNew(torch.nn.Module):
    def forward(self, x):
        assert x.dtype in (torch.float16, torch.bfloat16, torch.float32)
        x = x.contiguous()
        n = x.numel()
        assert n > 1
        share = triton.cdiv(triton.cdiv(n, 512), 2048) * 2048
        programs = triton.cdiv(n, share)
        parts = torch.empty((programs, 3), dtype=torch.float32, device=x.device)
        moments_kernel[(programs,)](x, parts, n, share, BLOCK=2048)
        count, mean, squares = parts.double().unbind(dim=1)
        away = mean - (count * mean).sum() / n
        return ((squares + count * away * away).sum() / (n - 1)).sqrt().float()


def get_inputs():
    return [torch.randn(131, 77) * 3 + 5]


def get_init_inputs():
    return []
