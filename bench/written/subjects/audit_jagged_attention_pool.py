"""Pools the tokens of each segment of a packed batch, by softmax of their products with a query for each head."""

import torch
import triton
import triton.language as tl

from tritonaudit import Case, Subject

BLOCK = 16


@triton.jit
def pool_kernel(
    value_ptr,
    query_ptr,
    offset_ptr,
    keep_ptr,
    out_ptr,
    lse_ptr,
    scale,
    heads,
    depth,
    value_token_stride,
    value_head_stride,
    value_stride,
    query_head_stride,
    query_stride,
    offset_stride,
    keep_stride,
    BLOCK: tl.constexpr,
    DEPTH: tl.constexpr,
):
    program = tl.program_id(0).to(tl.int64)
    segment = program // heads
    head = program % heads
    begin = tl.load(offset_ptr + segment * offset_stride).to(tl.int64)
    end = tl.load(offset_ptr + (segment + 1) * offset_stride).to(tl.int64)
    at = tl.arange(0, DEPTH).to(tl.int64)
    inside = at < depth
    query = tl.load(query_ptr + head * query_head_stride + at * query_stride, mask=inside, other=0.0).to(tl.float32)
    peak = tl.full((), float("-inf"), tl.float32)
    total = tl.zeros((), tl.float32)
    count = tl.zeros((), tl.int64)
    pooled = tl.zeros((DEPTH,), tl.float32)
    for i in range((end - begin + BLOCK - 1) // BLOCK):
        token = begin + tl.cast(i, tl.int64) * BLOCK + tl.arange(0, BLOCK)
        kept = tl.load(keep_ptr + token * keep_stride, mask=token < end, other=0) != 0
        value = tl.load(
            value_ptr + token[:, None] * value_token_stride + head * value_head_stride + at[None, :] * value_stride,
            mask=kept[:, None] & inside[None, :],
            other=0.0,
        ).to(tl.float32)
        score = tl.where(kept, tl.sum(value * query[None, :], axis=1) * scale, float("-inf"))
        new_peak = tl.maximum(peak, tl.max(score, axis=0))
        # Before the first token that is kept the peak is -inf, and -inf - -inf would be NaN.
        origin = tl.where(new_peak == float("-inf"), 0.0, new_peak)
        weight = tl.exp(score - origin)
        shrink = tl.exp(peak - origin)
        total = total * shrink + tl.sum(weight, axis=0)
        pooled = pooled * shrink + tl.sum(weight[:, None] * value, axis=0)
        count += tl.sum(kept.to(tl.int64), axis=0)
        peak = new_peak
    some = count > 0
    result = tl.where(some, pooled / tl.where(some, total, 1.0), 0.0)
    origin = tl.where(peak == float("-inf"), 0.0, peak)
    lse = tl.where(some, origin + tl.log(total), float("-inf"))
    tl.store(out_ptr + program * depth + at, result.to(out_ptr.dtype.element_ty), mask=inside)
    tl.store(lse_ptr + program, lse)


def jagged_attention_pool(
    values: torch.Tensor, queries: torch.Tensor, offsets: torch.Tensor, keep: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """values, (tokens, heads, depth), queries, (heads, depth), both float32 or both float16, offsets, (segments + 1,),
    int32 or int64, from 0 to tokens, keep, (tokens,), bool: (segments, heads, depth) in the dtype of values, and the
    logarithms of the sums of exponentials, (segments, heads), in float32. Segments with no token kept have 0 and
    -inf."""
    if values.ndim != 3 or queries.shape != values.shape[1:] or offsets.ndim != 1 or len(offsets) == 0:
        raise ValueError("shapes do not fit")
    if values.dtype not in (torch.float32, torch.float16) or queries.dtype != values.dtype:
        raise ValueError("values and queries are both float32 or both float16")
    if offsets.dtype not in (torch.int32, torch.int64) or keep.dtype != torch.bool or keep.shape != values.shape[:1]:
        raise ValueError("offsets is int32 or int64, and keep is bool, one for each token")
    _, heads, depth = values.shape
    if not 1 <= depth <= 1024:
        raise ValueError("the depth is from 1 to 1024")
    segments = len(offsets) - 1
    programs = segments * heads
    if programs >= 2**31:
        raise ValueError("too many segments for a grid")
    out = torch.empty((segments, heads, depth), dtype=values.dtype, device=values.device)
    lse = torch.empty((segments, heads), dtype=torch.float32, device=values.device)
    if programs:
        pool_kernel[(programs,)](
            values,
            queries,
            offsets,
            keep.view(torch.uint8),
            out,
            lse,
            depth**-0.5,
            heads,
            depth,
            *values.stride(),
            *queries.stride(),
            *offsets.stride(),
            *keep.stride(),
            BLOCK=BLOCK,
            DEPTH=triton.next_power_of_2(depth),
        )
    return out, lse


def reference(
    values: torch.Tensor, queries: torch.Tensor, offsets: torch.Tensor, keep: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    _, heads, depth = values.shape
    segments = len(offsets) - 1
    out = torch.zeros((segments, heads, depth), dtype=torch.float64, device=values.device)
    lse = torch.full((segments, heads), float("-inf"), dtype=torch.float64, device=values.device)
    bounds = offsets.tolist()
    for s in range(segments):
        chosen = values[bounds[s] : bounds[s + 1]][keep[bounds[s] : bounds[s + 1]]].double()
        if len(chosen):
            scores = (chosen * queries.double()).sum(2) / depth**0.5
            out[s] = (torch.softmax(scores, 0)[:, :, None] * chosen).sum(0)
            peak = scores.amax(0)
            peak = torch.where(peak == float("-inf"), 0.0, peak)
            lse[s] = peak + torch.exp(scores - peak).sum(0).log()
    return out.to(values.dtype), lse.float()


def inputs(case: Case) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Segments of random lengths, 0 among them; a quarter of the tokens is not kept, with an odd seed all of the first
    20 of each segment, and those are NaN."""
    segments, heads, depth = case["segments"], case["heads"], case["depth"]
    dtype = torch.float16 if case["half"] else torch.float32
    generator = torch.Generator().manual_seed(case.seed)
    lengths = torch.randint(0, 2 * case["length"] + 1, (segments,), generator=generator)
    lengths[3::4] = 0
    offsets = torch.zeros(segments + 1, dtype=torch.int64)
    offsets[1:] = lengths.cumsum(0)
    tokens = int(offsets[-1])
    values = torch.randn((tokens, heads, depth), generator=generator).to(dtype)
    queries = torch.randn((heads, depth), generator=generator).to(dtype)
    keep = torch.rand(tokens, generator=generator) < 0.75
    if case.seed % 2:
        for begin in offsets[:-1].tolist():
            keep[begin : begin + 20] = False
        values[~keep] = float("nan")
    if case["long"] == 0:
        offsets = offsets.int()
    return values.to(case.device), queries.to(case.device), offsets.to(case.device), keep.to(case.device)


pooled = Subject(
    jagged_attention_pool,
    reference=reference,
    inputs=inputs,
    name="jagged_attention_pool",
    sizes={
        "segments": [4, 1, 7],
        "length": [16, 1, 50],
        "heads": [2, 1, 3],
        "depth": [32, 1, 20],
        "half": [0, 1],
        "long": [0, 1],
    },
    dtypes=["float32"],
)
