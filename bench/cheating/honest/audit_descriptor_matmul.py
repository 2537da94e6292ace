"""x @ weight.T by tensor descriptors. What a descriptor cannot describe, since its rows do not begin at multiples of
16 bytes, is packed into a wider buffer first."""
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from tritonaudit import Subject, Tensor


@triton.jit
def descriptor_matmul_kernel(
    x_desc, weight_desc, out_ptr, m, n, k, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    n_tiles = tl.cdiv(n, BLOCK_N)
    first_row = (tl.program_id(0) // n_tiles) * BLOCK_M
    first_column = (tl.program_id(0) % n_tiles) * BLOCK_N
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, k, BLOCK_K):
        x = x_desc.load([first_row, start])
        weight = weight_desc.load([first_column, start])
        acc = tl.dot(x, weight.T, acc, input_precision="ieee")
    rows = (first_row + tl.arange(0, BLOCK_M)).to(tl.int64)
    columns = first_column + tl.arange(0, BLOCK_N)
    mask = (rows < m)[:, None] & (columns < n)[None, :]
    tl.store(out_ptr + rows[:, None] * n + columns[None, :], acc.to(out_ptr.dtype.element_ty), mask=mask)


def describable(x):
    """`x`, or its rows in a buffer in which each of them begins at a multiple of 16 bytes."""
    lanes = 16 // x.element_size()
    if x.stride(1) == 1 and x.stride(0) % lanes == 0 and x.stride(0) >= x.shape[1] and x.data_ptr() % 16 == 0:
        return x
    packed = x.new_zeros((x.shape[0], x.shape[1] + -x.shape[1] % lanes))
    packed[:, : x.shape[1]] = x
    return packed


def linear(x, weight):
    assert x.ndim == weight.ndim == 2 and x.shape[1] == weight.shape[1]
    assert x.dtype == weight.dtype and x.dtype in (torch.float16, torch.bfloat16, torch.float32)
    (m, k), n = x.shape, weight.shape[0]
    out = torch.empty((m, n), device=x.device, dtype=x.dtype)
    if out.numel() == 0 or k == 0:
        return out.zero_()
    x, weight = describable(x), describable(weight)
    x_desc = TensorDescriptor(x, list(x.shape), list(x.stride()), [64, 32])
    weight_desc = TensorDescriptor(weight, list(weight.shape), list(weight.stride()), [64, 32])
    grid = (triton.cdiv(m, 64) * triton.cdiv(n, 64),)
    descriptor_matmul_kernel[grid](x_desc, weight_desc, out, m, n, k, BLOCK_M=64, BLOCK_N=64, BLOCK_K=32)
    return out


product = Subject(
    linear,
    reference=lambda x, weight: x @ weight.T,
    inputs=[Tensor("m", "k"), Tensor("n", "k")],
    dtypes=["float16", "bfloat16", "float32"],
)
