"""Histograms of each row: how many values fall into a bin, half a unit wide, and what they weigh together.

Bins lie around 0, as many below as above; what is beyond them goes into the outermost, and NaN into none."""

import torch
import triton
import triton.language as tl

from tritonaudit import Case, Subject

BLOCK = 128


@triton.jit
def weighted_histogram_kernel(
    values_ptr,
    weights_ptr,
    counts_ptr,
    sums_ptr,
    cols,
    values_row_stride,
    values_col_stride,
    weights_row_stride,
    weights_col_stride,
    BINS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    tiles = tl.cdiv(cols, BLOCK)
    row = (tl.program_id(0) // tiles).to(tl.int64)
    col = (tl.program_id(0) % tiles).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = col < cols
    value = tl.load(values_ptr + row * values_row_stride + col * values_col_stride, mask=mask, other=float("nan"))
    value = value.to(tl.float32)
    weight = tl.load(weights_ptr + row * weights_row_stride + col * weights_col_stride, mask=mask, other=0.0)

    # Doubling and rounding down are exact, so that a value is in the same bin whatever the precision.
    place = tl.floor(value * 2.0)
    place = tl.minimum(tl.maximum(place, -BINS // 2), BINS // 2 - 1)
    bin_of = tl.where(value == value, place, -BINS).to(tl.int32) + BINS // 2
    bins = tl.arange(0, BINS)
    inside = bin_of[:, None] == bins[None, :]
    count = tl.sum(inside.to(tl.int32), axis=0)
    total = tl.sum(tl.where(inside, weight.to(tl.float32)[:, None], 0.0), axis=0)

    some = count > 0
    tl.atomic_add(counts_ptr + row * BINS + bins, count.to(tl.int64), mask=some)
    tl.atomic_add(sums_ptr + row * BINS + bins, total, mask=some)


def weighted_histogram(values: torch.Tensor, weights: torch.Tensor, bins: int) -> tuple[torch.Tensor, torch.Tensor]:
    """values and weights, (rows, columns); bins is a power of 2 from 2 to 256. Returns counts, int64, and sums of
    weights, float32, both (rows, bins)."""
    if values.shape != weights.shape:
        raise ValueError("each value wants one weight")
    if not 2 <= bins <= 256 or bins & (bins - 1):
        raise ValueError("the number of bins is a power of 2 from 2 to 256")
    rows, cols = values.shape
    counts = torch.zeros((rows, bins), dtype=torch.int64, device=values.device)
    sums = torch.zeros((rows, bins), dtype=torch.float32, device=values.device)
    if values.numel() > 0:
        weighted_histogram_kernel[(rows * triton.cdiv(cols, BLOCK),)](
            values, weights, counts, sums, cols, *values.stride(), *weights.stride(), BINS=bins, BLOCK=BLOCK
        )
    return counts, sums


def reference(values: torch.Tensor, weights: torch.Tensor, bins: int) -> tuple[torch.Tensor, torch.Tensor]:
    wide = torch.promote_types(values.dtype, torch.float32)
    values, weights = values.to(wide), weights.to(wide)
    there = ~values.isnan()
    place = (values * 2.0).floor().clamp(-bins // 2, bins // 2 - 1).nan_to_num(0.0).long() + bins // 2
    counts = torch.zeros((values.shape[0], bins), dtype=torch.int64, device=values.device)
    sums = torch.zeros((values.shape[0], bins), dtype=wide, device=values.device)
    counts.scatter_add_(1, place, there.long())
    sums.scatter_add_(1, place, weights.masked_fill(~there, 0.0))
    return counts, sums


def inputs(case: Case) -> tuple[object, ...]:
    """Values of which some lie beyond the bins and a few are NaN, and weights that are mostly positive."""
    shape = (case["rows"], case["cols"])
    generator = torch.Generator().manual_seed(case.seed)
    values = 3.0 * torch.randn(shape, generator=generator)
    values[torch.randint(20, shape, generator=generator) == 0] = float("nan")
    weights = 1.0 + torch.randn(shape, generator=generator)
    dtype = getattr(torch, case.dtype)
    return values.to(dtype).to(case.device), weights.to(dtype).to(case.device), case["bins"]


histogram = Subject(
    weighted_histogram,
    reference=reference,
    inputs=inputs,
    name="weighted_histogram",
    sizes={"rows": [4, 1, 3, 50, 0], "cols": [256, 1, 100, 129, 1000, 0], "bins": [16, 2, 32]},
)
