"""The running product along a row, with its gradient.

It looks suspicious: each lane walks along a row of its own, the products are written twice, once in float32 for the
backward pass only, and the gradient has no division where the textbook's has one. It is fair: the gradient of element
i is the product before it times a sum from behind, s[i] = g[i] + x[i + 1] * s[i + 1], which needs no division and is
right where elements are zero.
"""

import torch
import triton
import triton.language as tl
from torch.autograd.function import once_differentiable

from tritonaudit import Subject, Tensor


@triton.jit
def forward_kernel(x_ptr, out_ptr, products_ptr, rows, cols, row_stride, col_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = row < rows
    product = tl.full((BLOCK,), 1.0, tl.float32)
    for step in range(0, cols):
        col = tl.cast(step, tl.int64)
        product *= tl.load(x_ptr + row * row_stride + col * col_stride, mask=mask, other=1.0).to(tl.float32)
        tl.store(products_ptr + col * rows + row, product, mask=mask)
        tl.store(out_ptr + row * cols + col, product.to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def backward_kernel(
    x_ptr, products_ptr, grad_ptr, out_ptr, rows, cols, row_stride, col_stride, grad_row, grad_col, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = row < rows
    # The last element has nothing behind it.
    behind = tl.zeros((BLOCK,), tl.float32)
    for step in range(0, cols):
        col = tl.cast(cols - 1 - step, tl.int64)
        total = tl.load(grad_ptr + row * grad_row + col * grad_col, mask=mask, other=0.0).to(tl.float32) + behind
        # Before the first element, the product is 1.
        has_before = row < tl.where(col > 0, rows, 0)
        before = tl.load(products_ptr + (col - 1) * rows + row, mask=has_before, other=1.0)
        tl.store(out_ptr + row * cols + col, (total * before).to(out_ptr.dtype.element_ty), mask=mask)
        x = tl.load(x_ptr + row * row_stride + col * col_stride, mask=mask, other=1.0).to(tl.float32)
        behind = total * x


class RunningProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        rows, cols = x.shape
        out = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
        products = torch.empty((cols, rows), dtype=torch.float32, device=x.device)
        if out.numel():
            forward_kernel[(triton.cdiv(rows, 64),)](x, out, products, rows, cols, *x.stride(), BLOCK=64)
        ctx.save_for_backward(x, products)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        x, products = ctx.saved_tensors
        rows, cols = x.shape
        out = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
        if out.numel():
            backward_kernel[(triton.cdiv(rows, 64),)](
                x, products, grad, out, rows, cols, *x.stride(), *grad.stride(), BLOCK=64
            )
        return out


def running_product(x):
    """x, (rows, cols), float32, float16 or bfloat16: the product of each element and all before it in its row."""
    if x.ndim != 2 or x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("x is (rows, cols), float32, float16 or bfloat16")
    return RunningProduct.apply(x)


def reference(x):
    if not x.shape[1]:
        return x.clone()
    products = [x[:, 0].float()]
    for col in range(1, x.shape[1]):
        products.append(products[-1] * x[:, col].float())
    return torch.stack(products, dim=1).to(x.dtype)


product = Subject(
    running_product,
    reference=reference,
    inputs=[Tensor("rows", "cols")],
    gradients=True,
    sizes={"rows": [64, 1, 70], "cols": [16, 1, 21]},
)
