"""Float8 (e4m3) numbers with a scale for each square tile; programs go on from tile to tile until there are none."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

TILE = 64
CHUNK = 16
PROGRAMS = 4


@triton.jit
def tile_kernel(
    x_ptr,
    out_ptr,
    scale_ptr,
    m,
    n,
    tiles,
    col_tiles,
    row_stride,
    col_stride,
    TILE: tl.constexpr,
    CHUNK: tl.constexpr,
):
    for number in range(tl.program_id(0), tiles, tl.num_programs(0)):
        peak = tl.zeros((CHUNK, TILE), tl.float32)
        tile = tl.cast(number, tl.int64)
        row_begin = tile // col_tiles * TILE
        cols = tile % col_tiles * TILE + tl.arange(0, TILE)
        for i in range(TILE // CHUNK):
            rows = row_begin + i * CHUNK + tl.arange(0, CHUNK)
            inside = (rows[:, None] < m) & (cols[None, :] < n)
            x = tl.load(x_ptr + rows[:, None] * row_stride + cols[None, :] * col_stride, mask=inside, other=0.0).to(
                tl.float32
            )
            size = tl.abs(x)
            # NaN and infinity do not count for the scale.
            peak = tl.maximum(peak, tl.where(size < float("inf"), size, 0.0))
        highest = tl.max(tl.max(peak, axis=1), axis=0)
        scale = tl.maximum(tl.div_rn(highest, 448.0), 1e-12)
        tl.store(scale_ptr + tile, scale)
        for i in range(TILE // CHUNK):
            rows = row_begin + i * CHUNK + tl.arange(0, CHUNK)
            written = (rows[:, None] < m) & (cols[None, :] < n)
            x = tl.load(x_ptr + rows[:, None] * row_stride + cols[None, :] * col_stride, mask=written, other=0.0).to(
                tl.float32
            )
            scaled = tl.div_rn(x, tl.zeros_like(x) + scale)
            size = tl.abs(scaled)
            size = tl.where(size > 448.0, 448.0, size)
            # Rounded here to what the format holds, half to even, the conversion is exact on every device: a step is
            # 2^-3 of the leading bit, and 2^-9 for all below 2^-6. Adding 1.5 * 2^23 leaves no bits below 1.
            exponent = tl.maximum(size.to(tl.int32, bitcast=True) >> 23, 121)
            step = ((exponent - 3) << 23).to(tl.float32, bitcast=True)
            rounded = (tl.div_rn(size, step) + 12582912.0 - 12582912.0) * step
            value = tl.where(scaled.to(tl.int32, bitcast=True) < 0, -rounded, rounded)
            out_at = rows[:, None] * n + cols[None, :]
            code = value.to(tl.float8e4nv).to(tl.uint8, bitcast=True)
            code = tl.where(scaled == scaled, code, 0x7F).to(tl.uint8)
            tl.store(out_ptr + out_at, code, mask=written)


def tile_fp8(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """x, (m, n): the same in float8_e4m3fn, divided by scales, float32, one for each tile of 64 by 64: the tile's
    greatest magnitude by 448, at least 1e-12. Infinity becomes 448, NaN stays."""
    if x.ndim != 2:
        raise ValueError("x has two dimensions")
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("x is float32, float16 or bfloat16")
    m, n = x.shape
    row_tiles, col_tiles = triton.cdiv(m, TILE), triton.cdiv(n, TILE)
    out = torch.empty((m, n), dtype=torch.float8_e4m3fn, device=x.device)
    scales = torch.empty((row_tiles, col_tiles), dtype=torch.float32, device=x.device)
    tiles = row_tiles * col_tiles
    if tiles >= 2**30:
        raise ValueError("too many tiles")
    if tiles:
        tile_kernel[(min(tiles, PROGRAMS),)](
            x, out.view(torch.uint8), scales, m, n, tiles, col_tiles, *x.stride(), TILE=TILE, CHUNK=CHUNK
        )
    return out, scales


def reference(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    m, n = x.shape
    row_tiles, col_tiles = (m + 63) // 64, (n + 63) // 64
    wide = torch.zeros((row_tiles * 64, col_tiles * 64), dtype=torch.float32, device=x.device)
    wide[:m, :n] = x.float()
    tiles = wide.reshape(row_tiles, 64, col_tiles, 64)
    size = torch.where(torch.isfinite(tiles), tiles.abs(), 0.0)
    scales = (size.amax((1, 3)) / 448.0).clamp(min=1e-12)
    scaled = (tiles / scales[:, None, :, None]).clamp(-448.0, 448.0).reshape(row_tiles * 64, col_tiles * 64)
    return scaled[:m, :n].contiguous().to(torch.float8_e4m3fn), scales


tiled = Subject(
    tile_fp8,
    reference=reference,
    inputs=[Tensor("m", "n")],
    name="tile_fp8",
    sizes={"m": [128, 1, 50, 200, 0], "n": [64, 1, 50, 130]},
    dtypes=["float32", "float16", "bfloat16"],
)
