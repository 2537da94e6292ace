"""The row swaps that an LU factorisation noted are applied to a matrix, one after the other, in place.

It looks suspicious: the kernel reads rows that it has just written, the input is changed and given back, and there is
no arithmetic, no barrier and no second buffer. It is fair: to change the matrix is the contract, a program owns its
columns for all rows, and each lane reads and writes only its own column, in the order of the program, so that no lane
depends on another one.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def swap_kernel(x_ptr, pivots_ptr, rows, cols, row_stride, col_stride, pivot_stride, BLOCK: tl.constexpr):
    col = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = col < cols
    at = x_ptr + col * col_stride
    for step in range(0, rows):
        row = tl.cast(step, tl.int64)
        other = tl.load(pivots_ptr + row * pivot_stride).to(tl.int64)
        if other != row:
            here = tl.load(at + row * row_stride, mask=mask)
            there = tl.load(at + other * row_stride, mask=mask)
            tl.store(at + row * row_stride, there, mask=mask)
            tl.store(at + other * row_stride, here, mask=mask)


def swap_rows(x, pivots):
    """x, (rows, cols), is changed: for each row in turn, it and the row pivots[row], 0 to below rows, change places."""
    if x.ndim != 2 or pivots.shape != x.shape[:1] or pivots.dtype != torch.int64:
        raise ValueError("x is (rows, cols), and pivots are (rows), int64")
    if any(size > 1 and stride == 0 for size, stride in zip(x.shape, x.stride())):
        raise ValueError("the elements of x have memory of their own")
    if x.numel():
        grid = (triton.cdiv(x.shape[1], 128),)
        swap_kernel[grid](x, pivots, x.shape[0], x.shape[1], *x.stride(), pivots.stride(0), BLOCK=128)
    return x


def reference(x, pivots):
    for row, other in enumerate(pivots.tolist()):
        x[[row, other]] = x[[other, row]]
    return x


swaps = Subject(
    swap_rows,
    reference=reference,
    inputs=[Tensor("rows", "cols"), Tensor("rows", dtype="int64", low=0, high="rows")],
    mutates=["x"],
    sizes={"rows": [16, 1, 37], "cols": [128, 1, 200, 0]},
)
