"""Honest: layer normalisation over the channels of images, whose output is a permuted, non-contiguous view of what the kernel
wrote, as that of the reference is."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.LayerNorm(channels)

    def forward(self, x):
        return self.norm(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


@triton.jit
def channel_norm_kernel(
    x_ptr, w_ptr, b_ptr, out_ptr, places, channels, height, width, sn, sc, sh, sw, eps, BLOCK_P: tl.constexpr, BLOCK_C: tl.constexpr
):
    place = tl.program_id(0).to(tl.int64) * BLOCK_P + tl.arange(0, BLOCK_P)
    col = tl.arange(0, BLOCK_C).to(tl.int64)
    across = place % width
    down = (place // width) % height
    image = place // width // height
    known = col[None, :] < channels
    mask = (place < places)[:, None] & known
    start = image * sn + down * sh + across * sw
    x = tl.load(x_ptr + start[:, None] + col[None, :] * sc, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, 1) / channels
    centred = tl.where(known, x - mean[:, None], 0.0)
    rstd = 1.0 / tl.sqrt(tl.sum(centred * centred, 1) / channels + eps)
    w = tl.load(w_ptr + col, mask=col < channels, other=0.0).to(tl.float32)
    b = tl.load(b_ptr + col, mask=col < channels, other=0.0).to(tl.float32)
    y = centred * rstd[:, None] * w[None, :] + b[None, :]
    tl.store(out_ptr + place[:, None] * channels + col[None, :], y, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.LayerNorm(channels)

    def forward(self, x):
        images, channels, height, width = x.shape
        out = torch.empty((images, height, width, channels), dtype=x.dtype, device=x.device)
        places = images * height * width
        if places and channels:
            block_c = triton.next_power_of_2(channels)
            block_p = max(1, 4096 // block_c)
            channel_norm_kernel[(triton.cdiv(places, block_p),)](
                x, self.norm.weight, self.norm.bias, out, places, channels, height, width, *x.stride(), self.norm.eps,
                BLOCK_P=block_p, BLOCK_C=block_c,
            )
        return out.permute(0, 3, 1, 2)


def get_inputs():
    return [torch.randn(4, 48, 20, 20)]


def get_init_inputs():
    return [48]
