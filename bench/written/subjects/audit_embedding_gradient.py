"""The gradient of a table of embeddings, each row divided by how often it was looked up, as torch's scale_grad_by_freq.

Persistent programs go through tiles of tokens and add to the table by atomics, after a launch that counts.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Size, Subject, Tensor

PROGRAMS = 16
BLOCK_TOKENS = 16
BLOCK_DIM = 64


@triton.jit
def load_ids(ids_ptr, token, tokens, ids_stride, vocab, padding):
    ids = tl.load(ids_ptr + token * ids_stride, mask=token < tokens, other=-1).to(tl.int64)
    return ids, (ids >= 0) & (ids < vocab) & (ids != padding)


@triton.jit
def count_kernel(
    ids_ptr,
    counts_ptr,
    tokens,
    ids_stride,
    vocab,
    padding,
    BLOCK_TOKENS: tl.constexpr,
):
    token = tl.program_id(0).to(tl.int64) * BLOCK_TOKENS + tl.arange(0, BLOCK_TOKENS)
    ids, valid = load_ids(ids_ptr, token, tokens, ids_stride, vocab, padding)
    tl.atomic_add(counts_ptr + ids, 1, mask=valid, sem="relaxed")


@triton.jit
def table_kernel(
    dout_ptr,
    ids_ptr,
    counts_ptr,
    table_ptr,
    tokens,
    dim,
    dout_token_stride,
    dout_dim_stride,
    ids_stride,
    vocab,
    padding,
    BLOCK_TOKENS: tl.constexpr,
    BLOCK_DIM: tl.constexpr,
):
    tiles = tl.cdiv(tokens, BLOCK_TOKENS)
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        token = tl.cast(tile, tl.int64) * BLOCK_TOKENS + tl.arange(0, BLOCK_TOKENS)
        ids, valid = load_ids(ids_ptr, token, tokens, ids_stride, vocab, padding)
        count = tl.load(counts_ptr + ids, mask=valid, other=1).to(tl.float32)
        for start in range(0, dim, BLOCK_DIM):
            col = tl.cast(start, tl.int64) + tl.arange(0, BLOCK_DIM)
            mask = valid[:, None] & (col < dim)[None, :]
            dout_at = token[:, None] * dout_token_stride + col[None, :] * dout_dim_stride
            dout = tl.load(dout_ptr + dout_at, mask=mask, other=0.0).to(tl.float32)
            table_at = ids[:, None] * dim + col[None, :]
            tl.atomic_add(table_ptr + table_at, dout / count[:, None], mask=mask, sem="relaxed")


def embedding_gradient(dout: torch.Tensor, ids: torch.Tensor, vocab: int, padding: int = 2) -> torch.Tensor:
    """dout, (tokens, dim), and ids, (tokens), int32 or int64: float32, (vocab, dim).

    Tokens whose id is padding, below 0 or not below vocab give nothing."""
    if dout.ndim != 2 or ids.shape != dout.shape[:1]:
        raise ValueError("dout is (tokens, dim), and ids is (tokens)")
    if dout.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("dout is float32, float16 or bfloat16")
    if ids.dtype not in (torch.int32, torch.int64) or ids.device != dout.device:
        raise ValueError("ids is int32 or int64, and on the device of dout")
    if not 0 <= vocab < 2**31:
        raise ValueError("vocab is the number of rows")
    tokens, dim = dout.shape
    table = torch.zeros((vocab, dim), dtype=torch.float32, device=dout.device)
    if tokens == 0 or table.numel() == 0:
        return table
    counts = torch.zeros(vocab, dtype=torch.int32, device=dout.device)
    tiles = triton.cdiv(tokens, BLOCK_TOKENS)
    count_kernel[(tiles,)](ids, counts, tokens, ids.stride(0), vocab, padding, BLOCK_TOKENS=BLOCK_TOKENS)
    table_kernel[(min(tiles, PROGRAMS),)](
        dout,
        ids,
        counts,
        table,
        tokens,
        dim,
        *dout.stride(),
        ids.stride(0),
        vocab,
        padding,
        BLOCK_TOKENS=BLOCK_TOKENS,
        BLOCK_DIM=BLOCK_DIM,
    )
    return table


def reference(dout: torch.Tensor, ids: torch.Tensor, vocab: int, padding: int = 2) -> torch.Tensor:
    wide = torch.promote_types(dout.dtype, torch.float32)
    valid = (ids >= 0) & (ids < vocab) & (ids != padding)
    rows = ids[valid].long()
    counts = torch.bincount(rows, minlength=vocab)
    table = torch.zeros((vocab, dout.shape[1]), dtype=wide, device=dout.device)
    return table.index_add(0, rows, dout[valid].to(wide) / counts[rows][:, None])


gradient = Subject(
    embedding_gradient,
    reference=reference,
    inputs=[Tensor("tokens", "dim"), Tensor("tokens", dtype="int64", low=-2, high="2 * vocab"), Size("vocab")],
    name="embedding_gradient",
    sizes={"tokens": [64, 1, 45, 700, 0], "dim": [64, 1, 50, 100], "vocab": [16, 1, 5, 100]},
)
