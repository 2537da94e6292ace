"""Focal loss, gamma 2, of logits against one class a row: its mean over the rows not ignored, and its gradient.

Programs go through many tiles and leave a partial sum each, and one program more sums those up."""

import torch
import triton
import triton.language as tl

from tritonaudit import Case, Subject

PROGRAMS = 32
BLOCK = 256
ALPHA = 0.25


@triton.jit
def softplus(z):
    # log(1 + small), where 1 + small would be rounded, by its series.
    small = tl.exp(-tl.abs(z))
    return tl.maximum(z, 0.0) + tl.where(small < 1e-3, small * (1.0 - 0.5 * small), tl.log(1.0 + small))


@triton.jit
def partial_kernel(
    x_ptr,
    label_ptr,
    parts_ptr,
    n,
    classes,
    tiles,
    x_row_stride,
    x_class_stride,
    label_stride,
    ALPHA: tl.constexpr,
    PROGRAMS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    program = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    valid = tl.zeros((BLOCK,), tl.int64)
    for tile in range(program, tiles, PROGRAMS):
        at = tl.cast(tile, tl.int64) * BLOCK + tl.arange(0, BLOCK)
        mask = at < n
        row = at // classes
        kind = at % classes
        label = tl.load(label_ptr + row * label_stride, mask=mask, other=-1)
        used = mask & (label >= 0)
        x = tl.load(x_ptr + row * x_row_stride + kind * x_class_stride, mask=used, other=0.0).to(tl.float32)
        hit = label == kind
        z = tl.where(hit, x, -x)
        wrong = tl.sigmoid(-z)
        loss = tl.where(hit, ALPHA, 1.0 - ALPHA) * wrong * wrong * softplus(-z)
        total += tl.where(used, loss, 0.0)
        valid += (used & (kind == 0)).to(tl.int64)
    tl.store(parts_ptr + program, tl.sum(total, axis=0).to(tl.float64))
    tl.store(parts_ptr + PROGRAMS + program, tl.sum(valid, axis=0).to(tl.float64))


@triton.jit
def final_kernel(parts_ptr, loss_ptr, valid_ptr, PROGRAMS: tl.constexpr):
    part = tl.arange(0, PROGRAMS)
    total = tl.sum(tl.load(parts_ptr + part), axis=0)
    count = tl.maximum(tl.sum(tl.load(parts_ptr + PROGRAMS + part), axis=0), 1.0)
    tl.store(loss_ptr, (total / count).to(tl.float32))
    tl.store(valid_ptr, count)


@triton.jit
def gradient_kernel(
    x_ptr,
    label_ptr,
    valid_ptr,
    dloss_ptr,
    dx_ptr,
    n,
    classes,
    x_row_stride,
    x_class_stride,
    label_stride,
    ALPHA: tl.constexpr,
    BLOCK: tl.constexpr,
):
    element = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = element < n
    row = element // classes
    kind = element % classes
    label = tl.load(label_ptr + row * label_stride, mask=inside, other=-1)
    used = inside & (label >= 0)
    x = tl.load(x_ptr + row * x_row_stride + kind * x_class_stride, mask=used, other=0.0).to(tl.float32)
    hit = label == kind
    z = tl.where(hit, x, -x)
    wrong = tl.sigmoid(-z)
    slope = -wrong * wrong * (2.0 * tl.sigmoid(z) * softplus(-z) + wrong)
    slope = tl.where(hit, ALPHA * slope, (ALPHA - 1.0) * slope)
    scale = (tl.load(dloss_ptr).to(tl.float64) / tl.load(valid_ptr)).to(tl.float32)
    tl.store(dx_ptr + element, tl.where(used, scale * slope, 0.0), mask=inside)


class FocalLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        parts = torch.zeros((2, PROGRAMS), dtype=torch.float64, device=x.device)
        loss = torch.empty((), dtype=torch.float32, device=x.device)
        valid = torch.empty((), dtype=torch.float64, device=x.device)
        sizes = (x.numel(), x.shape[1])
        tiles = triton.cdiv(x.numel(), BLOCK)
        if tiles:
            strides = (*x.stride(), labels.stride(0))
            consts = {"ALPHA": ALPHA, "PROGRAMS": PROGRAMS, "BLOCK": BLOCK}
            partial_kernel[(min(tiles, PROGRAMS),)](x, labels, parts, *sizes, tiles, *strides, **consts)
        final_kernel[(1,)](parts, loss, valid, PROGRAMS=PROGRAMS)
        ctx.save_for_backward(x, labels, valid)
        return loss

    @staticmethod
    def backward(ctx, dloss: torch.Tensor) -> tuple[torch.Tensor, None]:
        x, labels, valid = ctx.saved_tensors
        dx = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        blocks = triton.cdiv(x.numel(), BLOCK)
        if blocks:
            strides = (*x.stride(), labels.stride(0))
            gradient_kernel[(blocks,)](
                x, labels, valid, dloss, dx, x.numel(), x.shape[1], *strides, ALPHA=ALPHA, BLOCK=BLOCK
            )
        return dx, None


def focal_loss(x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """x, (rows, classes), and labels, (rows), int64; a label below 0 ignores its row, and one that is no class makes
    every class a wrong one. float32; 0 where no row is left."""
    if x.ndim != 2 or labels.shape != x.shape[:1] or labels.dtype != torch.int64:
        raise ValueError("x is (rows, classes) and labels (rows), int64")
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("x is float32, float16 or bfloat16")
    return FocalLoss.apply(x, labels)


def reference(x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    kept = labels >= 0
    x, label = x[kept].to(torch.promote_types(x.dtype, torch.float32)), labels[kept]
    hit = label[:, None] == torch.arange(x.shape[1], device=x.device)
    z = torch.where(hit, x, -x)
    share = ALPHA * hit + (1.0 - ALPHA) * ~hit
    loss = share * torch.sigmoid(-z).square() * torch.nn.functional.softplus(-z)
    return loss.sum() / max(label.numel(), 1)


def inputs(case: Case) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits around 0 of which some are large, and labels of which about a fifth are -1."""
    rows, classes = case["rows"], case["classes"]
    generator = torch.Generator().manual_seed(case.seed)
    x = 4.0 * torch.randn((rows, classes), generator=generator)
    x[::6] *= 50.0
    labels = torch.randint(0, classes, (rows,), generator=generator)
    labels = torch.where(torch.rand(rows, generator=generator) < 0.2, -1, labels)
    return x.to(getattr(torch, case.dtype)).to(case.device), labels.to(case.device)


focal = Subject(
    focal_loss,
    reference=reference,
    inputs=inputs,
    name="focal_loss",
    sizes={"rows": [64, 1, 33, 700, 0], "classes": [16, 1, 7, 80]},
    gradients=True,
)
