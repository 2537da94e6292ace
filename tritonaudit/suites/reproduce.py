"""`tritonaudit.reproduce`: tries one case of a subject again, and tells what is seen. For witnesses, and for people."""

from __future__ import annotations

from pathlib import Path

from tritonaudit.execute.killed import Killed
from tritonaudit.execute.pool import Limits, run_tasks
from tritonaudit.subject.model import Case
from tritonaudit.suites.late import MOST_SECONDS
from tritonaudit.suites.outcome import CaseOutcome
from tritonaudit.suites.worker import TryTask, become_device, try_case

_MEMORY = 8 << 30


def reproduce(path: str, subject: str, case: Case) -> bool:
    """Try the case in a process of its own, print what is seen, and say whether anything is."""
    task = TryTask(Path(path), subject, case)
    limits = Limits(seconds=2 * MOST_SECONDS, memory=_MEMORY)
    ((_, outcome),) = run_tasks(try_case, [task], workers=1, limits=limits, prepare=become_device, arguments=(False,))
    return _reported(case, outcome)


def _reported(case: Case, outcome: tuple[CaseOutcome, ...] | Killed) -> bool:
    if isinstance(outcome, Killed):
        print(f"{case.label}: its process {outcome.message}")
        return True
    seen = [sighting for one in outcome for sighting in one.sightings]
    for sighting in seen:
        place = f"{sighting.place[0]}:{sighting.place[1]}: " if sighting.place else ""
        print(f"{case.label}: {sighting.symptom.value}: {place}{sighting.text}")
    for reason in dict.fromkeys(reason for one in outcome for _, reason in one.unchecked):
        print(f"{case.label}: not all is known: {reason}")
    if not seen:
        print(f"{case.label}: nothing is seen")
    return bool(seen)
