"""One step of PageRank over a list of links: each node hands its rank in equal parts to the nodes that it links to.

Looks suspicious: three kernels, degrees counted by integer atomics, ranks gathered by floating-point atomics (whose order
varies), and nodes without links handled apart through one shared cell.
It is fair: every workspace is zeroed on each call, all the work is in the kernels, and sums are float32.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

DAMPING = 0.85
BLOCK = 128


@triton.jit
def degree_kernel(source, degree, links, ss, BLOCK: tl.constexpr):
    e = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    node = tl.load(source + e * ss, mask=e < links, other=0)
    tl.atomic_add(degree + node, tl.full([BLOCK], 1, dtype=tl.int32), mask=e < links)


@triton.jit
def share_kernel(rank, degree, share, idle, nodes, rs, BLOCK: tl.constexpr):
    v = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    keep = v < nodes
    r = tl.load(rank + v * rs, mask=keep, other=0.0).to(tl.float32)
    d = tl.load(degree + v, mask=keep, other=0)
    linked = d > 0
    tl.store(share + v, tl.where(linked, r / tl.maximum(d, 1).to(tl.float32), 0.0), mask=keep)
    tl.atomic_add(idle, tl.sum(tl.where(linked, 0.0, r), axis=0))


@triton.jit
def gather_kernel(source, target, share, gathered, links, ss, ts, BLOCK: tl.constexpr):
    e = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    keep = e < links
    value = tl.load(share + tl.load(source + e * ss, mask=keep, other=0), mask=keep, other=0.0)
    tl.atomic_add(gathered + tl.load(target + e * ts, mask=keep, other=0), value, mask=keep)


@triton.jit
def finish_kernel(gathered, idle, out, nodes, DAMPING: tl.constexpr, BLOCK: tl.constexpr):
    v = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    keep = v < nodes
    total = tl.load(gathered + v, mask=keep, other=0.0) + tl.load(idle) / nodes
    tl.store(out + v, (1.0 - DAMPING) / nodes + DAMPING * total, mask=keep)


def rank_by_links(rank, source, target):
    if rank.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("rank_by_links takes ranks of float32, float16 or bfloat16")
    if source.dtype != torch.int64 or target.dtype != torch.int64:
        raise ValueError("rank_by_links takes int64 links")
    if rank.dim() != 1 or source.dim() != 1 or source.shape != target.shape:
        raise ValueError("rank_by_links takes (nodes,), (links,) and (links,)")
    if source.device != rank.device or target.device != rank.device:
        raise ValueError("rank_by_links takes tensors of one device")
    nodes, links = rank.shape[0], source.shape[0]
    if links >= 2**31:
        raise ValueError("rank_by_links takes fewer than 2**31 links")
    out = torch.empty((nodes,), dtype=rank.dtype, device=rank.device)
    if nodes == 0:
        return out
    degree = torch.zeros((nodes,), dtype=torch.int32, device=rank.device)
    share = torch.empty((nodes,), dtype=torch.float32, device=rank.device)
    gathered = torch.zeros((nodes,), dtype=torch.float32, device=rank.device)
    idle = torch.zeros((1,), dtype=torch.float32, device=rank.device)
    over_nodes, over_links = (triton.cdiv(nodes, BLOCK),), (triton.cdiv(links, BLOCK),)
    if links:
        degree_kernel[over_links](source, degree, links, source.stride(0), BLOCK=BLOCK)
    share_kernel[over_nodes](rank, degree, share, idle, nodes, rank.stride(0), BLOCK=BLOCK)
    if links:
        gather_kernel[over_links](source, target, share, gathered, links, source.stride(0), target.stride(0), BLOCK=BLOCK)
    finish_kernel[over_nodes](gathered, idle, out, nodes, DAMPING=DAMPING, BLOCK=BLOCK)
    return out


def reference(rank, source, target):
    nodes = rank.shape[0]
    r = rank.float()
    if nodes == 0:
        return rank.clone()
    degree = torch.bincount(source, minlength=nodes)
    share = torch.where(degree > 0, r / degree.clamp(min=1), 0.0)
    gathered = torch.zeros_like(r).index_add(0, target, share[source])
    idle = torch.where(degree > 0, 0.0, r).sum()
    return ((1.0 - DAMPING) / nodes + DAMPING * (gathered + idle / nodes)).to(rank.dtype)


ranked = Subject(
    rank_by_links,
    reference=reference,
    inputs=[Tensor("nodes"), Tensor("links", dtype="int64", low=0, high="nodes"), Tensor("links", dtype="int64", low=0, high="nodes")],
)
