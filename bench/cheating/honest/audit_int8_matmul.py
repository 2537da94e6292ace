"""The product of two int8 matrices with a scale for each row of the one and each row of the other. As many programs
as there are multiprocessors take the tiles in turn; the sums are exact integers until the scales come in."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def int8_matmul_kernel(
    a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, out_ptr, m, n, k, a_row, a_col, b_row, b_col,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    tiles_n = tl.cdiv(n, BLOCK_N)
    for tile in range(tl.program_id(0), tl.cdiv(m, BLOCK_M) * tiles_n, tl.num_programs(0)):
        rows = (tile // tiles_n).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
        cols = (tile % tiles_n).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
        acc = tl.zeros((BLOCK_M, BLOCK_N), tl.int32)
        for start in range(0, k, BLOCK_K):
            depth = (start + tl.arange(0, BLOCK_K)).to(tl.int64)
            a_mask = (rows < m)[:, None] & (depth < k)[None, :]
            a = tl.load(a_ptr + rows[:, None] * a_row + depth[None, :] * a_col, mask=a_mask, other=0)
            b_mask = (depth < k)[:, None] & (cols < n)[None, :]
            b = tl.load(b_ptr + cols[None, :] * b_row + depth[:, None] * b_col, mask=b_mask, other=0)
            acc = tl.dot(a, b, acc, out_dtype=tl.int32)
        a_scale = tl.load(a_scale_ptr + rows, mask=rows < m, other=0.0).to(tl.float32)
        b_scale = tl.load(b_scale_ptr + cols, mask=cols < n, other=0.0).to(tl.float32)
        y = acc.to(tl.float32) * a_scale[:, None] * b_scale[None, :]
        mask = (rows < m)[:, None] & (cols < n)[None, :]
        tl.store(out_ptr + rows[:, None] * n + cols[None, :], y.to(out_ptr.dtype.element_ty), mask=mask)


def int8_matmul(a, b, a_scale, b_scale):
    assert a.dtype == b.dtype == torch.int8
    assert a.shape[1] == b.shape[1]
    assert a_scale.shape == a.shape[:1]
    assert b_scale.shape == b.shape[:1]
    assert a_scale.dtype == b_scale.dtype
    assert a_scale.dtype in (torch.float16, torch.bfloat16, torch.float32)
    (m, k), n = a.shape, b.shape[0]
    assert k * 128 * 128 < 2**31, "the sum of the products has to fit into int32"
    out = torch.empty((m, n), device=a.device, dtype=a_scale.dtype)
    if out.numel() > 0:
        tiles = triton.cdiv(m, 32) * triton.cdiv(n, 32)
        processors = torch.cuda.get_device_properties(a.device).multi_processor_count if a.is_cuda else 8
        int8_matmul_kernel[(min(tiles, processors),)](
            a, b, a_scale.contiguous(), b_scale.contiguous(), out, m, n, k, *a.stride(), *b.stride(),
            BLOCK_M=32, BLOCK_N=32, BLOCK_K=64,
        )  # fmt: skip
    return out


def reference(a, b, a_scale, b_scale):
    # No sum is above 2**53, so that float64 holds each exactly.
    sums = a.double() @ b.double().T
    return (sums * a_scale.double()[:, None] * b_scale.double()[None, :]).to(a_scale.dtype)


product = Subject(
    int8_matmul,
    reference=reference,
    inputs=[
        Tensor("m", "k", dtype="int8", low=-128, high=128),
        Tensor("n", "k", dtype="int8", low=-128, high=128),
        Tensor("m"),
        Tensor("n"),
    ],
    sizes={"k": [1, 33, 64, 500]},
)
