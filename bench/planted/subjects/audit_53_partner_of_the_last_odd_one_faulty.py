"""Packs numbers below 16 in twos into bytes; an odd one out stands alone."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def pack_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    byte = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    low = tl.load(x_ptr + byte * 2, mask=byte * 2 < n, other=0)
    high = tl.load(x_ptr + byte * 2 + 1, mask=byte * 2 < n, other=0)  # fault: load out of bounds: the partner of the last element of an odd number
    tl.store(out_ptr + byte, (low | (high << 4)).to(tl.uint8), mask=byte * 2 < n)


def pack(x):
    x = x.contiguous()
    n = x.shape[0]
    out = torch.empty(triton.cdiv(n, 2), device=x.device, dtype=torch.uint8)
    if n > 0:
        pack_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=128)
    return out


def reference(x):
    pairs = torch.nn.functional.pad(x, (0, x.shape[0] % 2)).reshape(-1, 2)
    return (pairs[:, 0] + 16 * pairs[:, 1]).to(torch.uint8)


packed = Subject(pack, reference=reference, inputs=[Tensor("n", dtype="int32", low=0, high=16)])
