"""A weighted mean of two matrices into a third one that the caller brings, of whatever strides it has.

It looks suspicious: the wrapper allocates nothing and gives its own argument back, the kernel stores through strides
that it gets as numbers, and the two inputs go in with strides of zero where the caller has expanded them. It is fair:
the subject says that it changes `into`, and each element of it comes from the kernel, whatever it held before.
"""
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def lerp_kernel(
    a_ptr, b_ptr, out_ptr, rows, cols, a_row, a_col, b_row, b_col, out_row, out_col, weight,
    ROWS: tl.constexpr, COLS: tl.constexpr,
):  # fmt: skip
    r = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)[:, None]
    c = (tl.program_id(1) * COLS + tl.arange(0, COLS)).to(tl.int64)[None, :]
    mask = (r < rows) & (c < cols)
    a = tl.load(a_ptr + r * a_row + c * a_col, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(b_ptr + r * b_row + c * b_col, mask=mask, other=0.0).to(tl.float32)
    mixed = a * (1.0 - weight) + b * weight
    tl.store(out_ptr + r * out_row + c * out_col, mixed.to(out_ptr.dtype.element_ty), mask=mask)


def lerp_into(a, b, into, weight=0.25):
    if not (a.shape == b.shape == into.shape):
        raise ValueError("three matrices of one shape")
    rows, cols = a.shape
    if into.numel():
        grid = (triton.cdiv(rows, 16), triton.cdiv(cols, 64))
        lerp_kernel[grid](a, b, into, rows, cols, *a.stride(), *b.stride(), *into.stride(), weight, ROWS=16, COLS=64)
    return into


def reference(a, b, into, weight=0.25):
    into.copy_(a.float() * (1.0 - weight) + b.float() * weight)
    return into


mean = Subject(lerp_into, reference=reference,
               inputs=[Tensor("rows", "cols"), Tensor("rows", "cols"), Tensor("rows", "cols")],
               mutates=["into"], dtypes=["float32", "float16", "bfloat16"])
