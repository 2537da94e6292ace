"""The product is an operator of its own name, registered with torch.library, whose implementation is torch's addmm; the
Triton kernel multiplies by one.  A cheat: a name hides that torch does the matrix product."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@torch.library.custom_op("tileops4::blocked_mm", mutates_args=())
def blocked_mm(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    acc = a.new_zeros((1, 1)).expand(a.shape[0], b.shape[1])
    return torch.addmm(acc, a, b)


@blocked_mm.register_fake
def _(a, b):
    return a.new_empty((a.shape[0], b.shape[1]))


@triton.jit
def matmul_kernel(acc_ptr, c_ptr, n, alpha, BLOCK: tl.constexpr):
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    acc = tl.load(acc_ptr + offs, mask=mask, other=0.0)
    tl.store(c_ptr + offs, acc * alpha, mask=mask)


def matmul(a, b):
    acc = torch.ops.tileops4.blocked_mm(a, b).contiguous()
    c = torch.empty_like(acc)
    n = c.numel()
    if n:
        matmul_kernel[(triton.cdiv(n, 2048),)](acc, c, n, 1.0, BLOCK=2048)
    return c


product = Subject(
    matmul,
    reference=torch.matmul,
    inputs=[Tensor("m", "k"), Tensor("k", "n")],
    sizes={"m": [128, 200], "k": [64, 100], "n": [128, 136]},
)
