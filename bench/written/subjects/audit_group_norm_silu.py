"""Group normalisation, with a weight and bias for each channel, and silu of it: one program for each group."""

import torch
import triton
import triton.language as tl

from tritonaudit import Case, Subject

BLOCK = 128


@triton.jit
def group_norm_kernel(
    x_ptr,
    weight_ptr,
    bias_ptr,
    y_ptr,
    eps,
    groups,
    group_channels,
    length,
    x_n_stride,
    x_c_stride,
    x_l_stride,
    weight_stride,
    bias_stride,
    BLOCK: tl.constexpr,
):
    program = tl.program_id(0).to(tl.int64)
    first = program % groups * group_channels
    x_ptr += program // groups * x_n_stride + first * x_c_stride
    y_ptr += program * group_channels * length
    n = tl.cast(group_channels, tl.int64) * length

    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK).to(tl.int64)
        x = tl.load(x_ptr + at // length * x_c_stride + at % length * x_l_stride, mask=at < n, other=0.0)
        total += x.to(tl.float32)
    mean = tl.sum(total, axis=0) / n

    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK).to(tl.int64)
        mask = at < n
        x = tl.load(x_ptr + at // length * x_c_stride + at % length * x_l_stride, mask=mask, other=0.0)
        away = tl.where(mask, x.to(tl.float32) - mean, 0.0)
        squares += away * away
    rstd = 1.0 / tl.sqrt(tl.sum(squares, axis=0) / n + eps)

    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK).to(tl.int64)
        inside = at < n
        c = at // length
        x = tl.load(x_ptr + c * x_c_stride + at % length * x_l_stride, mask=inside, other=0.0).to(tl.float32)
        weight = tl.load(weight_ptr + (first + c) * weight_stride, mask=inside, other=0.0).to(tl.float32)
        bias = tl.load(bias_ptr + (first + c) * bias_stride, mask=inside, other=0.0).to(tl.float32)
        y = (x - mean) * rstd * weight + bias
        y = y * tl.sigmoid(y)
        tl.store(y_ptr + at, y.to(y_ptr.dtype.element_ty), mask=inside)


def group_norm_silu(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, groups: int, eps: float) -> torch.Tensor:
    """x, (n, channels, length), in any layout, weight and bias, (channels), of one dtype, and groups that divide the
    channels: silu of the normalised x times weight plus bias, contiguous, in the dtype of x."""
    if x.ndim != 3 or weight.shape != x.shape[1:2] or bias.shape != weight.shape:
        raise ValueError("shapes do not fit")
    if groups < 1 or x.shape[1] % groups:
        raise ValueError("groups must divide the channels")
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16) or not x.dtype == weight.dtype == bias.dtype:
        raise ValueError("all are float32, or all float16, or all bfloat16")
    n, channels, length = x.shape
    y = torch.empty((n, channels, length), dtype=x.dtype, device=x.device)
    if y.numel():
        group_norm_kernel[(n * groups,)](
            x,
            weight,
            bias,
            y,
            float(eps),
            groups,
            channels // groups,
            length,
            *x.stride(),
            weight.stride(0),
            bias.stride(0),
            BLOCK=BLOCK,
        )
    return y


def reference(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, groups: int, eps: float) -> torch.Tensor:
    n, channels, length = x.shape
    if x.numel() == 0:
        return torch.empty_like(x, memory_format=torch.contiguous_format)
    grouped = x.double().reshape(n, groups, -1)
    away = grouped - grouped.mean(dim=2, keepdim=True)
    normal = away / (away.square().mean(dim=2, keepdim=True) + eps).sqrt()
    y = normal.reshape(n, channels, length) * weight.double()[:, None] + bias.double()[:, None]
    return torch.nn.functional.silu(y).to(x.dtype)


def inputs(case: Case) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, int, float]:
    """Normal numbers, with an odd seed around 20."""
    n, groups, length = case["n"], case["groups"], case["length"]
    channels = groups * case["group_channels"]
    generator = torch.Generator().manual_seed(case.seed)
    x = torch.randn((n, channels, length), generator=generator) + case.seed % 2 * 20
    weight = 1 + 0.25 * torch.randn((channels,), generator=generator)
    bias = torch.randn((channels,), generator=generator)
    dtype = getattr(torch, case.dtype)
    return *(tensor.to(dtype).to(case.device) for tensor in (x, weight, bias)), groups, case["eps"] / 100000


normalised = Subject(
    group_norm_silu,
    reference=reference,
    inputs=inputs,
    name="group_norm_silu",
    sizes={
        "n": [2, 1, 3, 0],
        "groups": [4, 1, 3],
        "group_channels": [4, 1, 5],
        "length": [64, 2, 33, 200],
        "eps": [1, 1000],
    },
)
