"""Coefficients of linear prediction of frames of a signal, by Levinson's recursion.

It looks suspicious: one program solves a whole system with no matrix in sight, everything is float64 though the signal
is float32, a small constant is added to the energy, and a vector is turned around by a sum over a comparison of
indices. It is fair: the system is a symmetric Toeplitz one, for which the recursion is exact, the constant is part of
the operation and of `Model`, makes silence solvable, and keeps the recursion stable for any finite signal.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, order):
        super().__init__()
        self.order = order

    def forward(self, x):
        x = x.double()
        length = x.shape[1]
        lags = [(x[:, : length - lag] * x[:, lag:]).sum(dim=1) for lag in range(self.order + 1)]
        lags = torch.stack(lags, dim=1)
        lags[:, 0] = lags[:, 0] * 1.001 + 1e-6
        place = torch.arange(self.order, device=x.device)
        system = lags[:, (place[:, None] - place[None, :]).abs()]
        return torch.linalg.solve(system, lags[:, 1:]).float()


@triton.jit
def prediction_kernel(x_ptr, out_ptr, length, order, frame_stride, stride, BLOCK: tl.constexpr, CHUNK: tl.constexpr):
    frame = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    base = x_ptr + frame * frame_stride
    lags = tl.zeros((BLOCK,), tl.float64)
    for start in range(0, length, CHUNK):
        here = tl.cast(start, tl.int64) + tl.arange(0, CHUNK)
        x = tl.load(base + here * stride, mask=here < length, other=0.0).to(tl.float64)
        there = here[None, :] + at[:, None]
        mask = (there < length) & (at <= order)[:, None]
        later = tl.load(base + there * stride, mask=mask, other=0.0).to(tl.float64)
        lags += tl.sum(x[None, :] * later, axis=1)
    factor = tl.full((), 1.001, tl.float64)
    lags = tl.where(at == 0, lags * factor + tl.full((), 1e-6, tl.float64), lags)
    error = tl.sum(tl.where(at == 0, lags, 0.0), axis=0)
    # a[k] is the coefficient of the element k + 1 places back.
    a = tl.zeros((BLOCK,), tl.float64)
    for step in range(0, order):
        # lags[step - k] beside a[k], and a turned around: a[step - 1 - k] beside a[k].
        facing = tl.sum(tl.where(at[None, :] == (step - at)[:, None], lags[None, :], 0.0), axis=1)
        turned = tl.sum(tl.where(at[None, :] == (step - 1 - at)[:, None], a[None, :], 0.0), axis=1)
        due = tl.sum(tl.where(at == step + 1, lags, 0.0), axis=0)
        reflection = (due - tl.sum(tl.where(at < step, a * facing, 0.0), axis=0)) / error
        a = tl.where(at < step, a - reflection * turned, tl.where(at == step, reflection, 0.0))
        error *= 1.0 - reflection * reflection
    tl.store(out_ptr + frame * order + at, a.to(tl.float32), mask=at < order)


class ModelNew(nn.Module):
    def __init__(self, order):
        super().__init__()
        self.order = order

    def forward(self, x):
        if x.ndim != 2 or x.dtype != torch.float32 or x.shape[1] <= self.order:
            raise ValueError("x is (frames, length), float32, longer than the order")
        out = torch.empty(x.shape[0], self.order, dtype=torch.float32, device=x.device)
        if out.numel():
            block = triton.next_power_of_2(self.order + 1)
            prediction_kernel[(x.shape[0],)](x, out, x.shape[1], self.order, *x.stride(), BLOCK=block, CHUNK=64)
        return out


def get_inputs():
    return [torch.randn(8, 240).cumsum(dim=1)]


def get_init_inputs():
    return [10]
