"""Honest: a softmax over the first `length` columns of each row, zero elsewhere and in rows of length zero, in blocks of
columns so that any width does."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def length_softmax_kernel(x_ptr, lengths_ptr, out_ptr, cols, sr, sc, sl, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    length = tl.load(lengths_ptr + row * sl)
    lane = tl.arange(0, BLOCK).to(tl.int64)
    top = tl.full((), float("-inf"), tl.float32)
    for start in range(0, cols, BLOCK):
        col = start + lane
        x = tl.load(x_ptr + row * sr + col * sc, mask=(col < cols) & (col < length), other=float("-inf")).to(tl.float32)
        top = tl.maximum(top, tl.max(x, 0))
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, cols, BLOCK):
        col = start + lane
        keep = (col < cols) & (col < length)
        x = tl.load(x_ptr + row * sr + col * sc, mask=keep, other=0.0).to(tl.float32)
        total += tl.where(keep, tl.exp(x - top), 0.0)
    denominator = tl.sum(total, 0)
    for start in range(0, cols, BLOCK):
        col = start + lane
        keep = (col < cols) & (col < length)
        x = tl.load(x_ptr + row * sr + col * sc, mask=keep, other=0.0).to(tl.float32)
        tl.store(out_ptr + row * cols + col, tl.where(keep, tl.exp(x - top) / denominator, 0.0), mask=col < cols)


def length_softmax(x, lengths):
    rows, cols = x.shape
    out = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    if rows and cols:
        length_softmax_kernel[(rows,)](x, lengths, out, cols, *x.stride(), lengths.stride(0), BLOCK=512)
    return out


def reference(x, lengths):
    keep = torch.arange(x.shape[1], device=x.device)[None, :] < lengths[:, None]
    weights = torch.softmax(x.float().masked_fill(~keep, float("-inf")), dim=1)
    return torch.where(keep, weights, torch.zeros_like(weights)).to(x.dtype)


softmax = Subject(
    length_softmax,
    reference=reference,
    inputs=[Tensor("rows", "cols"), Tensor("rows", dtype="int64", low=0, high="cols")],
    dtypes=["float32", "float16", "bfloat16"],
    sizes={"rows": [64, 101], "cols": [512, 700]},
)
