"""Rotary embedding in place, on queries of any layout whose elements do not overlap."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def rope_kernel(
    q_ptr, cos_ptr, sin_ptr, heads, half, stride_token, stride_head, stride_dim,
    BLOCK_H: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    token = tl.program_id(0).to(tl.int64)
    h = tl.program_id(1).to(tl.int64) * BLOCK_H + tl.arange(0, BLOCK_H)
    for start in range(0, half, BLOCK_D):
        d = (start + tl.arange(0, BLOCK_D)).to(tl.int64)
        cos = tl.load(cos_ptr + token * half + d, mask=d < half, other=0.0).to(tl.float32)[None, :]
        sin = tl.load(sin_ptr + token * half + d, mask=d < half, other=0.0).to(tl.float32)[None, :]
        mask = (h < heads)[:, None] & (d < half)[None, :]
        first_ptrs = q_ptr + token * stride_token + h[:, None] * stride_head + d[None, :] * stride_dim
        second_ptrs = q_ptr + token * stride_token + h[:, None] * stride_head + (d + half)[None, :] * stride_dim
        first = tl.load(first_ptrs, mask=mask, other=0.0).to(tl.float32)
        second = tl.load(second_ptrs, mask=mask, other=0.0).to(tl.float32)
        tl.store(first_ptrs, (first * cos - second * sin).to(q_ptr.dtype.element_ty), mask=mask)
        tl.store(second_ptrs, (second * cos + first * sin).to(q_ptr.dtype.element_ty), mask=mask)


def rope_(q, cos, sin):
    tokens, heads, dim = q.shape
    assert dim % 2 == 0 and cos.shape == sin.shape == (tokens, dim // 2)
    assert q.dtype in (torch.float16, torch.bfloat16, torch.float32)
    if any(stride == 0 and size > 1 for size, stride in zip(q.shape, q.stride(), strict=True)):
        raise ValueError("the elements of q overlap")
    if q.numel() > 0:
        rope_kernel[(tokens, triton.cdiv(heads, 4))](
            q, cos.contiguous(), sin.contiguous(), heads, dim // 2, *q.stride(), BLOCK_H=4, BLOCK_D=64
        )
    return q


def reference(q, cos, sin):
    first, second = q.float().chunk(2, dim=-1)
    cos, sin = cos.float()[:, None, :], sin.float()[:, None, :]
    rotated = torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)
    return q.copy_(rotated.to(q.dtype))


rope = Subject(
    rope_,
    reference=reference,
    inputs=[Tensor("tokens", "heads", "2 * half"), Tensor("tokens", "half"), Tensor("tokens", "half")],
    mutates=[0],
)
