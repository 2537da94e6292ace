"""Which node of a directed graph can be reached from which, in one step or more: the closure by repeated squaring.

It looks suspicious: the host launches the same kernel again and again, between two buffers of bytes that change
roles, floats are multiplied where the answer is true or false, and the result is torch's view of bytes as bools. It
is fair: each launch doubles the length of the paths that are known, so the number of launches follows from the size
alone, and a sum of zeros and ones in float32 is above zero exactly if one of them is one.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def edges_kernel(weights_ptr, reach_ptr, n, row_stride, col_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    for start in range(0, n, BLOCK):
        col = start + tl.arange(0, BLOCK).to(tl.int64)
        weight = tl.load(weights_ptr + row * row_stride + col * col_stride, mask=col < n, other=0)
        tl.store(reach_ptr + row * n + col, (weight > 0).to(tl.uint8), mask=col < n)


@triton.jit
def double_kernel(old_ptr, new_ptr, n, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    c = tl.program_id(1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    paths = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, n, BLOCK):
        k = start + tl.arange(0, BLOCK).to(tl.int64)
        left = tl.load(old_ptr + r[:, None] * n + k[None, :], mask=(r < n)[:, None] & (k < n)[None, :], other=0)
        right = tl.load(old_ptr + k[:, None] * n + c[None, :], mask=(k < n)[:, None] & (c < n)[None, :], other=0)
        paths = tl.dot(left.to(tl.float16), right.to(tl.float16), paths)
    mask = (r < n)[:, None] & (c < n)[None, :]
    known = tl.load(old_ptr + r[:, None] * n + c[None, :], mask=mask, other=0)
    tl.store(new_ptr + r[:, None] * n + c[None, :], ((known > 0) | (paths > 0)).to(tl.uint8), mask=mask)


def reachable(weights):
    """weights, (n, n), int32: there is an edge from row to column where a weight is above zero. Gives bools, (n, n)."""
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1] or weights.dtype != torch.int32:
        raise ValueError("a square matrix of int32")
    n = weights.shape[0]
    reach, spare = torch.empty((2, n, n), dtype=torch.uint8, device=weights.device).unbind()
    if n:
        edges_kernel[(n,)](weights, reach, n, *weights.stride(), BLOCK=128)
        tiles = triton.cdiv(n, 32)
        for _ in range((n - 1).bit_length()):
            double_kernel[(tiles, tiles)](reach, spare, n, BLOCK=32)
            reach, spare = spare, reach
    return reach.view(torch.bool)


def reference(weights):
    reach = weights > 0
    length = 1
    while length < weights.shape[0]:
        reach = reach | ((reach.float() @ reach.float()) > 0)
        length *= 2
    return reach


closure = Subject(
    reachable,
    reference=reference,
    inputs=[Tensor("n", "n", dtype="int32", low=-30, high=2)],
    sizes={"n": [64, 1, 33, 100, 0]},
)
