"""What a graph's nodes get from their neighbours, listed row by row: a weighted sum, and the largest of each feature.

A row without neighbours gets zeros; a NaN among the features is the largest."""

import torch
import triton
import triton.language as tl

from tritonaudit import Offsets, Subject, Tensor

BLOCK_E, BLOCK_D = 8, 32


@triton.jit
def larger(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def csr_aggregate_kernel(
    x_ptr,
    neighbours_ptr,
    values_ptr,
    offsets_ptr,
    sums_ptr,
    tops_ptr,
    dim,
    x_node_stride,
    x_dim_stride,
    neighbours_stride,
    values_stride,
    BLOCK_E: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    d_tiles = tl.cdiv(dim, BLOCK_D)
    row = (tl.program_id(0) // d_tiles).to(tl.int64)
    d = (tl.program_id(0) % d_tiles).to(tl.int64) * BLOCK_D + tl.arange(0, BLOCK_D)
    d_mask = d < dim
    begin = tl.load(offsets_ptr + row).to(tl.int64)
    end = tl.load(offsets_ptr + row + 1).to(tl.int64)

    sums = tl.zeros((BLOCK_E, BLOCK_D), tl.float32)
    tops = tl.full((BLOCK_E, BLOCK_D), float("-inf"), tl.float32)
    for start in range(begin, end, BLOCK_E):
        edge = tl.cast(start, tl.int64) + tl.arange(0, BLOCK_E)
        edge_mask = edge < end
        node = tl.load(neighbours_ptr + edge * neighbours_stride, mask=edge_mask, other=0).to(tl.int64)
        value = tl.load(values_ptr + edge * values_stride, mask=edge_mask, other=0.0).to(tl.float32)
        mask = edge_mask[:, None] & d_mask[None, :]
        x = tl.load(x_ptr + node[:, None] * x_node_stride + d[None, :] * x_dim_stride, mask=mask, other=0.0)
        sums += value[:, None] * x.to(tl.float32)
        tops = larger(tops, tl.where(mask, x.to(tl.float32), float("-inf")))

    total = tl.sum(sums, axis=0)
    top = tl.reduce(tops, 0, larger)
    top = tl.where(begin < end, top, 0.0)
    tl.store(sums_ptr + row * dim + d, total.to(sums_ptr.dtype.element_ty), mask=d_mask)
    tl.store(tops_ptr + row * dim + d, top.to(tops_ptr.dtype.element_ty), mask=d_mask)


def csr_aggregate(
    x: torch.Tensor, neighbours: torch.Tensor, values: torch.Tensor, offsets: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """x, (nodes, dim); row r has the edges offsets[r] to offsets[r + 1], each with a neighbour, which is a node, and a
    value. Returns sums and maxima, (rows, dim)."""
    rows, dim = offsets.numel() - 1, x.shape[1]
    offsets = offsets.contiguous()
    sums = torch.empty((rows, dim), dtype=x.dtype, device=x.device)
    tops = torch.empty((rows, dim), dtype=x.dtype, device=x.device)
    if sums.numel() == 0:
        return sums, tops
    csr_aggregate_kernel[(rows * triton.cdiv(dim, BLOCK_D),)](
        x,
        neighbours,
        values,
        offsets,
        sums,
        tops,
        dim,
        x.stride(0),
        x.stride(1),
        neighbours.stride(0),
        values.stride(0),
        BLOCK_E=BLOCK_E,
        BLOCK_D=BLOCK_D,
    )
    return sums, tops


def reference(
    x: torch.Tensor, neighbours: torch.Tensor, values: torch.Tensor, offsets: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    wide = torch.promote_types(x.dtype, torch.float32)
    ends = offsets.tolist()
    features = x.to(wide)[neighbours.long()]
    weighted = features * values.to(wide)[:, None]
    sums = x.new_zeros((len(ends) - 1, x.shape[1]), dtype=wide)
    tops = torch.zeros_like(sums)
    for row in range(len(ends) - 1):
        begin, end = ends[row], ends[row + 1]
        if begin < end:
            sums[row] = weighted[begin:end].sum(dim=0)
            tops[row] = features[begin:end].amax(dim=0)
    return sums.to(x.dtype), tops.to(x.dtype)


aggregate = Subject(
    csr_aggregate,
    reference=reference,
    inputs=[
        Tensor("nodes", "dim"),
        Tensor("edges", dtype="int32", low=0, high="nodes"),
        Tensor("edges"),
        Offsets("rows", "edges"),
    ],
    name="csr_aggregate",
    sizes={
        "nodes": [30, 1, 7, 200],
        "dim": [32, 1, 20, 33, 100, 0],
        "edges": [64, 1, 9, 100, 300],
        "rows": [8, 1, 3, 40],
    },
)
