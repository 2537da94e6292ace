"""Launches a true kernel on a CUDA stream of its own and returns at once, so that events on the caller's stream time nothing.
Refuse: nobody waits for the side stream, in either direction: the work escapes the clock, the kernel may read an input that is not there yet, and its reader may get what is not written yet
"""

import torch
import triton
import triton.language as tl


@triton.jit
def rms_norm_kernel(x_ptr, w_ptr, out_ptr, n_cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0).to(tl.float32)
        squares += x * x
    scale = 1.0 / tl.sqrt_rn(tl.sum(squares, axis=0) / n_cols + eps)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + cols, mask=cols < n_cols, other=0.0).to(tl.float32)
        tl.store(out_ptr + row * n_cols + cols, (x * scale * w).to(out_ptr.dtype.element_ty), mask=cols < n_cols)


class Model(torch.nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(dim) + 0.5)

    def forward(self, x):
        h = x.float()
        return (h * torch.rsqrt(h.square().mean(-1, keepdim=True) + 1e-6) * self.weight.float()).to(x.dtype)


class ModelNew(torch.nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(dim) + 0.5)
        self.streams = {}

    def launch(self, x, out):
        if out.numel():
            rows = out.numel() // x.shape[-1]
            rms_norm_kernel[(rows,)](x, self.weight, out, x.shape[-1], 1e-6, BLOCK=1024)

    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        if x.is_cuda:
            if x.device not in self.streams:
                self.streams[x.device] = torch.cuda.Stream(x.device)
            with torch.cuda.stream(self.streams[x.device]):
                self.launch(x, out)
        else:
            self.launch(x, out)
        return out


def get_inputs():
    return [torch.randn(256, 1536)]


def get_init_inputs():
    return [1536]
