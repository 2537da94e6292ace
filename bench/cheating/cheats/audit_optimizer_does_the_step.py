"""CHEAT: an optimiser of torch does the arithmetic, and the kernel copies the parameter that it leaves behind.

The subject is x - rate * (gradient + decay * x). The wrapper makes x a parameter, hangs the gradient on it and calls
`torch.optim.SGD.step`; no operator of torch stands in the wrapper. It must be refused: the kernel moves finished
values.
"""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def descend_kernel(param_ptr, grad_ptr, out_ptr, total, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    param = tl.load(param_ptr + at, mask=at < total, other=0.0)
    tl.store(out_ptr + at, param, mask=at < total)


def descend(x, gradient, rate=0.125, decay=0.25):
    state = torch.nn.Parameter(x.detach().clone(memory_format=torch.contiguous_format))
    state.grad = gradient.detach().contiguous()
    torch.optim.SGD([state], lr=rate, weight_decay=decay).step()
    out = torch.empty_like(state, requires_grad=False)
    total = out.numel()
    if total:
        descend_kernel[(triton.cdiv(total, 1024),)](state.detach(), state.grad, out, total, BLOCK=1024)
    return out


def reference(x, gradient, rate=0.125, decay=0.25):
    return x - rate * (gradient + decay * x)


step = Subject(descend, reference=reference,
               inputs=[Tensor("rows", "cols", dtype="float32"), Tensor("rows", "cols", dtype="float32")])
