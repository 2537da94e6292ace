"""The backward pass of layer norm: one kernel for the input's gradient, one for those of weight and bias."""

import torch
import triton
import triton.language as tl


@triton.jit
def input_gradient_kernel(
    grad_ptr,
    x_ptr,
    weight_ptr,
    out_ptr,
    mean_ptr,
    inverse_ptr,
    n_cols,
    grad_row_stride,
    x_row_stride,
    out_row_stride,
    eps,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * x_row_stride + cols, mask=mask, other=0.0).to(tl.float32)
    grad = tl.load(grad_ptr + row * grad_row_stride + cols, mask=mask, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + cols, mask=mask, other=0.0).to(tl.float32)

    mean = tl.sum(x * (1.0 / n_cols), axis=0)
    centred = tl.where(mask, x - mean, 0.0)
    inverse = 1.0 / tl.sqrt(tl.sum(centred * centred, axis=0) / n_cols + eps)
    normed = centred * inverse
    weighted = grad * weight
    along = tl.sum(weighted * normed, axis=0) / n_cols
    shift = tl.sum(weighted, axis=0) / n_cols
    out = (weighted - shift - normed * along) * inverse

    tl.store(out_ptr + row * out_row_stride + cols, out.to(out_ptr.dtype.element_ty), mask=mask)
    tl.store(mean_ptr + row, mean)
    tl.store(inverse_ptr + row, inverse)


@triton.jit
def parameter_gradient_kernel(
    grad_ptr,
    x_ptr,
    mean_ptr,
    inverse_ptr,
    weight_grad_ptr,
    bias_grad_ptr,
    n_rows,
    n_cols,
    grad_row_stride,
    x_row_stride,
    BLOCK_ROWS: tl.constexpr,
    BLOCK_COLS: tl.constexpr,
):
    cols = tl.program_id(0) * BLOCK_COLS + tl.arange(0, BLOCK_COLS)
    col_mask = cols < n_cols
    weight_sum = tl.zeros((BLOCK_ROWS, BLOCK_COLS), dtype=tl.float32)
    bias_sum = tl.zeros((BLOCK_ROWS, BLOCK_COLS), dtype=tl.float32)
    for start in range(0, n_rows, BLOCK_ROWS):
        rows = start + tl.arange(0, BLOCK_ROWS).to(tl.int64)
        row_mask = rows < n_rows
        mask = row_mask[:, None] & col_mask[None, :]
        grad = tl.load(grad_ptr + rows[:, None] * grad_row_stride + cols[None, :], mask=mask, other=0.0)
        x = tl.load(x_ptr + rows[:, None] * x_row_stride + cols[None, :], mask=mask, other=0.0)
        mean = tl.load(mean_ptr + rows, mask=row_mask, other=0.0)
        inverse = tl.load(inverse_ptr + rows, mask=row_mask, other=0.0)
        normed = (x.to(tl.float32) - mean[:, None]) * inverse[:, None]
        weight_sum += grad.to(tl.float32) * normed
        bias_sum += grad.to(tl.float32)
    weight_grad = tl.sum(weight_sum, axis=0).to(weight_grad_ptr.dtype.element_ty)
    bias_grad = tl.sum(bias_sum, axis=0).to(bias_grad_ptr.dtype.element_ty)
    tl.store(weight_grad_ptr + cols, weight_grad, mask=col_mask)
    tl.store(bias_grad_ptr + cols, bias_grad, mask=col_mask)


def layer_norm_backward(
    grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-5
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The gradients of x, weight and bias: grad and x of (rows, columns), weight of (columns)."""
    grad = grad if grad.stride(-1) == 1 else grad.contiguous()
    x = x if x.stride(-1) == 1 else x.contiguous()
    weight = weight.contiguous()
    n_rows, n_cols = x.shape
    x_grad = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    if x_grad.numel() == 0:
        return x_grad, torch.zeros_like(weight), torch.zeros_like(weight)
    weight_grad, bias_grad = torch.empty_like(weight), torch.empty_like(weight)
    mean = torch.empty(n_rows, dtype=torch.float32, device=x.device)
    inverse = torch.empty_like(mean)
    input_gradient_kernel[(n_rows,)](
        grad,
        x,
        weight,
        x_grad,
        mean,
        inverse,
        n_cols,
        grad.stride(0),
        x.stride(0),
        x_grad.stride(0),
        eps,
        BLOCK=triton.next_power_of_2(n_cols),
    )
    block_cols = 64
    parameter_gradient_kernel[(triton.cdiv(n_cols, block_cols),)](
        grad,
        x,
        mean,
        inverse,
        weight_grad,
        bias_grad,
        n_rows,
        n_cols,
        grad.stride(0),
        x.stride(0),
        BLOCK_ROWS=32,
        BLOCK_COLS=block_cols,
    )
    return x_grad, weight_grad, bias_grad
