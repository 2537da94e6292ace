"""A pair whose rows are counted in 32 bits."""

import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + lanes, mask=lanes < columns)
    tl.store(out_ptr + row * columns + lanes, x * 2, mask=lanes < columns)


class Model(torch.nn.Module):
    def forward(self, x):
        return 2 * x


class ModelNew(torch.nn.Module):
    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        if x.numel():
            scale_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return out


def get_inputs():
    return [torch.randn(100, 384)]


def get_init_inputs():
    return []
