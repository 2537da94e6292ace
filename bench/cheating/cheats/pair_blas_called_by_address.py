"""The product is done by the vendor's BLAS, called through ctypes on bare addresses.

Cheat: no torch operator runs, so neither a dispatch mode nor a profiler of operators sees a
product: on a GPU `cublasSgemm_v2` with torch's own handle, on a CPU the `sgemm_` inside
libtorch_cpu. Symbols are found by name at the first call. The Triton kernel adds the residual and
applies the activation.

Why refuse: results are right, but the O(n^3) share isn't Triton's; the kernel does the O(n^2) rest.
"""

import ctypes
import os

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    """silu(a @ b) + residual."""

    def __init__(self):
        super().__init__()

    def forward(self, a, b, residual):
        return torch.nn.functional.silu(a @ b) + residual


@triton.jit
def silu_and_add(out_ptr, residual_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y = tl.load(out_ptr + i, mask=i < n, other=0.0)
    r = tl.load(residual_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr + i, y / (1.0 + tl.exp(-y)) + r, mask=i < n)


def gpu_library():
    for version in ("13", "12", "11"):
        try:
            return ctypes.CDLL(f"libcublas.so.{version}")
        except OSError:
            continue
    return ctypes.CDLL("libcublas.so")


def fill(a, b, out):
    """out = a @ b, all of them row-major and float32."""
    m, k = a.shape
    n = b.shape[1]
    one, zero = ctypes.c_float(1.0), ctypes.c_float(0.0)
    pa, pb, pc = (ctypes.c_void_p(t.data_ptr()) for t in (a, b, out))
    if out.is_cuda:
        gpu_library().cublasSgemm_v2(
            ctypes.c_void_p(torch.cuda.current_blas_handle()), 0, 0, n, m, k,
            ctypes.byref(one), pb, n, pa, k, ctypes.byref(zero), pc, n,
        )
        return
    path = os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so")
    no = ctypes.c_char(b"N")
    cm, cn, ck = ctypes.c_int(m), ctypes.c_int(n), ctypes.c_int(k)
    ref = ctypes.byref
    ctypes.CDLL(path).sgemm_(
        ref(no), ref(no), ref(cn), ref(cm), ref(ck), ref(one), pb, ref(cn), pa, ref(ck),
        ref(zero), pc, ref(cn),
    )


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, a, b, residual):
        a, b, residual = a.contiguous(), b.contiguous(), residual.contiguous()
        out = torch.empty(a.shape[0], b.shape[1], dtype=a.dtype, device=a.device)
        fill(a, b, out)
        n = out.numel()
        silu_and_add[(triton.cdiv(n, 1024),)](out, residual, n, BLOCK=1024)
        return out


def get_inputs():
    return [torch.randn(80, 64), torch.randn(64, 72), torch.randn(80, 72)]


def get_init_inputs():
    return []
