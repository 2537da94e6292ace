"""Numbers of four bits, two a byte, with a scale and a lowest value for every 32 of a row: what a KV cache may hold."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

GROUP = 32
BLOCK_ROWS = 16
LARGEST = torch.finfo(torch.float32).max


@triton.jit
def load_finite(ptr, mask, LARGEST: tl.constexpr):
    x = tl.load(ptr, mask=mask, other=0.0).to(tl.float32)
    x = tl.where(x == x, x, 0.0)
    return tl.where(x > LARGEST, LARGEST, tl.where(x < -LARGEST, -LARGEST, x))


@triton.jit
def to_code(x, low, scale):
    flat = scale == 0.0
    scale = tl.where(flat, 1.0, scale)
    steps = tl.floor(tl.div_rn(x, scale) - tl.div_rn(low, scale) + 0.5)
    return tl.where(flat, 0.0, tl.minimum(tl.maximum(steps, 0.0), 15.0)).to(tl.int32)


@triton.jit
def quantise_kernel(
    x_ptr,
    packed_ptr,
    scale_ptr,
    low_ptr,
    rows,
    cols,
    x_row_stride,
    x_col_stride,
    GROUP: tl.constexpr,
    LARGEST: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
):
    groups = tl.cdiv(cols, GROUP)
    group = (tl.program_id(0) % groups).to(tl.int64)
    row = (tl.program_id(0) // groups).to(tl.int64) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    row_mask = row < rows
    byte = group * (GROUP // 2) + tl.arange(0, GROUP // 2)
    mask_a = row_mask[:, None] & (byte * 2 < cols)[None, :]
    mask_b = row_mask[:, None] & (byte * 2 + 1 < cols)[None, :]
    x_at = x_ptr + row[:, None] * x_row_stride + byte[None, :] * 2 * x_col_stride
    a = load_finite(x_at, mask_a, LARGEST)
    b = load_finite(x_at + x_col_stride, mask_b, LARGEST)
    lowest = tl.minimum(tl.where(mask_a, a, LARGEST), tl.where(mask_b, b, LARGEST))
    highest = tl.maximum(tl.where(mask_a, a, -LARGEST), tl.where(mask_b, b, -LARGEST))
    low = tl.min(lowest, axis=1)
    high = tl.max(highest, axis=1)
    # The difference of the two may be more than the largest number.
    scale = tl.div_rn(high, 15.0) - tl.div_rn(low, 15.0)
    code_a = to_code(a, low[:, None], scale[:, None])
    code_b = tl.where(mask_b, to_code(b, low[:, None], scale[:, None]), 0)
    packed_at = row[:, None] * tl.cdiv(cols, 2) + byte[None, :]
    tl.store(packed_ptr + packed_at, (code_a | (code_b << 4)).to(tl.uint8), mask=mask_a)
    tl.store(scale_ptr + row * groups + group, scale, mask=row_mask)
    tl.store(low_ptr + row * groups + group, low, mask=row_mask)


def int4_groups(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """x, (rows, cols): bytes (rows, ceil(cols / 2)), the even column in the lower half; and in float32, for each group
    of 32 columns, the last one maybe shorter, scale and lowest value, (rows, ceil(cols / 32)).

    A code is (x - lowest) / scale, rounded, halves up. NaN counts as 0, an infinity as the largest float32."""
    if x.ndim != 2:
        raise ValueError("x has two dimensions")
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("x is float32, float16 or bfloat16")
    rows, cols = x.shape
    groups = triton.cdiv(cols, GROUP)
    packed = torch.empty((rows, triton.cdiv(cols, 2)), dtype=torch.uint8, device=x.device)
    scale = torch.empty((rows, groups), dtype=torch.float32, device=x.device)
    low = torch.empty((rows, groups), dtype=torch.float32, device=x.device)
    if x.numel():
        quantise_kernel[(triton.cdiv(rows, BLOCK_ROWS) * groups,)](
            x,
            packed,
            scale,
            low,
            rows,
            cols,
            *x.stride(),
            GROUP=GROUP,
            LARGEST=LARGEST,
            BLOCK_ROWS=BLOCK_ROWS,
        )
    return packed, scale, low


def reference(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    rows, cols = x.shape
    groups = -(-cols // GROUP)
    x = torch.nan_to_num(x.to(torch.float32)).clamp(-LARGEST, LARGEST)
    # The last group is filled up with copies of its last element, which change neither end of its range.
    x = x[:, torch.arange(groups * GROUP, device=x.device).clamp(max=cols - 1)].reshape(rows, groups, GROUP)
    low, high = x.amin(dim=2), x.amax(dim=2)
    fifteen = torch.full_like(low, 15.0)
    scale = high / fifteen - low / fifteen
    divisor = torch.where(scale == 0, 1.0, scale)[:, :, None]
    steps = torch.floor(x / divisor - low[:, :, None] / divisor + 0.5).clamp(0, 15)
    codes = torch.where(scale[:, :, None] == 0, 0, steps.to(torch.int32)).reshape(rows, groups * GROUP)
    codes[:, cols:] = 0
    packed = (codes[:, 0::2] | (codes[:, 1::2] << 4))[:, : -(-cols // 2)]
    return packed.to(torch.uint8), scale, low


quantised = Subject(
    int4_groups,
    reference=reference,
    inputs=[Tensor("rows", "cols")],
    name="int4_groups",
    sizes={"rows": [16, 1, 21, 0], "cols": [64, 1, 45, 150]},
)
