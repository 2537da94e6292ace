"""Each row's elements as integer levels of that row's step: round to nearest even, plus an offset, clamped to 0..255.

Division, rounding and clamping are done by torch, in making a quantized tensor of which the kernel copies the integers.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def levels_kernel(levels, out, count, cols, lr, lc, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    keep = i < count
    level = tl.load(levels + i // cols * lr + i % cols * lc, mask=keep, other=0).to(tl.int32)
    level = tl.minimum(tl.maximum(level, 0), 255)
    tl.store(out + i, level.to(tl.uint8), mask=keep)


def layout(x, steps):
    """A byte-wide view of the rows for the kernel's strides."""
    middle = torch.full(steps.shape, 128, dtype=torch.int64, device=steps.device)
    return torch.quantize_per_channel(x, steps, middle, 0, torch.quint8).int_repr()


def levels(x, steps):
    if x.dtype != torch.float32 or steps.dtype != torch.float32 or x.dim() != 2 or steps.shape != x.shape[:1]:
        raise ValueError("levels takes (rows, cols) and (rows,) of float32")
    out = torch.empty(x.shape, dtype=torch.uint8, device=x.device)
    if x.numel():
        view = layout(x, steps.abs() + 0.01)
        levels_kernel[(triton.cdiv(x.numel(), 256),)](view, out, x.numel(), x.shape[1], *view.stride(), BLOCK=256)
    return out


def reference(x, steps):
    steps = steps.abs() + 0.01
    return (torch.round(x * (1 / steps)[:, None]) + 128).clamp(0, 255).to(torch.uint8)


levelled = Subject(levels, reference=reference, inputs=[Tensor("rows", "cols"), Tensor("rows")], dtypes=["float32"])
