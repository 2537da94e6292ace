"""The gradient of an embedding table, added to the one that is there. Torch sorts the tokens and says where each
word's begin; a kernel adds up the rows of each word in that order, so that the sum is the same in every run. A word
that does not occur is left alone."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def embedding_gradient_kernel(
    table_ptr, grad_ptr, order_ptr, begins_ptr, dim, table_row, table_col, grad_row, grad_col,
    BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    tiles = tl.cdiv(dim, BLOCK_D)
    word = (tl.program_id(0) // tiles).to(tl.int64)
    d = (tl.program_id(0) % tiles).to(tl.int64) * BLOCK_D + tl.arange(0, BLOCK_D)
    begin = tl.load(begins_ptr + word)
    end = tl.load(begins_ptr + word + 1)
    if begin < end:
        total = tl.zeros((BLOCK_T, BLOCK_D), tl.float32)
        for start in range(begin, end, BLOCK_T):
            places = start + tl.arange(0, BLOCK_T)
            tokens = tl.load(order_ptr + places, mask=places < end, other=0)
            mask = (places < end)[:, None] & (d < dim)[None, :]
            grad = tl.load(grad_ptr + tokens[:, None] * grad_row + d[None, :] * grad_col, mask=mask, other=0.0)
            total += grad.to(tl.float32)
        table_ptrs = table_ptr + word * table_row + d * table_col
        before = tl.load(table_ptrs, mask=d < dim, other=0.0).to(tl.float32)
        after = before + tl.sum(total, axis=0)
        tl.store(table_ptrs, after.to(table_ptr.dtype.element_ty), mask=d < dim)


def add_embedding_gradient_(table, grad, tokens):
    assert grad.ndim == table.ndim == 2
    assert table.shape[1] == grad.shape[1]
    assert table.dtype == grad.dtype
    assert grad.dtype in (torch.float16, torch.bfloat16, torch.float32)
    assert tokens.shape == grad.shape[:1]
    assert tokens.dtype == torch.int64
    if any(stride == 0 and size > 1 for size, stride in zip(table.shape, table.stride(), strict=True)):
        raise ValueError("the elements of the table overlap")
    words, dim = table.shape
    if table.numel() > 0 and grad.numel() > 0:
        ordered, order = torch.sort(tokens, stable=True)
        begins = torch.searchsorted(ordered, torch.arange(words + 1, device=grad.device))
        embedding_gradient_kernel[(words * triton.cdiv(dim, 64),)](
            table, grad, order, begins, dim, *table.stride(), *grad.stride(), BLOCK_T=8, BLOCK_D=64
        )
    return table


def reference(table, grad, tokens):
    sums = table.double().index_add(0, tokens, grad.double())
    return table.copy_(sums.to(table.dtype))


gradient = Subject(
    add_embedding_gradient_,
    reference=reference,
    inputs=[
        Tensor("words", "dim"),
        Tensor("tokens", "dim"),
        Tensor("tokens", dtype="int64", low=0, high="words"),
    ],
    mutates=[0],
)
