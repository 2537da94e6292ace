"""Runs of subjects made by hand; only what matters to a test is said."""

from __future__ import annotations

from pathlib import Path

from tritonaudit.capture.launch import KernelRef
from tritonaudit.finding import Audit, Outcome, Status
from tritonaudit.report.checklists import stability
from tritonaudit.report.ran import RanSection
from tritonaudit.subject.model import Case
from tritonaudit.suites.coverage import Coverage
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.gather import SubjectRun
from tritonaudit.suites.outcome import CaseOutcome, Closeness
from tritonaudit.suites.stability import HARDSHIPS
from tritonaudit.suites.stage import RunAudit

FILE = "kernels.py"
CLOSE = Closeness(1e-7, 0.5, True, True)
FAR = Closeness(float("inf"), float("nan"), False, False)
COMPLETE = Coverage(38, 38)
PASSING = {
    **{symptom.value: Status.PASS for symptom in Symptom},
    **{stability(hardship.name): Status.PASS for hardship in HARDSHIPS},
}
"""Every check of the run stage, each of which passes."""


def trial(
    sizes: dict[str, int] | None = None, *, blocks: tuple[int, ...] = (), close: Closeness = CLOSE, **said: object
) -> CaseOutcome:
    """A case in which all was checked."""
    return CaseOutcome(
        Case(sizes or {"n": 64}, **said),  # type: ignore[arg-type]
        frozenset(Symptom),
        closeness=close,
        blocks=frozenset(blocks),
        kernels=(KernelRef(str(Path(FILE).absolute()), "kernel", 1),),
    )


def run(
    name: str,
    *trials: CaseOutcome,
    checks: dict[str, Status] | None = None,
    path: str = "audit_it.py",
    left_out: tuple[tuple[str, str], ...] = (),
    coverage: Coverage = COMPLETE,
) -> SubjectRun:
    """A run in which every check passes that `checks` does not say otherwise of, and which had one trial at least."""
    outcomes = tuple(
        Outcome(check, f"{path}: {name}", status, *(("", "why") if status is Status.NOT_RUN else ("2 cases", "")))
        for check, status in (PASSING | (checks or {})).items()
    )
    return SubjectRun(Path(path), name, trials or (trial(),), (), outcomes, left_out, coverage)


def section(*runs: SubjectRun) -> RanSection:
    return RanSection(RunAudit(Audit(), runs))
