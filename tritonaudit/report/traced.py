"""What a trace shows besides its findings: which kernels were launched how often, executed, and checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tritonaudit.finding import Outcome, Status
from tritonaudit.report.escape import visible
from tritonaudit.report.section import Line, Note
from tritonaudit.report.words import Code, Words, words
from tritonaudit.shown import shown_path
from tritonaudit.trace.stage import TraceAudit, TracedKernel

_INDENT = "  "
_MOST_OUTCOMES = 40
_STYLES = {Status.WARN: "yellow", Status.FAIL: "bold red", Status.NOT_RUN: "dim", Status.INCONCLUSIVE: "yellow"}


@dataclass(frozen=True)
class TracedSection:
    """The kernels of a trace."""

    traced: TraceAudit
    key = "traced"

    def lines(self) -> Iterator[Line]:
        yield from self.short_lines()
        for kernel in self.traced.kernels:
            yield from _kernel(kernel, self.traced.audit.outcomes)
        yield ()

    def short_lines(self) -> Iterator[Line]:
        yield ((traced_summary(self.traced), "bold"),)

    def notes(self) -> Iterator[Note]:
        yield from ()

    def data(self) -> dict[str, Any]:
        header = self.traced.trace.header
        return {
            "trace": shown_path(self.traced.trace.path),
            "command": list(header.command),
            "exit_code": header.exit_code,
            "device": f"CPU engine in the place of {header.target}" if header.target else None,
            "versions": {"python": header.python, "torch": header.torch, "triton": header.triton},
            "kernels": [_data(kernel) for kernel in self.traced.kernels],
            "checks": [
                {
                    "check": one.check,
                    "subject": one.subject,
                    "status": one.status.value,
                    "launches": one.case,
                    "reason": one.reason,
                }
                for one in self.traced.audit.outcomes
            ],
        }


LAUNCHED = ("Kernel", "Launches", "Executed", "Seconds", "Kinds recorded", "Not executed, because")
"""The heads of the table of kernels that were launched."""


def launched(traced: TraceAudit) -> Iterator[tuple[Words, ...]]:
    """Its rows."""
    for one in traced.kernels:
        place = Code(f"{shown_path(Path(one.kernel.path))}:{one.kernel.line}")
        reasons = "; ".join(f"{reason} ({count:,})" for reason, count in one.failures)
        yield (
            words(Code(one.kernel.name), " ", place),
            words(f"{one.launches:,}"),
            words(f"{one.executed:,}"),
            words(f"{one.seconds:.1f}"),
            words(f"{one.kinds:,}"),
            words(reasons or "none"),
        )


def traced_summary(traced: TraceAudit) -> str:
    """`The command exited with 1. 12 launches of 2 kernels: 12 executed on the CPU engine in 0.4 s, 3 kinds …`."""
    kernels = traced.kernels
    code = traced.trace.header.exit_code
    ended = "" if code is None else f"The command {_ended(code)}. "
    launches, executed = sum(one.launches for one in kernels), sum(one.executed for one in kernels)
    kinds, seconds = sum(one.kinds for one in kernels), sum(one.seconds for one in kernels)
    return (
        f"{ended}{_number(launches, 'launch', 'launches')} of {_number(len(kernels), 'kernel', 'kernels')}:"
        f" {executed:,} executed on the CPU engine in {seconds:.1f} s, {_number(kinds, 'kind', 'kinds')} recorded."
    )


def _ended(code: int) -> str:
    return f"exited with {code}" if code >= 0 else f"was ended by signal {-code}"


def _number(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _kernel(kernel: TracedKernel, outcomes: tuple[Outcome, ...]) -> Iterator[Line]:
    place = f"{shown_path(Path(kernel.kernel.path))}:{kernel.kernel.line}"
    counts = (
        f"  {_number(kernel.launches, 'launch', 'launches')}, {kernel.executed:,} executed in {kernel.seconds:.1f} s,"
        f" {_number(kernel.kinds, 'kind', 'kinds')} recorded"
    )
    yield (visible(kernel.kernel.name), "bold"), (f"  {visible(place)}", ""), (counts, "dim")
    subject = f"{place}: {kernel.kernel.name}"
    mine = [one for one in outcomes if one.subject == subject]
    for one in [one for one in mine if one.status is not Status.PASS][:_MOST_OUTCOMES]:
        which = f" ({one.case})" if one.case else ""
        yield (
            (f"{_INDENT}{one.status.value:<12}", _STYLES.get(one.status, "")),
            (
                f" {one.check}{which}: {visible(one.reason)}",
                "",
            ),
        )
    if passed := [one.check for one in mine if one.status is Status.PASS]:
        yield (f"{_INDENT}{'pass':<12}", "green"), (f" {', '.join(passed)}", "")


def _data(kernel: TracedKernel) -> dict[str, Any]:
    return {
        "name": kernel.kernel.name,
        "path": shown_path(Path(kernel.kernel.path)),
        "line": kernel.kernel.line,
        "launches": kernel.launches,
        "executed": kernel.executed,
        "kinds": kernel.kinds,
        "seconds": round(kernel.seconds, 3),
        "not_executed": [{"reason": reason, "launches": count} for reason, count in kernel.failures],
    }
