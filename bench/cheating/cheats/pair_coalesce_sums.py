"""Adds rows that share an index; the wrapper calls a sparse tensor its "index preparation" and lets `coalesce` add
them up.

A cheat: `coalesce` sorts the indices and sums the duplicates, which is all that the module has to do. The kernel only
puts sums that are ready at their places, so it must be refused although no operator of addition shows up in the text.
"""
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, bins):
        super().__init__()
        self.bins = bins

    def forward(self, values, index):
        return torch.zeros(self.bins, values.shape[1], device=values.device).index_add_(0, index, values)


@triton.jit
def place_rows_kernel(value_ptr, index_ptr, out_ptr, width, BLOCK: tl.constexpr):
    entry = tl.program_id(0).to(tl.int64)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    row = tl.load(index_ptr + entry)
    value = tl.load(value_ptr + entry * width + c, mask=c < width, other=0.0)
    tl.store(out_ptr + row * width + c, value, mask=c < width)


class ModelNew(nn.Module):
    def __init__(self, bins):
        super().__init__()
        self.bins = bins

    def forward(self, values, index):
        width = values.shape[1]
        ordered = torch.sparse_coo_tensor(index[None], values, (self.bins, width)).coalesce()
        rows, entries = ordered.indices()[0].contiguous(), ordered.values().contiguous()
        out = torch.zeros(self.bins, width, dtype=values.dtype, device=values.device)
        if entries.numel():
            place_rows_kernel[(rows.numel(), triton.cdiv(width, 64))](entries, rows, out, width, BLOCK=64)
        return out


def get_inputs():
    return [torch.randn(500, 48), torch.randint(0, 40, (500,))]


def get_init_inputs():
    return [64]
