"""Audits a kernel's file, as it is or with a fault, and keeps what the report says of it."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.auditing import audited

PARTS = "source,correctness,memory,stability,integrity"
DOES_NOT_COMPILE = "TAC301"
_BEYOND_THE_BUDGET = 600.0
_SHOWN = 300


@dataclass(frozen=True)
class Audited:
    """The verdict on a file, the rules behind its errors and warnings, the first reason, and the seconds it took."""

    verdict: str
    errors: Sequence[str]
    warnings: Sequence[str]
    reason: str
    seconds: float

    @property
    def codes(self) -> frozenset[str]:
        return frozenset(self.errors) | frozenset(self.warnings)


def audit(name: str, source: str, budget: float) -> Audited:
    """What an audit says of a file with this text, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="written-") as folder:
        file = Path(folder) / name
        file.write_text(source)
        report = audited(file, PARTS, budget, "cpu", budget + _BEYOND_THE_BUDGET)
    reason = "" if report.verdict == "passes" and not report.findings else next(report.reasons(), "")
    return Audited(report.verdict, report.codes("error"), report.codes("warning"), reason[:_SHOWN], report.seconds)
