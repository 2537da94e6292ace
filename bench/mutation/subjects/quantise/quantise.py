"""Rows to int8, each with its scale."""

import torch
import triton
import triton.language as tl


@triton.jit
def quantise_kernel(x_ptr, out_ptr, scales_ptr, n_cols, x_row_stride, out_row_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_row_ptr = x_ptr + row * x_row_stride
    out_row_ptr = out_ptr + row * out_row_stride
    largest = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_row_ptr + cols, mask=cols < n_cols, other=0.0).to(tl.float32)
        largest = tl.maximum(largest, tl.where(tl.abs(x) < float("inf"), tl.abs(x), 0.0))
    largest = tl.max(largest, axis=0)
    scale = largest / 127.0
    divisor = tl.where(scale > 0.0, scale, 1.0)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < n_cols
        x = tl.load(x_row_ptr + cols, mask=mask).to(tl.float32)
        steps = tl.where(tl.abs(x) < float("inf"), x, 0.0) / divisor
        rounded = tl.floor(steps + 0.5)
        clamped = tl.minimum(tl.maximum(rounded, -127.0), 127.0)
        tl.store(out_row_ptr + cols, clamped.to(tl.int8), mask=mask)
    tl.store(scales_ptr + row, scale)


def quantise(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """x, (rows, columns), in int8, and the float32 scale of each row; what is not finite counts as zero."""
    if x.stride(-1) != 1:
        x = x.contiguous()
    n_rows, n_cols = x.shape
    out = torch.empty((n_rows, n_cols), dtype=torch.int8, device=x.device)
    scales = torch.zeros(n_rows, dtype=torch.float32, device=x.device)
    if out.numel() == 0:
        return out, scales
    block = min(triton.next_power_of_2(n_cols), 1024)
    quantise_kernel[(n_rows,)](x, out, scales, n_cols, x.stride(0), out.stride(0), BLOCK=block)
    return out, scales
