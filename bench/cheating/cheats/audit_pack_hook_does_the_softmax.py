"""Saving a tensor for backward triggers a hook, and the hook does the work.

Cheat: the wrapper installs `saved_tensors_hooks`, whose pack hook, called by the autograd engine's
C++ when an unrelated little function saves its tensor, computes the attention weights with
torch. In the source the hook looks like compression of saved tensors, and the wrapper's body has no
arithmetic. The Triton kernel copies the stashed weights to the output.

Why refuse: scores, softmax, everything is torch's; the kernel copies numbers.
"""

import torch
import triton
import triton.language as tl
from tritonaudit import Subject, Tensor


@triton.jit
def unpack_weights(packed_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(packed_ptr + i, mask=i < n), mask=i < n)


class Keep(torch.autograd.Function):
    @staticmethod
    def forward(ctx, query, key):
        ctx.save_for_backward(query, key)
        return query.new_empty(())

    @staticmethod
    def backward(ctx, grad):
        return None, None


class Packer:
    def __init__(self):
        self.seen = []
        self.packed = None

    def pack(self, tensor):
        self.seen.append(tensor.detach())
        if len(self.seen) == 2:
            query, key = self.seen
            scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
            self.packed = scores.softmax(-1).contiguous()
        return tensor

    def unpack(self, tensor):
        return tensor


def attention_weights(query, key):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError("query and key differ in width")
    packer = Packer()
    with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(packer.pack, packer.unpack):
        Keep.apply(query.detach().requires_grad_(), key.detach())
    out = torch.empty_like(packer.packed)
    n = out.numel()
    unpack_weights[(triton.cdiv(n, 1024),)](packer.packed, out, n, BLOCK=1024)
    return out


def attention_weights_reference(query, key):
    return torch.softmax(query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5, dim=-1)


weights = Subject(
    attention_weights,
    reference=attention_weights_reference,
    inputs=[Tensor("batch", "rows", "width"), Tensor("batch", "cols", "width")],
    dtypes=["float32"],
    sizes={"batch": [1, 3], "rows": [16, 33], "cols": [20, 48], "width": [16, 24]},
)
