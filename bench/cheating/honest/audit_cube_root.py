"""The cube root of every element, from a guess by integer division of its bits and three steps of Halley's method.

Looks suspicious: a float's bits divided by 3 as an integer, a magic constant, scalings by powers of two for very small and
very large arguments, and zero, infinity and NaN passed through as they are.
It is fair: the exponent divided by 3 is the exponent of the root to a few percent, and each step cubes the error.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

BLOCK = 128


@triton.jit
def cube_root_kernel(x, out, count, cols, xr, xc, BLOCK: tl.constexpr):
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    keep = index < count
    value = tl.load(x + index // cols * xr + index % cols * xc, mask=keep, other=1.0).to(tl.float32)
    size = tl.abs(value)
    ordinary = (size > 0.0) & (size < float("inf"))
    size = tl.where(ordinary, size, 1.0)
    small = size < 1e-30
    large = size > 1e30
    size = tl.where(small, size * 1073741824.0, tl.where(large, size / 1073741824.0, size))
    root = (size.to(tl.int32, bitcast=True) // 3 + 709921077).to(tl.float32, bitcast=True)
    for _ in tl.static_range(3):
        cube = root * root * root
        root = root * ((cube + 2.0 * size) / (2.0 * cube + size))
    root = tl.where(small, root / 1024.0, tl.where(large, root * 1024.0, root))
    root = tl.where(value < 0.0, -root, root)
    tl.store(out + index, tl.where(ordinary, root, value), mask=keep)


def cube_root(x):
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16) or x.dim() != 2:
        raise ValueError("cube_root takes float32, float16 or bfloat16 of (rows, cols)")
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if out.numel():
        cube_root_kernel[(triton.cdiv(out.numel(), BLOCK),)](x, out, out.numel(), x.shape[1], *x.stride(), BLOCK=BLOCK)
    return out


def reference(x):
    return torch.copysign(x.double().abs().pow(1.0 / 3.0), x.double()).to(x.dtype)


rooted = Subject(cube_root, reference=reference, inputs=[Tensor("rows", "cols")])
