"""A vertical filter of three taps that are two rows apart; zeros beyond the edges."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def filter_kernel(x_ptr, taps_ptr, out_ptr, rows, columns, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    r = tl.program_id(0).to(tl.int64) * BLOCK_R + tl.arange(0, BLOCK_R)
    c = tl.program_id(1).to(tl.int64) * BLOCK_C + tl.arange(0, BLOCK_C)
    in_columns = (c < columns)[None, :]
    inside = (r < rows)[:, None] & in_columns
    above_mask = ((r >= 2) & (r - 2 < rows))[:, None] & in_columns
    below_mask = (r + 1 < rows)[:, None] & in_columns
    above = tl.load(x_ptr + (r - 2)[:, None] * columns + c[None, :], mask=above_mask, other=0.0).to(tl.float32)
    x = tl.load(x_ptr + r[:, None] * columns + c[None, :], mask=inside, other=0.0).to(tl.float32)
    below = tl.load(x_ptr + (r + 2)[:, None] * columns + c[None, :], mask=below_mask, other=0.0).to(tl.float32)  # fault: load out of bounds: a halo of two rows, a mask for one
    y = above * tl.load(taps_ptr) + x * tl.load(taps_ptr + 1) + below * tl.load(taps_ptr + 2)
    tl.store(out_ptr + r[:, None] * columns + c[None, :], y, mask=inside)


def vertical_filter(x, taps):
    x, taps = x.contiguous(), taps.contiguous()
    rows, columns = x.shape
    out = torch.empty(x.shape, device=x.device, dtype=torch.float32)
    if x.numel() > 0:
        filter_kernel[(triton.cdiv(rows, 16), triton.cdiv(columns, 64))](
            x, taps, out, rows, columns, BLOCK_R=16, BLOCK_C=64
        )
    return out


def reference(x, taps):
    padded = torch.nn.functional.pad(x, (0, 0, 2, 2))
    rows = x.shape[0]
    return padded[:rows] * taps[0] + padded[2 : rows + 2] * taps[1] + padded[4 : rows + 4] * taps[2]


filtered = Subject(
    vertical_filter, reference=reference, inputs=[Tensor("rows", "columns"), Tensor(3)], dtypes=["float32"]
)
