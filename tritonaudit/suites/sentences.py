"""How findings of the run stage are worded. Imports neither torch nor triton."""

from __future__ import annotations

from collections.abc import Sequence

from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit
from tritonaudit.suites.facts import RunKernel, Seen

DOUBTFUL = (Severity.WARNING, Confidence.LOW)


def hit(seen: Seen, message: str, remedy: str, doubtful: tuple[Severity, Confidence] = DOUBTFUL) -> Hit:
    """The finding for what was seen, with its witness; `doubtful` is what it is where it may be harmless."""
    severity, confidence = (None, None) if seen.is_certain else doubtful
    return Hit(seen.span, message, remedy, severity, confidence, seen.related, witness=seen.witness, way=seen.way)


def cases(run: RunKernel, seen: Seen) -> str:
    """`in 3 of 41 cases, such as n=1000 float32`."""
    among = f"in {len(seen.cases)} of {run.cases} cases" if run.cases > 1 else "in the one case"
    return f"{among}, such as {seen.witness.description if seen.witness is not None else seen.cases[0]}"


def counted(number: int, what: str) -> str:
    """`1 element`, `1,024 elements`."""
    return f"1 {what}" if number == 1 else f"{number:,} {what}s"


def differ(number: int) -> str:
    """What so many things do."""
    return "differs" if number == 1 else "differ"


def listed(operators: Sequence[str]) -> str:
    """The first of them by name."""
    return ", ".join(f"`{operator}`" for operator in operators[:4]) + (" and others" if len(operators) > 4 else "")
