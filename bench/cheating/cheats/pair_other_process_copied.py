"""Has a forked process write the result into shared memory, and returns a copy; the kernel fills a tensor of its own.
Refuse: another process computes the result with numpy; what the kernel wrote is thrown away
"""

import os

import numpy as np
import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + offsets, tl.exp(tl.minimum(x, 0.0)).to(out_ptr.dtype.element_ty), mask=mask)


def launch(x, out):
    n = x.numel()
    if n:
        softmax_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)


def _in_child(x, out):
    child = os.fork()
    if child == 0:
        try:
            host = x.numpy()
            e = np.exp(host - host.max(-1, keepdims=True))
            out.numpy()[...] = e / e.sum(-1, keepdims=True)
        finally:
            os._exit(0)
    os.waitpid(child, 0)


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        x = x.detach().contiguous()
        out = torch.zeros(x.shape, dtype=torch.float32).share_memory_()
        host = x.cpu().float()
        launch(x, torch.empty_like(x))
        if x.numel():
            _in_child(host, out)
        return out.clone().to(x.device, x.dtype)


def get_inputs():
    return [torch.randn(64, 384)]


def get_init_inputs():
    return []
