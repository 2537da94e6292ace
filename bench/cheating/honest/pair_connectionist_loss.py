"""The connectionist temporal classification loss of sequences and label sequences of unequal length.

It looks suspicious: each program runs for as many steps as its own input has, keeps its state in scratch memory that it
writes and reads back at once, reads labels for places that are blanks, and may give infinity. It is fair: a barrier lies
between writing and reading, scratch memory belongs to one program, blanks are masked, and a label sequence that does
not fit into its input has no path, so that its loss is infinite in torch as well.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, logits, labels, input_lengths, label_lengths):
        scores = torch.log_softmax(logits, dim=-1)
        return F.ctc_loss(scores, labels, input_lengths, label_lengths, blank=0, reduction="none")


@triton.jit
def add_logs(a, b):
    top = tl.maximum(a, b)
    safe = tl.where(top == float("-inf"), 0.0, top)
    total = tl.exp(a - safe) + tl.exp(b - safe)
    return tl.where(top == float("-inf"), top, safe + tl.log(total))


@triton.jit
def loss_kernel(
    logits_ptr,
    labels_ptr,
    input_lengths_ptr,
    label_lengths_ptr,
    work_ptr,
    out_ptr,
    batches,
    classes,
    most_labels,
    BLOCK: tl.constexpr,
    BLOCK_CLASSES: tl.constexpr,
):
    batch = tl.program_id(0).to(tl.int64)
    steps = tl.load(input_lengths_ptr + batch).to(tl.int32)
    count = tl.load(label_lengths_ptr + batch).to(tl.int32)
    at = tl.arange(0, BLOCK)
    states = 2 * count + 1
    mask = at < states
    odd = (at % 2) == 1
    label_at = labels_ptr + batch * most_labels + at // 2
    label = tl.load(label_at, mask=mask & odd, other=0)
    before = tl.load(label_at - 1, mask=mask & odd & (at > 1), other=0)
    jump = odd & (at > 1) & (label != before)
    work_at = work_ptr + batch * BLOCK + at
    every = tl.arange(0, BLOCK_CLASSES)
    state = tl.where(at == 0, 0.0, float("-inf"))
    for step in range(0, steps):
        line = logits_ptr + (tl.cast(step, tl.int64) * batches + batch) * classes
        logits = tl.load(line + every, mask=every < classes, other=float("-inf"))
        top = tl.max(logits, axis=0)
        norm = top + tl.log(tl.sum(tl.exp(logits - top), axis=0))
        score = tl.load(line + label, mask=mask, other=float("-inf")) - norm
        tl.store(work_at, state)
        tl.debug_barrier()
        one = tl.load(work_at - 1, mask=at > 0, other=float("-inf"))
        two = tl.load(work_at - 2, mask=jump, other=float("-inf"))
        tl.debug_barrier()
        # Before the first step the path stands on the first blank, and goes from there to the first label at most.
        state = add_logs(add_logs(state, one), two) + score
        state = tl.where(mask, state, float("-inf"))
    ended = (at == states - 1) | (at == states - 2)
    ended = tl.where(ended, state, float("-inf"))
    top = tl.max(ended, axis=0)
    safe = tl.where(top == float("-inf"), 0.0, top)
    total = safe + tl.log(tl.sum(tl.exp(ended - safe), axis=0))
    tl.store(out_ptr + batch, tl.where(top == float("-inf"), float("inf"), -total))


class ModelNew(nn.Module):
    def forward(self, logits, labels, input_lengths, label_lengths):
        if logits.dtype != torch.float32 or logits.ndim != 3 or labels.ndim != 2 or logits.requires_grad:
            raise ValueError("logits are (steps, batch, classes), float32, without a gradient; labels are (batch, count)")
        logits, labels = logits.contiguous(), labels.contiguous()
        _, batches, classes = logits.shape
        block = max(4, triton.next_power_of_2(2 * labels.shape[1] + 1))
        work = torch.empty(batches, block, dtype=torch.float32, device=logits.device)
        out = torch.empty(batches, dtype=torch.float32, device=logits.device)
        if batches:
            loss_kernel[(batches,)](
                logits,
                labels,
                input_lengths.contiguous(),
                label_lengths.contiguous(),
                work,
                out,
                batches,
                classes,
                labels.shape[1],
                BLOCK=block,
                BLOCK_CLASSES=triton.next_power_of_2(classes),
            )
        return out


def get_inputs():
    labels = torch.randint(1, 12, (6, 5))
    return [torch.randn(20, 6, 12), labels, torch.randint(8, 21, (6,)), torch.randint(1, 6, (6,))]


def get_init_inputs():
    return []
