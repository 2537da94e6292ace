"""The products of neighbouring columns: half as many columns as the input has."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def pair_product_kernel(x_ptr, out_ptr, half, x_stride, out_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = c < half
    even = tl.load(x_ptr + row * x_stride + 2 * c, mask=mask, other=0.0)
    odd = tl.load(x_ptr + row * x_stride + 2 * c + 1, mask=mask, other=0.0)
    tl.store(out_ptr + row * x_stride + c, even * odd, mask=mask)  # fault: store out of bounds: stride of another tensor


def pair_product(x):
    x = x.contiguous()
    rows, columns = x.shape
    assert columns % 2 == 0
    out = torch.empty((rows, columns // 2), device=x.device, dtype=x.dtype)
    if out.numel() > 0:
        pair_product_kernel[(rows, triton.cdiv(columns // 2, 64))](
            x, out, columns // 2, x.stride(0), out.stride(0), BLOCK=64
        )
    return out


products = Subject(
    pair_product,
    reference=lambda x: x[:, 0::2] * x[:, 1::2],
    inputs=[Tensor("rows", "2 * half")],
    dtypes=["float32", "float16"],
)
