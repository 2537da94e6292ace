"""Layer norm with its gradients: rows are normalised one by one, and the gradients of weight and bias are summed in
parts, a part for each of a few persistent programs, which a last launch adds up."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

EPS = 1e-5
PARTS = 6
BLOCK = 128


@triton.jit
def forward_kernel(
    x_ptr,
    weight_ptr,
    bias_ptr,
    out_ptr,
    mean_ptr,
    rstd_ptr,
    cols,
    x_row_stride,
    x_col_stride,
    weight_stride,
    bias_stride,
    eps,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    x_row = x_ptr + row * x_row_stride
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, cols, BLOCK):
        col = tl.cast(start, tl.int64) + tl.arange(0, BLOCK)
        sums += tl.load(x_row + col * x_col_stride, mask=col < cols, other=0.0).to(tl.float32)
    mean = tl.sum(sums, axis=0) / cols
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, cols, BLOCK):
        col = tl.cast(start, tl.int64) + tl.arange(0, BLOCK)
        mask = col < cols
        x = tl.load(x_row + col * x_col_stride, mask=mask, other=0.0).to(tl.float32)
        off = tl.where(mask, x - mean, 0.0)
        squares += off * off
    rstd = 1.0 / tl.sqrt(tl.sum(squares, axis=0) / cols + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for start in range(0, cols, BLOCK):
        col = tl.cast(start, tl.int64) + tl.arange(0, BLOCK)
        mask = col < cols
        x = tl.load(x_row + col * x_col_stride, mask=mask, other=0.0).to(tl.float32)
        weight = tl.load(weight_ptr + col * weight_stride, mask=mask, other=0.0).to(tl.float32)
        bias = tl.load(bias_ptr + col * bias_stride, mask=mask, other=0.0).to(tl.float32)
        out = (x - mean) * rstd * weight + bias
        tl.store(out_ptr + row * cols + col, out.to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def backward_kernel(
    grad_ptr,
    x_ptr,
    weight_ptr,
    mean_ptr,
    rstd_ptr,
    grad_x_ptr,
    part_weight_ptr,
    part_bias_ptr,
    rows,
    cols,
    grad_row_stride,
    grad_col_stride,
    x_row_stride,
    x_col_stride,
    weight_stride,
    BLOCK: tl.constexpr,
):
    part = tl.program_id(0).to(tl.int64)
    for row in range(part, rows, tl.num_programs(0)):
        row = tl.cast(row, tl.int64)
        grad_row = grad_ptr + row * grad_row_stride
        x_row = x_ptr + row * x_row_stride
        mean = tl.load(mean_ptr + row)
        rstd = tl.load(rstd_ptr + row)
        plain = tl.zeros((BLOCK,), tl.float32)
        for start in range(0, cols, BLOCK):
            col = tl.cast(start, tl.int64) + tl.arange(0, BLOCK)
            mask = col < cols
            grad = tl.load(grad_row + col * grad_col_stride, mask=mask, other=0.0).to(tl.float32)
            x = tl.load(x_row + col * x_col_stride, mask=mask, other=0.0).to(tl.float32)
            weight = tl.load(weight_ptr + col * weight_stride, mask=mask, other=0.0).to(tl.float32)
            normal = tl.where(mask, (x - mean) * rstd, 0.0)
            plain += grad * weight
            part_ptrs = part * cols + col
            old_weight = tl.load(part_weight_ptr + part_ptrs, mask=mask, other=0.0)
            tl.store(part_weight_ptr + part_ptrs, old_weight + grad * normal, mask=mask)
            old_bias = tl.load(part_bias_ptr + part_ptrs, mask=mask, other=0.0)
            tl.store(part_bias_ptr + part_ptrs, old_bias + grad, mask=mask)
        plain_mean = tl.sum(plain, axis=0) / cols
        along = tl.zeros((BLOCK,), tl.float32)
        for start in range(0, cols, BLOCK):
            col = tl.cast(start, tl.int64) + tl.arange(0, BLOCK)
            mask = col < cols
            grad = tl.load(grad_row + col * grad_col_stride, mask=mask, other=0.0).to(tl.float32)
            x = tl.load(x_row + col * x_col_stride, mask=mask, other=0.0).to(tl.float32)
            weight = tl.load(weight_ptr + col * weight_stride, mask=mask, other=0.0).to(tl.float32)
            normal = (x - mean) * rstd
            along += tl.where(mask, (grad * weight - plain_mean) * normal, 0.0)
        along_mean = tl.sum(along, axis=0) / cols
        for start in range(0, cols, BLOCK):
            col = tl.cast(start, tl.int64) + tl.arange(0, BLOCK)
            mask = col < cols
            grad_ptrs = grad_row + col * grad_col_stride
            grad = tl.load(grad_ptrs, mask=mask, other=0.0).to(tl.float32)
            x = tl.load(x_row + col * x_col_stride, mask=mask, other=0.0).to(tl.float32)
            weight = tl.load(weight_ptr + col * weight_stride, mask=mask, other=0.0).to(tl.float32)
            normal = (x - mean) * rstd
            grad_x = ((grad * weight - plain_mean) - normal * along_mean) * rstd
            tl.store(grad_x_ptr + row * cols + col, grad_x.to(grad_x_ptr.dtype.element_ty), mask=mask)
        # The next row adds to the parts that this one wrote.
        tl.debug_barrier()


@triton.jit
def add_parts_kernel(
    part_weight_ptr,
    part_bias_ptr,
    grad_weight_ptr,
    grad_bias_ptr,
    parts,
    cols,
    PARTS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    col = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    part = tl.arange(0, PARTS).to(tl.int64)
    mask = (part < parts)[:, None] & (col < cols)[None, :]
    offsets = part[:, None] * cols + col[None, :]
    grad_weight = tl.sum(tl.load(part_weight_ptr + offsets, mask=mask, other=0.0), axis=0)
    grad_bias = tl.sum(tl.load(part_bias_ptr + offsets, mask=mask, other=0.0), axis=0)
    tl.store(grad_weight_ptr + col, grad_weight.to(grad_weight_ptr.dtype.element_ty), mask=col < cols)
    tl.store(grad_bias_ptr + col, grad_bias.to(grad_bias_ptr.dtype.element_ty), mask=col < cols)


class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        rows, cols = x.shape
        out = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
        mean = torch.empty(rows, dtype=torch.float32, device=x.device)
        rstd = torch.empty(rows, dtype=torch.float32, device=x.device)
        if rows > 0:
            forward_kernel[(rows,)](
                x, weight, bias, out, mean, rstd, cols, *x.stride(), weight.stride(0), bias.stride(0), EPS, BLOCK=BLOCK
            )
        ctx.save_for_backward(x, weight, bias, mean, rstd)
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        x, weight, bias, mean, rstd = ctx.saved_tensors
        rows, cols = x.shape
        grad_x = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
        grad_weight = torch.empty(cols, dtype=weight.dtype, device=x.device)
        grad_bias = torch.empty(cols, dtype=bias.dtype, device=x.device)
        part_weight = torch.zeros((PARTS, cols), dtype=torch.float32, device=x.device)
        part_bias = torch.zeros((PARTS, cols), dtype=torch.float32, device=x.device)
        if rows > 0:
            backward_kernel[(PARTS,)](
                grad,
                x,
                weight,
                mean,
                rstd,
                grad_x,
                part_weight,
                part_bias,
                rows,
                cols,
                *grad.stride(),
                *x.stride(),
                weight.stride(0),
                BLOCK=BLOCK,
            )
        add_parts_kernel[(triton.cdiv(cols, 32),)](
            part_weight,
            part_bias,
            grad_weight,
            grad_bias,
            PARTS,
            cols,
            PARTS=triton.next_power_of_2(PARTS),
            BLOCK=32,
        )
        return grad_x, grad_weight, grad_bias


def layer_norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """x, (rows, cols); weight and bias, (cols)."""
    return LayerNorm.apply(x, weight, bias)


def reference(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    wide = torch.promote_types(x.dtype, torch.float32)
    values = x.to(wide)
    off = values - values.mean(dim=1, keepdim=True)
    rstd = torch.rsqrt(off.square().mean(dim=1, keepdim=True) + EPS)
    return (off * rstd * weight.to(wide) + bias.to(wide)).to(x.dtype)


norm = Subject(
    layer_norm,
    reference=reference,
    inputs=[Tensor("rows", "cols"), Tensor("cols"), Tensor("cols")],
    gradients=True,
    name="layer_norm_gradients",
    sizes={"rows": [8, 1, 5, 33, 0], "cols": [128, 5, 33, 100, 300, 1000]},
)
