"""Parametric ReLU with a slope for each channel, as an autograd function; the slopes' gradient is summed in two steps,
by way of a workspace, so that it is the same each time."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

BLOCK = 64
CHUNKS = 4


@triton.jit
def forward_kernel(
    x_ptr,
    slope_ptr,
    out_ptr,
    channels,
    length,
    blocks,
    x_batch_stride,
    x_channel_stride,
    x_stride,
    slope_stride,
    BLOCK: tl.constexpr,
):
    program = tl.program_id(0).to(tl.int64)
    plane = program // blocks
    batch = plane // channels
    channel = plane % channels
    at = program % blocks * BLOCK + tl.arange(0, BLOCK)
    inside = at < length
    x = tl.load(x_ptr + batch * x_batch_stride + channel * x_channel_stride + at * x_stride, mask=inside, other=0.0).to(
        tl.float32
    )
    slope = tl.load(slope_ptr + channel * slope_stride).to(tl.float32)
    out = tl.where(x > 0, x, slope * x)
    tl.store(out_ptr + plane * length + at, out.to(out_ptr.dtype.element_ty), mask=inside)


@triton.jit
def backward_kernel(
    x_ptr,
    slope_ptr,
    grad_ptr,
    x_grad_ptr,
    partial_ptr,
    total,
    channels,
    length,
    chunks,
    chunk,
    blocks,
    x_batch_stride,
    x_channel_stride,
    x_stride,
    grad_batch_stride,
    grad_channel_stride,
    grad_stride,
    slope_stride,
    BLOCK: tl.constexpr,
):
    program = tl.program_id(0).to(tl.int64)
    channel = program // chunks
    begin = program % chunks * chunk
    end = tl.minimum(begin + chunk, total)
    slope = tl.load(slope_ptr + channel * slope_stride).to(tl.float32)
    sums = tl.zeros((BLOCK,), tl.float32)
    for b in range(blocks):
        element = begin + tl.cast(b, tl.int64) * BLOCK + tl.arange(0, BLOCK)
        inside = element < end
        batch = element // length
        at = element % length
        x = tl.load(
            x_ptr + batch * x_batch_stride + channel * x_channel_stride + at * x_stride, mask=inside, other=0.0
        ).to(tl.float32)
        grad = tl.load(
            grad_ptr + batch * grad_batch_stride + channel * grad_channel_stride + at * grad_stride,
            mask=inside,
            other=0.0,
        ).to(tl.float32)
        x_grad = tl.where(x > 0, grad, slope * grad)
        out_at = (batch * channels + channel) * length + at
        tl.store(x_grad_ptr + out_at, x_grad.to(x_grad_ptr.dtype.element_ty), mask=inside)
        sums += tl.where(inside & ~(x > 0), grad * x, 0.0)
    tl.store(partial_ptr + program, tl.sum(sums, axis=0))


@triton.jit
def sum_kernel(partial_ptr, slope_grad_ptr, chunks, CHUNKS: tl.constexpr):
    channel = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, CHUNKS)
    partial = tl.load(partial_ptr + channel * chunks + lanes, mask=lanes < chunks, other=0.0)
    total = tl.sum(partial.to(tl.float32), axis=0)
    tl.store(slope_grad_ptr + channel, total.to(slope_grad_ptr.dtype.element_ty))


class PReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: torch.Tensor, slopes: torch.Tensor) -> torch.Tensor:
        batch, channels, length = x.shape
        out = torch.empty((batch, channels, length), dtype=x.dtype, device=x.device)
        blocks = triton.cdiv(length, BLOCK)
        programs = batch * channels * blocks
        if programs >= 2**31:
            raise ValueError("too many blocks for a grid")
        if programs:
            forward_kernel[(programs,)](
                x, slopes, out, channels, length, blocks, *x.stride(), *slopes.stride(), BLOCK=BLOCK
            )
        ctx.save_for_backward(x, slopes)
        return out

    @staticmethod
    def backward(ctx, grad: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x, slopes = ctx.saved_tensors
        batch, channels, length = x.shape
        x_grad = torch.empty((batch, channels, length), dtype=x.dtype, device=x.device)
        slope_grad = torch.empty(channels, dtype=slopes.dtype, device=x.device)
        total = batch * length
        chunks = max(1, min(CHUNKS, triton.cdiv(total, BLOCK)))
        chunk = triton.cdiv(total, chunks)
        partial = torch.empty((channels, chunks), dtype=torch.float32, device=x.device)
        if channels * chunks >= 2**31:
            raise ValueError("too many channels for a grid")
        if channels:
            backward_kernel[(channels * chunks,)](
                x,
                slopes,
                grad,
                x_grad,
                partial,
                total,
                channels,
                length,
                chunks,
                chunk,
                triton.cdiv(chunk, BLOCK),
                *x.stride(),
                *grad.stride(),
                *slopes.stride(),
                BLOCK=BLOCK,
            )
            sum_kernel[(channels,)](partial, slope_grad, chunks, CHUNKS=CHUNKS)
        return x_grad, slope_grad


def prelu_gradients(
    x: torch.Tensor, slopes: torch.Tensor, grad: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """x and grad, (batch, channels, length), slopes, (channels,), of one dtype: the result, the gradient of x and the
    gradient of slopes, where grad is the gradient of the result. At 0 the slope counts."""
    if x.ndim != 3 or grad.shape != x.shape or slopes.shape != (x.shape[1],):
        raise ValueError("x and grad have three dimensions, and slopes is one for each channel")
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16) or {slopes.dtype, grad.dtype} != {x.dtype}:
        raise ValueError("all are float32, float16 or bfloat16")
    with torch.enable_grad():
        x = x.detach().requires_grad_()
        slopes = slopes.detach().requires_grad_()
        out = PReLU.apply(x, slopes)
        x_grad, slope_grad = torch.autograd.grad(out, (x, slopes), grad.detach())
    return out.detach(), x_grad, slope_grad


def reference(
    x: torch.Tensor, slopes: torch.Tensor, grad: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    wide, slope, g = x.double(), slopes.double()[None, :, None], grad.double()
    out = torch.where(wide > 0, wide, slope * wide)
    x_grad = torch.where(wide > 0, g, slope * g)
    slope_grad = torch.where(wide > 0, 0.0, g * wide).sum((0, 2))
    return out.to(x.dtype), x_grad.to(x.dtype), slope_grad.to(x.dtype)


gradients = Subject(
    prelu_gradients,
    reference=reference,
    inputs=[Tensor("batch", "channels", "length"), Tensor("channels"), Tensor("batch", "channels", "length")],
    name="prelu_gradients",
    sizes={"batch": [2, 1, 3, 0], "channels": [4, 1, 3], "length": [64, 1, 50, 300]},
    dtypes=["float32", "float16", "bfloat16"],
)
