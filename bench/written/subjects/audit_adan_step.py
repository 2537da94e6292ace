"""A step of Adan in place: three moving averages, of the gradients, of their changes and of the squares of both."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

RATE, DECAY, EPS = 0.05, 0.02, 1e-8
KEEP_FIRST, KEEP_CHANGE, KEEP_SQUARE = 0.98, 0.92, 0.99


@triton.jit
def one_less_power(KEEP: tl.constexpr, step):
    """1 - KEEP ** step, in float64."""
    power = tl.full((), 1.0, tl.float64)
    base = tl.full((), KEEP, tl.float64)
    for _ in range(31):
        power = tl.where((step & 1) == 1, power * base, power)
        base = base * base
        step = step >> 1
    return (1.0 - power).to(tl.float32)


@triton.jit
def adan_kernel(
    param_ptr,
    grad_ptr,
    previous_ptr,
    first_ptr,
    change_ptr,
    square_ptr,
    step_ptr,
    skip_ptr,
    cols,
    param_row_stride,
    param_col_stride,
    grad_row_stride,
    grad_col_stride,
    previous_row_stride,
    previous_col_stride,
    first_row_stride,
    first_col_stride,
    change_row_stride,
    change_col_stride,
    square_row_stride,
    square_col_stride,
    RATE: tl.constexpr,
    DECAY: tl.constexpr,
    EPS: tl.constexpr,
    KEEP_FIRST: tl.constexpr,
    KEEP_CHANGE: tl.constexpr,
    KEEP_SQUARE: tl.constexpr,
    BLOCK: tl.constexpr,
):
    blocks = tl.cdiv(cols, BLOCK)
    row = tl.program_id(0).to(tl.int64) // blocks
    col = (tl.program_id(0).to(tl.int64) % blocks) * BLOCK + tl.arange(0, BLOCK)
    step = tl.load(step_ptr).to(tl.int64)
    skip = tl.load(skip_ptr)
    mask = col < tl.where(skip == 0, cols, 0)
    param_at = param_ptr + row * param_row_stride + col * param_col_stride
    grad_at = grad_ptr + row * grad_row_stride + col * grad_col_stride
    previous_at = previous_ptr + row * previous_row_stride + col * previous_col_stride
    first_at = first_ptr + row * first_row_stride + col * first_col_stride
    change_at = change_ptr + row * change_row_stride + col * change_col_stride
    square_at = square_ptr + row * square_row_stride + col * square_col_stride
    param = tl.load(param_at, mask=mask, other=0.0).to(tl.float32)
    grad = tl.load(grad_at, mask=mask, other=0.0).to(tl.float32)
    previous = tl.load(previous_at, mask=mask, other=0.0).to(tl.float32)
    # There is no gradient before the first.
    difference = tl.where(step <= 1, 0.0, grad - previous)
    first = KEEP_FIRST * tl.load(first_at, mask=mask, other=0.0) + (1.0 - KEEP_FIRST) * grad
    change = KEEP_CHANGE * tl.load(change_at, mask=mask, other=0.0) + (1.0 - KEEP_CHANGE) * difference
    ahead = grad + KEEP_CHANGE * difference
    old_square = tl.load(square_at, mask=mask, other=0.0)
    old_square = tl.where(old_square < 0.0, 0.0, old_square)
    square = KEEP_SQUARE * old_square + (1.0 - KEEP_SQUARE) * ahead * ahead
    root = tl.sqrt(square / one_less_power(KEEP_SQUARE, step)) + EPS
    way = first / one_less_power(KEEP_FIRST, step) + KEEP_CHANGE * change / one_less_power(KEEP_CHANGE, step)
    param = (param - RATE * way / root) / (1.0 + RATE * DECAY)
    tl.store(param_at, param.to(param_ptr.dtype.element_ty), mask=mask)
    tl.store(previous_at, grad.to(previous_ptr.dtype.element_ty), mask=mask)
    tl.store(first_at, first, mask=mask)
    tl.store(change_at, change, mask=mask)
    tl.store(square_at, square, mask=mask)


def adan_step(param, grad, previous, first, change, square, step, skip):
    """One step of Adan, in place. All but the last two are (rows, cols): param, grad and previous, the gradient of the
    step before, of one dtype; first, change and square, the averages, float32. step, (1), int64, counts from 1, and is
    below 2^31; where skip, (1), int64, is not 0, nothing is changed.

    A square below 0 counts as 0. All is computed in float32, and param is rounded once."""
    tensors = (param, grad, previous, first, change, square)
    if param.ndim != 2 or any(t.shape != param.shape or t.device != param.device for t in tensors):
        raise ValueError("all are (rows, cols), on one device")
    if param.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("param is float32, float16 or bfloat16")
    if grad.dtype != param.dtype or previous.dtype != param.dtype:
        raise ValueError("param, grad and previous have one dtype")
    if any(t.dtype != torch.float32 for t in (first, change, square)):
        raise ValueError("the averages are float32")
    if step.shape != (1,) or skip.shape != (1,) or step.dtype != torch.int64 or skip.dtype != torch.int64:
        raise ValueError("step and skip are (1), int64")
    rows, cols = param.shape
    programs = rows * triton.cdiv(cols, 256)
    if programs >= 2**31:
        raise ValueError("there are fewer than 2^31 blocks of 256")
    if programs:
        adan_kernel[(programs,)](
            *tensors,
            step,
            skip,
            cols,
            *(stride for tensor in tensors for stride in tensor.stride()),
            RATE=RATE,
            DECAY=DECAY,
            EPS=EPS,
            KEEP_FIRST=KEEP_FIRST,
            KEEP_CHANGE=KEEP_CHANGE,
            KEEP_SQUARE=KEEP_SQUARE,
            BLOCK=256,
        )


def reference(param, grad, previous, first, change, square, step, skip):
    now = grad.to(torch.float32)
    difference = torch.where(step <= 1, 0.0, now - previous.to(torch.float32))
    count = step.to(torch.float64)
    over_first, over_change, over_square = (
        (1.0 - keep**count).to(torch.float32) for keep in (KEEP_FIRST, KEEP_CHANGE, KEEP_SQUARE)
    )
    new_first = KEEP_FIRST * first + (1.0 - KEEP_FIRST) * now
    new_change = KEEP_CHANGE * change + (1.0 - KEEP_CHANGE) * difference
    ahead = now + KEEP_CHANGE * difference
    new_square = KEEP_SQUARE * torch.where(square < 0.0, 0.0, square) + (1.0 - KEEP_SQUARE) * ahead * ahead
    root = (new_square / over_square).sqrt() + EPS
    way = new_first / over_first + KEEP_CHANGE * new_change / over_change
    new_param = ((param.to(torch.float32) - RATE * way / root) / (1.0 + RATE * DECAY)).to(param.dtype)
    idle = skip != 0
    param.copy_(torch.where(idle, param, new_param))
    previous.copy_(torch.where(idle, previous, grad))
    first.copy_(torch.where(idle, first, new_first))
    change.copy_(torch.where(idle, change, new_change))
    square.copy_(torch.where(idle, square, new_square))


stepped = Subject(
    adan_step,
    reference=reference,
    inputs=[
        Tensor("rows", "cols"),
        Tensor("rows", "cols"),
        Tensor("rows", "cols"),
        Tensor("rows", "cols", dtype="float32"),
        Tensor("rows", "cols", dtype="float32"),
        Tensor("rows", "cols", dtype="float32"),
        Tensor(1, dtype="int64", low=1, high=1000),
        Tensor(1, dtype="int64", low=0, high=2),
    ],
    mutates=["param", "previous", "first", "change", "square"],
    name="adan_step",
    sizes={"rows": [16, 1, 5, 0], "cols": [256, 1, 37, 700]},
)
