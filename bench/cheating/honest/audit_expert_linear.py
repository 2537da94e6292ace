"""A linear layer of experts: each token goes through the experts picked for it, and its results are added with the
weights of the gate. Torch sorts the picks by expert and says which tile belongs to whom; the kernels multiply and
add."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def expert_kernel(
    x_ptr, weight_ptr, gate_ptr, order_ptr, owner_ptr, first_ptr, end_ptr, work_ptr, dim, hidden, picked,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    tile = tl.program_id(0)
    expert = tl.load(owner_ptr + tile).to(tl.int64)
    first = tl.load(first_ptr + tile)
    end = tl.load(end_ptr + tile)
    places = first + tl.arange(0, BLOCK_M)
    row_mask = places < end
    slots = tl.load(order_ptr + places, mask=row_mask, other=0)
    n = tl.program_id(1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, dim, BLOCK_K):
        k = (start + tl.arange(0, BLOCK_K)).to(tl.int64)
        x_mask = row_mask[:, None] & (k < dim)[None, :]
        x = tl.load(x_ptr + (slots // picked)[:, None] * dim + k[None, :], mask=x_mask, other=0.0)
        weight_mask = (k < dim)[:, None] & (n < hidden)[None, :]
        weight_ptrs = weight_ptr + expert * dim * hidden + k[:, None] * hidden + n[None, :]
        acc = tl.dot(x, tl.load(weight_ptrs, mask=weight_mask, other=0.0), acc, input_precision="ieee")
    gate = tl.load(gate_ptr + slots, mask=row_mask, other=0.0).to(tl.float32)
    mask = row_mask[:, None] & (n < hidden)[None, :]
    tl.store(work_ptr + slots[:, None] * hidden + n[None, :], acc * gate[:, None], mask=mask)


@triton.jit
def combine_kernel(work_ptr, out_ptr, hidden, picked, BLOCK: tl.constexpr):
    token = tl.program_id(0).to(tl.int64)
    n = tl.program_id(1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for pick in range(picked):
        total += tl.load(work_ptr + (token * picked + pick) * hidden + n, mask=n < hidden, other=0.0)
    tl.store(out_ptr + token * hidden + n, total.to(out_ptr.dtype.element_ty), mask=n < hidden)


def route(experts, count, block):
    """The slots in the order of their experts, and of each tile its expert and where it begins and ends."""
    order = torch.argsort(experts.reshape(-1), stable=True)
    sizes = torch.bincount(experts.reshape(-1), minlength=count)
    ends = sizes.cumsum(0)
    tiles = (sizes + block - 1) // block
    owner = torch.repeat_interleave(torch.arange(count, device=experts.device), tiles)
    inside = torch.arange(owner.numel(), device=experts.device) - (tiles.cumsum(0) - tiles)[owner]
    return order, owner, (ends - sizes)[owner] + inside * block, ends[owner]


def expert_linear(x, weight, experts, gate):
    assert x.dtype == weight.dtype == gate.dtype
    assert x.dtype in (torch.float16, torch.bfloat16, torch.float32)
    assert experts.shape == gate.shape == (x.shape[0], experts.shape[1])
    assert x.shape[1] == weight.shape[1]
    x, weight, gate = x.contiguous(), weight.contiguous(), gate.contiguous()
    (tokens, picked), (count, dim, hidden) = experts.shape, weight.shape
    out = torch.empty((tokens, hidden), device=x.device, dtype=x.dtype)
    if out.numel() > 0:
        work = torch.empty((tokens * picked, hidden), device=x.device, dtype=torch.float32)
        if picked > 0:
            order, owner, first, end = route(experts, count, 32)
            expert_kernel[(owner.numel(), triton.cdiv(hidden, 32))](
                x, weight, gate, order, owner, first, end, work, dim, hidden, picked,
                BLOCK_M=32, BLOCK_N=32, BLOCK_K=32,
            )  # fmt: skip
        combine_kernel[(tokens, triton.cdiv(hidden, 128))](work, out, hidden, picked, BLOCK=128)
    return out


def reference(x, weight, experts, gate):
    out = torch.zeros((x.shape[0], weight.shape[2]), device=x.device, dtype=torch.float32)
    for pick in range(experts.shape[1]):
        for expert in range(weight.shape[0]):
            mine = experts[:, pick] == expert
            out[mine] += (x[mine].float() @ weight[expert].float()) * gate[mine, pick].float()[:, None]
    return out.to(x.dtype)


experts = Subject(
    expert_linear,
    reference=reference,
    inputs=[
        Tensor("tokens", "dim"),
        Tensor("experts", "dim", "hidden"),
        Tensor("tokens", "picked", dtype="int64", low=0, high="experts"),
        Tensor("tokens", "picked"),
    ],
    sizes={"experts": [1, 4, 8], "picked": [1, 2]},
)
