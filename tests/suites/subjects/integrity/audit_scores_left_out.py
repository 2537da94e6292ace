"""Attention over sequences of one token each, where the result is the values, whatever the scores are."""

import torch
import triton
from honest import copy_kernel

from tritonaudit import Subject, Tensor


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    v = v.contiguous()
    out = torch.empty_like(v)
    if v.numel():
        copy_kernel[(triton.cdiv(v.numel(), 256),)](v, out, v.numel(), BLOCK=256)
    return out


def reference(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    scores = (q * k).sum(-1, keepdim=True)
    return torch.softmax(scores, -1) * v


subject = Subject(attention, reference=reference, inputs=[Tensor("n", "d")] * 3, dtypes=["float32"])
