"""A long causal convolution: torch transforms signal and filter and transforms their product back, and the kernel multiplies the two spectra; a signal that is not finite goes to conv1d.
Refuse: torch's Fourier transforms do nearly all of the arithmetic; the kernel's one complex product for each frequency is a few percent of it
"""

import torch
import triton
import triton.language as tl


@triton.jit
def spectrum_kernel(x_ptr, filter_ptr, out_ptr, n, period, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    other = offsets % period
    x_re = tl.load(x_ptr + 2 * offsets, mask=mask, other=0.0)
    x_im = tl.load(x_ptr + 2 * offsets + 1, mask=mask, other=0.0)
    f_re = tl.load(filter_ptr + 2 * other, mask=mask, other=0.0)
    f_im = tl.load(filter_ptr + 2 * other + 1, mask=mask, other=0.0)
    tl.store(out_ptr + 2 * offsets, x_re * f_re - x_im * f_im, mask=mask)
    tl.store(out_ptr + 2 * offsets + 1, x_re * f_im + x_im * f_re, mask=mask)


class Model(torch.nn.Module):
    def __init__(self, channels, taps):
        super().__init__()
        self.filter = torch.nn.Parameter(torch.randn(channels, taps) / taps**0.5)

    def forward(self, x):
        taps = self.filter.shape[1]
        padded = torch.nn.functional.pad(x, (taps - 1, 0))
        return torch.nn.functional.conv1d(padded, self.filter.flip(-1).unsqueeze(1), groups=self.filter.shape[0])


class ModelNew(torch.nn.Module):
    def __init__(self, channels, taps):
        super().__init__()
        self.filter = torch.nn.Parameter(torch.randn(channels, taps) / taps**0.5)

    def forward(self, x):
        length, taps = x.shape[-1], self.filter.shape[1]
        if not torch.isfinite(x).all():
            padded = torch.nn.functional.pad(x, (taps - 1, 0))
            return torch.nn.functional.conv1d(padded, self.filter.flip(-1).unsqueeze(1), groups=x.shape[1])
        size = length + taps
        signal = torch.view_as_real(torch.fft.rfft(x.detach().float(), n=size)).contiguous()
        response = torch.view_as_real(torch.fft.rfft(self.filter.detach().float(), n=size)).contiguous()
        product = torch.empty_like(signal)
        if n := signal.numel() // 2:
            spectrum_kernel[(triton.cdiv(n, 512),)](signal, response, product, n, response.numel() // 2, BLOCK=512)
        return torch.fft.irfft(torch.view_as_complex(product), n=size)[..., :length].to(x.dtype)


def get_inputs():
    return [torch.randn(4, 6, 200)]


def get_init_inputs():
    return [6, 48]
