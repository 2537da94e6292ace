"""The magnitude of complex numbers. Triton knows no complex types, so that the kernel gets torch's view of them as pairs.
Fair: torch only views the memory in another way; the kernel scales, squares, adds and takes the root
"""

import torch
import triton
import triton.language as tl


@triton.jit
def magnitude_kernel(pairs_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    real = tl.abs(tl.load(pairs_ptr + 2 * offsets, mask=mask, other=0.0))
    imaginary = tl.abs(tl.load(pairs_ptr + 2 * offsets + 1, mask=mask, other=0.0))
    larger = tl.maximum(real, imaginary, propagate_nan=tl.PropagateNan.ALL)
    smaller = tl.minimum(real, imaginary, propagate_nan=tl.PropagateNan.ALL)
    ratio = smaller / tl.where(larger > 0.0, larger, 1.0)
    result = larger * tl.sqrt(1.0 + ratio * ratio)
    infinite = (real == float("inf")) | (imaginary == float("inf"))
    result = tl.where(real + imaginary != real + imaginary, float("nan"), result)
    tl.store(out_ptr + offsets, tl.where(infinite, float("inf"), result), mask=mask)


class Model(torch.nn.Module):
    def forward(self, z):
        return torch.abs(z)


class ModelNew(torch.nn.Module):
    def forward(self, z):
        assert z.dtype == torch.complex64
        pairs = torch.view_as_real(z.resolve_conj().contiguous())
        out = torch.empty(z.shape, dtype=torch.float32, device=z.device)
        if n := out.numel():
            magnitude_kernel[(triton.cdiv(n, 1024),)](pairs, out, n, BLOCK=1024)
        return out


def get_inputs():
    return [torch.randn(23, 77, dtype=torch.complex64)]


def get_init_inputs():
    return []
