"""Attention weights of a graph attention layer: a softmax over the edges that reach each node, for several heads.

An edge's score is the leaky ReLU of what its source and its target add. Edges are sorted by target, as in CSR; programs
take nodes in turn, twice through each node's edges."""

from itertools import pairwise

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from tritonaudit import Offsets, Subject, Tensor

SLOPE = 0.2
PROGRAMS = 8


@triton.jit
def edge_scores(
    sources_ptr,
    neighbours_ptr,
    at,
    mask,
    heads,
    head_mask,
    own,
    neighbours_stride,
    sources_row_stride,
    sources_head_stride,
    SLOPE: tl.constexpr,
):
    neighbour = tl.load(neighbours_ptr + at * neighbours_stride, mask=mask, other=0).to(tl.int64)
    both = mask[:, None] & head_mask[None, :]
    ptrs = sources_ptr + neighbour[:, None] * sources_row_stride + heads[None, :] * sources_head_stride
    x = tl.load(ptrs, mask=both, other=0.0).to(tl.float32) + own[None, :]
    x = tl.where(x > 0.0, x, SLOPE * x)
    return tl.where(mask[:, None], x, float("-inf")), both


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_E": 16, "BLOCK_H": 4}, num_warps=2),
        triton.Config({"BLOCK_E": 32, "BLOCK_H": 8}, num_warps=4),
    ],
    key=["heads"],
)
@triton.jit
def edge_softmax_kernel(
    sources_ptr,
    targets_ptr,
    neighbours_ptr,
    offsets_ptr,
    out_ptr,
    nodes,
    heads,
    sources_row_stride,
    sources_head_stride,
    targets_row_stride,
    targets_head_stride,
    neighbours_stride,
    SLOPE: tl.constexpr,
    BLOCK_E: tl.constexpr,
    BLOCK_H: tl.constexpr,
):
    groups = tl.cdiv(heads, BLOCK_H)
    work = tl.cast(nodes, tl.int64) * groups
    for item in range(tl.program_id(0), work, tl.num_programs(0)):
        node = tl.cast(item, tl.int64) // groups
        head = tl.cast(item, tl.int64) % groups * BLOCK_H + tl.arange(0, BLOCK_H)
        head_mask = head < heads
        begin = tl.load(offsets_ptr + node).to(tl.int64)
        end = tl.load(offsets_ptr + node + 1).to(tl.int64)
        own_ptrs = targets_ptr + node * targets_row_stride + head * targets_head_stride
        own = tl.load(own_ptrs, mask=head_mask, other=0.0).to(tl.float32)

        top = tl.full((BLOCK_H,), float("-inf"), tl.float32)
        total = tl.zeros((BLOCK_H,), tl.float32)
        for start in range(begin, end, BLOCK_E):
            at = tl.cast(start, tl.int64) + tl.arange(0, BLOCK_E)
            mask = at < end
            x, _ = edge_scores(
                sources_ptr, neighbours_ptr, at, mask, head, head_mask, own,
                neighbours_stride, sources_row_stride, sources_head_stride, SLOPE,
            )  # fmt: skip
            new_top = tl.maximum(top, tl.max(x, axis=0))
            base = tl.where(new_top == float("-inf"), 0.0, new_top)
            total = total * tl.exp(top - base) + tl.sum(tl.exp(x - base[None, :]), axis=0)
            top = new_top

        base = tl.where(top == float("-inf"), 0.0, top)
        for start in range(begin, end, BLOCK_E):
            at = tl.cast(start, tl.int64) + tl.arange(0, BLOCK_E)
            mask = at < end
            x, both = edge_scores(
                sources_ptr, neighbours_ptr, at, mask, head, head_mask, own,
                neighbours_stride, sources_row_stride, sources_head_stride, SLOPE,
            )  # fmt: skip
            weights = tl.exp(x - base[None, :]) / total[None, :]
            out_ptrs = out_ptr + at[:, None] * heads + head[None, :]
            tl.store(out_ptrs, weights.to(out_ptr.dtype.element_ty), mask=both)


def edge_softmax(
    sources: torch.Tensor, targets: torch.Tensor, neighbours: torch.Tensor, offsets: torch.Tensor
) -> torch.Tensor:
    """sources, (nodes_in, heads); targets, (nodes, heads); neighbours, (edges), rows of sources; offsets, (nodes + 1),
    where each node's edges begin: the weights, (edges, heads)."""
    nodes, heads = targets.shape
    edges = neighbours.shape[0]
    offsets = offsets.contiguous()
    out = torch.empty((edges, heads), dtype=sources.dtype, device=sources.device)
    if out.numel() == 0:
        return out
    edge_softmax_kernel[(min(nodes, PROGRAMS),)](
        sources,
        targets,
        neighbours,
        offsets,
        out,
        nodes,
        heads,
        *sources.stride(),
        *targets.stride(),
        neighbours.stride(0),
        SLOPE=SLOPE,
    )
    return out


def reference(
    sources: torch.Tensor, targets: torch.Tensor, neighbours: torch.Tensor, offsets: torch.Tensor
) -> torch.Tensor:
    wide = torch.promote_types(sources.dtype, torch.float32)
    parts = []
    for node, (begin, end) in enumerate(pairwise(offsets.tolist())):
        scores = sources.to(wide)[neighbours[begin:end].long()] + targets[node].to(wide)
        parts.append(torch.softmax(F.leaky_relu(scores, SLOPE), dim=0))
    return torch.cat(parts).to(sources.dtype)


weights = Subject(
    edge_softmax,
    reference=reference,
    inputs=[
        Tensor("nodes_in", "heads"),
        Tensor("nodes", "heads"),
        Tensor("edges", dtype="int32", low=0, high="nodes_in"),
        Offsets("nodes", "edges"),
    ],
    name="edge_softmax",
    sizes={
        "nodes_in": [40, 1, 7, 100],
        "heads": [4, 1, 3, 8, 11],
        "nodes": [6, 1, 2, 13, 30],
        "edges": [96, 1, 33, 150, 0],
    },
)
