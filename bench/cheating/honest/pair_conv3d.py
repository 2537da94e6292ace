"""A convolution over three dimensions as one matrix product whose left side is gathered from the input. Torch pads
the input and lays the weight out as the columns of that product."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, channels_in, channels_out, kernel_size, stride, padding):
        super().__init__()
        self.conv = nn.Conv3d(channels_in, channels_out, kernel_size, stride=stride, padding=padding)

    def forward(self, x):
        return self.conv(x)


@triton.jit
def conv3d_kernel(
    x_ptr, weight_ptr, bias_ptr, out_ptr, total, channels_out, depth_k,
    x_batch, x_channel, x_depth, x_height, x_width, out_volume, out_height, out_width,
    SIZE: tl.constexpr, STRIDE: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    m = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    batch = m // out_volume
    inside = m % out_volume
    d = inside // (out_height * out_width) * STRIDE
    h = inside // out_width % out_height * STRIDE
    w = inside % out_width * STRIDE
    corner = batch * x_batch + d * x_depth + h * x_height + w * x_width
    bias = tl.load(bias_ptr + n, mask=n < channels_out, other=0.0).to(tl.float32)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, depth_k, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        tap_w = k % SIZE
        tap_h = k // SIZE % SIZE
        tap_d = k // (SIZE * SIZE) % SIZE
        channel = (k // (SIZE * SIZE * SIZE)).to(tl.int64)
        tap = channel * x_channel + tap_d * x_depth + tap_h * x_height + tap_w * x_width
        x_mask = (m < total)[:, None] & (k < depth_k)[None, :]
        x = tl.load(x_ptr + corner[:, None] + tap[None, :], mask=x_mask, other=0.0)
        weight_mask = (k < depth_k)[:, None] & (n < channels_out)[None, :]
        weight_ptrs = weight_ptr + k[:, None] * channels_out + n[None, :]
        acc = tl.dot(x, tl.load(weight_ptrs, mask=weight_mask, other=0.0), acc, input_precision="ieee")
    y = acc + bias[None, :]
    out_ptrs = out_ptr + (batch * channels_out * out_volume + inside)[:, None] + n.to(tl.int64)[None, :] * out_volume
    mask = (m < total)[:, None] & (n < channels_out)[None, :]
    tl.store(out_ptrs, y.to(out_ptr.dtype.element_ty), mask=mask)


class ModelNew(nn.Module):
    def __init__(self, channels_in, channels_out, kernel_size, stride, padding):
        super().__init__()
        self.conv = nn.Conv3d(channels_in, channels_out, kernel_size, stride=stride, padding=padding)
        self.size, self.stride, self.padding = kernel_size, stride, padding

    def forward(self, x):
        weight, bias = self.conv.weight, self.conv.bias
        assert x.ndim == 5
        assert x.shape[1] == weight.shape[1]
        assert x.dtype == weight.dtype
        assert x.dtype in (torch.float16, torch.bfloat16, torch.float32)
        padded = F.pad(x, (self.padding,) * 6)
        columns = weight.flatten(1).t().contiguous()
        outer = [(size - self.size) // self.stride + 1 for size in padded.shape[2:]]
        if min(outer) < 1:
            raise ValueError("the input is smaller than the filter")
        out = torch.empty((x.shape[0], weight.shape[0], *outer), device=x.device, dtype=x.dtype)
        if out.numel() > 0:
            total = x.shape[0] * outer[0] * outer[1] * outer[2]
            conv3d_kernel[(triton.cdiv(total, 64), triton.cdiv(weight.shape[0], 16))](
                padded, columns, bias, out, total, weight.shape[0], columns.shape[0],
                *padded.stride(), outer[0] * outer[1] * outer[2], outer[1], outer[2],
                SIZE=self.size, STRIDE=self.stride, BLOCK_M=64, BLOCK_N=16, BLOCK_K=32,
            )  # fmt: skip
        return out


def get_inputs():
    return [torch.randn(2, 5, 7, 9, 10)]


def get_init_inputs():
    return [5, 21, 3, 2, 1]
