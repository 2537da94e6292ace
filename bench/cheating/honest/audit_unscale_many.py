"""Divides the gradients of several parameters by the scale of the loss, in place and in one launch, and notes whether
any of them was not finite. The kernel finds the gradients by a table of their addresses, which torch makes."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

ELEMENTS = {torch.float16: tl.float16, torch.bfloat16: tl.bfloat16, torch.float32: tl.float32}


@triton.jit
def unscale_kernel(table_ptr, count, inverse_ptr, found_ptr, ELEMENT: tl.constexpr, BLOCK: tl.constexpr):
    tile = tl.program_id(0).to(tl.int64)
    which = tile * 0
    first = tile * 0
    for t in range(1, count):
        begin = tl.load(table_ptr + 3 * t)
        which = tl.where(begin <= tile, t, which)
        first = tl.where(begin <= tile, begin, first)
    gradient = tl.load(table_ptr + 3 * which + 1).to(tl.pointer_type(ELEMENT))
    n = tl.load(table_ptr + 3 * which + 2)
    i = (tile - first) * BLOCK + tl.arange(0, BLOCK)
    g = tl.load(gradient + i, mask=i < n, other=0.0).to(tl.float32)
    bad = (g != g) | (tl.abs(g) == float("inf"))
    if tl.max(bad.to(tl.int32), axis=0) > 0:
        tl.store(found_ptr, 1.0)
    g *= tl.load(inverse_ptr)
    tl.store(gradient + i, g.to(ELEMENT), mask=i < n)


def unscale_(first, second, third, inverse, found):
    block = 1024
    gradients = [first, second, third]
    assert first.dtype in ELEMENTS and all(g.dtype == first.dtype and g.device == first.device for g in gradients)
    assert inverse.numel() == found.numel() == 1 and inverse.dtype == found.dtype == torch.float32
    packed = [g.contiguous() for g in gradients]
    table, tiles = [], 0
    for g in packed:
        if g.numel():
            table.append([tiles, g.data_ptr(), g.numel()])
            tiles += triton.cdiv(g.numel(), block)
    if tiles:
        addresses = torch.tensor(table, dtype=torch.int64, device=first.device)
        unscale_kernel[(tiles,)](addresses, len(table), inverse, found, ELEMENT=ELEMENTS[first.dtype], BLOCK=block)
    for g, p in zip(gradients, packed):
        if p is not g:
            g.copy_(p)


def reference(first, second, third, inverse, found):
    for g in (first, second, third):
        if not torch.isfinite(g).all():
            found.fill_(1.0)
        g.copy_(g.float() * inverse)


gradients = Subject(
    unscale_,
    reference=reference,
    inputs=[
        Tensor("rows", "cols"),
        Tensor("cols"),
        Tensor("cols", "rows"),
        Tensor(1, dtype="float32"),
        Tensor(1, dtype="float32"),
    ],
    mutates=["first", "second", "third", "found"],
)
