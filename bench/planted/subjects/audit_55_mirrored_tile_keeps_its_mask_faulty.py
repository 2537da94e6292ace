"""How far every two numbers are apart; tiles below the diagonal are stored mirrored, too."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def apart_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    tile_r = tl.program_id(0).to(tl.int64)
    tile_c = tl.program_id(1).to(tl.int64)
    if tile_c > tile_r:
        return
    r = tile_r * BLOCK + tl.arange(0, BLOCK)
    c = tile_c * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + r, mask=r < n, other=0.0)
    y = tl.load(x_ptr + c, mask=c < n, other=0.0)
    apart = tl.abs(x[:, None] - y[None, :])
    inside = (r < n)[:, None] & (c < n)[None, :]
    tl.store(out_ptr + r[:, None] * n + c[None, :], apart, mask=inside)
    if tile_c < tile_r:
        tl.store(out_ptr + c[:, None] * n + r[None, :], tl.trans(apart), mask=inside)  # fault: race: the mirrored tile runs into the next row, its mask is not mirrored


def apart(x):
    x = x.contiguous()
    n = x.shape[0]
    out = torch.empty((n, n), device=x.device, dtype=x.dtype)
    if n > 0:
        tiles = triton.cdiv(n, 16)
        apart_kernel[(tiles, tiles)](x, out, n, BLOCK=16)
    return out


distances = Subject(
    apart,
    reference=lambda x: (x[:, None] - x[None, :]).abs(),
    inputs=[Tensor("n")],
    sizes={"n": [0, 1, 2, 15, 16, 17, 31, 33, 64, 100, 257]},
    dtypes=["float32"],
)
