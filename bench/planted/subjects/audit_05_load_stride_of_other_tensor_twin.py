"""Gates a half of the columns of a wide matrix by a narrow one."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def gate_kernel(wide_ptr, gate_ptr, out_ptr, half, wide_stride, gate_stride, out_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = c < half
    value = tl.load(wide_ptr + row * wide_stride + c, mask=mask, other=0.0).to(tl.float32)
    gate = tl.load(gate_ptr + row * gate_stride + c, mask=mask, other=0.0).to(tl.float32)
    y = value * tl.sigmoid(gate)
    tl.store(out_ptr + row * out_stride + c, y.to(out_ptr.dtype.element_ty), mask=mask)


def gated(wide, gate):
    wide, gate = wide.contiguous(), gate.contiguous()
    rows, half = gate.shape
    assert wide.shape == (rows, 2 * half)
    out = torch.empty_like(gate)
    if out.numel() > 0:
        gate_kernel[(rows, triton.cdiv(half, 128))](
            wide, gate, out, half, wide.stride(0), gate.stride(0), out.stride(0), BLOCK=128
        )
    return out


gating = Subject(
    gated,
    reference=lambda wide, gate: wide[:, : gate.shape[1]] * torch.sigmoid(gate),
    inputs=[Tensor("rows", "2 * half"), Tensor("rows", "half")],
    dtypes=["float32", "float16"],
)
