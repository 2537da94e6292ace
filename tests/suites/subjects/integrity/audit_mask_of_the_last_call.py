"""A leaky relu whose backward pass takes the signs that the last forward pass left, whichever that was."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def forward_kernel(x_ptr, mask_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(mask_ptr + at, (x >= 0).to(tl.int8), mask=at < n)
    tl.store(out_ptr + at, tl.where(x < 0, 0.25 * x, x), mask=at < n)


@triton.jit
def backward_kernel(gradient_ptr, mask_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    gradient = tl.load(gradient_ptr + at, mask=at < n)
    is_kept = tl.load(mask_ptr + at, mask=at < n) != 0
    tl.store(out_ptr + at, tl.where(is_kept, gradient, 0.25 * gradient), mask=at < n)


masks = {}


class Leaky(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        context.size = x.numel()
        mask = masks.setdefault((x.numel(), x.device), torch.empty(x.numel(), dtype=torch.int8, device=x.device))
        if x.numel():
            forward_kernel[(triton.cdiv(x.numel(), 256),)](x, mask, out, x.numel(), BLOCK=256)
        return out

    @staticmethod
    def backward(context, gradient):
        gradient = gradient.contiguous()
        out = torch.empty_like(gradient)
        if context.size:
            mask = masks[context.size, gradient.device]
            backward_kernel[(triton.cdiv(context.size, 256),)](gradient, mask, out, context.size, BLOCK=256)
        return out


def reference(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.leaky_relu(x, 0.25)


subject = Subject(Leaky.apply, reference=reference, inputs=[Tensor("rows", "cols")], dtypes=["float32"], gradients=True)
