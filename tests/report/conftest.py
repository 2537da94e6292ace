"""A small audit made by hand, and two rules for SARIF to describe."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tritonaudit.report.header
import tritonaudit.report.sarif
from tritonaudit.finding import (
    Audit,
    Confidence,
    Edit,
    Finding,
    Fix,
    Outcome,
    Problem,
    Related,
    Severity,
    Span,
    Status,
    Witness,
)
from tritonaudit.rule import Rule

SOFTMAX = """\
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    out = tl.exp(
        x - tl.max(
            x, axis=0
        )
    )
\ttl.store(out_ptr + offsets, out)  # 幅の広い文字 \x1b[31m
"""
LONG = f"names = [{', '.join(repr(f'name{number}') for number in range(100))}]\n"


class Unmasked(Rule):
    code, name = "TAM101", "unmasked-access"
    summary = "A block access can run past the end of its tensor."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"

    @classmethod
    def page(cls) -> str:
        return (
            "# unmasked-access\n\n## What it does\nFinds block accesses\nwithout a mask.\n\n## Why\nThey read past.\n"
        )


class NoPage(Rule):
    code, name = "TAN101", "unstable-exp"
    summary = "An `exp` can overflow."
    severity, confidence, since = Severity.INFO, Confidence.LOW, "0.1"


Findings = Callable[..., Finding]


@pytest.fixture(autouse=True)
def two_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tritonaudit.report.sarif, "all_rules", lambda: (Unmasked, NoPage))
    monkeypatch.setattr(tritonaudit.report.sarif, "__version__", "0.1.0")


@pytest.fixture(autouse=True)
def some_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a report says of the day and of what is installed is the same every day and everywhere."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")
    monkeypatch.setattr(tritonaudit.report.header, "__version__", "0.1.0")
    monkeypatch.setattr(tritonaudit.report.header, "triton_version", lambda: "3.9.0")
    monkeypatch.setattr(tritonaudit.report.header, "torch_version", lambda: "2.13.0")


@pytest.fixture
def make_finding() -> Findings:
    """Makes a finding of which only what matters to a test needs saying."""

    def make(**said: Any) -> Finding:
        usual: dict[str, Any] = {
            "code": "TAM101",
            "name": "unmasked-access",
            "severity": Severity.ERROR,
            "confidence": Confidence.HIGH,
            "message": "Nothing bounds it.",
            "path": "a.py",
            "span": Span(1, 1, 1, 2),
        }
        return Finding(**usual | said)

    return make


@pytest.fixture
def audit() -> Audit:
    """One of everything."""
    unmasked = Finding(
        code="TAM101",
        name="unmasked-access",
        severity=Severity.ERROR,
        confidence=Confidence.HIGH,
        message="`x_ptr + offsets` is not bounded by any mask.",
        path="kernels/softmax.py",
        span=Span(8, 17, 8, 32),
        kernel="softmax_kernel",
        remedy="Pass `mask=offsets < n, other=-float('inf')`.",
        related=(
            Related("kernels/softmax.py", Span(7, 15, 7, 34), "`offsets` counts to `BLOCK`, not to `n`"),
            Related("kernels/launch me.py", Span(40, 5, 42, 6), "launched with `x[0]` here"),
        ),
        fix=Fix("Add the mask.", (Edit(Span(8, 32, 8, 32), ", mask=offsets < n"),), safe=False),
        witness=Witness(
            "n = 1000 reads 24 lanes past the end of x.", "tritonaudit run kernels/softmax.py --case n=1000"
        ),
        expression="x_ptr + offsets",
    )
    unstable = Finding(
        code="TAN101",
        name="unstable-exp",
        severity=Severity.INFO,
        confidence=Confidence.LOW,
        message="exp of [red]x[/red] 100% overflows.\nTwice, ::error::\x1b]0;title\x07 and \u202ereversed\u202c.",
        path="kernels/softmax.py",
        span=Span(9, 11, 13, 6),
        kernel="softmax_kernel",
        expression="tl.exp(x - tl.max(x, axis=0))",
    )
    wide = Finding(
        code="TAB101",
        name="odd-comment",
        severity=Severity.WARNING,
        confidence=Confidence.MEDIUM,
        message="The comment is odd.",
        path="kernels/softmax.py",
        span=Span(14, 37, 14, 44),
        expression="#",
    )
    long = Finding(
        code="TAB102",
        name="long-list",
        severity=Severity.WARNING,
        confidence=Confidence.HIGH,
        message="A name occurs twice.",
        path="odd, 100%:\tname\udcff.py",
        span=Span(1, 500, 1, 508),
        expression="'name49'",
    )
    return Audit(
        findings=(unmasked, unstable, wide, long),
        problems=(
            Problem("kernels/bad.py", "it does not parse: `(` is never closed", 3),
            Problem("gone.py", "not found"),
        ),
        outcomes=(
            Outcome("source", "kernels/softmax.py", Status.PASS),
            Outcome("source", "kernels/old.py", Status.NOT_RUN, reason="it is Python 2"),
        ),
        texts={"kernels/softmax.py": SOFTMAX, "odd, 100%:\tname\udcff.py": LONG},
        files=4,
        kernels=1,
    )
