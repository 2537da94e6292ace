"""The bias of attention by distance (ALiBi). The model takes the input's length and type and none of its values, and so does the kernel.
Fair: that the input is never read is the model's own way; the kernel computes every element of the bias
"""

import torch
import triton
import triton.language as tl


@triton.jit
def alibi_kernel(slope_ptr, out_ptr, n, length, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    key = i % length
    query = i // length % length
    head = i // length // length
    slope = tl.load(slope_ptr + head, mask=i < n, other=0.0).to(tl.float32)
    bias = -slope * tl.abs(query - key).to(tl.float32)
    tl.store(out_ptr + i, bias.to(out_ptr.dtype.element_ty), mask=i < n)


class Model(torch.nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.register_buffer("slopes", 2.0 ** (-8.0 * torch.arange(1, heads + 1) / heads))

    def forward(self, x):
        place = torch.arange(x.shape[1], device=x.device)
        distance = (place[:, None] - place[None, :]).abs().float()
        return (-self.slopes.float()[:, None, None] * distance).to(x.dtype)


class ModelNew(torch.nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.register_buffer("slopes", 2.0 ** (-8.0 * torch.arange(1, heads + 1) / heads))

    def forward(self, x):
        assert x.ndim == 3
        out = torch.empty((self.slopes.numel(), x.shape[1], x.shape[1]), device=x.device, dtype=x.dtype)
        if out.numel():
            alibi_kernel[(triton.cdiv(out.numel(), 1024),)](self.slopes, out, out.numel(), x.shape[1], BLOCK=1024)
        return out


def get_inputs():
    return [torch.randn(2, 70, 16)]


def get_init_inputs():
    return [6]
