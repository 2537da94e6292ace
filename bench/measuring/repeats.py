"""The same subject measured again and again."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

from tritonaudit.measure.facts import Ratio
from tritonaudit.measure.statistics import speedup
from tritonaudit.measure.timing import Contender, Stopwatch
from tritonaudit.subject.inputs import make_inputs
from tritonaudit.subject.model import Case, Subject


def compare(subject: Subject, size: str, case: Case, pairs: int, seconds: float) -> None:
    """Print a line of the table, below its head before the first subject."""
    reference = subject.reference
    assert reference is not None
    over = [_ratio(subject, case, reference, seconds) for _ in range(2 * pairs)]
    apart = sum(not _agree(one, other) for one, other in zip(over[::2], over[1::2], strict=True))
    itself = [_ratio(subject, case, subject.function, seconds) for _ in range(pairs)]
    claimed = sum(one.is_faster or one.is_slower for one in itself)
    values = [one.value for one in over]
    width = statistics.median(one.high - one.low for one in over)
    print(
        f"{subject.name:20} {size:7} speed-up {min(values):.3f} to {max(values):.3f}, interval {width:.3f} wide;"
        f" {apart} of {pairs} pairs apart; against itself {min(one.value for one in itself):.3f} to"
        f" {max(one.value for one in itself):.3f}, {claimed} of {pairs} called faster or slower",
        flush=True,
    )


def _agree(one: Ratio, other: Ratio) -> bool:
    """Whether each lies within the interval that is stated with the other."""
    return one.low <= other.value <= one.high and other.low <= one.value <= other.high


def _ratio(subject: Subject, case: Case, other: Callable[..., Any], seconds: float) -> Ratio:
    watch = Stopwatch([make_inputs(subject, case)], subject.gradients, bool(subject.mutates))
    contenders = [Contender("subject", subject.function), Contender("other", other)]
    for contender in contenders:
        watch.once(contender)
    times = watch.time(contenders, seconds)
    return speedup(times["subject"].device, times["other"].device)
