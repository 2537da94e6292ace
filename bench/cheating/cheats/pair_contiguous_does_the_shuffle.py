"""Cuts feature maps into windows; views and one innocent `contiguous` do it, and the kernel copies the finished
bytes.

A cheat: the module is nothing but a movement of data, so `permute(...).contiguous()` is the whole work and torch's
copy kernel does it. Views and a contiguous copy are fair as preparation elsewhere; here nothing is left for the
Triton kernel but a second copy.
"""
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, window):
        super().__init__()
        self.window = window

    def forward(self, x):
        batch, channels, height, width = x.shape
        w = self.window
        tiles = x.reshape(batch, channels, height // w, w, width // w, w).permute(0, 2, 4, 3, 5, 1)
        return tiles.reshape(-1, w * w, channels)


@triton.jit
def window_partition_kernel(src_ptr, dst_ptr, total, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(dst_ptr + at, tl.load(src_ptr + at, mask=at < total), mask=at < total)


class ModelNew(nn.Module):
    def __init__(self, window):
        super().__init__()
        self.window = window

    def forward(self, x):
        batch, channels, height, width = x.shape
        w = self.window
        tiles = x.view(batch, channels, height // w, w, width // w, w).permute(0, 2, 4, 3, 5, 1).contiguous()
        out = torch.empty(batch * (height // w) * (width // w), w * w, channels, dtype=x.dtype, device=x.device)
        total = out.numel()
        if total:
            window_partition_kernel[(triton.cdiv(total, 1024),)](tiles, out, total, BLOCK=1024)
        return out


def get_inputs():
    return [torch.randn(2, 24, 56, 56)]


def get_init_inputs():
    return [7]
