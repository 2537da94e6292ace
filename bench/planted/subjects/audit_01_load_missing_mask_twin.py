"""SiLU of a tensor of any shape."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + offsets, (x * tl.sigmoid(x)).to(out_ptr.dtype.element_ty), mask=mask)


def silu(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    if x.numel() > 0:
        silu_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out


activation = Subject(
    silu, reference=torch.nn.functional.silu, inputs=[Tensor("rows", "columns")], dtypes=["float32", "float16"]
)
