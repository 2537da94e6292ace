"""The mean over each sequence of a jagged batch; an empty sequence gives zeros."""
import torch
import triton
import triton.language as tl

from tritonaudit import Offsets, Subject, Tensor


@triton.jit
def jagged_mean_kernel(
    values_ptr, offsets_ptr, out_ptr, dim, BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr
):
    dim_tiles = tl.cdiv(dim, BLOCK_D)
    sequence = (tl.program_id(0) // dim_tiles).to(tl.int64)
    d = (tl.program_id(0) % dim_tiles) * BLOCK_D + tl.arange(0, BLOCK_D)
    begin = tl.load(offsets_ptr + sequence).to(tl.int64)
    end = tl.load(offsets_ptr + sequence + 1).to(tl.int64)
    total = tl.zeros((BLOCK_T, BLOCK_D), tl.float32)
    for start in range(begin, end, BLOCK_T):
        t = start + tl.arange(0, BLOCK_T)
        mask = (t < end)[:, None] & (d < dim)[None, :]
        total += tl.load(values_ptr + t[:, None] * dim + d[None, :], mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / tl.maximum(end - begin, 1).to(tl.float32)
    tl.store(out_ptr + sequence * dim + d, mean.to(out_ptr.dtype.element_ty), mask=d < dim)


def jagged_mean(values, offsets):
    assert values.ndim == 2 and offsets.ndim == 1 and offsets.numel() > 0
    assert values.dtype in (torch.float16, torch.bfloat16, torch.float32)
    values, offsets = values.contiguous(), offsets.contiguous()
    sequences, dim = offsets.numel() - 1, values.shape[1]
    out = torch.empty((sequences, dim), device=values.device, dtype=values.dtype)
    if out.numel() > 0:
        jagged_mean_kernel[(sequences * triton.cdiv(dim, 64),)](
            values, offsets, out, dim, BLOCK_T=16, BLOCK_D=64
        )
    return out


def reference(values, offsets):
    lengths = offsets.diff().to(torch.int64)
    owner = torch.repeat_interleave(torch.arange(lengths.numel(), device=values.device), lengths)
    sums = torch.zeros((lengths.numel(), values.shape[1]), device=values.device, dtype=torch.float64)
    sums.index_add_(0, owner, values.double())
    return (sums / lengths.clamp(min=1)[:, None]).to(values.dtype)


mean = Subject(jagged_mean, reference=reference, inputs=[Tensor("tokens", "dim"), Offsets("sequences", "tokens")])
