"""Measured subjects made by hand, with figures as an H100 gives them; only what matters to a test is said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tritonaudit.capture.launch import KernelRef
from tritonaudit.compile.places import Place
from tritonaudit.finding import Audit, Span, Status
from tritonaudit.hardware.parts import known_parts, part_of_device
from tritonaudit.hardware.roofline import Figure, Work
from tritonaudit.hardware.targets import Source
from tritonaudit.measure.facts import Counter, Gpu, MeasuredKernel, Ratio, Role, Row, Sample, Timed
from tritonaudit.measure.gather import MeasuredSubject, held_against
from tritonaudit.measure.profiled import ProfiledKernel
from tritonaudit.measure.rates import COPY, READ, matrix_rate
from tritonaudit.measure.stage import MeasureAudit
from tritonaudit.report.measured import MeasuredSection
from tritonaudit.subject.model import Case

PATH = "kernels/softmax.py"
SPAN = Span(6, 5, 6, 19)
KERNEL = KernelRef(PATH, "softmax_kernel", 6)
MEASURED = Source("measured on this NVIDIA H100 80GB HBM3", "by tritonaudit", "")
GPU = Gpu(
    "NVIDIA H100 80GB HBM3",
    "580.159.04",
    (
        Figure(COPY, 3000.0, "GB/s", MEASURED),
        Figure(READ, 3000.0, "GB/s", MEASURED),
        Figure(matrix_rate("float16"), 750.0, "TFLOP/s", MEASURED),
    ),
)
PART = part_of_device(GPU.name, known_parts())
CASE = Case({"n": 1 << 26})
GIGABYTES = 3e9
"""Of work, that takes 1 ms at the measured bandwidth and 0.9 ms by the datasheet."""


def sample(milliseconds: float, spread: float = 0.02) -> Sample:
    """Times whose middle half spreads over this part of their median."""
    half = spread / 2
    low, high = milliseconds * (1 - half), milliseconds * (1 + half)
    return Sample(40, milliseconds, milliseconds * 0.999, milliseconds * 1.001, low, high)


def ratio(value: float) -> Ratio:
    """A speed-up that is known to one percent."""
    return Ratio(value, value * 0.99, value * 1.01)


def timed(role: Role, milliseconds: float, speedup: float | None = None, **said: Any) -> Timed:
    usual: dict[str, Any] = {
        "device": sample(milliseconds, said.pop("spread", 0.02)),
        "wall": sample(milliseconds + 0.02),
        "speedup": None if speedup is None else ratio(speedup),
    }
    return Timed(role, **{"name": role.value} | usual | said)


def row(milliseconds: float, pytorch: float | None = None, compiled: float | None = None, **said: Any) -> Row:
    """A size that takes the subject, PyTorch and torch.compile so long; `bytes` and `flops` are its work."""
    others = ((Role.PYTORCH, pytorch), (Role.COMPILED, compiled))
    amount, flops = said.pop("bytes", GIGABYTES), said.pop("flops", 0.0)
    work = Work(flops, "counted", amount, "counted", "float16", bool(flops), said.pop("written", amount and amount / 2))
    usual: dict[str, Any] = {
        "case": CASE,
        "size": "large",
        "status": Status.PASS,
        "timed": (
            timed(Role.SUBJECT, milliseconds, spread=said.pop("spread", 0.02)),
            *(timed(role, time, time / milliseconds) for role, time in others if time is not None),
        ),
        "work": work,
    }
    return held_against(Row(**usual | said), GPU, PART)


def missed(reason: str, **said: Any) -> Row:
    """A size that was not timed."""
    usual: dict[str, Any] = {"case": CASE, "size": "large", "status": Status.NOT_RUN, "reason": reason}
    return Row(**usual | said)


def kernel(*rows: Row, **said: Any) -> MeasuredKernel:
    usual: dict[str, Any] = {"path": PATH, "name": KERNEL.name, "span": SPAN, "subject": "softmax", "gpu": GPU}
    return MeasuredKernel(**usual | said, rows=rows)


def profiled(*counters: Counter, places: Mapping[int, Place] | None = None, **said: Any) -> ProfiledKernel:
    """A kernel whose lines hold what `places` says, or else a load from the ninth column on."""
    lines = {one.line for one in counters if one.line is not None}
    found = {line: Place(Span(line, 9, line, 30), "load") for line in lines}
    usual: dict[str, Any] = {"path": PATH, "name": KERNEL.name, "span": SPAN, "subject": "softmax", "gpu": GPU}
    return ProfiledKernel(**usual | {"case": CASE, "row": row(2.0)} | said, counters=counters, places=places or found)


def counter(name: str, value: float, line: int | None = None, unit: str = "") -> Counter:
    return Counter(name, value, unit, "a metric", line)


def of_size(one: Row, size: str, **sizes: int) -> Row:
    """The row as one of another size."""
    return replace(one, size=size, case=replace(one.case, sizes=sizes or one.case.sizes))


def subject(*rows: Row, **said: Any) -> MeasuredSubject:
    usual: dict[str, Any] = {"kernel": KERNEL, "launched": (KERNEL,)}
    return MeasuredSubject(Path("audit_it.py"), "softmax", rows, **usual | said)


def section(*subjects: MeasuredSubject, reason: str = "") -> MeasuredSection:
    """What was measured of subjects; without a GPU there is a reason."""
    return MeasuredSection(MeasureAudit(Audit(), subjects, None if reason else GPU, reason))
