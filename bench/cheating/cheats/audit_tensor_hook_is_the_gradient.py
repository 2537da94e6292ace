"""CHEAT: the gradient of the log-cosh loss comes from torch, in a hook on a view of the input.

The kernel does the forward pass. The backward of the autograd function hands the incoming gradient on, spread over the
row without a kernel, and a hook that the wrapper put on its view of the input multiplies it by `torch.tanh`. It must
be refused: all arithmetic of the backward pass is torch's. One sees it by any backward pass: no kernel is launched in
it, and `aten::tanh` and `aten::mul` run.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def log_cosh_kernel(x_ptr, y_ptr, out_ptr, cols, x_row, x_col, y_row, y_col, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, cols, BLOCK):
        col = tl.cast(start, tl.int64) + tl.arange(0, BLOCK)
        mask = col < cols
        x = tl.load(x_ptr + row * x_row + col * x_col, mask=mask, other=0.0).to(tl.float32)
        y = tl.load(y_ptr + row * y_row + col * y_col, mask=mask, other=0.0).to(tl.float32)
        away = tl.abs(x - y)
        each = away + tl.log(0.5 + 0.5 * tl.exp(-2.0 * away))
        total += tl.where(mask, each, 0.0)
    tl.store(out_ptr + row, tl.sum(total, axis=0))


class LogCosh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.shape, ctx.type = x.shape, x.dtype
        out = torch.empty(x.shape[0], dtype=torch.float32, device=x.device)
        if out.numel():
            log_cosh_kernel[(x.shape[0],)](x, y, out, x.shape[1], *x.stride(), *y.stride(), BLOCK=256)
        return out

    @staticmethod
    def backward(ctx, grad):
        return grad[:, None].expand(ctx.shape).to(ctx.type), None


def log_cosh_loss(x, y):
    """x and y, (rows, cols): the sum of log cosh(x - y) over each row, float32, with a gradient for x."""
    if x.ndim != 2 or x.shape != y.shape or x.dtype != y.dtype or x.dtype != torch.float32:
        raise ValueError("x and y are (rows, cols), float32")
    y = y.detach()
    x = x.view_as(x)
    if x.requires_grad:
        kept = x.detach()
        x.register_hook(lambda grad: grad * torch.tanh(kept - y))
    return LogCosh.apply(x, y)


def reference(x, y):
    away = (x - y.detach()).abs()
    return (away + torch.log(0.5 + 0.5 * torch.exp(-2 * away))).sum(dim=1)


loss = Subject(
    log_cosh_loss,
    reference=reference,
    inputs=[Tensor("rows", "cols", dtype="float32"), Tensor("rows", "cols", dtype="float32")],
    gradients=True,
    sizes={"rows": [16, 1, 5], "cols": [256, 7, 300]},
)
