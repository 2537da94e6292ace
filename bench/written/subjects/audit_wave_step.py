"""A step in time of the wave equation with a speed for each place, periodic across and reflecting at top and bottom."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

BLOCK_Y = 8
BLOCK_X = 32
DAMPING = 0.0625


@triton.jit
def wave_kernel(
    now_ptr,
    before_ptr,
    speed_ptr,
    next_ptr,
    height,
    width,
    now_batch_stride,
    now_row_stride,
    now_col_stride,
    before_batch_stride,
    before_row_stride,
    before_col_stride,
    speed_row_stride,
    speed_col_stride,
    DAMPING: tl.constexpr,
    WIDE: tl.constexpr,
    BLOCK_Y: tl.constexpr,
    BLOCK_X: tl.constexpr,
):
    tiles_x = tl.cdiv(width, BLOCK_X)
    tiles = tl.cdiv(height, BLOCK_Y) * tiles_x
    batch = (tl.program_id(0) // tiles).to(tl.int64)
    tile = tl.program_id(0) % tiles
    row = (tile // tiles_x).to(tl.int64) * BLOCK_Y + tl.arange(0, BLOCK_Y)[:, None]
    col = (tile % tiles_x).to(tl.int64) * BLOCK_X + tl.arange(0, BLOCK_X)[None, :]
    mask = (row < height) & (col < width)
    # What is beyond the top or the bottom is the edge's own row again; left of the first column is the last one.
    above = tl.maximum(row - 1, 0)
    below = tl.minimum(row + 1, height - 1)
    left = tl.where(col == 0, width - 1, col - 1)
    right = tl.where(col == width - 1, 0, col + 1)
    now = now_ptr + batch * now_batch_stride
    middle = tl.load(now + row * now_row_stride + col * now_col_stride, mask=mask, other=0.0).to(WIDE)
    north = tl.load(now + above * now_row_stride + col * now_col_stride, mask=mask, other=0.0).to(WIDE)
    south = tl.load(now + below * now_row_stride + col * now_col_stride, mask=mask, other=0.0).to(WIDE)
    west = tl.load(now + row * now_row_stride + left * now_col_stride, mask=mask, other=0.0).to(WIDE)
    east = tl.load(now + row * now_row_stride + right * now_col_stride, mask=mask, other=0.0).to(WIDE)
    before_at = batch * before_batch_stride + row * before_row_stride + col * before_col_stride
    before = tl.load(before_ptr + before_at, mask=mask, other=0.0).to(WIDE)
    speed = tl.load(speed_ptr + row * speed_row_stride + col * speed_col_stride, mask=mask, other=0.0).to(WIDE)
    around = (north + south) + (west + east) - 4.0 * middle
    after = middle + (1.0 - DAMPING) * (middle - before) + speed * speed * around
    tl.store(next_ptr + (batch * height + row) * width + col, after, mask=mask)


def wave_step(now: torch.Tensor, before: torch.Tensor, speed: torch.Tensor) -> torch.Tensor:
    """now and before, (batch, height, width), and speed, (height, width), all of one dtype: what comes after now."""
    if now.ndim != 3 or before.shape != now.shape or speed.shape != now.shape[1:]:
        raise ValueError("now and before are (batch, height, width), and speed is (height, width)")
    if now.dtype not in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("now is of floating point, 16 to 64 bits")
    if any(other.dtype != now.dtype or other.device != now.device for other in (before, speed)):
        raise ValueError("all have one dtype, and lie on one device")
    batch, height, width = now.shape
    programs = batch * triton.cdiv(height, BLOCK_Y) * triton.cdiv(width, BLOCK_X)
    if programs >= 2**31:
        raise ValueError("too large")
    after = torch.empty((batch, height, width), dtype=now.dtype, device=now.device)
    if programs:
        wave_kernel[(programs,)](
            now,
            before,
            speed,
            after,
            height,
            width,
            *now.stride(),
            *before.stride(),
            *speed.stride(),
            DAMPING=DAMPING,
            WIDE=tl.float64 if now.dtype == torch.float64 else tl.float32,
            BLOCK_Y=BLOCK_Y,
            BLOCK_X=BLOCK_X,
        )
    return after


def reference(now: torch.Tensor, before: torch.Tensor, speed: torch.Tensor) -> torch.Tensor:
    wide = torch.promote_types(now.dtype, torch.float32)
    u, b, c = now.to(wide), before.to(wide), speed.to(wide)
    if not u.numel():
        return torch.empty(now.shape, dtype=now.dtype, device=now.device)
    north, south = torch.cat([u[:, :1], u[:, :-1]], dim=1), torch.cat([u[:, 1:], u[:, -1:]], dim=1)
    around = (north + south) + (u.roll(1, dims=2) + u.roll(-1, dims=2)) - 4 * u
    return (u + (1 - DAMPING) * (u - b) + c * c * around).to(now.dtype)


wave = Subject(
    wave_step,
    reference=reference,
    inputs=[Tensor("batch", "height", "width"), Tensor("batch", "height", "width"), Tensor("height", "width")],
    name="wave_step",
    sizes={"batch": [2, 1, 0], "height": [16, 1, 2, 21], "width": [32, 1, 2, 45]},
    dtypes=["float32", "float16", "bfloat16", "float64"],
)
