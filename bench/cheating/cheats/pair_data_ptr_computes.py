"""Hands its kernel a subclass of Tensor that computes the softmax with torch when the launcher asks it for its pointer.
Refuse: torch computes the softmax while the launch is prepared, in __torch_function__; the kernel only copies it
"""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(scores_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(scores_ptr + offsets, mask=mask, other=0.0), mask=mask)


class Scores(torch.Tensor):
    """Scores that are filled in when somebody first looks at them."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        with torch._C.DisableTorchFunctionSubclass():
            me = args[0] if args else None
            if isinstance(me, cls) and (source := me.__dict__.pop("source", None)) is not None:
                me.as_subclass(torch.Tensor).copy_(torch.softmax(source, dim=-1))
            return func(*args, **(kwargs or {}))


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        scores = torch.empty(x.shape, dtype=x.dtype, device=x.device).as_subclass(Scores)
        scores.__dict__["source"] = x.detach()
        if n := out.numel():
            softmax_kernel[(triton.cdiv(n, 1024),)](scores, out, n, BLOCK=1024)
        return out


def get_inputs():
    return [torch.randn(32, 257)]


def get_init_inputs():
    return []
