"""Distances of product quantisation: codes of the candidates of each query, looked up in that query's tables."""

import torch
import triton
import triton.language as tl

from tritonaudit import Case, Subject

BLOCK_CANDIDATES = 32
BLOCK_PARTS = 4


@triton.jit
def pq_rerank_kernel(
    id_ptr,
    code_ptr,
    table_ptr,
    out_ptr,
    candidates,
    parts,
    blocks,
    id_query_stride,
    id_candidate_stride,
    code_row_stride,
    code_part_stride,
    table_query_stride,
    table_part_stride,
    table_code_stride,
    BLOCK_CANDIDATES: tl.constexpr,
    BLOCK_PARTS: tl.constexpr,
):
    # One dimension of programs, as there may be more queries than the second one allows.
    query = (tl.program_id(0) // blocks).to(tl.int64)
    candidate = tl.program_id(0) % blocks * BLOCK_CANDIDATES + tl.arange(0, BLOCK_CANDIDATES)
    inside = candidate < candidates
    row = tl.load(
        id_ptr + query * id_query_stride + candidate.to(tl.int64) * id_candidate_stride, mask=inside, other=-1
    ).to(tl.int64)
    present = row >= 0
    total = tl.zeros((BLOCK_CANDIDATES,), tl.float32)
    for start in range(0, parts, BLOCK_PARTS):
        part = tl.cast(start, tl.int64) + tl.arange(0, BLOCK_PARTS)
        mask = present[:, None] & (part < parts)[None, :]
        code = tl.load(
            code_ptr + row[:, None] * code_row_stride + part[None, :] * code_part_stride, mask=mask, other=0
        ).to(tl.int64)
        table_ptrs = table_ptr + query * table_query_stride + part[None, :] * table_part_stride
        distance = tl.load(table_ptrs + code * table_code_stride, mask=mask, other=0.0).to(tl.float32)
        total += tl.sum(distance, axis=1)
    total = tl.where(present, total, float("inf"))
    tl.store(out_ptr + query * candidates + candidate, total, mask=inside)


def pq_rerank(ids: torch.Tensor, codes: torch.Tensor, tables: torch.Tensor) -> torch.Tensor:
    """ids, (queries, candidates), int32 or int64, rows of codes, or negative for none; codes, (rows, parts), uint8;
    tables, (queries, parts, size), float32 or float16, of a size of up to 256 that is above every code: the sums of
    tables[query, part, codes[id, part]] over the parts, (queries, candidates), float32, infinite for none."""
    queries, candidates = ids.shape
    parts = codes.shape[1]
    if codes.dtype != torch.uint8 or ids.dtype not in (torch.int32, torch.int64):
        raise ValueError("codes are uint8, and ids int32 or int64")
    if tables.dtype not in (torch.float32, torch.float16):
        raise ValueError("tables are float32 or float16")
    if tables.ndim != 3 or tables.shape[0] != queries or tables.shape[1] != parts or tables.shape[2] > 256:
        raise ValueError("shapes do not fit")
    out = torch.empty((queries, candidates), dtype=torch.float32, device=ids.device)
    blocks = triton.cdiv(candidates, BLOCK_CANDIDATES)
    if queries * blocks >= 2**31:
        raise ValueError("too many queries or candidates")
    if out.numel():
        pq_rerank_kernel[(queries * blocks,)](
            ids,
            codes,
            tables,
            out,
            candidates,
            parts,
            blocks,
            *ids.stride(),
            *codes.stride(),
            *tables.stride(),
            BLOCK_CANDIDATES=BLOCK_CANDIDATES,
            BLOCK_PARTS=BLOCK_PARTS,
        )
    return out


def reference(ids: torch.Tensor, codes: torch.Tensor, tables: torch.Tensor) -> torch.Tensor:
    out = torch.full(ids.shape, float("inf"), dtype=torch.float32, device=ids.device)
    for query in range(ids.shape[0]):
        present = ids[query] >= 0
        code = codes[ids[query][present].long()].long()
        out[query, present] = tables[query].double().gather(1, code.T).sum(dim=0).float()
    return out


def inputs(case: Case) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Distances from 0 to 1, and about one candidate in eight none, -1 or, with an odd seed, -1 to -3."""
    queries, candidates, rows = case["queries"], case["candidates"], case["rows"]
    parts, size = case["parts"], case["size"]
    generator = torch.Generator().manual_seed(case.seed)
    ids = torch.randint(0, rows, (queries, candidates), generator=generator)
    none = torch.rand((queries, candidates), generator=generator) < 0.125
    lowest = -3 if case.seed % 2 else -1
    ids = torch.where(none, torch.randint(lowest, 0, (queries, candidates), generator=generator), ids)
    if not case["long"]:
        ids = ids.int()
    codes = torch.randint(0, size, (rows, parts), generator=generator, dtype=torch.uint8)
    tables = torch.rand((queries, parts, size), generator=generator).to(getattr(torch, case.dtype))
    return ids.to(case.device), codes.to(case.device), tables.to(case.device)


reranked = Subject(
    pq_rerank,
    reference=reference,
    inputs=inputs,
    name="pq_rerank",
    sizes={
        "queries": [4, 1, 7, 0],
        "candidates": [32, 1, 50, 100, 0],
        "rows": [64, 1, 300],
        "parts": [8, 1, 6, 17, 0],
        "size": [16, 1, 256],
        "long": [0, 1],
    },
    dtypes=["float32", "float16"],
)
