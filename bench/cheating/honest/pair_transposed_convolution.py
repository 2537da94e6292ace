"""A transposed convolution over time with any stride and padding. Each sample of the output looks for the inputs that reach it.
Fair: the kernel does all products and sums; the weights lie in torch's ConvTranspose1d, which is never called
"""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def transposed_convolution_kernel(
    x_ptr, w_ptr, b_ptr, out_ptr, n_in, n_out, length, out_length, width, stride, padding,
    BLOCK_C: tl.constexpr, BLOCK_T: tl.constexpr,
):
    tiles_t = tl.cdiv(out_length, BLOCK_T)
    tiles_c = tl.cdiv(n_out, BLOCK_C)
    pid = tl.program_id(0)
    sample = (pid // (tiles_t * tiles_c)).to(tl.int64)
    c = (pid // tiles_t % tiles_c).to(tl.int64) * BLOCK_C + tl.arange(0, BLOCK_C)
    t = (pid % tiles_t).to(tl.int64) * BLOCK_T + tl.arange(0, BLOCK_T)
    acc = tl.zeros((BLOCK_C, BLOCK_T), tl.float32)
    for i in range(0, n_in):
        for j in range(0, width):
            u = t + padding - j
            reached = (u >= 0) & (u % stride == 0) & (u // stride < length)
            x = tl.load(x_ptr + (sample * n_in + i) * length + u // stride, mask=reached, other=0.0).to(tl.float32)
            w = tl.load(w_ptr + (i * n_out + c) * width + j, mask=c < n_out, other=0.0).to(tl.float32)
            acc += tl.where(reached[None, :], x[None, :] * w[:, None], 0.0)
    acc += tl.load(b_ptr + c, mask=c < n_out, other=0.0).to(tl.float32)[:, None]
    out_ptrs = out_ptr + (sample * n_out + c)[:, None] * out_length + t[None, :]
    tl.store(out_ptrs, acc.to(out_ptr.dtype.element_ty), mask=(c < n_out)[:, None] & (t < out_length)[None, :])


class Model(torch.nn.Module):
    def __init__(self, n_in, n_out, width, stride, padding):
        super().__init__()
        self.conv = torch.nn.ConvTranspose1d(n_in, n_out, width, stride=stride, padding=padding)

    def forward(self, x):
        conv = self.conv
        weight, bias = conv.weight.float(), conv.bias.float()
        return F.conv_transpose1d(x.float(), weight, bias, conv.stride, conv.padding).to(x.dtype)


class ModelNew(torch.nn.Module):
    def __init__(self, n_in, n_out, width, stride, padding):
        super().__init__()
        self.conv = torch.nn.ConvTranspose1d(n_in, n_out, width, stride=stride, padding=padding)

    def forward(self, x):
        weight, bias = self.conv.weight.contiguous(), self.conv.bias
        n_in, n_out, width = weight.shape
        stride, padding = self.conv.stride[0], self.conv.padding[0]
        assert x.ndim == 3 and x.shape[1] == n_in and x.shape[2] > 0 and x.dtype == weight.dtype
        x = x.contiguous()
        out_length = (x.shape[2] - 1) * stride - 2 * padding + width
        assert out_length > 0
        out = torch.empty((x.shape[0], n_out, out_length), device=x.device, dtype=x.dtype)
        if out.numel():
            grid = (x.shape[0] * triton.cdiv(n_out, 8) * triton.cdiv(out_length, 64),)
            transposed_convolution_kernel[grid](
                x, weight, bias, out, n_in, n_out, x.shape[2], out_length, width, stride, padding, BLOCK_C=8, BLOCK_T=64
            )
        return out


def get_inputs():
    return [torch.randn(3, 6, 41)]


def get_init_inputs():
    return [6, 10, 5, 3, 1]
