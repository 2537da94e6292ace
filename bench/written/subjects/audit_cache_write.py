"""New keys and values into a paged cache, the keys turned by their positions on the way, pair by neighbouring pair.

A token whose slot is below 0 is left out. Slots are distinct."""

import math

import torch
import triton
import triton.language as tl

from tritonaudit import Case, Subject

BASE = 10000.0
LIMIT = 200
BLOCK_H = 4

_tables: dict[tuple[int, int, torch.device], tuple[torch.Tensor, torch.Tensor]] = {}


@triton.jit
def angles_kernel(cos_ptr, sin_ptr, limit, half, log_base, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    position = at // half
    frequency = tl.exp((at % half).to(tl.float32) / half * -log_base)
    angle = position.to(tl.float32) * frequency
    tl.store(cos_ptr + at, tl.cos(angle), mask=position < limit)
    tl.store(sin_ptr + at, tl.sin(angle), mask=position < limit)


@triton.jit
def cache_write_kernel(
    k_ptr,
    v_ptr,
    positions_ptr,
    slots_ptr,
    cos_ptr,
    sin_ptr,
    k_cache_ptr,
    v_cache_ptr,
    counts_ptr,
    heads,
    half,
    page,
    k_token_stride,
    k_head_stride,
    k_dim_stride,
    v_token_stride,
    v_head_stride,
    v_dim_stride,
    k_cache_page_stride,
    k_cache_slot_stride,
    k_cache_head_stride,
    k_cache_dim_stride,
    v_cache_page_stride,
    v_cache_slot_stride,
    v_cache_head_stride,
    v_cache_dim_stride,
    BLOCK_H: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    head_tiles = tl.cdiv(heads, BLOCK_H)
    token = (tl.program_id(0) // head_tiles).to(tl.int64)
    head_tile = tl.program_id(0) % head_tiles
    slot = tl.load(slots_ptr + token).to(tl.int64)
    if slot >= 0:
        position = tl.load(positions_ptr + token).to(tl.int64)
        block = slot // page
        inside = slot % page
        head = (head_tile * BLOCK_H + tl.arange(0, BLOCK_H)).to(tl.int64)[:, None]
        pair = tl.arange(0, BLOCK_D).to(tl.int64)[None, :]
        pair_mask = pair < half
        mask = (head < heads) & pair_mask
        cos = tl.load(cos_ptr + position * half + pair, mask=pair_mask, other=0.0)
        sin = tl.load(sin_ptr + position * half + pair, mask=pair_mask, other=0.0)

        k_ptrs = k_ptr + token * k_token_stride + head * k_head_stride + 2 * pair * k_dim_stride
        even = tl.load(k_ptrs, mask=mask, other=0.0).to(tl.float32)
        odd = tl.load(k_ptrs + k_dim_stride, mask=mask, other=0.0).to(tl.float32)
        k_cache_ptrs = (
            k_cache_ptr
            + block * k_cache_page_stride
            + inside * k_cache_slot_stride
            + head * k_cache_head_stride
            + 2 * pair * k_cache_dim_stride
        )
        first = even * cos - odd * sin
        second = odd * cos + even * sin
        tl.store(k_cache_ptrs, first.to(k_cache_ptr.dtype.element_ty), mask=mask)
        tl.store(k_cache_ptrs + k_cache_dim_stride, second.to(k_cache_ptr.dtype.element_ty), mask=mask)

        v_ptrs = v_ptr + token * v_token_stride + head * v_head_stride + 2 * pair * v_dim_stride
        v_cache_ptrs = (
            v_cache_ptr
            + block * v_cache_page_stride
            + inside * v_cache_slot_stride
            + head * v_cache_head_stride
            + 2 * pair * v_cache_dim_stride
        )
        tl.store(v_cache_ptrs, tl.load(v_ptrs, mask=mask), mask=mask)
        tl.store(v_cache_ptrs + v_cache_dim_stride, tl.load(v_ptrs + v_dim_stride, mask=mask), mask=mask)
        if head_tile == 0:
            tl.atomic_add(counts_ptr + block, 1)


def _angles(limit: int, half: int, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Cosine and sine for each position and pair, which stay the same from call to call."""
    key = (limit, half, device)
    if key not in _tables:
        cos = torch.empty((limit, half), dtype=torch.float32, device=device)
        sin = torch.empty_like(cos)
        angles_kernel[(triton.cdiv(limit * half, 256),)](cos, sin, limit, half, math.log(BASE), 256)
        _tables[key] = (cos, sin)
    return _tables[key]


def cache_write(
    k: torch.Tensor,
    v: torch.Tensor,
    positions: torch.Tensor,
    slots: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    limit: int,
) -> torch.Tensor:
    """k and v, (tokens, heads, dim), at positions below limit, into the slots of the caches, (pages, page, heads, dim);
    returns how many tokens each page got."""
    for changed in (k_cache, v_cache):
        if any(stride == 0 and size > 1 for size, stride in zip(changed.shape, changed.stride(), strict=True)):
            raise ValueError("elements of what is changed overlap")
    tokens, heads, dim = k.shape
    counts = torch.zeros(k_cache.shape[0], dtype=torch.int32, device=k.device)
    if k.numel() == 0:
        return counts
    cos, sin = _angles(limit, dim // 2, k.device)
    cache_write_kernel[(tokens * triton.cdiv(heads, BLOCK_H),)](
        k,
        v,
        positions.contiguous(),
        slots.contiguous(),
        cos,
        sin,
        k_cache,
        v_cache,
        counts,
        heads,
        dim // 2,
        k_cache.shape[1],
        *k.stride(),
        *v.stride(),
        *k_cache.stride(),
        *v_cache.stride(),
        BLOCK_H=BLOCK_H,
        BLOCK_D=triton.next_power_of_2(dim // 2),
    )
    return counts


def reference(
    k: torch.Tensor,
    v: torch.Tensor,
    positions: torch.Tensor,
    slots: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    limit: int,
) -> torch.Tensor:
    wide = torch.promote_types(k.dtype, torch.float32)
    half, page = k.shape[2] // 2, k_cache.shape[1]
    frequencies = BASE ** (-torch.arange(half, dtype=wide, device=k.device) / half)
    angles = (positions.to(wide)[:, None] * frequencies)[:, None, :]
    even, odd = k.to(wide)[..., 0::2], k.to(wide)[..., 1::2]
    cos, sin = angles.cos(), angles.sin()
    turned = torch.stack((even * cos - odd * sin, odd * cos + even * sin), dim=-1).flatten(-2)
    kept = slots >= 0
    block, inside = slots[kept] // page, slots[kept] % page
    k_cache[block, inside] = turned[kept].to(k_cache.dtype)
    v_cache[block, inside] = v[kept].to(v_cache.dtype)
    return torch.bincount(block, minlength=k_cache.shape[0]).to(torch.int32)


def inputs(case: Case) -> tuple[object, ...]:
    """Tokens at random positions, one in eight of them left out, and slots that a permutation gives."""
    tokens, heads, dim = case["tokens"], case["heads"], 2 * case["half"]
    page = case["page"]
    pages = tokens // page + 2
    generator = torch.Generator().manual_seed(case.seed)
    dtype = getattr(torch, case.dtype)
    new = [torch.randn((tokens, heads, dim), generator=generator).to(dtype) for _ in range(2)]
    caches = [torch.randn((pages, page, heads, dim), generator=generator).to(dtype) for _ in range(2)]
    positions = torch.randint(LIMIT, (tokens,), generator=generator)
    slots = torch.randperm(pages * page, generator=generator)[:tokens]
    slots[torch.randint(8, (tokens,), generator=generator) == 0] = -1
    return (*(one.to(case.device) for one in (*new, positions, slots, *caches)), LIMIT)


write = Subject(
    cache_write,
    reference=reference,
    inputs=inputs,
    name="cache_write",
    sizes={"tokens": [32, 1, 7, 100, 0], "heads": [4, 1, 3, 6], "half": [16, 1, 5, 40, 64], "page": [16, 1, 5]},
    mutates=[4, 5],
)
