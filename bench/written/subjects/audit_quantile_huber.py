"""The quantile Huber loss of distributional reinforcement learning: each predicted quantile with each target."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def slope(u, mask, quantile, n):
    """The derivative by u of the weighted Huber loss, and 0 where there is nothing."""
    clipped = tl.where(u > 1.0, 1.0, tl.where(u < -1.0, -1.0, u))
    weight = tl.abs((quantile + 0.5) / n - tl.where(u < 0.0, 1.0, 0.0))
    return tl.where(mask, weight * clipped, 0.0)


@triton.jit
def loss_kernel(
    pred_ptr,
    target_ptr,
    loss_ptr,
    n,
    m,
    pred_batch_stride,
    pred_stride,
    target_batch_stride,
    target_stride,
    BLOCK: tl.constexpr,
):
    batch = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, n, BLOCK):
        i = tl.cast(start, tl.int64) + tl.arange(0, BLOCK)
        pred = tl.load(pred_ptr + batch * pred_batch_stride + i * pred_stride, mask=i < n, other=0.0).to(tl.float32)
        for first in range(0, m, BLOCK):
            j = tl.cast(first, tl.int64) + tl.arange(0, BLOCK)
            target_at = target_ptr + batch * target_batch_stride + j * target_stride
            target = tl.load(target_at, mask=j < m, other=0.0).to(tl.float32)
            u = target[None, :] - pred[:, None]
            size = tl.abs(u)
            huber = tl.where(size < 1.0, 0.5 * u * u, size - 0.5)
            weight = tl.abs((i[:, None] + 0.5) / n - tl.where(u < 0.0, 1.0, 0.0))
            total += tl.where((i < n)[:, None] & (j < m)[None, :], weight * huber, 0.0)
    tl.store(loss_ptr + batch, tl.sum(tl.sum(total, axis=1), axis=0) / m)


@triton.jit
def pred_gradient_kernel(
    grad_ptr,
    pred_ptr,
    target_ptr,
    out_ptr,
    n,
    m,
    grad_stride,
    pred_batch_stride,
    pred_stride,
    target_batch_stride,
    target_stride,
    BLOCK: tl.constexpr,
):
    batch = tl.program_id(0).to(tl.int64)
    i = tl.program_id(1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    pred = tl.load(pred_ptr + batch * pred_batch_stride + i * pred_stride, mask=i < n, other=0.0).to(tl.float32)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for first in range(0, m, BLOCK):
        j = tl.cast(first, tl.int64) + tl.arange(0, BLOCK)
        target_at = target_ptr + batch * target_batch_stride + j * target_stride
        target = tl.load(target_at, mask=j < m, other=0.0).to(tl.float32)
        total -= slope(target[None, :] - pred[:, None], (i < n)[:, None] & (j < m)[None, :], i[:, None], n)
    out = tl.sum(total, axis=1) / m * tl.load(grad_ptr + batch * grad_stride)
    tl.store(out_ptr + batch * n + i, out.to(out_ptr.dtype.element_ty), mask=i < n)


@triton.jit
def target_gradient_kernel(
    grad_ptr,
    pred_ptr,
    target_ptr,
    out_ptr,
    n,
    m,
    grad_stride,
    pred_batch_stride,
    pred_stride,
    target_batch_stride,
    target_stride,
    BLOCK: tl.constexpr,
):
    batch = tl.program_id(0).to(tl.int64)
    j = tl.program_id(1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    place = target_ptr + batch * target_batch_stride + j * target_stride
    target = tl.load(place, mask=j < m, other=0.0).to(tl.float32)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, n, BLOCK):
        i = tl.cast(start, tl.int64) + tl.arange(0, BLOCK)
        pred_at = pred_ptr + batch * pred_batch_stride + i * pred_stride
        pred = tl.load(pred_at, mask=i < n, other=0.0).to(tl.float32)
        total += slope(target[None, :] - pred[:, None], (i < n)[:, None] & (j < m)[None, :], i[:, None], n)
    out = tl.sum(total, axis=0) / m * tl.load(grad_ptr + batch * grad_stride)
    tl.store(out_ptr + batch * m + j, out.to(out_ptr.dtype.element_ty), mask=j < m)


class QuantileHuber(torch.autograd.Function):
    @staticmethod
    def forward(ctx, pred, target):
        (batch, n), m = pred.shape, target.shape[1]
        loss = torch.empty(batch, dtype=torch.float32, device=pred.device)
        if batch:
            loss_kernel[(batch,)](pred, target, loss, n, m, *pred.stride(), *target.stride(), BLOCK=32)
        ctx.save_for_backward(pred, target)
        return loss

    @staticmethod
    def backward(ctx, grad):
        pred, target = ctx.saved_tensors
        (batch, n), m = pred.shape, target.shape[1]
        pred_grad = torch.empty((batch, n), dtype=pred.dtype, device=pred.device)
        target_grad = torch.empty((batch, m), dtype=target.dtype, device=target.device)
        strides = (grad.stride(0), *pred.stride(), *target.stride())
        if batch:
            pred_gradient_kernel[(batch, triton.cdiv(n, 32))](grad, pred, target, pred_grad, n, m, *strides, BLOCK=32)
            target_gradient_kernel[(batch, triton.cdiv(m, 32))](
                grad, pred, target, target_grad, n, m, *strides, BLOCK=32
            )
        return pred_grad, target_grad


def quantile_huber(pred: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """pred, (batch, n), target, (batch, m), of one dtype: for each of the batch, float32, the mean over the targets j
    of the sum over the quantiles i of |(i + 0.5) / n - (u < 0)| * huber(u), with u = target[j] - pred[i].

    huber is u^2 / 2 where |u| < 1, and |u| - 0.5 elsewhere. All in float32.
    """
    if pred.ndim != 2 or target.ndim != 2 or pred.shape[0] != target.shape[0]:
        raise ValueError("pred is (batch, n), and target is (batch, m)")
    if not 1 <= pred.shape[1] <= 2**20 or not 1 <= target.shape[1] <= 2**20 or pred.shape[0] >= 2**31:
        raise ValueError("n and m are 1 to 2^20, and batch is below 2^31")
    if pred.dtype not in (torch.float32, torch.float16, torch.bfloat16) or target.dtype != pred.dtype:
        raise ValueError("both are float32, both float16 or both bfloat16")
    if pred.device != target.device:
        raise ValueError("both lie on one device")
    return QuantileHuber.apply(pred, target)


def reference(pred: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    n, m = pred.shape[1], target.shape[1]
    pred, target = torch.broadcast_tensors(pred.to(torch.float32)[:, :, None], target.to(torch.float32)[:, None, :])
    huber = torch.nn.functional.huber_loss(pred, target, reduction="none", delta=1.0)
    quantile = ((torch.arange(n, device=pred.device) + 0.5) / n)[:, None]
    weight = (quantile - (target - pred < 0).to(torch.float32)).abs()
    return (weight * huber).sum(dim=(1, 2)) / m


lost = Subject(
    quantile_huber,
    reference=reference,
    inputs=[Tensor("batch", "n"), Tensor("batch", "m")],
    gradients=True,
    name="quantile_huber",
    sizes={"batch": [16, 1, 5, 0], "n": [32, 1, 51, 7], "m": [32, 1, 40, 9]},
)
