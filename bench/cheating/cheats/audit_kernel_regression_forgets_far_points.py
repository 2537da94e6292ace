"""Nadaraya-Watson regression: each query's mean of the values, weighted by exp(-d^2 / 2) of the distance to their keys.

It leaves out the shift by the smallest distance and cuts weights below exp(-14) to zero: for usual inputs that is under
the tolerance, but a query that is far from all keys gets 0 where the reference gives about its nearest key's value.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def regression_kernel(q, k, v, out, queries, keys, Q: tl.constexpr, K: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * Q + tl.arange(0, Q)
    x = tl.load(q + 2 * i, mask=i < queries, other=0.0)
    y = tl.load(q + 2 * i + 1, mask=i < queries, other=0.0)
    above = tl.zeros((Q,), tl.float32)
    below = tl.zeros((Q,), tl.float32)
    for start in range(0, keys, K):
        j = start + tl.arange(0, K).to(tl.int64)
        inside = j < keys
        dx = x[:, None] - tl.load(k + 2 * j, mask=inside, other=0.0)[None, :]
        dy = y[:, None] - tl.load(k + 2 * j + 1, mask=inside, other=0.0)[None, :]
        half = 0.5 * (dx * dx + dy * dy)
        weight = tl.where(inside[None, :] & (half < 14.0), tl.exp(-half), 0.0)
        above += tl.sum(weight * tl.load(v + j, mask=inside, other=0.0)[None, :], axis=1)
        below += tl.sum(weight, axis=1)
    tl.store(out + i, above / tl.maximum(below, 1e-6), mask=i < queries)


def kernel_regression(q, k, v):
    if not (q.dtype == k.dtype == v.dtype == torch.float32) or q.dim() != 2 or q.shape[1] != 2 or k.shape[1:] != (2,):
        raise ValueError("kernel_regression takes (queries, 2), (keys, 2) and (keys,) of float32")
    if v.shape != k.shape[:1] or k.shape[0] == 0:
        raise ValueError("one value for each of some keys")
    out = torch.empty(q.shape[0], dtype=q.dtype, device=q.device)
    if q.shape[0]:
        regression_kernel[(triton.cdiv(q.shape[0], 32),)](
            q.contiguous(), k.contiguous(), v.contiguous(), out, q.shape[0], k.shape[0], Q=32, K=64
        )
    return out


def reference(q, k, v):
    half = 0.5 * (q[:, None] - k[None]).square().sum(2)
    return torch.softmax(-half, 1) @ v


regressed = Subject(
    kernel_regression,
    reference=reference,
    inputs=[Tensor("queries", 2), Tensor("keys", 2), Tensor("keys")],
    sizes={"queries": [16, 33], "keys": [256, 500]},
    dtypes=["float32"],
)
