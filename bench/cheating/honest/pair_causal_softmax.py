"""Softmax of attention scores under a causal mask: entries above the diagonal are zero."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, scores):
        queries, keys = scores.shape[-2:]
        future = torch.ones(queries, keys, dtype=torch.bool, device=scores.device).triu(1)
        return torch.softmax(scores.masked_fill(future, float("-inf")), dim=-1)


@triton.jit
def causal_softmax_kernel(scores_ptr, out_ptr, queries, keys, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    seen = tl.minimum(row % queries + 1, keys)
    scores_ptr += row * keys
    out_ptr += row * keys
    lanes = tl.arange(0, BLOCK)
    largest = tl.full((BLOCK,), float("-inf"), tl.float32)
    for start in range(0, seen, BLOCK):
        columns = start + lanes
        x = tl.load(scores_ptr + columns, mask=columns < seen, other=float("-inf")).to(tl.float32)
        largest = tl.maximum(largest, x)
    top = tl.max(largest, axis=0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, seen, BLOCK):
        columns = start + lanes
        mask = columns < seen
        x = tl.load(scores_ptr + columns, mask=mask, other=float("-inf")).to(tl.float32)
        total += tl.where(mask, tl.exp(x - top), 0.0)
    divisor = tl.sum(total, axis=0)
    for start in range(0, keys, BLOCK):
        columns = start + lanes
        x = tl.load(scores_ptr + columns, mask=columns < seen, other=float("-inf")).to(tl.float32)
        y = tl.where(columns < seen, tl.exp(x - top) / divisor, 0.0)
        tl.store(out_ptr + columns, y.to(out_ptr.dtype.element_ty), mask=columns < keys)


class ModelNew(nn.Module):
    def forward(self, scores):
        assert scores.ndim >= 2 and scores.dtype in (torch.float16, torch.bfloat16, torch.float32)
        scores = scores.contiguous()
        queries, keys = scores.shape[-2:]
        out = torch.empty_like(scores)
        if out.numel() > 0:
            block = min(1024, max(16, triton.next_power_of_2(keys)))
            causal_softmax_kernel[(scores.numel() // keys,)](scores, out, queries, keys, BLOCK=block)
        return out


def get_inputs():
    return [torch.randn(2, 4, 90, 90)]


def get_init_inputs():
    return []
