"""What an audit says of a file, and how often that is what is known of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.kernelbench.faults import FAULTS
from bench.kernelbench.files import File
from tritonaudit.config import Config
from tritonaudit.engine import shown_path
from tritonaudit.finding import Severity, Status
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.gather import SubjectRun
from tritonaudit.suites.stage import RunAudit, RunRequest, Where, run_paths

RIGHT, WRONG, UNTOLD = "right", "wrong", "not told"
_NEEDED = (Symptom.WRONG_RESULT, Symptom.NO_KERNEL, Symptom.TORCH_WORK, Symptom.STALE)
"""What has to pass for a file to be told right."""


@dataclass(frozen=True)
class Judged:
    """A file's verdict: RIGHT, WRONG or UNTOLD and why, the codes of its findings, and the seconds of its cases."""

    name: str
    fault: str
    verdict: str
    codes: tuple[str, ...]
    seconds: float
    reason: str = ""

    @property
    def is_as_known(self) -> bool:
        return self.verdict == (WRONG if self.fault else RIGHT)


def audited(written: Mapping[Path, File], seconds: float, jobs: int) -> list[Judged]:
    """The verdicts of the run stage on the CPU, each file having so many seconds."""
    paths = list(written)
    request = RunRequest(seconds, jobs, device=Where.CPU)
    ran = run_paths(paths, Config(paths[0].parents[1]), request)
    runs = {run.path: run for run in ran.runs}
    return [_judged(path, file, runs.get(path), ran) for path, file in written.items()]


def _judged(path: Path, file: File, run: SubjectRun | None, ran: RunAudit) -> Judged:
    shown = shown_path(path)
    errors = [one.code for one in ran.audit.findings if one.path == shown and one.severity is Severity.ERROR]
    problems = [problem.message for problem in ran.audit.problems if problem.path == shown]
    unknown = [*problems, *(_unknown(run) if run is not None else ["it was not run"])]
    verdict = WRONG if errors else UNTOLD if unknown else RIGHT
    spent = sum(trial.seconds for trial in run.trials) if run is not None else 0.0
    fault = file.fault.name if file.fault is not None else ""
    reason = unknown[0] if verdict == UNTOLD else ""
    return Judged(file.name, fault, verdict, tuple(dict.fromkeys(errors)), spent, reason)


def _unknown(run: SubjectRun) -> list[str]:
    """Of what has to pass, that which does not, and why."""
    found = {outcome.check: outcome for outcome in run.outcomes}
    asked = [(symptom.value, found.get(symptom.value)) for symptom in _NEEDED]
    return [
        f"{check}: {outcome.status.value}: {outcome.reason}" if outcome is not None else f"{check}: not tried"
        for check, outcome in asked
        if outcome is None or outcome.status is not Status.PASS
    ]


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
