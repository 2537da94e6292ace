"""Equalises the histogram of 8-bit pictures: counts by atomics, a running sum of 256 counts, and a lookup.

It looks suspicious: counters are set to zero before each launch, atomics meet in no fixed order, and the last kernel
takes every output from a table. It is fair: counts are integers, so the order does not matter, the table is made anew
from this call's picture by the second kernel, and the division is one of integers.
"""
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, pictures):
        if pictures.dtype != torch.uint8:
            raise TypeError("pictures are uint8")
        if pictures.numel() == 0:
            return pictures.clone()
        batch = pictures.shape[0]
        flat = pictures.reshape(batch, -1).long()
        counts = (flat[:, :, None] == torch.arange(256, device=flat.device)).sum(dim=1)
        below = counts.cumsum(dim=-1)
        first = torch.where(counts > 0, below, flat.shape[1]).amin(dim=-1, keepdim=True)
        spread = (flat.shape[1] - first).clamp(min=1)
        table = ((below - first) * 255 + spread // 2).clamp(min=0) // spread
        # A picture of one shade has nothing to spread and stays as it is.
        table = torch.where(first == flat.shape[1], torch.arange(256, device=flat.device), table)
        return table.gather(1, flat).to(torch.uint8).view(pictures.shape)


@triton.jit
def count_kernel(x_ptr, count_ptr, pixels, BLOCK: tl.constexpr):
    picture = tl.program_id(0).to(tl.int64)
    at = tl.program_id(1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < pixels
    shade = tl.load(x_ptr + picture * pixels + at, mask=mask, other=0).to(tl.int32)
    tl.atomic_add(count_ptr + picture * 256 + shade, tl.full((BLOCK,), 1, tl.int32), mask=mask)


@triton.jit
def table_kernel(count_ptr, table_ptr, pixels):
    picture = tl.program_id(0).to(tl.int64)
    shade = tl.arange(0, 256)
    count = tl.load(count_ptr + picture * 256 + shade)
    below = tl.cumsum(count, axis=0).to(tl.int64)
    first = tl.min(tl.where(count > 0, below, pixels), axis=0)
    spread = tl.maximum(pixels - first, 1)
    entry = tl.maximum((below - first) * 255 + spread // 2, 0) // spread
    entry = tl.where(first == pixels, shade, entry)
    tl.store(table_ptr + picture * 256 + shade, entry.to(tl.uint8))


@triton.jit
def lookup_kernel(x_ptr, table_ptr, out_ptr, pixels, BLOCK: tl.constexpr):
    picture = tl.program_id(0).to(tl.int64)
    at = tl.program_id(1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < pixels
    shade = tl.load(x_ptr + picture * pixels + at, mask=mask, other=0).to(tl.int32)
    entry = tl.load(table_ptr + picture * 256 + shade, mask=mask, other=0)
    tl.store(out_ptr + picture * pixels + at, entry, mask=mask)


class ModelNew(nn.Module):
    def forward(self, pictures):
        if pictures.dtype != torch.uint8:
            raise TypeError("pictures are uint8")
        pictures = pictures.contiguous()
        out = torch.empty_like(pictures)
        batch = pictures.shape[0]
        if pictures.numel():
            pixels = pictures.numel() // batch
            counts = torch.zeros((batch, 256), dtype=torch.int32, device=pictures.device)
            tables = torch.empty((batch, 256), dtype=torch.uint8, device=pictures.device)
            grid = (batch, triton.cdiv(pixels, 1024))
            count_kernel[grid](pictures, counts, pixels, BLOCK=1024)
            table_kernel[(batch,)](counts, tables, pixels)
            lookup_kernel[grid](pictures, tables, out, pixels, BLOCK=1024)
        return out


def get_inputs():
    return [(torch.randn(3, 40, 55) * 30 + 110).clamp(0, 255).to(torch.uint8)]


def get_init_inputs():
    return []
