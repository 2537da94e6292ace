"""What an audit says of a file, and how often that is what is known of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.kernelbench.faults import FAULTS
from bench.kernelbench.files import File
from tritonaudit.audit import PERFORMANCE, RUN_PARTS, AuditRequest, audit_paths
from tritonaudit.config import Config
from tritonaudit.finding import Audit, Severity, Stage, Status
from tritonaudit.report.ran import RanSection
from tritonaudit.shown import shown_path
from tritonaudit.suites.coverage import Verdict, shown_missing
from tritonaudit.suites.gather import SubjectRun
from tritonaudit.suites.stage import Where

RIGHT, WRONG, UNDECIDED = "right", "wrong", "undecided"


@dataclass(frozen=True)
class Judged:
    """A file's verdict: RIGHT, WRONG or UNDECIDED and why, the codes of its findings, and the seconds of its cases."""

    name: str
    fault: str
    verdict: str
    codes: tuple[str, ...]
    seconds: float
    reason: str = ""

    @property
    def is_as_known(self) -> bool:
        return self.verdict == (WRONG if self.fault else RIGHT)


def audited(
    written: Mapping[Path, File], seconds: float, jobs: int, device: Where = Where.CPU, *, is_timed: bool = False
) -> list[Judged]:
    """The verdicts of the run stage, each file having so many seconds; timed, too, where that is asked for."""
    paths = list(written)
    parts = RUN_PARTS | ({PERFORMANCE} if is_timed else set())
    request = AuditRequest(parts, seconds, jobs, device.value)
    full = audit_paths(paths, Config(paths[0].parents[1]), request)
    ran = next(section.ran for section in full.sections if isinstance(section, RanSection))
    runs = {run.path: run for run in ran.runs}
    return [_judged(path, file, runs.get(path), full.audit) for path, file in written.items()]


def _judged(path: Path, file: File, run: SubjectRun | None, audit: Audit) -> Judged:
    shown = shown_path(path)
    found = [one for one in audit.findings if one.path == shown and one.stage is Stage.RUN]
    errors = [one.code for one in found if one.severity is Severity.ERROR]
    problems = [problem.message for problem in audit.problems if problem.path == shown]
    unknown = [*problems, *(_unknown(run) if run is not None else ["it was not run"])]
    verdict = WRONG if errors else UNDECIDED if unknown else RIGHT
    spent = sum(trial.seconds for trial in run.trials) if run is not None else 0.0
    fault = file.fault.name if file.fault is not None else ""
    reason = unknown[0] if verdict == UNDECIDED else ""
    return Judged(file.name, fault, verdict, tuple(dict.fromkeys(errors)), spent, reason)


def _unknown(run: SubjectRun) -> list[str]:
    """Why the run does not say that the file is right; empty where it does, if with a warning."""
    if run.verdict in (Verdict.PASS, Verdict.WARN):
        return []
    failed = [f"{one.check}: {one.reason}" for one in run.outcomes if one.status is Status.FAIL]
    return ["; ".join(filter(None, (run.verdict.value, *failed, shown_missing(run.coverage.missing))))]


def table(judged: Sequence[Judged]) -> str:
    """A line for each kind of file, and one for each file whose verdict is not as known."""
    lines = ["| files | number | as known | found by | seconds each |", "|---|---|---|---|---|"]
    meanings = {"": "right", **{fault.name: f"{fault.name}: {fault.meaning}" for fault in FAULTS}}
    for fault, meaning in meanings.items():
        alike = [one for one in judged if one.fault == fault]
        if alike:
            known = sum(one.is_as_known for one in alike)
            codes = ", ".join(sorted({code for one in alike for code in one.codes})) or "-"
            mean = sum(one.seconds for one in alike) / len(alike)
            lines.append(f"| {meaning} | {len(alike)} | {known} | {codes} | {mean:.1f} |")
    others = [one for one in judged if not one.is_as_known]
    lines += ["", *(f"{one.name}: {one.verdict} {' '.join(one.codes) or one.reason}" for one in others)]
    return "\n".join(lines).rstrip() + "\n"
