"""Rowwise Adagrad of an embedding table, in place: of each row that has gradients, one number keeps the squares.

Indices come in any order and more than once; they are sorted, and the program that has the first of a run of equal ones
adds up the run's gradients, the mean of whose squares goes to the row's state."""

import torch
import triton
import triton.language as tl

from tritonaudit import Case, Subject

RATE = 0.05
EPS = 1e-6
BLOCK = 64


@triton.jit
def run_gradient(grads_ptr, order_ptr, begin, end, d, mask, grads_row_stride, grads_dim_stride, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    at = begin
    while at < end:
        source = tl.load(order_ptr + at)
        total += tl.load(grads_ptr + source * grads_row_stride + d * grads_dim_stride, mask=mask, other=0.0).to(
            tl.float32
        )
        at += 1
    return total


@triton.jit
def rowwise_adagrad_kernel(
    table_ptr,
    state_ptr,
    grads_ptr,
    sorted_ptr,
    order_ptr,
    n,
    dim,
    rate,
    eps,
    table_row_stride,
    table_dim_stride,
    state_stride,
    grads_row_stride,
    grads_dim_stride,
    BLOCK: tl.constexpr,
):
    begin = tl.program_id(0).to(tl.int64)
    row = tl.load(sorted_ptr + begin)
    before = tl.load(sorted_ptr + begin - 1, mask=begin > 0, other=-1)
    if row != before:
        end = begin + 1
        same = tl.load(sorted_ptr + end, mask=end < n, other=-1) == row
        while same:
            end += 1
            same = tl.load(sorted_ptr + end, mask=end < n, other=-1) == row

        squares = tl.zeros((BLOCK,), tl.float32)
        for start in range(0, dim, BLOCK):
            d = tl.cast(start, tl.int64) + tl.arange(0, BLOCK)
            mask = d < dim
            grad = run_gradient(
                grads_ptr, order_ptr, begin, end, d, mask, grads_row_stride, grads_dim_stride, BLOCK
            )  # fmt: skip
            squares += grad * grad
        state = tl.load(state_ptr + row * state_stride) + tl.sum(squares, axis=0) / dim
        # All threads have read the state before one changes it.
        tl.debug_barrier()
        tl.store(state_ptr + row * state_stride, state)
        step = rate / (tl.sqrt(state) + eps)
        for start in range(0, dim, BLOCK):
            d = tl.cast(start, tl.int64) + tl.arange(0, BLOCK)
            mask = d < dim
            grad = run_gradient(
                grads_ptr, order_ptr, begin, end, d, mask, grads_row_stride, grads_dim_stride, BLOCK
            )  # fmt: skip
            ptrs = table_ptr + row * table_row_stride + d * table_dim_stride
            weight = tl.load(ptrs, mask=mask, other=0.0).to(tl.float32)
            weight -= step * grad
            tl.store(ptrs, weight.to(table_ptr.dtype.element_ty), mask=mask)


def rowwise_adagrad(table: torch.Tensor, state: torch.Tensor, grads: torch.Tensor, indices: torch.Tensor) -> None:
    """table, (rows, dim), and state, (rows), float32, both changed; grads, (n, dim), of rows indices, (n), int64."""
    if state.dtype != torch.float32:
        raise ValueError("the state is float32")
    for changed in (table, state):
        if any(size > 1 and stride == 0 for size, stride in zip(changed.shape, changed.stride(), strict=True)):
            raise ValueError("elements of what is changed overlap")
    n, dim = grads.shape
    if n == 0 or dim == 0:
        return
    ordered, order = torch.sort(indices, stable=True)
    rowwise_adagrad_kernel[(n,)](
        table,
        state,
        grads,
        ordered.contiguous(),
        order.contiguous(),
        n,
        dim,
        RATE,
        EPS,
        *table.stride(),
        state.stride(0),
        *grads.stride(),
        BLOCK=BLOCK,
    )


def reference(table: torch.Tensor, state: torch.Tensor, grads: torch.Tensor, indices: torch.Tensor) -> None:
    if grads.numel() == 0:
        return
    rows, runs = torch.unique(indices, return_inverse=True)
    sums = state.new_zeros((rows.numel(), grads.shape[1])).index_add_(0, runs, grads.to(state.dtype))
    state[rows] += sums.square().mean(dim=1)
    step = RATE / (state[rows].sqrt() + EPS)
    table[rows] = (table[rows].to(state.dtype) - step[:, None] * sums).to(table.dtype)


def inputs(case: Case) -> tuple[torch.Tensor, ...]:
    """A table with what it has gathered of squares, and gradients of rows some of which come more than once."""
    rows, dim, n = case["rows"], case["dim"], case["n"]
    generator = torch.Generator().manual_seed(case.seed)
    dtype = getattr(torch, case.dtype)
    table = torch.randn((rows, dim), generator=generator).to(dtype)
    state = torch.rand(rows, generator=generator)
    grads = torch.randn((n, dim), generator=generator).to(dtype)
    indices = torch.randint(0, rows, (n,), generator=generator)
    return tuple(tensor.to(case.device) for tensor in (table, state, grads, indices))


step = Subject(
    rowwise_adagrad,
    reference=reference,
    inputs=inputs,
    mutates=[0, 1],
    name="rowwise_adagrad",
    sizes={"rows": [20, 1, 7, 100], "dim": [64, 1, 33, 150], "n": [24, 1, 7, 60, 0]},
)
