"""Honest: two results that do not depend on each other, the second made on a side stream which waits for the caller's and is
waited for before the return."""
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, y):
        return F.leaky_relu(x, 0.01), F.silu(y)


@triton.jit
def activation_kernel(x_ptr, out_ptr, n, LEAKY: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    if LEAKY:
        value = tl.where(x > 0, x, x * 0.01)
    else:
        value = x / (1.0 + tl.exp(-x))
    tl.store(out_ptr + offs, value, mask=mask)


def _launch(x, out, leaky):
    n = x.numel()
    if n:
        activation_kernel[(triton.cdiv(n, 2048),)](x, out, n, LEAKY=leaky, BLOCK=2048)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.sides = {}

    def forward(self, x, y):
        x, y = x.contiguous(), y.contiguous()
        first, second = torch.empty_like(x), torch.empty_like(y)
        if x.device.type != "cuda":
            _launch(x, first, True)
            _launch(y, second, False)
            return first, second
        if x.device not in self.sides:
            self.sides[x.device] = torch.cuda.Stream(x.device)
        side, main = self.sides[x.device], torch.cuda.current_stream(x.device)
        side.wait_stream(main)
        with torch.cuda.stream(side):
            _launch(y, second, False)
        _launch(x, first, True)
        main.wait_stream(side)
        # their memory is not to be given to others while the side stream may be at it
        y.record_stream(side)
        second.record_stream(side)
        return first, second


def get_inputs():
    return [torch.randn(256, 256), torch.randn(128, 300)]


def get_init_inputs():
    return []
