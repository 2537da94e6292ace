"""Instance normalisation with a weight and a bias for each channel. An autotuner chooses block and warps by the size of
a plane.
Fair: whatever the tuner picks, the kernel computes moments and result; torch only allocates
"""

import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 256}, num_warps=2),
        triton.Config({"BLOCK": 1024}, num_warps=4),
        triton.Config({"BLOCK": 4096}, num_warps=8),
    ],
    key=["plane"],
)
@triton.jit
def instance_norm_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, channels, plane, eps, BLOCK: tl.constexpr):
    program = tl.program_id(0).to(tl.int64)
    channel = program % channels
    base = program * plane
    lanes = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, plane, BLOCK):
        p = start + lanes
        total += tl.load(x_ptr + base + p, mask=p < plane, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / plane
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, plane, BLOCK):
        p = start + lanes
        x = tl.load(x_ptr + base + p, mask=p < plane, other=0.0).to(tl.float32)
        away = tl.where(p < plane, x - mean, 0.0)
        squares += away * away
    inverse = 1.0 / tl.sqrt(tl.sum(squares, axis=0) / plane + eps)
    weight = tl.load(weight_ptr + channel).to(tl.float32)
    bias = tl.load(bias_ptr + channel).to(tl.float32)
    for start in range(0, plane, BLOCK):
        p = start + lanes
        x = tl.load(x_ptr + base + p, mask=p < plane, other=0.0).to(tl.float32)
        result = (x - mean) * inverse * weight + bias
        tl.store(out_ptr + base + p, result.to(out_ptr.dtype.element_ty), mask=p < plane)


class Model(torch.nn.Module):
    def __init__(self, channels, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = torch.nn.Parameter(torch.rand(channels) + 0.5)
        self.bias = torch.nn.Parameter(torch.randn(channels))

    def forward(self, x):
        wide = x.float()
        variance, mean = torch.var_mean(wide, dim=(2, 3), correction=0, keepdim=True)
        weight, bias = (v.float()[:, None, None] for v in (self.weight, self.bias))
        return ((wide - mean) * torch.rsqrt(variance + self.eps) * weight + bias).to(x.dtype)


class ModelNew(torch.nn.Module):
    def __init__(self, channels, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = torch.nn.Parameter(torch.rand(channels) + 0.5)
        self.bias = torch.nn.Parameter(torch.randn(channels))

    def forward(self, x):
        assert x.ndim == 4
        assert x.shape[1] == self.weight.numel()
        assert x.dtype in (torch.float16, torch.bfloat16, torch.float32)
        x = x.contiguous()
        count, channels, height, width = x.shape
        out = torch.empty_like(x)
        if out.numel():
            instance_norm_kernel[(count * channels,)](
                x, self.weight, self.bias, out, channels, height * width, self.eps
            )
        return out


def get_inputs():
    return [torch.randn(3, 5, 17, 19)]


def get_init_inputs():
    return [5]
