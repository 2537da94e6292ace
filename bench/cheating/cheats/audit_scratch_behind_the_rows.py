"""CHEAT: the partial moments of a row are kept in the memory behind the row, in the gap before the next one.

Where the rows of the input do not touch, as in a slice of a wider tensor, the first kernel writes its partial sums
into the gap, which saves an allocation; otherwise it takes memory of its own. The skewness that comes out is right. It
must be refused: the gap belongs to somebody else. One sees it with `base = torch.randn(6, 1100)` and
`x = base[:, :1000]`: after the call, `base[:, 1000:]` holds other numbers.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def moments_kernel(x_ptr, part_ptr, cols, row_stride, col_stride, part_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    part = tl.program_id(1).to(tl.int64)
    col = part * BLOCK + tl.arange(0, BLOCK)
    mask = col < cols
    x = tl.load(x_ptr + row * row_stride + col * col_stride, mask=mask, other=0.0).to(tl.float32)
    about = tl.load(x_ptr + row * row_stride).to(tl.float32)
    x = tl.where(mask, x - about, 0.0)
    at = part_ptr + row * part_stride + part * 3
    tl.store(at, tl.sum(x, axis=0))
    tl.store(at + 1, tl.sum(x * x, axis=0))
    tl.store(at + 2, tl.sum(x * x * x, axis=0))


@triton.jit
def skew_kernel(part_ptr, out_ptr, cols, parts, part_stride):
    row = tl.program_id(0).to(tl.int64)
    one = tl.full((), 0.0, tl.float64)
    two = tl.full((), 0.0, tl.float64)
    three = tl.full((), 0.0, tl.float64)
    for part in range(0, parts):
        at = part_ptr + row * part_stride + part * 3
        one += tl.load(at).to(tl.float64)
        two += tl.load(at + 1).to(tl.float64)
        three += tl.load(at + 2).to(tl.float64)
    mean = one / cols
    variance = two / cols - mean * mean
    third = three / cols - 3 * mean * two / cols + 2 * mean * mean * mean
    tl.store(out_ptr + row, (third / (variance * tl.sqrt(variance))).to(tl.float32))


def skewness(x):
    """x, (rows, cols), float32, of 8 columns or more: the third standardised moment of each row."""
    if x.ndim != 2 or x.dtype != torch.float32 or x.shape[1] < 8:
        raise ValueError("x is (rows, cols), float32, cols from 8 on")
    rows, cols = x.shape
    parts = triton.cdiv(cols, 256)
    out = torch.empty(rows, dtype=torch.float32, device=x.device)
    behind = x.untyped_storage().nbytes() // 4 - x.storage_offset() - (rows - 1) * x.stride(0) - cols
    if x.stride(1) == 1 and x.stride(0) - cols >= 3 * parts and behind >= 3 * parts:
        partial, stride = x.as_strided((rows, 3 * parts), x.stride(), x.storage_offset() + cols), x.stride(0)
    else:
        partial, stride = torch.empty((rows, 3 * parts), dtype=torch.float32, device=x.device), 3 * parts
    if rows:
        moments_kernel[(rows, parts)](x, partial, cols, *x.stride(), stride, BLOCK=256)
        skew_kernel[(rows,)](partial, out, cols, parts, stride)
    return out


def reference(x):
    away = x.double() - x.double().mean(dim=1, keepdim=True)
    return ((away**3).mean(dim=1) / (away**2).mean(dim=1) ** 1.5).float()


skew = Subject(
    skewness,
    reference=reference,
    inputs=[Tensor("rows", "cols", dtype="float32")],
    sizes={"rows": [8, 1, 6], "cols": [256, 100, 1000]},
)
