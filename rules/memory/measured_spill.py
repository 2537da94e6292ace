"""TAM503: a kernel was seen to store registers to memory and to load them back."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Cause, Confidence, Severity
from tritonaudit.measure import sentences
from tritonaudit.measure.counters import INSTRUCTIONS, SPILLS
from tritonaudit.measure.profiled import ProfiledKernel
from tritonaudit.rule import Hit, Rule

_HARMLESS = 0.01
"""The share of all instructions below which spilling hardly costs time."""


class MeasuredSpill(Rule):
    code, name = "TAM503", "measured-spill"
    summary = "A kernel was seen to execute instructions that store registers to memory or load them back."
    severity, confidence, since = Severity.WARNING, Confidence.HIGH, "0.1"

    def check(self, kernel: ProfiledKernel) -> Iterator[Hit]:
        spills, executed = kernel.total(SPILLS), kernel.total(INSTRUCTIONS)
        if not spills or not executed:
            return
        share = spills / executed
        is_harmless = share < _HARMLESS
        yield Hit(
            kernel.span,
            f"`{kernel.name}` spills registers at {kernel.case.label}: {share:.1%} of the instructions that its warps"
            f" execute, {spills:,.0f}, store registers to memory or load them back",
            remedy="use a smaller tile, or more warps, which give each thread less to hold",
            severity=Severity.INFO if is_harmless else None,
            confidence=Confidence.LOW if is_harmless else None,
            witness=sentences.witness_by_profiler(kernel),
            cause=Cause.SPILL,
        )
