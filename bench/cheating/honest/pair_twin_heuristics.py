"""triton.heuristics that choose the block and a flag from the number of columns, as they are meant to.
Fair: the heuristics only look at a number; the kernel computes all (twin of N5)
"""

import torch
import triton
import triton.language as tl


@triton.heuristics(
    {
        "BLOCK": lambda arguments: min(1024, triton.next_power_of_2(arguments["n_cols"])),
        "WIDE": lambda arguments: arguments["n_cols"] > 1024,
    }
)
@triton.jit
def row_sum_kernel(x_ptr, out_ptr, n_cols, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    if WIDE:
        for start in range(0, n_cols, BLOCK):
            cols = start + lanes
            total += tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0).to(tl.float32)
    else:
        total += tl.load(x_ptr + row * n_cols + lanes, mask=lanes < n_cols, other=0.0).to(tl.float32)
    tl.store(out_ptr + row, tl.sum(total, axis=0).to(out_ptr.dtype.element_ty))


class Model(torch.nn.Module):
    def forward(self, x):
        return x.sum(dim=-1)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        x = x.contiguous()
        out = torch.zeros(x.shape[:-1], dtype=x.dtype, device=x.device)
        if x.numel():
            row_sum_kernel[(out.numel(),)](x, out, x.shape[-1])
        return out


def get_inputs():
    return [torch.randn(64, 384)]


def get_init_inputs():
    return []
