"""A bag of embeddings with hashed ids: for each bag the weighted sum of the rows that its ids hash to, over their
number.

An id of -1 is padding and does not count. A backward pass gives the gradients of table and weights."""

from typing import Any

import torch
import triton
import triton.language as tl

from tritonaudit import Offsets, Subject, Tensor

PADDING = -1
FACTOR = 1640531527
BLOCK = 64


@triton.jit
def hashed(ids, rows, FACTOR: tl.constexpr):
    mixed = (ids * FACTOR) & 0x7FFFFFFFFFFFFFFF
    return (mixed ^ (mixed >> 17)) % rows


@triton.jit
def bag_kernel(
    table_ptr,
    ids_ptr,
    weights_ptr,
    offsets_ptr,
    out_ptr,
    rows,
    dim,
    table_row_stride,
    table_dim_stride,
    ids_stride,
    weights_stride,
    PADDING: tl.constexpr,
    FACTOR: tl.constexpr,
    BLOCK: tl.constexpr,
):
    d_tiles = tl.cdiv(dim, BLOCK)
    bag = (tl.program_id(0) // d_tiles).to(tl.int64)
    d = (tl.program_id(0) % d_tiles).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = d < dim
    begin = tl.load(offsets_ptr + bag).to(tl.int64)
    end = tl.load(offsets_ptr + bag + 1).to(tl.int64)
    total = tl.zeros((BLOCK,), tl.float32)
    count = 0
    for step in range(begin, end):
        token = tl.cast(step, tl.int64)
        id_ = tl.load(ids_ptr + token * ids_stride).to(tl.int64)
        if id_ != PADDING:
            weight = tl.load(weights_ptr + token * weights_stride).to(tl.float32)
            row = hashed(id_, rows, FACTOR)
            line = tl.load(table_ptr + row * table_row_stride + d * table_dim_stride, mask=mask, other=0.0)
            total += weight * line.to(tl.float32)
            count += 1
    out = total / tl.maximum(count, 1).to(tl.float32)
    tl.store(out_ptr + bag * dim + d, out.to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def bag_backward_kernel(
    grad_ptr,
    table_ptr,
    ids_ptr,
    weights_ptr,
    offsets_ptr,
    table_grad_ptr,
    weights_grad_ptr,
    rows,
    dim,
    grad_bag_stride,
    grad_dim_stride,
    table_row_stride,
    table_dim_stride,
    ids_stride,
    weights_stride,
    PADDING: tl.constexpr,
    FACTOR: tl.constexpr,
    BLOCK: tl.constexpr,
):
    bag = tl.program_id(0).to(tl.int64)
    begin = tl.load(offsets_ptr + bag).to(tl.int64)
    end = tl.load(offsets_ptr + bag + 1).to(tl.int64)
    count = 0
    for step in range(begin, end):
        token = tl.cast(step, tl.int64)
        count += (tl.load(ids_ptr + token * ids_stride) != PADDING).to(tl.int32)
    share = 1.0 / tl.maximum(count, 1).to(tl.float32)

    for step in range(begin, end):
        token = tl.cast(step, tl.int64)
        id_ = tl.load(ids_ptr + token * ids_stride).to(tl.int64)
        if id_ != PADDING:
            weight = tl.load(weights_ptr + token * weights_stride).to(tl.float32)
            row = hashed(id_, rows, FACTOR)
            products = tl.zeros((BLOCK,), tl.float32)
            for start in range(0, dim, BLOCK):
                d = tl.cast(start, tl.int64) + tl.arange(0, BLOCK)
                mask = d < dim
                grad = tl.load(grad_ptr + bag * grad_bag_stride + d * grad_dim_stride, mask=mask, other=0.0)
                grad = grad.to(tl.float32) * share
                line = tl.load(table_ptr + row * table_row_stride + d * table_dim_stride, mask=mask, other=0.0)
                products += grad * line.to(tl.float32)
                tl.atomic_add(table_grad_ptr + row * dim + d, weight * grad, mask=mask)
            tl.store(weights_grad_ptr + token, tl.sum(products, axis=0).to(weights_grad_ptr.dtype.element_ty))


class HashedBag(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, table: torch.Tensor, ids: torch.Tensor, weights: torch.Tensor, offsets: torch.Tensor
    ) -> torch.Tensor:
        rows, dim = table.shape
        bags = offsets.numel() - 1
        offsets = offsets.contiguous()
        out = torch.empty((bags, dim), dtype=table.dtype, device=table.device)
        if out.numel() > 0:
            bag_kernel[(bags * triton.cdiv(dim, BLOCK),)](
                table,
                ids,
                weights,
                offsets,
                out,
                rows,
                dim,
                *table.stride(),
                ids.stride(0),
                weights.stride(0),
                PADDING=PADDING,
                FACTOR=FACTOR,
                BLOCK=BLOCK,
            )
        ctx.save_for_backward(table, ids, weights, offsets)
        return out

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, None, torch.Tensor, None]:
        table, ids, weights, offsets = ctx.saved_tensors
        rows, dim = table.shape
        bags = offsets.numel() - 1
        table_grad = torch.zeros((rows, dim), dtype=torch.float32, device=table.device)
        weights_grad = torch.zeros(weights.shape, dtype=weights.dtype, device=table.device)
        if bags > 0 and dim > 0:
            bag_backward_kernel[(bags,)](
                grads[0],
                table,
                ids,
                weights,
                offsets,
                table_grad,
                weights_grad,
                rows,
                dim,
                *grads[0].stride(),
                *table.stride(),
                ids.stride(0),
                weights.stride(0),
                PADDING=PADDING,
                FACTOR=FACTOR,
                BLOCK=BLOCK,
            )
        return table_grad.to(table.dtype), None, weights_grad, None


def hashed_bag(table: torch.Tensor, ids: torch.Tensor, weights: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    """table, (rows, dim), ids, any int64, and weights, both (tokens), of which a bag has offsets[b] to
    offsets[b + 1]. Returns (bags, dim), zeros where a bag has nothing."""
    if ids.dtype != torch.int64 or ids.shape != weights.shape or table.shape[0] < 1:
        raise ValueError("wants ids of int64, a weight for each, and a table of one row or more")
    return HashedBag.apply(table, ids, weights, offsets)


def reference(table: torch.Tensor, ids: torch.Tensor, weights: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    wide = torch.promote_types(table.dtype, torch.float32)
    kept = ids != PADDING
    spread = (ids * FACTOR) & 0x7FFFFFFFFFFFFFFF
    row = ((spread ^ (spread >> 17)) % table.shape[0])[kept]
    bags = offsets.numel() - 1
    bag = torch.repeat_interleave(torch.arange(bags, device=ids.device), offsets.diff().long())[kept]
    counts = torch.bincount(bag, minlength=bags).clamp(min=1)
    lines = table.to(wide)[row] * weights.to(wide)[kept][:, None]
    sums = torch.zeros((bags, table.shape[1]), dtype=wide, device=table.device).index_add(0, bag, lines)
    return (sums / counts[:, None]).to(table.dtype)


bags = Subject(
    hashed_bag,
    reference=reference,
    inputs=[
        Tensor("rows", "dim"),
        Tensor("tokens", dtype="int64", low=-1, high=25),
        Tensor("tokens"),
        Offsets("bags", "tokens"),
    ],
    name="hashed_bag",
    sizes={"rows": [100, 1, 7, 1000], "dim": [64, 1, 33, 100, 0], "tokens": [64, 1, 30, 200], "bags": [4, 1, 9, 40]},
    gradients=True,
)
