"""The largest absolute value, by partial maxima in a workspace of 64 slots."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def partial_peak_kernel(x_ptr, slots_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    step = tl.num_programs(0).to(tl.int64) * BLOCK
    top = tl.zeros((BLOCK,), tl.float32)
    for start in range(pid.to(tl.int64) * BLOCK, n, step):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0).to(tl.float32)
        top = tl.maximum(top, tl.abs(x), propagate_nan=tl.PropagateNan.ALL)
    is_nan = tl.max((top != top).to(tl.int32), axis=0) != 0
    tl.store(slots_ptr + pid, tl.where(is_nan, float("nan"), tl.max(top, axis=0)))


@triton.jit
def final_peak_kernel(slots_ptr, out_ptr, programs, SLOTS: tl.constexpr):
    slot = tl.arange(0, SLOTS)
    top = tl.load(slots_ptr + slot, mask=slot < SLOTS, other=0.0)  # fault: read of uninitialised memory: workspace read before written
    is_nan = tl.max((top != top).to(tl.int32), axis=0) != 0
    tl.store(out_ptr, tl.where(is_nan, float("nan"), tl.max(top, axis=0)).to(out_ptr.dtype.element_ty))


def peak(x):
    x = x.contiguous()
    assert x.numel() > 0
    programs = min(64, triton.cdiv(x.numel(), 128))
    slots = torch.empty(64, device=x.device, dtype=torch.float32)
    out = torch.empty((), device=x.device, dtype=x.dtype)
    partial_peak_kernel[(programs,)](x, slots, x.numel(), BLOCK=128)
    final_peak_kernel[(1,)](slots, out, programs, SLOTS=64)
    return out


peaks = Subject(
    peak, reference=lambda x: x.abs().amax(), inputs=[Tensor("rows", "columns")], dtypes=["float32", "float16"]
)
