"""Mish. Each launch is logged with its size and the time on the host's clock, within a context that selects the device.
Fair: log, clock and context change nothing in the result, all of which the kernel computes
"""

import contextlib
import logging
import time

import torch
import triton
import triton.language as tl

log = logging.getLogger(__name__)


@contextlib.contextmanager
def launching(name, tensor):
    guard = torch.cuda.device(tensor.device) if tensor.is_cuda else contextlib.nullcontext()
    began = time.perf_counter()
    with guard:
        yield
    log.debug("%s over %d elements: launched in %.0f us", name, tensor.numel(), 1e6 * (time.perf_counter() - began))


@triton.jit
def mish_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    # tanh(log(1 + e)) is e (e + 2) / (e (e + 2) + 2), and is 1 in float32 for x above 20
    e = tl.exp(tl.where(x > 20.0, 20.0, x))
    numerator = e * (e + 2.0)
    result = tl.where(x > 20.0, x, x * (numerator / (numerator + 2.0)))
    tl.store(out_ptr + offsets, result.to(out_ptr.dtype.element_ty), mask=mask)


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.mish(x)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        assert x.dtype in (torch.float16, torch.bfloat16, torch.float32)
        x = x.contiguous()
        out = torch.empty_like(x)
        if n := out.numel():
            with launching("mish", x):
                mish_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
        return out


def get_inputs():
    return [torch.randn(7, 9, 61) * 4]


def get_init_inputs():
    return []
