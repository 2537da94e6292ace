"""Cross entropy of each row, from logits, without the softmax in memory."""

import torch
import triton
import triton.language as tl


@triton.jit
def cross_entropy_kernel(
    logits_ptr, targets_ptr, losses_ptr, n_classes, row_stride, class_stride, ignore_index, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    logits_row_ptr = logits_ptr + row * row_stride
    target = tl.load(targets_ptr + row)
    if target == ignore_index:
        tl.store(losses_ptr + row, 0.0)
        return
    highest = -float("inf")
    total = 0.0
    for start in range(0, n_classes, BLOCK):
        classes = start + tl.arange(0, BLOCK).to(tl.int64)
        logits = tl.load(logits_row_ptr + classes * class_stride, mask=classes < n_classes, other=-float("inf")).to(
            tl.float32
        )
        new_highest = tl.maximum(highest, tl.max(logits, axis=0))
        shift = tl.where(new_highest == -float("inf"), 0.0, new_highest)
        total = total * tl.exp(highest - shift) + tl.sum(tl.exp(logits - shift), axis=0)
        highest = new_highest
    wanted = tl.load(logits_row_ptr + target * class_stride).to(tl.float32)
    loss = highest - wanted + tl.log(total)
    tl.store(losses_ptr + row, loss.to(losses_ptr.dtype.element_ty))


def cross_entropy(logits: torch.Tensor, targets: torch.Tensor, ignore_index: int = -100) -> torch.Tensor:
    """The loss of each row: logits of (rows, classes) and any strides, targets of (rows), integers."""
    targets = targets.contiguous()
    n_rows, n_classes = logits.shape
    losses = torch.empty(n_rows, dtype=logits.dtype, device=logits.device)
    if n_rows == 0:
        return losses
    if n_classes == 0:
        raise ValueError("there are no classes")
    block = min(triton.next_power_of_2(n_classes), 1024)
    cross_entropy_kernel[(n_rows,)](
        logits, targets, losses, n_classes, logits.stride(0), logits.stride(1), ignore_index, BLOCK=block
    )
    return losses
