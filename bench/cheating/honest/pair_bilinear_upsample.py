"""Doubles height and width of images by bilinear interpolation, with half-pixel centres. Each lane makes one pixel of
the result from four of the input.
Fair: the kernel finds the neighbours and weighs them; torch only makes the input contiguous and allocates
"""

import torch
import triton
import triton.language as tl


@triton.jit
def double_kernel(x_ptr, out_ptr, n, height, width, BLOCK: tl.constexpr):
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = place < n
    out_col = place % (2 * width)
    out_row = (place // (2 * width)) % (2 * height)
    plane = place // (2 * width) // (2 * height)
    row_at = tl.maximum(out_row.to(tl.float32) * 0.5 - 0.25, 0.0)
    col_at = tl.maximum(out_col.to(tl.float32) * 0.5 - 0.25, 0.0)
    up = row_at.to(tl.int64)
    left = col_at.to(tl.int64)
    down = tl.minimum(up + 1, height - 1)
    right = tl.minimum(left + 1, width - 1)
    low = row_at - up.to(tl.float32)
    far = col_at - left.to(tl.float32)
    base = plane * height * width
    a = tl.load(x_ptr + base + up * width + left, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(x_ptr + base + up * width + right, mask=mask, other=0.0).to(tl.float32)
    c = tl.load(x_ptr + base + down * width + left, mask=mask, other=0.0).to(tl.float32)
    d = tl.load(x_ptr + base + down * width + right, mask=mask, other=0.0).to(tl.float32)
    result = (1.0 - low) * ((1.0 - far) * a + far * b) + low * ((1.0 - far) * c + far * d)
    tl.store(out_ptr + place, result.to(out_ptr.dtype.element_ty), mask=mask)


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        assert x.ndim == 4
        assert x.dtype in (torch.float16, torch.bfloat16, torch.float32)
        x = x.contiguous()
        count, channels, height, width = x.shape
        assert max(height, width) < 1 << 22
        out = torch.empty((count, channels, 2 * height, 2 * width), dtype=x.dtype, device=x.device)
        if n := out.numel():
            double_kernel[(triton.cdiv(n, 512),)](x, out, n, height, width, BLOCK=512)
        return out


def get_inputs():
    return [torch.randn(2, 3, 21, 18)]


def get_init_inputs():
    return []
