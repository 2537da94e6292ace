"""Reordering the cached keys of beam search: each beam takes over the tokens of its parent, up to the length of its batch entry.

out[b, k, t] = cache[b, parents[b, k], t] for t < lengths[b], and zero from there on. A pure copy of any dtype, so it is
exact, NaN included.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

TOKENS = 16
LANES = 32


@triton.jit
def reorder_kernel(cache, parents, lengths, out, beams, tokens, width, token_tiles, cb, ck, ct, cd, pb, pk, ls,
                   TOKENS: tl.constexpr, LANES: tl.constexpr):
    program = tl.program_id(0)
    t = (program % token_tiles).to(tl.int64) * TOKENS + tl.arange(0, TOKENS)[:, None]
    beam = (program // token_tiles % beams).to(tl.int64)
    batch = (program // token_tiles // beams).to(tl.int64)
    parent = tl.load(parents + batch * pb + beam * pk).to(tl.int64)
    length = tl.load(lengths + batch * ls)
    source = cache + batch * cb + parent * ck
    destination = out + (batch * beams + beam) * tokens * width
    for start in range(0, width, LANES):
        d = start + tl.arange(0, LANES).to(tl.int64)[None, :]
        inside = (t < tokens) & (d < width)
        value = tl.load(source + t * ct + d * cd, mask=inside & (t < length), other=0)
        tl.store(destination + t * width + d, value, mask=inside)


def beam_reorder(cache, parents, lengths):
    if cache.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("beam_reorder takes a cache of float32, float16 or bfloat16")
    if parents.dtype != torch.int64 or lengths.dtype != torch.int64:
        raise ValueError("beam_reorder takes int64 parents and lengths")
    if cache.dim() != 4 or parents.shape != cache.shape[:2] or lengths.shape != cache.shape[:1]:
        raise ValueError("beam_reorder takes (batch, beams, tokens, width), (batch, beams) and (batch,)")
    if parents.device != cache.device or lengths.device != cache.device:
        raise ValueError("beam_reorder takes tensors of one device")
    batch, beams, tokens, width = cache.shape
    out = torch.empty(cache.shape, dtype=cache.dtype, device=cache.device)
    token_tiles = triton.cdiv(tokens, TOKENS)
    if out.numel():
        reorder_kernel[(batch * beams * token_tiles,)](
            cache, parents, lengths, out, beams, tokens, width, token_tiles,
            *cache.stride(), *parents.stride(), lengths.stride(0), TOKENS=TOKENS, LANES=LANES,
        )
    return out


def reference(cache, parents, lengths):
    chosen = torch.gather(cache, 1, parents[:, :, None, None].expand(cache.shape))
    inside = torch.arange(cache.shape[2], device=cache.device)[None, :] < lengths[:, None]
    return torch.where(inside[:, None, :, None], chosen, torch.zeros((), dtype=cache.dtype, device=cache.device))


reordered = Subject(
    beam_reorder,
    reference=reference,
    inputs=[
        Tensor("batch", "beams", "tokens", "width"),
        Tensor("batch", "beams", dtype="int64", low=0, high="beams"),
        Tensor("batch", dtype="int64", low=0, high="tokens"),
    ],
)
