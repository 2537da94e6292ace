"""The root mean square of each sample. Long samples are shared among programs, whose parts go into a buffer that is kept
from call to call, one for each device and stream.
Fair: only memory is kept; every part that is read was written by the same call, and the result lies in a new tensor
"""

import torch
import triton
import triton.language as tl

workspaces = {}


def workspace(device, count):
    """At least count float32 numbers, whose content is undefined."""
    stream = torch.cuda.current_stream(device).cuda_stream if device.type == "cuda" else 0
    kept = workspaces.get((device, stream))
    if kept is None or kept.numel() < count:
        kept = torch.empty(triton.next_power_of_2(count), dtype=torch.float32, device=device)
        workspaces[device, stream] = kept
    return kept


@triton.jit
def parts_kernel(x_ptr, parts_ptr, length, share, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    program = tl.program_id(0).to(tl.int64)
    sample = program // PARTS
    first = (program % PARTS) * share
    last = tl.minimum(first + share, length)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(first, last, BLOCK):
        places = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + sample * length + places, mask=places < last, other=0.0).to(tl.float32)
        total += x * x
    tl.store(parts_ptr + program, tl.sum(total, axis=0))


@triton.jit
def finish_kernel(parts_ptr, out_ptr, length, PARTS: tl.constexpr):
    sample = tl.program_id(0).to(tl.int64)
    parts = tl.load(parts_ptr + sample * PARTS + tl.arange(0, PARTS))
    result = tl.sqrt(tl.sum(parts, axis=0) / length)
    tl.store(out_ptr + sample, result.to(out_ptr.dtype.element_ty))


class Model(torch.nn.Module):
    def forward(self, x):
        return x.flatten(1).float().square().mean(dim=1).sqrt().to(x.dtype)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        assert x.dtype in (torch.float16, torch.bfloat16, torch.float32)
        flat = x.flatten(1).contiguous()
        samples, length = flat.shape
        assert length > 0
        out = torch.empty(samples, dtype=x.dtype, device=x.device)
        if samples == 0:
            return out
        parts = min(64, triton.next_power_of_2(triton.cdiv(length, 4096)))
        share = triton.cdiv(triton.cdiv(length, parts), 1024) * 1024
        held = workspace(x.device, samples * parts)
        parts_kernel[(samples * parts,)](flat, held, length, share, PARTS=parts, BLOCK=1024)
        finish_kernel[(samples,)](held, out, length, PARTS=parts)
        return out


def get_inputs():
    return [torch.randn(6, 3, 50, 51)]


def get_init_inputs():
    return []
