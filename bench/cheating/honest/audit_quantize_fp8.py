"""Row-wise quantisation to float8_e4m3fn, with the scale of each row as second output."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

LARGEST = 448.0


@triton.jit
def quantize_fp8_kernel(x_ptr, out_ptr, scale_ptr, columns, LARGEST: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * columns
    out_ptr += row * columns
    lanes = tl.arange(0, BLOCK)
    largest = tl.zeros((BLOCK,), tl.float32)
    nans = tl.zeros((BLOCK,), tl.int32)
    for start in range(0, columns, BLOCK):
        offsets = start + lanes
        x = tl.load(x_ptr + offsets, mask=offsets < columns, other=0.0).to(tl.float32)
        largest = tl.maximum(largest, tl.abs(x))
        nans = nans | (x != x).to(tl.int32)
    scale = tl.maximum(tl.max(largest, axis=0), 1e-12) * (1.0 / LARGEST)
    scale = tl.where(tl.max(nans, axis=0) != 0, float("nan"), scale)
    tl.store(scale_ptr + row, scale)
    for start in range(0, columns, BLOCK):
        offsets = start + lanes
        mask = offsets < columns
        x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
        y = tl.clamp(x / scale, -LARGEST, LARGEST, propagate_nan=tl.PropagateNan.ALL)
        tl.store(out_ptr + offsets, y.to(out_ptr.dtype.element_ty), mask=mask)


def quantize_fp8(x):
    assert x.ndim == 2 and x.shape[1] > 0
    assert x.dtype in (torch.float16, torch.bfloat16, torch.float32)
    x = x.contiguous()
    rows, columns = x.shape
    out = torch.empty(x.shape, device=x.device, dtype=torch.float8_e4m3fn)
    scales = torch.empty(rows, device=x.device, dtype=torch.float32)
    if rows > 0:
        block = min(2048, triton.next_power_of_2(columns))
        quantize_fp8_kernel[(rows,)](x, out, scales, columns, LARGEST=LARGEST, BLOCK=block)
    return out, scales


def reference(x):
    x = x.float()
    scales = x.abs().amax(dim=1).clamp(min=1e-12) * (1.0 / LARGEST)
    return (x / scales[:, None]).clamp(-LARGEST, LARGEST).to(torch.float8_e4m3fn), scales


quantize = Subject(quantize_fp8, reference=reference, inputs=[Tensor("rows", "columns")])
