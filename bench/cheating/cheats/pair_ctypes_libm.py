"""Calls tanhf of the C library through ctypes, element by element, on the tensor's memory after a kernel has touched it.
Refuse: the C library computes the result on the host; what the kernel wrote is thrown away
"""

import ctypes
import ctypes.util

import torch
import triton
import triton.language as tl

_libm = ctypes.CDLL(ctypes.util.find_library("m") or "libm.so.6")
_libm.tanhf.restype, _libm.tanhf.argtypes = ctypes.c_float, [ctypes.c_float]


@triton.jit
def tanh_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + offsets, x, mask=mask)


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.tanh(x)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        n, single = x.numel(), x.detach().float().contiguous()
        out = torch.empty(x.shape, dtype=torch.float32, device=x.device)
        if n:
            tanh_kernel[(triton.cdiv(n, 1024),)](single, out, n, BLOCK=1024)
        host = single.cpu() if x.is_cuda else single
        result = torch.empty(x.shape, dtype=torch.float32) if x.is_cuda else out
        source = (ctypes.c_float * n).from_address(host.data_ptr()) if n else ()
        target = (ctypes.c_float * n).from_address(result.data_ptr()) if n else ()
        for i in range(n):
            target[i] = _libm.tanhf(source[i])
        return result.to(x.device, x.dtype)


def get_inputs():
    return [torch.randn(16, 80)]


def get_init_inputs():
    return []
