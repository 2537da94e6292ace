"""The soft Dice loss of segmentation: softmax over classes, then per class the overlap of probabilities and labels.

loss = 1 - mean over classes of (2 * overlap + 1) / (probability + labelled + 1), summed over batch and pixels. The
sums of each class are gathered in a zeroed workspace by atomics, so their order varies from run to run.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

BLOCK = 64


@triton.jit
def dice_sums_kernel(x, target, sums, shift, pixels, classes, tiles, xb, xc, xp, tb, tp, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    batch = (program // tiles).to(tl.int64)
    p = (program % tiles).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    valid = p < pixels
    at = x + batch * xb + p * xp
    label = tl.load(target + batch * tb + p * tp, mask=valid, other=-1)
    top = tl.full([BLOCK], float("-inf"), dtype=tl.float32)
    cell = at
    for c in range(0, classes):
        top = tl.maximum(top, tl.load(cell, mask=valid, other=0.0).to(tl.float32))
        cell += xc
    total = tl.zeros([BLOCK], dtype=tl.float32)
    cell = at
    for c in range(0, classes):
        total += tl.exp(tl.load(cell, mask=valid, other=0.0).to(tl.float32) - top)
        cell += xc
    tl.store(shift + (batch * pixels + p) * 2, top, mask=valid)
    tl.store(shift + (batch * pixels + p) * 2 + 1, total, mask=valid)
    cell = at
    for c in range(0, classes):
        prob = tl.exp(tl.load(cell, mask=valid, other=0.0).to(tl.float32) - top) / total
        prob = tl.where(valid, prob, 0.0)
        hit = label == c
        tl.atomic_add(sums + c * 3, tl.sum(tl.where(hit, prob, 0.0), axis=0))
        tl.atomic_add(sums + c * 3 + 1, tl.sum(prob, axis=0))
        tl.atomic_add(sums + c * 3 + 2, tl.sum(hit.to(tl.float32), axis=0))
        cell += xc


@triton.jit
def dice_gradient_kernel(x, target, sums, shift, upstream, dx, pixels, classes, tiles, xb, xc, xp, tb, tp, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    batch = (program // tiles).to(tl.int64)
    p = (program % tiles).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    valid = p < pixels
    at = x + batch * xb + p * xp
    label = tl.load(target + batch * tb + p * tp, mask=valid, other=-1)
    top = tl.load(shift + (batch * pixels + p) * 2, mask=valid, other=0.0)
    total = tl.load(shift + (batch * pixels + p) * 2 + 1, mask=valid, other=1.0)
    scale = -tl.load(upstream).to(tl.float32) / classes
    mean = tl.zeros([BLOCK], dtype=tl.float32)
    cell = at
    for c in range(0, classes):
        prob = tl.exp(tl.load(cell, mask=valid, other=0.0).to(tl.float32) - top) / total
        below = tl.load(sums + c * 3 + 1) + tl.load(sums + c * 3 + 2) + 1.0
        above = 2.0 * tl.load(sums + c * 3) + 1.0
        slope = tl.where(label == c, 2.0 / below, 0.0) - above / (below * below)
        mean += prob * slope
        cell += xc
    cell = at
    for c in range(0, classes):
        prob = tl.exp(tl.load(cell, mask=valid, other=0.0).to(tl.float32) - top) / total
        below = tl.load(sums + c * 3 + 1) + tl.load(sums + c * 3 + 2) + 1.0
        above = 2.0 * tl.load(sums + c * 3) + 1.0
        slope = tl.where(label == c, 2.0 / below, 0.0) - above / (below * below)
        place = dx + (batch * classes + c) * pixels + p
        tl.store(place, scale * prob * (slope - mean), mask=valid)
        cell += xc


class DiceLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, target):
        batch, classes, pixels = x.shape
        sums = torch.zeros((classes, 3), dtype=torch.float32, device=x.device)
        shift = torch.empty((batch, pixels, 2), dtype=torch.float32, device=x.device)
        tiles = triton.cdiv(pixels, BLOCK)
        if batch * tiles:
            dice_sums_kernel[(batch * tiles,)](x, target, sums, shift, pixels, classes, tiles, *x.stride(), *target.stride(), BLOCK=BLOCK)
        ctx.save_for_backward(x, target, sums, shift)
        share = (2.0 * sums[:, 0] + 1.0) / (sums[:, 1] + sums[:, 2] + 1.0)
        return (1.0 - share.mean()).to(x.dtype)

    @staticmethod
    def backward(ctx, grad):
        x, target, sums, shift = ctx.saved_tensors
        batch, classes, pixels = x.shape
        dx = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        tiles = triton.cdiv(pixels, BLOCK)
        if dx.numel():
            dice_gradient_kernel[(batch * tiles,)](
                x, target, sums, shift, grad, dx, pixels, classes, tiles, *x.stride(), *target.stride(), BLOCK=BLOCK
            )
        return dx, None


def dice_loss(x, target):
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16) or target.dtype != torch.int64:
        raise ValueError("dice_loss takes float32, float16 or bfloat16 logits and int64 labels")
    if x.dim() != 3 or target.shape != (x.shape[0], x.shape[2]):
        raise ValueError("dice_loss takes logits of (batch, classes, pixels) and labels of (batch, pixels)")
    if x.shape[1] == 0 or x.shape[1] >= 2**24:
        raise ValueError("dice_loss takes from 1 to 2**24 classes")
    if x.device != target.device:
        raise ValueError("dice_loss takes tensors of one device")
    return DiceLoss.apply(x, target)


def reference(x, target):
    prob = torch.softmax(x.float(), dim=1)
    labels = torch.nn.functional.one_hot(target, x.shape[1]).transpose(1, 2).float() if target.numel() else torch.zeros_like(prob)
    overlap = (prob * labels).sum((0, 2))
    share = (2.0 * overlap + 1.0) / (prob.sum((0, 2)) + labels.sum((0, 2)) + 1.0)
    return (1.0 - share.mean()).to(x.dtype)


dice = Subject(
    dice_loss,
    reference=reference,
    inputs=[Tensor("batch", "classes", "pixels"), Tensor("batch", "pixels", dtype="int64", low=0, high="classes")],
    gradients=True,
)
