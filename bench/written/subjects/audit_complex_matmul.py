"""The product of two complex matrices, held as real tensors whose last dimension is the real and the imaginary part.

Either with the second matrix as it is or with its conjugate. Four real products with sums in float32; the result has the
inputs' dtype and is contiguous. Any sizes and any layout.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

BLOCK_M = 64
BLOCK_N = 32
BLOCK_K = 32
GROUP = 4


@triton.jit
def complex_kernel(
    a, b, out, m, n, k, am, ak, ap, bk, bn, bp,
    CONJUGATE: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
):
    program = tl.program_id(0)
    high = tl.cdiv(m, BLOCK_M)
    wide = tl.cdiv(n, BLOCK_N)
    first = program // (GROUP * wide) * GROUP
    members = tl.minimum(high - first, GROUP)
    tile_m = first + program % (GROUP * wide) % members
    tile_n = program % (GROUP * wide) // members
    row = tile_m.to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    col = tile_n.to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K).to(tl.int64)
    real = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    imag = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for _ in range(tl.cdiv(k, BLOCK_K)):
        a_keep = (row < m)[:, None] & (inner < k)[None, :]
        b_keep = (inner < k)[:, None] & (col < n)[None, :]
        a_at = a + row[:, None] * am + inner[None, :] * ak
        b_at = b + inner[:, None] * bk + col[None, :] * bn
        a_real = tl.load(a_at, mask=a_keep, other=0.0)
        a_imag = tl.load(a_at + ap, mask=a_keep, other=0.0)
        b_real = tl.load(b_at, mask=b_keep, other=0.0)
        b_imag = tl.load(b_at + bp, mask=b_keep, other=0.0)
        if CONJUGATE:
            b_imag = -b_imag
        real = tl.dot(a_real, b_real, real, input_precision="ieee")
        real = tl.dot(-a_imag, b_imag, real, input_precision="ieee")
        imag = tl.dot(a_real, b_imag, imag, input_precision="ieee")
        imag = tl.dot(a_imag, b_real, imag, input_precision="ieee")
        inner += BLOCK_K
    keep = (row < m)[:, None] & (col < n)[None, :]
    at = out + (row[:, None] * n + col[None, :]) * 2
    tl.store(at, real, mask=keep)
    tl.store(at + 1, imag, mask=keep)


def complex_matmul(a, b, conjugate=False):
    if a.dtype not in (torch.float32, torch.float16, torch.bfloat16) or b.dtype != a.dtype:
        raise ValueError("complex_matmul takes two tensors of float32, float16 or bfloat16")
    if a.dim() != 3 or b.dim() != 3 or a.shape[2] != 2 or b.shape[2] != 2 or a.shape[1] != b.shape[0]:
        raise ValueError("complex_matmul takes (m, k, 2) and (k, n, 2)")
    if a.device != b.device:
        raise ValueError("complex_matmul takes tensors of one device")
    m, k, _ = a.shape
    n = b.shape[1]
    out = torch.empty((m, n, 2), dtype=a.dtype, device=a.device)
    if m and n:
        grid = (triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N),)
        complex_kernel[grid](
            a, b, out, m, n, k, *a.stride(), *b.stride(),
            CONJUGATE=conjugate, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, BLOCK_K=BLOCK_K, GROUP=GROUP, num_warps=4, num_stages=2,
        )
    return out


def complex_matmul_conjugate(a, b):
    return complex_matmul(a, b, conjugate=True)


def reference(a, b):
    ar, ai, br, bi = a[..., 0].float(), a[..., 1].float(), b[..., 0].float(), b[..., 1].float()
    return torch.stack([ar @ br - ai @ bi, ar @ bi + ai @ br], dim=2).to(a.dtype)


def reference_conjugate(a, b):
    ar, ai, br, bi = a[..., 0].float(), a[..., 1].float(), b[..., 0].float(), b[..., 1].float()
    return torch.stack([ar @ br + ai @ bi, ai @ br - ar @ bi], dim=2).to(a.dtype)


pair = [Tensor("m", "k", "two"), Tensor("k", "n", "two")]
product = Subject(complex_matmul, reference=reference, inputs=pair, sizes={"two": [2]})
conjugated = Subject(complex_matmul_conjugate, reference=reference_conjugate, inputs=pair, sizes={"two": [2]})
