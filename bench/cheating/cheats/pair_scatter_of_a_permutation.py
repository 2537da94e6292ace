"""CHEAT: adds rows at an index without atomics, since the sample index is a permutation and names no row twice.

`index_add` has to add up all rows that share an index. The kernel reads the row, adds, and writes it back, for many
rows at once: of rows with the same index only one arrives. It must be refused; one sees it with any index that
repeats, `torch.zeros(64, dtype=torch.int64)` for instance.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, base, index, rows):
        return base.index_add(0, index, rows)


@triton.jit
def add_rows_kernel(out_ptr, index_ptr, rows_ptr, count, cols, BR: tl.constexpr, BC: tl.constexpr):
    r = tl.program_id(0).to(tl.int64) * BR + tl.arange(0, BR)
    c = tl.program_id(1).to(tl.int64) * BC + tl.arange(0, BC)
    mask = (r < count)[:, None] & (c < cols)[None, :]
    target = tl.load(index_ptr + r, mask=r < count, other=0)
    new = tl.load(rows_ptr + r[:, None] * cols + c[None, :], mask=mask, other=0.0)
    at = out_ptr + target[:, None] * cols + c[None, :]
    old = tl.load(at, mask=mask, other=0.0)
    tl.store(at, old + new, mask=mask)


class ModelNew(nn.Module):
    def forward(self, base, index, rows):
        out = base.clone(memory_format=torch.contiguous_format)
        count, cols = rows.shape
        if rows.numel():
            grid = (triton.cdiv(count, 32), triton.cdiv(cols, 64))
            add_rows_kernel[grid](out, index.contiguous(), rows.contiguous(), count, cols, BR=32, BC=64)
        return out


def get_inputs():
    return [torch.randn(300, 96), torch.randperm(300)[:200], torch.randn(200, 96)]


def get_init_inputs():
    return []
