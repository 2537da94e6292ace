"""How many steps of "halve if even, else three times and one" lead from an int64 to 1, at most 1,000.

It looks suspicious: the loop runs for as long as any lane is not done, so that the time of a program depends on its
slowest element, sums may wrap around, and an upper limit on the steps looks like a shortcut. It is fair: the limit is
part of the contract and of the reference, numbers in the stated range need fewer than 600 steps, and the arithmetic
wraps in two's complement in both.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def collatz_kernel(x_ptr, out_ptr, n, stride, LIMIT: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + at * stride, mask=mask, other=1)
    steps = tl.zeros((BLOCK,), tl.int32)
    taken = 0
    left = tl.max((x > 1).to(tl.int32), axis=0)
    while (left > 0) & (taken < LIMIT):
        going = x > 1
        steps += going.to(tl.int32)
        x = tl.where(going, tl.where((x & 1) == 0, x >> 1, 3 * x + 1), x)
        left = tl.max((x > 1).to(tl.int32), axis=0)
        taken += 1
    tl.store(out_ptr + at, steps, mask=mask)


def collatz_steps(x):
    """x, (n), int64: the steps from each to 1, int32; numbers below 2 take none, and nobody more than 1,000."""
    if x.ndim != 1 or x.dtype != torch.int64:
        raise ValueError("x is (n), int64")
    out = torch.empty(x.shape, dtype=torch.int32, device=x.device)
    if out.numel():
        collatz_kernel[(triton.cdiv(x.shape[0], 128),)](x, out, x.shape[0], x.stride(0), LIMIT=1000, BLOCK=128)
    return out


def reference(x):
    steps = torch.zeros(x.shape, dtype=torch.int32, device=x.device)
    for _ in range(1000):
        going = x > 1
        if not going.any():
            break
        steps += going
        x = torch.where(going, torch.where(x % 2 == 0, x // 2, 3 * x + 1), x)
    return steps


steps = Subject(
    collatz_steps,
    reference=reference,
    inputs=[Tensor("n", dtype="int64", low=-5, high=1000000)],
    sizes={"n": [128, 1, 200, 0]},
)
