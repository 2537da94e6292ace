"""Measured subjects made by hand, with figures as an H100 might give them."""

from __future__ import annotations

from pathlib import Path

from tritonaudit.capture.launch import KernelRef
from tritonaudit.finding import Audit, Status
from tritonaudit.hardware.roofline import Figure, Roofline, Work
from tritonaudit.hardware.targets import Source
from tritonaudit.measure.facts import Gpu, Ratio, Role, Row, Sample, Timed
from tritonaudit.measure.gather import MeasuredSubject
from tritonaudit.measure.stage import MeasureAudit
from tritonaudit.report.measured import MeasuredSection
from tritonaudit.subject.model import Case, Layout

SOURCE = Source("a <datasheet>", "page 2", "3.35 TB/s & more")
MEASURED = Figure("measured copy bandwidth", 2900.0, "GB/s", SOURCE), Figure("measured rate", 650.0, "TFLOP/s", SOURCE)
STATED = Figure("DRAM bandwidth", 3350.0, "GB/s", SOURCE), Figure("matrix rate", 989.4, "TFLOP/s", SOURCE)
GPU = Gpu("NVIDIA H100 80GB HBM3", "550.54", MEASURED)


def sample(milliseconds: float, spread: float = 0.04) -> Sample:
    """A median with an interval of `spread` on each side."""
    low, high = milliseconds * (1 - spread), milliseconds * (1 + spread)
    return Sample(40, milliseconds, low, high, low, high)


def timed(role: Role, milliseconds: float | None, subject: float, name: str = "") -> Timed:
    """A contender at a size, beside the subject's time."""
    named = name or role.value
    if milliseconds is None:
        return Timed(role, named, reason="it raises <NotImplementedError>")
    speedup = milliseconds / subject
    ratio = None if role is Role.SUBJECT else Ratio(speedup, speedup * 0.98, speedup * 1.02)
    return Timed(role, named, sample(milliseconds), sample(milliseconds + 0.01), "CUDA events", ratio)


def row(case: Case, size: str, times: tuple[float | None, ...], flops: float, bytes: float) -> Row:
    """A size with the times of the subject, PyTorch, torch.compile and a baseline."""
    work = Work(flops, "counted: the reference", bytes, "counted: inputs and outputs once", case.dtype, flops > 0)
    own = times[0]
    assert own is not None
    roles = (Role.SUBJECT, Role.PYTORCH, Role.COMPILED, Role.BASELINE)
    contenders = (
        timed(role, time, own, "liger" if role is Role.BASELINE else "")
        for role, time in zip(roles, times, strict=True)
    )
    return Row(
        case,
        size,
        Status.PASS,
        timed=tuple(contenders),
        work=work,
        roofline=Roofline(work, *MEASURED, own),
        by_datasheet=Roofline(work, *STATED, own),
    )


def matmul(dtype: str = "float16") -> list[Row]:
    """Square products."""
    rows = []
    for name, n in (("small", 512), ("medium", 2048), ("", 3000), ("large", 8192)):
        flops, bytes = 2.0 * n**3, 3.0 * n * n * 2
        own = max(flops / 5.2e14, bytes / 2.5e12) * 1e3 + 0.004
        case = Case({"m": n, "n": n, "k": n}, dtype=dtype)
        rows.append(row(case, name, (own, own * 0.93, own * 0.95, None if n == 3000 else own * 1.4), flops, bytes))
    return rows


def copy() -> list[Row]:
    """Copies, one of them of a transposed tensor: no arithmetic."""
    rows = []
    for name, n, layout in (
        ("small", 1 << 18, Layout.CONTIGUOUS),
        ("medium", 1 << 24, Layout.CONTIGUOUS),
        ("", 1 << 24, Layout.TRANSPOSED),
        ("large", 1 << 28, Layout.CONTIGUOUS),
    ):
        bytes = 8.0 * n
        own = bytes / (9e11 if layout is Layout.TRANSPOSED else 2.7e12) * 1e3 + 0.003
        rows.append(row(Case({"n": n}, layout=layout), name, (own, own * 1.02, own * 0.99, None), 0.0, bytes))
    return rows


def subject(name: str, *rows: Row, reason: str = "") -> MeasuredSubject:
    return MeasuredSubject(Path("audit_it.py"), name, rows, KernelRef("kernels.py", "kernel", 1), reason=reason)


def section(*subjects: MeasuredSubject, reason: str = "") -> MeasuredSection:
    return MeasuredSection(MeasureAudit(Audit(), subjects, None if reason else GPU, reason))
