"""Cross entropy with label smoothing of packed sequences: of each token, and the mean of each sequence.

A token whose target is IGNORED has no loss and counts for nothing."""

from itertools import pairwise

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from tritonaudit import Offsets, Subject, Tensor

IGNORED = -1
SMOOTHING = 0.1
BLOCK = 128
BLOCK_T = 32


@triton.jit
def packed_cross_entropy_kernel(
    logits_ptr,
    targets_ptr,
    offsets_ptr,
    losses_ptr,
    means_ptr,
    counts_ptr,
    classes,
    logits_token_stride,
    logits_class_stride,
    targets_stride,
    smoothing,
    IGNORED: tl.constexpr,
    BLOCK: tl.constexpr,
    BLOCK_T: tl.constexpr,
):
    sequence = tl.program_id(0).to(tl.int64)
    begin = tl.load(offsets_ptr + sequence).to(tl.int64)
    end = tl.load(offsets_ptr + sequence + 1).to(tl.int64)

    for token in range(begin, end):
        target = tl.load(targets_ptr + token * targets_stride)
        loss = 0.0
        if target != IGNORED:
            base_ptr = logits_ptr + token * logits_token_stride
            top = float("-inf")
            total = 0.0
            plain = 0.0
            for start in range(0, classes, BLOCK):
                cols = (start + tl.arange(0, BLOCK)).to(tl.int64)
                mask = cols < classes
                x = tl.load(base_ptr + cols * logits_class_stride, mask=mask, other=float("-inf")).to(tl.float32)
                new_top = tl.maximum(top, tl.max(x, axis=0))
                shift = tl.where(new_top == float("-inf"), 0.0, new_top)
                total = total * tl.exp(top - shift) + tl.sum(tl.exp(x - shift), axis=0)
                plain += tl.sum(tl.where(mask, x / classes, 0.0), axis=0)
                top = new_top
            shift = tl.where(top == float("-inf"), 0.0, top)
            lse = shift + tl.log(total)
            chosen = tl.load(base_ptr + target * logits_class_stride).to(tl.float32)
            loss = (1.0 - smoothing) * (lse - chosen) + smoothing * (lse - plain)
        tl.store(losses_ptr + token, loss)

    # The losses are read by other threads than those that wrote them.
    tl.debug_barrier()
    sums = tl.zeros((BLOCK_T,), tl.float32)
    kept = tl.zeros((BLOCK_T,), tl.int32)
    for start in range(begin, end, BLOCK_T):
        tokens = start + tl.arange(0, BLOCK_T)
        mask = tokens < end
        targets = tl.load(targets_ptr + tokens * targets_stride, mask=mask, other=IGNORED)
        sums += tl.load(losses_ptr + tokens, mask=mask, other=0.0)
        kept += (targets != IGNORED).to(tl.int32)
    count = tl.sum(kept, axis=0)
    mean = tl.sum(sums, axis=0) / tl.maximum(count, 1).to(tl.float32)
    tl.store(means_ptr + sequence, mean)
    tl.store(counts_ptr + sequence, count)


def packed_cross_entropy(
    logits: torch.Tensor, targets: torch.Tensor, offsets: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """logits, (tokens, classes), and targets, (tokens): the losses, the mean of each sequence and how many count."""
    tokens, classes = logits.shape
    sequences = offsets.numel() - 1
    offsets = offsets.contiguous()
    losses = torch.empty(tokens, dtype=torch.float32, device=logits.device)
    means = torch.empty(sequences, dtype=torch.float32, device=logits.device)
    counts = torch.empty(sequences, dtype=torch.int32, device=logits.device)
    if sequences > 0:
        packed_cross_entropy_kernel[(sequences,)](
            logits,
            targets,
            offsets,
            losses,
            means,
            counts,
            classes,
            logits.stride(0),
            logits.stride(1),
            targets.stride(0),
            SMOOTHING,
            IGNORED,
            BLOCK,
            BLOCK_T,
        )
    return losses, means, counts


def reference(
    logits: torch.Tensor, targets: torch.Tensor, offsets: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    losses = F.cross_entropy(wide, targets, ignore_index=IGNORED, reduction="none", label_smoothing=SMOOTHING)
    ends = offsets.tolist()
    pairs = list(pairwise(ends))
    counts = torch.stack([(targets[begin:end] != IGNORED).sum() for begin, end in pairs]).to(torch.int32)
    sums = torch.stack([losses[begin:end].sum() for begin, end in pairs])
    return losses, sums / counts.clamp(min=1), counts


loss = Subject(
    packed_cross_entropy,
    reference=reference,
    inputs=[
        Tensor("tokens", "classes"),
        Tensor("tokens", dtype="int64", low=-1, high="classes"),
        Offsets("sequences", "tokens"),
    ],
    name="packed_cross_entropy",
    sizes={"tokens": [64, 1, 37, 100, 0], "classes": [128, 1, 2, 100, 129, 300], "sequences": [3, 1, 2, 9]},
)
