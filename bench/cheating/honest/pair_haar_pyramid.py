"""Two levels of the orthonormal Haar wavelet transform of images; an odd last row or column is repeated.

One buffer holds the three detail bands of a level, and what is returned are views of it. The coarse band stays in fp32
between the levels.
"""
import torch
import torch.nn as nn
import triton
import triton.language as tl


def level(x):
    wide = x.float()
    if wide.shape[-1] % 2:
        wide = torch.cat([wide, wide[..., -1:]], -1)
    if wide.shape[-2] % 2:
        wide = torch.cat([wide, wide[..., -1:, :]], -2)
    a, b = wide[..., 0::2, 0::2], wide[..., 0::2, 1::2]
    c, d = wide[..., 1::2, 0::2], wide[..., 1::2, 1::2]
    bands = ((a + b) + (c + d), (a - b) + (c - d), (a + b) - (c + d), (a - b) - (c - d))
    return [0.5 * band for band in bands]


class Model(nn.Module):
    def forward(self, x):
        coarse, *fine = level(x)
        coarsest, *middle = level(coarse)
        return tuple(band.to(x.dtype) for band in (coarsest, *middle, *fine))


@triton.jit
def haar_kernel(x_ptr, coarse_ptr, bands_ptr, total, height, width, half_height, half_width,
                stride_image, stride_row, stride_col, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < total
    col = offsets % half_width
    line = offsets // half_width
    row = line % half_height
    image = line // half_height
    top = 2 * row
    bottom = tl.minimum(top + 1, height - 1)
    left = 2 * col
    right = tl.minimum(left + 1, width - 1)
    source = x_ptr + image * stride_image
    a = tl.load(source + top * stride_row + left * stride_col, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(source + top * stride_row + right * stride_col, mask=mask, other=0.0).to(tl.float32)
    c = tl.load(source + bottom * stride_row + left * stride_col, mask=mask, other=0.0).to(tl.float32)
    d = tl.load(source + bottom * stride_row + right * stride_col, mask=mask, other=0.0).to(tl.float32)
    kind = bands_ptr.dtype.element_ty
    tl.store(coarse_ptr + offsets, (0.5 * ((a + b) + (c + d))).to(coarse_ptr.dtype.element_ty), mask=mask)
    tl.store(bands_ptr + offsets, (0.5 * ((a - b) + (c - d))).to(kind), mask=mask)
    tl.store(bands_ptr + total + offsets, (0.5 * ((a + b) - (c + d))).to(kind), mask=mask)
    tl.store(bands_ptr + 2 * total + offsets, (0.5 * ((a - b) - (c - d))).to(kind), mask=mask)


def haar(x, coarse_dtype, detail_dtype):
    """The coarse band of `x`, of shape (images, height, width), and its details, of shape (3, images, height / 2, width / 2)."""
    images, height, width = x.shape
    half_height, half_width = (height + 1) // 2, (width + 1) // 2
    coarse = torch.empty((images, half_height, half_width), dtype=coarse_dtype, device=x.device)
    details = torch.empty((3, images, half_height, half_width), dtype=detail_dtype, device=x.device)
    total = images * half_height * half_width
    if total:
        haar_kernel[(triton.cdiv(total, 512),)](x, coarse, details, total, height, width, half_height, half_width,
                                                *x.stride(), BLOCK=512)
    return coarse, details


class ModelNew(nn.Module):
    def forward(self, x):
        lead = x.shape[:-2]
        coarse, fine = haar(x.reshape(-1, *x.shape[-2:]), torch.float32, x.dtype)
        coarsest, middle = haar(coarse, x.dtype, x.dtype)
        fine = fine.view(3, *lead, *fine.shape[-2:])
        middle = middle.view(3, *lead, *middle.shape[-2:])
        return (coarsest.view(*lead, *coarsest.shape[-2:]), *middle.unbind(0), *fine.unbind(0))


def get_inputs():
    return [torch.randn(4, 3, 217, 254)]


def get_init_inputs():
    return []
