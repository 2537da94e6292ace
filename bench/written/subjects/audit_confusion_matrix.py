"""How often each class was taken for each other one, counted by atomic additions, and the share of each class found."""

import torch
import triton
import triton.language as tl

from tritonaudit import Case, Subject

BLOCK = 64
PROGRAMS = 4


@triton.jit
def count_kernel(
    label_ptr,
    guess_ptr,
    matrix_ptr,
    count,
    blocks,
    classes,
    ignored,
    label_stride,
    guess_stride,
    BLOCK: tl.constexpr,
):
    for block in range(tl.program_id(0), blocks, tl.num_programs(0)):
        i = tl.cast(block, tl.int64) * BLOCK + tl.arange(0, BLOCK)
        label = tl.load(label_ptr + i * label_stride, mask=i < count, other=-1).to(tl.int64)
        wanted = (label >= 0) & (label < classes) & (label != ignored)
        guess = tl.load(guess_ptr + i * guess_stride, mask=wanted, other=-1).to(tl.int64)
        wanted = wanted & (guess >= 0) & (guess < classes)
        cell = label * classes + guess
        one = tl.full((BLOCK,), 1, tl.int64)
        tl.atomic_add(matrix_ptr + cell, one, mask=wanted, sem="relaxed")


@triton.jit
def share_kernel(matrix_ptr, share_ptr, classes, blocks, BLOCK: tl.constexpr):
    label = tl.program_id(0).to(tl.int64)
    row_ptr = matrix_ptr + label * classes
    sums = tl.zeros((BLOCK,), tl.int64)
    for b in range(blocks):
        guess = tl.cast(b, tl.int64) * BLOCK + tl.arange(0, BLOCK)
        sums += tl.load(row_ptr + guess, mask=guess < classes, other=0)
    total = tl.sum(sums, axis=0)
    found = tl.load(row_ptr + label)
    share = found.to(tl.float32) / tl.maximum(total, 1).to(tl.float32)
    tl.store(share_ptr + label, share)


def confusion_matrix(
    labels: torch.Tensor, guesses: torch.Tensor, classes: int, ignored: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """labels and guesses, (count,), int32 or int64: (classes, classes), int64, the times that a label, the row, had a
    guess, the column, and (classes,), float32, the share of each label that was guessed, 0 for one that is never there.
    Pairs with a label or a guess outside 0 to classes - 1, or with the ignored label, do not count."""
    if labels.ndim != 1 or guesses.shape != labels.shape:
        raise ValueError("labels and guesses have one dimension and one length")
    if labels.dtype not in (torch.int32, torch.int64) or guesses.dtype not in (torch.int32, torch.int64):
        raise ValueError("labels and guesses are int32 or int64")
    if not 0 <= classes < 2**31:
        raise ValueError("the number of classes is not negative and below 2^31")
    count = labels.shape[0]
    matrix = torch.zeros((classes, classes), dtype=torch.int64, device=labels.device)
    share = torch.empty(classes, dtype=torch.float32, device=labels.device)
    blocks = triton.cdiv(count, BLOCK)
    if blocks >= 2**30:
        raise ValueError("too many labels")
    if classes and blocks:
        count_kernel[(min(blocks, PROGRAMS),)](
            labels, guesses, matrix, count, blocks, classes, ignored, *labels.stride(), *guesses.stride(), BLOCK=BLOCK
        )
    if classes:
        share_kernel[(classes,)](matrix, share, classes, triton.cdiv(classes, BLOCK), BLOCK=BLOCK)
    return matrix, share


def reference(
    labels: torch.Tensor, guesses: torch.Tensor, classes: int, ignored: int
) -> tuple[torch.Tensor, torch.Tensor]:
    label, guess = labels.long(), guesses.long()
    counts = (label >= 0) & (label < classes) & (label != ignored) & (guess >= 0) & (guess < classes)
    cells = label[counts] * classes + guess[counts]
    matrix = torch.bincount(cells, minlength=classes * classes).reshape(classes, classes)
    share = matrix.diagonal().double() / matrix.sum(1).clamp(min=1)
    return matrix, share.float()


def inputs(case: Case) -> tuple[torch.Tensor, torch.Tensor, int, int]:
    """Labels and guesses from -1 to the number of classes, the ends being outside; half the guesses are right; the last
    class is the ignored one with an odd seed, and -100 otherwise."""
    count, classes = case["count"], case["classes"]
    generator = torch.Generator().manual_seed(case.seed)
    labels = torch.randint(-1, classes + 1, (count,), generator=generator)
    guesses = torch.randint(-1, classes + 1, (count,), generator=generator)
    right = torch.rand(count, generator=generator) < 0.5
    guesses = torch.where(right, labels, guesses)
    ignored = classes - 1 if case.seed % 2 else -100
    if case["long"] == 0:
        labels, guesses = labels.int(), guesses.int()
    return labels.to(case.device), guesses.to(case.device), classes, ignored


confusion = Subject(
    confusion_matrix,
    reference=reference,
    inputs=inputs,
    name="confusion_matrix",
    sizes={"count": [512, 1, 50, 700, 0], "classes": [8, 1, 3, 70], "long": [0, 1]},
    dtypes=["float32"],
)
