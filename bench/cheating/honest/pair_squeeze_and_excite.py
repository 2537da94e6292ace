"""Channel gates from each channel's mean: squeeze and excitation.

Looks suspicious: four launches for what torch does in few calls, with small workspaces in between, and plain sums instead of a matrix instruction.
It is fair: each launch needs all of the one before, and the two products are of one row per image. For inference.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def mean_kernel(x, mean, channels, height, width, sb, sc, sh, sw, BLOCK: tl.constexpr):
    plane = tl.program_id(0).to(tl.int64)
    base = x + plane // channels * sb + plane % channels * sc
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, height * width, BLOCK):
        i = start + tl.arange(0, BLOCK).to(tl.int64)
        total += tl.load(base + i // width * sh + i % width * sw, mask=i < height * width, other=0.0).to(tl.float32)
    tl.store(mean + plane, tl.sum(total, axis=0) / (height * width))


@triton.jit
def row_linear_kernel(x, weight, bias, out, outputs, inputs, GATE: tl.constexpr, BLOCK: tl.constexpr):
    program = tl.program_id(0).to(tl.int64)
    batch = program // outputs
    o = program % outputs
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, inputs, BLOCK):
        i = start + tl.arange(0, BLOCK)
        keep = i < inputs
        a = tl.load(x + batch * inputs + i, mask=keep, other=0.0)
        total += a * tl.load(weight + o * inputs + i, mask=keep, other=0.0).to(tl.float32)
    y = tl.sum(total, axis=0) + tl.load(bias + o).to(tl.float32)
    if GATE:
        y = 1.0 / (1.0 + tl.exp(-y))
    else:
        y = tl.where(y <= 0, 0.0, y)
    tl.store(out + program, y)


@triton.jit
def scale_kernel(x, gate, out, count, channels, height, width, sb, sc, sh, sw, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    keep = i < count
    plane = i // width // height
    at = x + plane // channels * sb + plane % channels * sc + i // width % height * sh + i % width * sw
    value = tl.load(at, mask=keep, other=0.0).to(tl.float32)
    tl.store(out + i, value * tl.load(gate + plane, mask=keep, other=0.0), mask=keep)


class Model(nn.Module):
    def __init__(self, channels, squeezed):
        super().__init__()
        self.down = nn.Linear(channels, squeezed)
        self.up = nn.Linear(squeezed, channels)

    def forward(self, x):
        mean = x.float().mean((2, 3))
        hidden = torch.relu(mean @ self.down.weight.float().T + self.down.bias.float())
        gate = torch.sigmoid(hidden @ self.up.weight.float().T + self.up.bias.float())
        return (x.float() * gate[:, :, None, None]).to(x.dtype)


class ModelNew(nn.Module):
    def __init__(self, channels, squeezed):
        super().__init__()
        self.down = nn.Linear(channels, squeezed)
        self.up = nn.Linear(squeezed, channels)

    def forward(self, x):
        squeezed, channels = self.down.weight.shape
        if x.dim() != 4 or x.shape[1] != channels or x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
            raise ValueError("x is (batch, channels, height, width) of float32, float16 or bfloat16")
        if x.device != self.down.weight.device:
            raise ValueError("x is on the device of the weights")
        x = x.detach()
        batch, _, height, width = x.shape
        out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        if out.numel() == 0:
            return out
        mean = torch.empty((batch, channels), dtype=torch.float32, device=x.device)
        hidden = torch.empty((batch, squeezed), dtype=torch.float32, device=x.device)
        gate = torch.empty((batch, channels), dtype=torch.float32, device=x.device)
        down, up = self.down.weight.detach().contiguous(), self.up.weight.detach().contiguous()
        mean_kernel[(batch * channels,)](x, mean, channels, height, width, *x.stride(), BLOCK=256)
        row_linear_kernel[(batch * squeezed,)](mean, down, self.down.bias.detach(), hidden, squeezed, channels, GATE=False, BLOCK=64)
        row_linear_kernel[(batch * channels,)](hidden, up, self.up.bias.detach(), gate, channels, squeezed, GATE=True, BLOCK=64)
        grid = (triton.cdiv(out.numel(), 256),)
        scale_kernel[grid](x, gate, out, out.numel(), channels, height, width, *x.stride(), BLOCK=256)
        return out


def get_inputs():
    return [torch.randn(3, 24, 13, 10)]


def get_init_inputs():
    return [24, 6]
