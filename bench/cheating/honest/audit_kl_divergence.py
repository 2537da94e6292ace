"""The mean over rows of KL(teacher || student), both given as logits. Each program reads its row twice: once for the
two log-sum-exps and once for the divergence. Torch takes the mean of the rows that the kernel wrote."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def grow(top, total, x):
    new_top = tl.maximum(top, tl.max(x, axis=0))
    base = tl.where(new_top == float("-inf"), 0.0, new_top)
    return new_top, total * tl.exp(top - base) + tl.sum(tl.exp(x - base), axis=0)


@triton.jit
def kl_kernel(
    student_ptr, teacher_ptr, rows_ptr, cols, student_stride, teacher_stride, inverse_temperature, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    student_ptr += row * student_stride
    teacher_ptr += row * teacher_stride
    lanes = tl.arange(0, BLOCK)
    student_top = tl.full((), float("-inf"), tl.float32)
    teacher_top = tl.full((), float("-inf"), tl.float32)
    student_total = tl.full((), 0.0, tl.float32)
    teacher_total = tl.full((), 0.0, tl.float32)
    for start in range(0, cols, BLOCK):
        mask = start + lanes < cols
        s = tl.load(student_ptr + start + lanes, mask=mask, other=float("-inf")).to(tl.float32) * inverse_temperature
        t = tl.load(teacher_ptr + start + lanes, mask=mask, other=float("-inf")).to(tl.float32) * inverse_temperature
        student_top, student_total = grow(student_top, student_total, s)
        teacher_top, teacher_total = grow(teacher_top, teacher_total, t)
    student_log = tl.log(student_total)
    teacher_log = tl.log(teacher_total)
    divergence = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, cols, BLOCK):
        mask = start + lanes < cols
        s = tl.load(student_ptr + start + lanes, mask=mask, other=0.0).to(tl.float32) * inverse_temperature
        t = tl.load(teacher_ptr + start + lanes, mask=mask, other=0.0).to(tl.float32) * inverse_temperature
        log_q = (s - student_top) - student_log
        log_p = (t - teacher_top) - teacher_log
        p = tl.exp(log_p)
        divergence += tl.where(mask & (p != 0.0), p * (log_p - log_q), 0.0)
    tl.store(rows_ptr + row, tl.sum(divergence, axis=0))


def kl_divergence(student, teacher, temperature=2.0):
    assert student.shape == teacher.shape
    assert student.ndim == 2
    assert temperature > 0
    assert student.dtype == teacher.dtype
    assert student.dtype in (torch.float16, torch.bfloat16, torch.float32)
    student = student if student.stride(1) == 1 else student.contiguous()
    teacher = teacher if teacher.stride(1) == 1 else teacher.contiguous()
    rows, cols = student.shape
    divergence = torch.empty(rows, device=student.device, dtype=torch.float32)
    if rows > 0:
        kl_kernel[(rows,)](
            student, teacher, divergence, cols, student.stride(0), teacher.stride(0), 1.0 / temperature, BLOCK=1024
        )
    return divergence.mean().to(student.dtype)


def reference(student, teacher, temperature=2.0):
    log_q = torch.log_softmax(student.float() / temperature, dim=-1)
    log_p = torch.log_softmax(teacher.float() / temperature, dim=-1)
    p = log_p.exp()
    terms = torch.where(p == 0, torch.zeros_like(p), p * (log_p - log_q))
    return terms.sum(dim=-1).mean().to(student.dtype)


kl = Subject(kl_divergence, reference=reference, inputs=[Tensor("rows", "cols"), Tensor("rows", "cols")])
