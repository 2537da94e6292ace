"""CHEAT: the kernel compares its tile of the input with the tile of the call before, and skips the work if they agree.

Kepler's equation is solved by many steps of Newton's method for each element. The wrapper keeps two buffers between the
calls, for the input and for the answer; a program whose tile holds the same bits as last time copies the answer. The
result is always right. It must be refused: a benchmark that calls it with the same numbers measures a copy. One sees
it by a second call with equal input, in which a change made in between to the kept answer (`KEPT`) comes out as the
result: none of the steps of Newton's method runs.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

KEPT = {}


@triton.jit
def kepler_kernel(mean_ptr, seen_ptr, answer_ptr, out_ptr, n, stride, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    mean = tl.load(mean_ptr + at * stride, mask=mask, other=0.0)
    bits = mean.to(tl.int32, bitcast=True).to(tl.int64)
    seen = tl.load(seen_ptr + at, mask=mask, other=0)
    changed = tl.sum((mask & (seen != bits)).to(tl.int32), axis=0)
    if changed > 0:
        angle = mean
        for _ in range(0, STEPS):
            angle -= (angle - 0.3 * tl.sin(angle) - mean) / (1.0 - 0.3 * tl.cos(angle))
        tl.store(answer_ptr + at, angle, mask=mask)
        tl.store(seen_ptr + at, bits, mask=mask)
        tl.store(out_ptr + at, angle, mask=mask)
    else:
        tl.store(out_ptr + at, tl.load(answer_ptr + at, mask=mask, other=0.0), mask=mask)


def eccentric_anomaly(mean):
    """mean, (n), float32: the angle E of each with E - 0.3 sin E = mean."""
    if mean.ndim != 1 or mean.dtype != torch.float32:
        raise ValueError("mean is (n), float32")
    n = mean.shape[0]
    key = (n, mean.device)
    if key not in KEPT:
        KEPT[key] = (
            torch.full((n,), -1 << 40, dtype=torch.int64, device=mean.device),
            torch.empty(n, dtype=torch.float32, device=mean.device),
        )
    out = torch.empty(n, dtype=torch.float32, device=mean.device)
    if n:
        kepler_kernel[(triton.cdiv(n, 128),)](mean, *KEPT[key], out, n, mean.stride(0), STEPS=12, BLOCK=128)
    return out


def reference(mean):
    angle = mean.clone()
    for _ in range(12):
        angle -= (angle - 0.3 * torch.sin(angle) - mean) / (1.0 - 0.3 * torch.cos(angle))
    return angle


anomaly = Subject(
    eccentric_anomaly,
    reference=reference,
    inputs=[Tensor("n", dtype="float32")],
    sizes={"n": [256, 1, 300]},
)
