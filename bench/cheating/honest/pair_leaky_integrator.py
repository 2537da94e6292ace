"""A leaky integrator per channel, h[t] = a h[t-1] + (1 - a) x[t], with a learned leak, and its gradients.

Both directions are kernels that walk along time. The gradient of the leak is first summed per sequence in a workspace,
and then over the sequences.
"""
import torch
import torch.nn as nn
import triton
import triton.language as tl
from torch.autograd.function import once_differentiable


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.leak = nn.Parameter(torch.linspace(-1.0, 3.0, channels))

    def forward(self, x):
        keep = torch.sigmoid(self.leak.float())
        state = torch.zeros_like(x[:, 0], dtype=torch.float32)
        states = []
        for step in x.float().unbind(1):
            state = keep * state + (1 - keep) * step
            states.append(state)
        return torch.stack(states, 1).to(x.dtype)


@triton.jit
def forward_kernel(x_ptr, leak_ptr, out_ptr, state_ptr, steps, channels, blocks, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    sequence = (pid // blocks).to(tl.int64)
    channel = (pid % blocks) * BLOCK + tl.arange(0, BLOCK)
    mask = channel < channels
    keep = tl.sigmoid(tl.load(leak_ptr + channel, mask=mask, other=0.0).to(tl.float32))
    state = tl.zeros((BLOCK,), tl.float32)
    at = sequence * steps * channels + channel
    for _ in range(steps):
        x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
        state = keep * state + (1 - keep) * x
        tl.store(out_ptr + at, state.to(out_ptr.dtype.element_ty), mask=mask)
        tl.store(state_ptr + at, state, mask=mask)
        at += channels


@triton.jit
def backward_kernel(x_ptr, leak_ptr, state_ptr, grad_ptr, grad_x_ptr, partial_ptr, steps, channels, blocks,
                    BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    sequence = (pid // blocks).to(tl.int64)
    channel = (pid % blocks) * BLOCK + tl.arange(0, BLOCK)
    mask = channel < channels
    keep = tl.sigmoid(tl.load(leak_ptr + channel, mask=mask, other=0.0).to(tl.float32))
    flow = tl.zeros((BLOCK,), tl.float32)
    grad_keep = tl.zeros((BLOCK,), tl.float32)
    at = (sequence * steps + steps - 1) * channels + channel
    second = (sequence * steps + 1) * channels
    for _ in range(steps):
        flow = keep * flow + tl.load(grad_ptr + at, mask=mask, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
        before = tl.load(state_ptr + at - channels, mask=mask & (at >= second), other=0.0)
        tl.store(grad_x_ptr + at, ((1 - keep) * flow).to(grad_x_ptr.dtype.element_ty), mask=mask)
        grad_keep += flow * (before - x)
        at -= channels
    tl.store(partial_ptr + sequence * channels + channel, grad_keep * keep * (1 - keep), mask=mask)


@triton.jit
def total_kernel(partial_ptr, out_ptr, sequences, channels, BLOCK: tl.constexpr):
    channel = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = channel < channels
    total = tl.zeros((BLOCK,), tl.float32)
    for sequence in range(sequences):
        total += tl.load(partial_ptr + sequence * channels.to(tl.int64) + channel, mask=mask, other=0.0)
    tl.store(out_ptr + channel, total.to(out_ptr.dtype.element_ty), mask=mask)


class Integrate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, leak):
        x, leak = x.contiguous(), leak.contiguous()
        sequences, steps, channels = x.shape
        out = torch.empty_like(x)
        states = torch.empty(x.shape, dtype=torch.float32, device=x.device)
        blocks = triton.cdiv(channels, 64)
        if x.numel():
            forward_kernel[(sequences * blocks,)](x, leak, out, states, steps, channels, blocks, BLOCK=64)
        ctx.save_for_backward(x, leak, states)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        x, leak, states = ctx.saved_tensors
        grad = grad.contiguous()
        sequences, steps, channels = x.shape
        if not x.numel():
            return torch.zeros_like(x), torch.zeros_like(leak)
        grad_x, grad_leak = torch.empty_like(x), torch.empty_like(leak)
        partial = torch.empty((sequences, channels), dtype=torch.float32, device=x.device)
        blocks = triton.cdiv(channels, 64)
        backward_kernel[(sequences * blocks,)](x, leak, states, grad, grad_x, partial, steps, channels, blocks, BLOCK=64)
        total_kernel[(blocks,)](partial, grad_leak, sequences, channels, BLOCK=64)
        return grad_x, grad_leak


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.leak = nn.Parameter(torch.linspace(-1.0, 3.0, channels))

    def forward(self, x):
        return Integrate.apply(x, self.leak)


def get_inputs():
    return [torch.randn(6, 90, 150)]


def get_init_inputs():
    return [150]
