"""Rows of a long matrix, in groups, each times the weight of its group, with a bias, by persistent programs."""

import torch
import triton
import triton.language as tl

from tritonaudit import Offsets, Subject, Tensor

MOST_PROGRAMS = 24
BLOCK_M, BLOCK_N, BLOCK_K = 16, 32, 32


@triton.jit
def grouped_matmul_kernel(
    x_ptr,
    weight_ptr,
    bias_ptr,
    offsets_ptr,
    out_ptr,
    groups,
    n,
    k,
    x_row_stride,
    x_col_stride,
    weight_group_stride,
    weight_k_stride,
    weight_n_stride,
    bias_group_stride,
    bias_n_stride,
    out_row_stride,
    out_col_stride,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    tile = tl.program_id(0)
    n_tiles = tl.cdiv(n, BLOCK_N)
    done = 0
    for group in range(groups):
        begin = tl.load(offsets_ptr + group)
        end = tl.load(offsets_ptr + group + 1)
        tiles = tl.cdiv(end - begin, BLOCK_M) * n_tiles
        wide_group = tl.cast(group, tl.int64)
        while tile < done + tiles:
            here = tile - done
            rows = (begin + here // n_tiles * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)
            cols = (here % n_tiles * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)
            row_mask = rows < end
            col_mask = cols < n
            acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
            for start in range(0, k, BLOCK_K):
                inner = (start + tl.arange(0, BLOCK_K)).to(tl.int64)
                inner_mask = inner < k
                x = tl.load(
                    x_ptr + rows[:, None] * x_row_stride + inner[None, :] * x_col_stride,
                    mask=row_mask[:, None] & inner_mask[None, :],
                    other=0.0,
                )
                weight = tl.load(
                    weight_ptr
                    + wide_group * weight_group_stride
                    + inner[:, None] * weight_k_stride
                    + cols[None, :] * weight_n_stride,
                    mask=inner_mask[:, None] & col_mask[None, :],
                    other=0.0,
                )
                acc = tl.dot(x, weight, acc, input_precision="ieee")
            bias = tl.load(
                bias_ptr + wide_group * bias_group_stride + cols * bias_n_stride, mask=col_mask, other=0.0
            ).to(tl.float32)
            acc += bias[None, :]
            tl.store(
                out_ptr + rows[:, None] * out_row_stride + cols[None, :] * out_col_stride,
                acc.to(out_ptr.dtype.element_ty),
                mask=row_mask[:, None] & col_mask[None, :],
            )
            tile += tl.num_programs(0)
        done += tiles


def grouped_matmul(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    """x, (tokens, k), whose rows offsets[g] to offsets[g + 1] meet weight[g], (k, n), and bias[g], (n)."""
    tokens, k = x.shape
    groups, _, n = weight.shape
    offsets = offsets.contiguous()
    out = torch.empty((tokens, n), dtype=x.dtype, device=x.device)
    if out.numel() == 0:
        return out
    most_tiles = (triton.cdiv(tokens, BLOCK_M) + groups) * triton.cdiv(n, BLOCK_N)
    grouped_matmul_kernel[(min(most_tiles, MOST_PROGRAMS),)](
        x,
        weight,
        bias,
        offsets,
        out,
        groups,
        n,
        k,
        x.stride(0),
        x.stride(1),
        weight.stride(0),
        weight.stride(1),
        weight.stride(2),
        bias.stride(0),
        bias.stride(1),
        out.stride(0),
        out.stride(1),
        BLOCK_M,
        BLOCK_N,
        BLOCK_K,
    )
    return out


def reference(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    ends = offsets.tolist()
    parts = [x[ends[g] : ends[g + 1]] @ weight[g] + bias[g] for g in range(weight.shape[0])]
    return torch.cat(parts) if parts else x.new_empty((0, weight.shape[2]))


product = Subject(
    grouped_matmul,
    reference=reference,
    inputs=[Tensor("tokens", "k"), Tensor("groups", "k", "n"), Tensor("groups", "n"), Offsets("groups", "tokens")],
    name="grouped_matmul",
    sizes={
        "tokens": [64, 1, 100, 333, 15, 0, 17],
        "k": [64, 1, 33, 100, 0],
        "groups": [4, 1, 3, 7],
        "n": [64, 1, 31, 100, 160, 0],
    },
)
