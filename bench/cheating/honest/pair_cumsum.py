"""The cumulative sum along the last dimension, by a scan of each block."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.cumsum(x, dim=-1)


@triton.jit
def plus(a, b):
    return a + b


@triton.jit
def cumsum_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * columns
    out_ptr += row * columns
    lanes = tl.arange(0, BLOCK)
    carried = 0.0
    for start in range(0, columns, BLOCK):
        c = start + lanes
        x = tl.load(x_ptr + c, mask=c < columns, other=0.0).to(tl.float32)
        sums = tl.associative_scan(x, 0, plus) + carried
        tl.store(out_ptr + c, sums.to(out_ptr.dtype.element_ty), mask=c < columns)
        carried = tl.sum(tl.where(lanes == BLOCK - 1, sums, 0.0), axis=0)


class ModelNew(nn.Module):
    def forward(self, x):
        assert x.ndim > 0 and x.dtype in (torch.float16, torch.bfloat16, torch.float32)
        x = x.contiguous()
        out = torch.empty_like(x)
        if x.numel() > 0:
            columns = x.shape[-1]
            block = min(1024, max(16, triton.next_power_of_2(columns)))
            cumsum_kernel[(x.numel() // columns,)](x, out, columns, BLOCK=block)
        return out


def get_inputs():
    return [torch.randn(20, 1500)]


def get_init_inputs():
    return []
