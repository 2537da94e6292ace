"""Writes new entries into a cache that is a ring, in place, each sequence from its own position on. Each slot looks for
the last entry that falls on it, so that more entries than slots are no race. Nothing else of the cache changes."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def ring_write_kernel(
    cache_ptr, new_ptr, position_ptr, room, tokens, dim,
    cache_batch, cache_slot, cache_dim, new_batch, new_token, new_dim,
    BLOCK_S: tl.constexpr, BLOCK_D: tl.constexpr,
):
    tiles_s = tl.cdiv(room, BLOCK_S)
    tiles_d = tl.cdiv(dim, BLOCK_D)
    pid = tl.program_id(0)
    sequence = (pid // (tiles_s * tiles_d)).to(tl.int64)
    slot = (pid // tiles_d % tiles_s).to(tl.int64) * BLOCK_S + tl.arange(0, BLOCK_S)
    d = (pid % tiles_d).to(tl.int64) * BLOCK_D + tl.arange(0, BLOCK_D)
    position = tl.load(position_ptr + sequence) % room
    first = (slot - position + room) % room
    token = first + (tokens - 1 - first) // room * room
    hit = (slot < room) & (first < tokens)
    keep = hit[:, None] & (d < dim)[None, :]
    entry = tl.load(
        new_ptr + sequence * new_batch + token[:, None] * new_token + d[None, :] * new_dim, mask=keep, other=0.0
    )
    tl.store(cache_ptr + sequence * cache_batch + slot[:, None] * cache_slot + d[None, :] * cache_dim, entry, mask=keep)


def ring_write_(cache, new, position):
    """`position` holds numbers from 0 on; they may count past the end of the ring."""
    assert cache.ndim == new.ndim == 3 and cache.dtype == new.dtype and position.shape == cache.shape[:1]
    assert cache.shape[0] == new.shape[0] and cache.shape[2] == new.shape[2]
    batch, room, dim = cache.shape
    if cache.numel() and new.numel():
        grid = (batch * triton.cdiv(room, 16) * triton.cdiv(dim, 32),)
        ring_write_kernel[grid](
            cache, new, position.contiguous(), room, new.shape[1], dim, *cache.stride(), *new.stride(),
            BLOCK_S=16, BLOCK_D=32,
        )
    return cache


def reference(cache, new, position):
    for b in range(cache.shape[0] if cache.numel() else 0):
        for t in range(new.shape[1]):
            cache[b, (int(position[b]) + t) % cache.shape[1]] = new[b, t]
    return cache


ring = Subject(
    ring_write_,
    reference=reference,
    inputs=[
        Tensor("batch", "room", "dim"),
        Tensor("batch", "tokens", "dim"),
        Tensor("batch", dtype="int64", low=0, high="room"),
    ],
    mutates=["cache"],
    sizes={"tokens": [1, 7, 40], "batch": [1, 3]},
)
