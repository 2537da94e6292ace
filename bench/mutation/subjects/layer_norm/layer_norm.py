"""Layer norm over the last dimension, with the variance in a second pass."""

import torch
import triton
import triton.language as tl


@triton.jit
def layer_norm_kernel(
    x_ptr, weight_ptr, bias_ptr, out_ptr, n_cols, x_row_stride, out_row_stride, eps, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    x_row_ptr = x_ptr + row * x_row_stride
    out_row_ptr = out_ptr + row * out_row_stride
    scale = 1.0 / n_cols

    mean = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mean += tl.load(x_row_ptr + cols, mask=cols < n_cols, other=0.0).to(tl.float32) * scale
    mean = tl.sum(mean, axis=0)

    variance = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < n_cols
        x = tl.load(x_row_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        centred = tl.where(mask, x - mean, 0.0)
        variance += centred * centred
    inverse = 1.0 / tl.sqrt(tl.sum(variance, axis=0) / n_cols + eps)

    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < n_cols
        x = tl.load(x_row_ptr + cols, mask=mask).to(tl.float32)
        weight = tl.load(weight_ptr + cols, mask=mask).to(tl.float32)
        bias = tl.load(bias_ptr + cols, mask=mask).to(tl.float32)
        normed = (x - mean) * inverse * weight + bias
        tl.store(out_row_ptr + cols, normed.to(out_ptr.dtype.element_ty), mask=mask)


def layer_norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    """Layer norm of x, (rows, columns), with weight and bias of (columns)."""
    if x.stride(-1) != 1:
        x = x.contiguous()
    weight, bias = weight.contiguous(), bias.contiguous()
    n_rows, n_cols = x.shape
    out = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    if out.numel() == 0:
        return out
    block = min(triton.next_power_of_2(n_cols), 1024)
    layer_norm_kernel[(n_rows,)](x, weight, bias, out, n_cols, x.stride(0), out.stride(0), eps, BLOCK=block)
    return out
