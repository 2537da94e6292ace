"""How findings of the run stage are worded. Imports neither torch nor triton."""

from __future__ import annotations

from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit
from tritonaudit.suites.facts import RunKernel, Seen


def hit(seen: Seen, message: str, remedy: str) -> Hit:
    """The finding for what was seen, with its witness; a warning of low confidence where it may be harmless."""
    if seen.is_certain:
        return Hit(seen.span, message, remedy, witness=seen.witness)
    return Hit(seen.span, message, remedy, Severity.WARNING, Confidence.LOW, witness=seen.witness)


def cases(run: RunKernel, seen: Seen) -> str:
    """`in 3 of 41 cases, such as n=1000 float32`."""
    among = f"in {len(seen.cases)} of {run.cases} cases" if run.cases > 1 else "in the one case"
    return f"{among}, such as {seen.cases[0]}"
