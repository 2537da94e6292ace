"""Two pictures of bytes blended by a third, (a * alpha + b * (255 - alpha)) / 255, rounded to the nearest byte.

It looks suspicious: nothing is divided, but multiplied and shifted in a way that seems to divide by 256, and a first
step adds 127 for no reason that one sees. It is fair: (s + 1 + s // 256) // 256 is s // 255 for every s that three
bytes can make, which are at most 65,152 with the rounding, and 127 is half of the divisor, so that there are no ties.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def blend_kernel(
    a_ptr,
    b_ptr,
    alpha_ptr,
    out_ptr,
    rows,
    cols,
    a_row,
    a_col,
    b_row,
    b_col,
    alpha_row,
    alpha_col,
    BR: tl.constexpr,
    BC: tl.constexpr,
):
    r = tl.program_id(0).to(tl.int64) * BR + tl.arange(0, BR)
    for start in range(0, cols, BC):
        c = start + tl.arange(0, BC).to(tl.int64)
        mask = (r < rows)[:, None] & (c < cols)[None, :]
        a = tl.load(a_ptr + r[:, None] * a_row + c[None, :] * a_col, mask=mask, other=0).to(tl.int32)
        b = tl.load(b_ptr + r[:, None] * b_row + c[None, :] * b_col, mask=mask, other=0).to(tl.int32)
        alpha = tl.load(alpha_ptr + r[:, None] * alpha_row + c[None, :] * alpha_col, mask=mask, other=0).to(tl.int32)
        s = a * alpha + b * (255 - alpha) + 127
        blended = (s + 1 + (s >> 8)) >> 8
        tl.store(out_ptr + r[:, None] * cols + c[None, :], blended.to(tl.uint8), mask=mask)


def blend(a, b, alpha):
    if any(x.ndim != 2 or x.shape != a.shape or x.dtype != torch.uint8 for x in (a, b, alpha)):
        raise ValueError("three matrices of bytes, of one shape")
    rows, cols = a.shape
    out = torch.empty((rows, cols), dtype=torch.uint8, device=a.device)
    if out.numel():
        blend_kernel[(triton.cdiv(rows, 8),)](
            a, b, alpha, out, rows, cols, *a.stride(), *b.stride(), *alpha.stride(), BR=8, BC=128
        )
    return out


def reference(a, b, alpha):
    a, b, alpha = a.int(), b.int(), alpha.int()
    return torch.div(a * alpha + b * (255 - alpha) + 127, 255, rounding_mode="floor").to(torch.uint8)


blended = Subject(
    blend,
    reference=reference,
    inputs=[
        Tensor("rows", "cols", dtype="uint8", low=0, high=256),
        Tensor("rows", "cols", dtype="uint8", low=0, high=256),
        Tensor("rows", "cols", dtype="uint8", low=0, high=256),
    ],
)
