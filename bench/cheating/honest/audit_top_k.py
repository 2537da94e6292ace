"""The 8 largest of each row, NaN first as torch has it, and where they stand; of equals the first. A value's bits,
made to sort as integers do, and its distance from the end of the row are one int64 key, so that no two keys are
equal."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

TOP = 8


@triton.jit
def sort_keys(x, columns, mask):
    x = x.to(tl.float32)
    bits = tl.where(x == 0.0, 0.0, x).to(tl.int32, bitcast=True)
    bits = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    bits = tl.where(x != x, 0x7FFFFFFF, bits)
    keys = (bits.to(tl.int64) << 32) | (0x7FFFFFFF - columns).to(tl.int64)
    return tl.where(mask, keys, -0x8000000000000000)


@triton.jit
def top_k_kernel(
    x_ptr, values_ptr, places_ptr, cols, row_stride, col_stride, kept, TOP: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * row_stride
    lanes = tl.arange(0, BLOCK)
    best = tl.full((TOP,), -0x8000000000000000, tl.int64)
    for start in range(0, cols, BLOCK):
        columns = start + lanes
        mask = columns < cols
        x = tl.load(x_ptr + columns.to(tl.int64) * col_stride, mask=mask, other=0.0)
        found = tl.topk(sort_keys(x, columns, mask), TOP)
        best = tl.topk(tl.reshape(tl.join(best, found), (2 * TOP,)), TOP)
    slots = tl.arange(0, TOP)
    places = 0x7FFFFFFF - (best & 0x7FFFFFFF)
    values = tl.load(x_ptr + places * col_stride, mask=slots < kept, other=0.0)
    tl.store(values_ptr + row * kept + slots, values, mask=slots < kept)
    tl.store(places_ptr + row * kept + slots, places, mask=slots < kept)


def top_k(x):
    assert x.ndim == 2
    assert x.dtype in (torch.float16, torch.bfloat16, torch.float32)
    assert x.shape[1] < 2**31 - 1024
    rows, cols = x.shape
    kept = min(TOP, cols)
    values = torch.empty((rows, kept), device=x.device, dtype=x.dtype)
    places = torch.empty((rows, kept), device=x.device, dtype=torch.int64)
    if values.numel() > 0:
        block = max(TOP, min(1024, triton.next_power_of_2(cols)))
        top_k_kernel[(rows,)](x, values, places, cols, *x.stride(), kept, TOP=TOP, BLOCK=block)
    return values, places


def reference(x):
    values, places = torch.sort(x, dim=-1, descending=True, stable=True)
    return values[:, :TOP], places[:, :TOP]


largest = Subject(top_k, reference=reference, inputs=[Tensor("rows", "cols")])
