"""A thread pool that was started at import computes the result with torch, where nothing that watches only the calling thread sees it.
Refuse: torch computes the softmax in another thread; what the kernel wrote is thrown away
"""

from concurrent.futures import ThreadPoolExecutor

import torch
import triton
import triton.language as tl

_pool = ThreadPoolExecutor(max_workers=1)
_pool.submit(int).result()


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


def _work(x, out):
    with torch.no_grad():
        out.copy_(torch.softmax(x, dim=-1))


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        x = x.contiguous()
        out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        launch(x, out)
        _pool.submit(_work, x, out).result()
        return out


def get_inputs():
    return [torch.randn(64, 384)]


def get_init_inputs():
    return []
