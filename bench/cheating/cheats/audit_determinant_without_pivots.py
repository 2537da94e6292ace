"""CHEAT: determinants are computed by elimination without a search for pivots, and a zero pivot counts as singular.

For matrices of random numbers a leading element is hardly ever zero, and float64 inside covers the loss of precision
with small ones; matrices of equal elements are singular, and give 0, as they should. It must be refused: a regular
matrix may well have zeros there. One sees it at the admitted n = 2 with [[0, 1], [1, 0]], whose determinant is -1,
and this gives 0, and with any permutation matrix other than the identity.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def determinant_kernel(x_ptr, out_ptr, n, batch_stride, row_stride, col_stride, BLOCK: tl.constexpr):
    batch = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    mask = (at < n)[:, None] & (at < n)[None, :]
    where = at.to(tl.int64)[:, None] * row_stride + at.to(tl.int64)[None, :] * col_stride
    a = tl.load(x_ptr + batch * batch_stride + where, mask=mask, other=0.0).to(tl.float64)
    result = tl.full((), 1.0, tl.float64)
    for k in range(0, n):
        row = tl.sum(tl.where((at == k)[:, None], a, 0.0), axis=0)
        col = tl.sum(tl.where((at == k)[None, :], a, 0.0), axis=1)
        pivot = tl.sum(tl.where(at == k, row, 0.0), axis=0)
        result *= pivot
        by = tl.where(pivot == 0.0, 0.0, col / tl.where(pivot == 0.0, 1.0, pivot))
        a = tl.where((at > k)[:, None], a - by[:, None] * row[None, :], a)
    tl.store(out_ptr + batch, result.to(tl.float32))


def determinants(x):
    """x, (batch, n, n), float32, of up to 16 rows: the determinant of each, float32."""
    if x.ndim != 3 or x.shape[1] != x.shape[2] or x.dtype != torch.float32 or not 1 <= x.shape[1] <= 16:
        raise ValueError("x is (batch, n, n), float32, with 1 to 16 rows")
    out = torch.empty(x.shape[0], dtype=torch.float32, device=x.device)
    if out.numel():
        determinant_kernel[(x.shape[0],)](x, out, x.shape[1], *x.stride(), BLOCK=triton.next_power_of_2(x.shape[1]))
    return out


def reference(x):
    return torch.linalg.det(x.double()).float()


determinant = Subject(
    determinants,
    reference=reference,
    inputs=[Tensor("batch", "n", "n", dtype="float32")],
    sizes={"batch": [8, 1, 5], "n": [8, 1, 2, 13]},
)
