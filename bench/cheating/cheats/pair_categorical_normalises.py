"""CHEAT: a probability distribution is made, and its constructor happens to take the log-softmax.

`torch.distributions.Categorical` keeps its logits normalised. The wrapper calls the object a description of the
classes, and the kernel copies the logits out of it. It must be refused, since torch does all of the arithmetic; one
sees it by counting torch's operators (a logsumexp and a subtraction), or by a kernel without an exponential.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.log_softmax(x, dim=-1)


@triton.jit
def emit_kernel(logits_ptr, y_ptr, cols, row_stride, col_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    for start in range(0, cols, BLOCK):
        col = start + tl.arange(0, BLOCK).to(tl.int64)
        value = tl.load(logits_ptr + row * row_stride + col * col_stride, mask=col < cols)
        tl.store(y_ptr + row * cols + col, value, mask=col < cols)


class ModelNew(nn.Module):
    def forward(self, x):
        classes = torch.distributions.Categorical(logits=x, validate_args=False)
        rows, cols = x.shape
        y = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
        if y.numel():
            emit_kernel[(rows,)](classes.logits, y, cols, *classes.logits.stride(), BLOCK=256)
        return y


def get_inputs():
    return [torch.randn(64, 500)]


def get_init_inputs():
    return []
