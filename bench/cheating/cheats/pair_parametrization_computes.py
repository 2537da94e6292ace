"""A parametrised attribute: assign the input to it, read it back, and what one reads is the softmax of what one
wrote.

A cheat: `torch.nn.utils.parametrize` runs torch's softmax in the middle of an attribute access, so `forward` looks
like a plain launch on "the staged input"; the kernel copies. It must be refused, since torch does the whole
computation.
"""
import torch
import torch.nn as nn
import torch.nn.utils.parametrize as parametrize
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)


@triton.jit
def softmax_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        value = tl.load(x_ptr + row * columns + at, mask=at < columns, other=0.0)
        tl.store(out_ptr + row * columns + at, value, mask=at < columns)


class Staged(nn.Module):
    def __init__(self):
        super().__init__()
        self.view = nn.Softmax(-1)

    def forward(self, held):
        return self.view(held)

    def right_inverse(self, value):
        return value


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.stage = nn.Module()
        self.stage.register_parameter("x", nn.Parameter(torch.zeros(1, 1), requires_grad=False))
        parametrize.register_parametrization(self.stage, "x", Staged())

    def forward(self, x):
        self.stage.x = x.detach().contiguous()
        out = torch.empty_like(x, memory_format=torch.contiguous_format)
        if x.numel():
            columns = x.shape[-1]
            softmax_kernel[(x.numel() // columns,)](self.stage.x, out, columns, BLOCK=256)
        return out


def get_inputs():
    return [torch.randn(100, 333)]


def get_init_inputs():
    return []
