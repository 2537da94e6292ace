"""A leaky ReLU of a tensor of any shape."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def leaky_relu_kernel(x_ptr, out_ptr, n, slope, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    y = tl.where(x >= 0.0, x, x * slope)
    y = tl.where(x == x, y, x)
    tl.store(out_ptr + offsets, y.to(out_ptr.dtype.element_ty))  # fault: store out of bounds: missing mask


def leaky_relu(x, slope=0.125):
    x = x.contiguous()
    out = torch.empty_like(x)
    if x.numel() > 0:
        leaky_relu_kernel[(triton.cdiv(x.numel(), 512),)](x, out, x.numel(), slope, BLOCK=512)
    return out


activation = Subject(
    leaky_relu,
    reference=lambda x: torch.nn.functional.leaky_relu(x, 0.125),
    inputs=[Tensor("batch", "features")],
    dtypes=["float32", "float16"],
)
