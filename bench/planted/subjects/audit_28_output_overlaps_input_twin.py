"""A decayed signal behind a leading 0: one element more than the input has."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def decay_kernel(x_ptr, out_ptr, n, decay, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask, other=0.0) * decay, mask=mask)


def decayed_behind_zero(x):
    n = x.shape[0]
    buffer = torch.zeros(n + 1, device=x.device, dtype=x.dtype)
    x = x.contiguous()
    if n > 0:
        decay_kernel[(triton.cdiv(n, 64),)](x, buffer[1:], n, 0.5, BLOCK=64)
    return buffer


decayed = Subject(
    decayed_behind_zero,
    reference=lambda x: torch.cat([torch.zeros_like(x[:1]) if len(x) else x.new_zeros(1), x * 0.5]),
    inputs=[Tensor("n")],
    dtypes=["float32", "float16"],
)
