"""Lets the kernel touch all of the output, and then overwrites it with what numpy has computed on the host, through data_ptr() and ctypes.
Refuse: the softmax is numpy's, written behind torch's back; what the kernel wrote is thrown away
"""

import ctypes

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


def _array(tensor):
    floats = ctypes.cast(tensor.data_ptr(), ctypes.POINTER(ctypes.c_float))
    return np.ctypeslib.as_array(floats, shape=tuple(tensor.shape))


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        x = x.contiguous()
        out = torch.empty(x.shape, dtype=torch.float32, device=x.device)
        launch(x, out)
        if x.is_cuda:
            host = x.float().cpu().numpy()
            e = np.exp(host - host.max(-1, keepdims=True))
            out.copy_(torch.from_numpy(e / e.sum(-1, keepdims=True)))
        elif x.numel():
            single = x.float()
            source = _array(single)
            e = np.exp(source - source.max(-1, keepdims=True))
            _array(out)[...] = e / e.sum(-1, keepdims=True)
        return out.to(x.dtype)


def get_inputs():
    return [torch.randn(64, 384)]


def get_init_inputs():
    return []
