"""Mean cross-entropy with an ignored label. The forward keeps the maximum and the sum of each row for the backward."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

IGNORED = -1


@triton.jit
def cross_entropy_forward_kernel(
    logits_ptr, target_ptr, loss_ptr, top_ptr, total_ptr, stride_row, classes, ignored, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    logits_ptr += row * stride_row
    lanes = tl.arange(0, BLOCK)

    largest = tl.full((BLOCK,), float("-inf"), tl.float32)
    for start in range(0, classes, BLOCK):
        columns = start + lanes
        x = tl.load(logits_ptr + columns, mask=columns < classes, other=float("-inf")).to(tl.float32)
        largest = tl.maximum(largest, x)
    top = tl.max(largest, axis=0)

    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, classes, BLOCK):
        columns = start + lanes
        mask = columns < classes
        x = tl.load(logits_ptr + columns, mask=mask, other=float("-inf")).to(tl.float32)
        total += tl.where(mask, tl.exp(x - top), 0.0)
    summed = tl.sum(total, axis=0)
    tl.store(top_ptr + row, top)
    tl.store(total_ptr + row, summed)

    target = tl.load(target_ptr + row)
    kept = target != ignored
    inside = (target >= 0) & (target < classes)
    chosen = tl.load(logits_ptr + target, mask=kept & inside, other=float("nan")).to(tl.float32)
    tl.store(loss_ptr + row, tl.where(kept, tl.log(summed) + (top - chosen), 0.0))


@triton.jit
def cross_entropy_backward_kernel(
    grad_ptr, scale_ptr, logits_ptr, target_ptr, top_ptr, total_ptr, stride_row, classes, ignored, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = columns < classes
    target = tl.load(target_ptr + row)
    x = tl.load(logits_ptr + row * stride_row + columns, mask=mask, other=float("-inf")).to(tl.float32)
    probability = tl.exp(x - tl.load(top_ptr + row)) / tl.load(total_ptr + row)
    grad = (probability - tl.where(columns == target, 1.0, 0.0)) * tl.load(scale_ptr)
    grad = tl.where(target != ignored, grad, 0.0)
    tl.store(grad_ptr + row * classes + columns, grad.to(grad_ptr.dtype.element_ty), mask=mask)


class CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, target, ignored):
        rows, classes = logits.shape
        losses = torch.empty(rows, device=logits.device, dtype=torch.float32)
        top, total = torch.empty((2, rows), device=logits.device, dtype=torch.float32)
        block = min(4096, max(16, triton.next_power_of_2(classes)))
        if rows > 0:
            cross_entropy_forward_kernel[(rows,)](
                logits, target, losses, top, total, logits.stride(0), classes, ignored, BLOCK=block
            )
        count = (target != ignored).sum()
        ctx.save_for_backward(logits, target, top, total, count)
        ctx.ignored = ignored
        ctx.block = block
        return (losses.sum() / count).to(logits.dtype)

    @staticmethod
    def backward(ctx, grad_loss):
        logits, target, top, total, count = ctx.saved_tensors
        rows, classes = logits.shape
        grad = torch.empty((rows, classes), device=logits.device, dtype=logits.dtype)
        scale = grad_loss.to(torch.float32) / count
        if grad.numel() > 0:
            cross_entropy_backward_kernel[(rows, triton.cdiv(classes, ctx.block))](
                grad, scale, logits, target, top, total, logits.stride(0), classes, ctx.ignored, BLOCK=ctx.block
            )
        return grad, None, None


def cross_entropy(logits, target, ignored=IGNORED):
    assert logits.ndim == 2 and target.shape == logits.shape[:1]
    assert logits.dtype in (torch.float16, torch.bfloat16, torch.float32)
    if logits.stride(1) != 1:
        logits = logits.contiguous()
    return CrossEntropy.apply(logits, target.contiguous(), ignored)


def reference(logits, target):
    return F.cross_entropy(logits, target, ignore_index=IGNORED)


loss = Subject(
    cross_entropy,
    reference=reference,
    inputs=[Tensor("rows", "classes"), Tensor("rows", dtype="int64", low=IGNORED, high="classes")],
    gradients=True,
)
