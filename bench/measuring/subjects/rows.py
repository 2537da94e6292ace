"""Kernels that memory bounds: element by element, row by row."""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)


def copy(x: torch.Tensor) -> torch.Tensor:
    """A copy of a contiguous tensor."""
    out = torch.empty_like(x)
    copy_kernel[(triton.cdiv(x.numel(), 4096),)](x, out, x.numel(), BLOCK=4096)
    return out


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The sum of two contiguous tensors of one shape."""
    out = torch.empty_like(x)
    add_kernel[(triton.cdiv(x.numel(), 2048),)](x, y, out, x.numel(), BLOCK=2048)
    return out


@triton.jit
def softmax_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    mask = lanes < columns
    x = tl.load(x_ptr + row * columns + lanes, mask=mask, other=-float("inf")).to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=0))
    out = numerator / tl.sum(numerator, axis=0)
    tl.store(out_ptr + row * columns + lanes, out.to(out_ptr.dtype.element_ty), mask=mask)


def softmax(x: torch.Tensor) -> torch.Tensor:
    """The softmax of each row of a contiguous matrix."""
    out = torch.empty_like(x)
    rows, columns = x.shape
    block = triton.next_power_of_2(columns)
    softmax_kernel[(rows,)](x, out, columns, BLOCK=block, num_warps=min(max(block // 256, 4), 16))
    return out


def spilling_softmax(x: torch.Tensor) -> torch.Tensor:
    """The same on a single warp a row: its registers do not hold a long one."""
    out = torch.empty_like(x)
    rows, columns = x.shape
    softmax_kernel[(rows,)](x, out, columns, BLOCK=triton.next_power_of_2(columns), num_warps=1)
    return out


@triton.jit
def layer_norm_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    mask = lanes < columns
    x = tl.load(x_ptr + row * columns + lanes, mask=mask, other=0.0).to(tl.float32)
    centred = tl.where(mask, x - tl.sum(x, axis=0) / columns, 0.0)
    inverse = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + epsilon)
    weight = tl.load(weight_ptr + lanes, mask=mask).to(tl.float32)
    bias = tl.load(bias_ptr + lanes, mask=mask).to(tl.float32)
    out = centred * inverse * weight + bias
    tl.store(out_ptr + row * columns + lanes, out.to(out_ptr.dtype.element_ty), mask=mask)


def layer_norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """The layer norm of each row of a contiguous matrix."""
    out = torch.empty_like(x)
    rows, columns = x.shape
    block = triton.next_power_of_2(columns)
    layer_norm_kernel[(rows,)](x, weight, bias, out, columns, 1e-5, BLOCK=block, num_warps=8)
    return out


@triton.jit
def rms_norm_kernel(x_ptr, weight_ptr, out_ptr, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    mask = lanes < columns
    x = tl.load(x_ptr + row * columns + lanes, mask=mask, other=0.0).to(tl.float32)
    inverse = 1 / tl.sqrt(tl.sum(x * x, axis=0) / columns + epsilon)
    weight = tl.load(weight_ptr + lanes, mask=mask).to(tl.float32)
    tl.store(out_ptr + row * columns + lanes, (x * inverse * weight).to(out_ptr.dtype.element_ty), mask=mask)


def rms_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Each row of a contiguous matrix over the root of its mean square."""
    out = torch.empty_like(x)
    rows, columns = x.shape
    rms_norm_kernel[(rows,)](x, weight, out, columns, 1e-6, BLOCK=triton.next_power_of_2(columns), num_warps=8)
    return out


@triton.jit
def cross_entropy_kernel(x_ptr, target_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * columns
    highest = -float("inf")
    total = 0.0
    for start in range(0, columns, BLOCK):
        lanes = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + lanes, mask=lanes < columns, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(highest, tl.max(x, axis=0))
        total = total * tl.exp(highest - higher) + tl.sum(tl.exp(x - higher), axis=0)
        highest = higher
    chosen = tl.load(x_ptr + tl.load(target_ptr + row)).to(tl.float32)
    tl.store(out_ptr + row, tl.log(total) + highest - chosen)


def cross_entropy(x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """The loss of each row of a contiguous matrix of logits."""
    rows, columns = x.shape
    out = torch.empty(rows, dtype=torch.float32, device=x.device)
    cross_entropy_kernel[(rows,)](x, target, out, columns, BLOCK=4096, num_warps=8)
    return out


@triton.jit
def embedding_kernel(index_ptr, table_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    token = tl.program_id(0).to(tl.int64)
    row = tl.load(index_ptr + token).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    mask = lanes < columns
    tl.store(out_ptr + token * columns + lanes, tl.load(table_ptr + row * columns + lanes, mask=mask), mask=mask)


def embedding(index: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """The rows of a contiguous table that the indices name."""
    (tokens,), columns = index.shape, table.shape[1]
    out = torch.empty(tokens, columns, dtype=table.dtype, device=table.device)
    embedding_kernel[(tokens,)](index, table, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out


@triton.jit
def first_of_eight_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets * 8, mask=mask)
    tl.store(out_ptr + offsets, x * 2, mask=mask)


def first_of_eight(x: torch.Tensor) -> torch.Tensor:
    """Twice each eighth element of a contiguous tensor: the lanes of a warp lie 8 elements apart."""
    out = torch.empty(x.numel() // 8, dtype=x.dtype, device=x.device)
    first_of_eight_kernel[(triton.cdiv(out.numel(), 1024),)](x, out, out.numel(), BLOCK=1024)
    return out
