"""What flushing the caches does to the time of a call: by writing, as others do, and by reading."""

from __future__ import annotations

import statistics

from tritonaudit.measure.timing import Contender, Stopwatch
from tritonaudit.subject.inputs import make_inputs
from tritonaudit.subject.model import Case, Subject


class _Writing(Stopwatch):
    """Flushes caches by writing."""

    def _prepare(self, number: int) -> None:
        self._restore(number)
        self._flushing.zero_()


def compare(subject: Subject, size: str, case: Case, seconds: float) -> None:
    """Print a line: milliseconds of a call after either."""
    written, read = (_taken(kind, subject, case, seconds) for kind in (_Writing, Stopwatch))
    print(f"{subject.name:20} {size:7} written {written:.5f}; read {read:.5f} ({written / read:.2f}×)", flush=True)


def _taken(kind: type[Stopwatch], subject: Subject, case: Case, seconds: float) -> float:
    watch, contender = kind([make_inputs(subject, case)]), Contender("", subject.function)
    watch.once(contender)
    return statistics.median(watch.time([contender], seconds)[""].device)
