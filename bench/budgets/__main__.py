"""Whether any verdict of PASS at a small budget is contradicted by a large one, over all subjects of this repository.

    python bench/budgets [--budgets 1,3,8,30] [--against 300] [--workers N] [--results FILE] [PATH ...]

Every subject below the paths (fixtures, bench and examples) is audited by the run stage on the CPU engine at the
smallest budget in seconds, and, if it passes, at the one that they are held against: what passes there is contradicted
nowhere, and the next budget is for all others. Printed are the subjects whose verdicts differ, and how many passes are
contradicted: there should be none. Where a file is given, verdicts are kept there as they come, and those that it holds
are not made again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tritonaudit.config import Config
from tritonaudit.execute.starting import warm_up
from tritonaudit.progress import SILENT
from tritonaudit.rules import all_rules
from tritonaudit.source.discover import discover
from tritonaudit.subject.find import subject_files
from tritonaudit.suites.coverage import Verdict
from tritonaudit.suites.gather import SubjectRun
from tritonaudit.suites.running import SubjectKey, shown_subject
from tritonaudit.suites.stage import RunRequest, Where, run_subjects
from tritonaudit.suites.subjects import subjects_of

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = [ROOT / name for name in ("fixtures", "bench", "examples")]
PASSING = (Verdict.PASS.value, Verdict.WARN.value)
_AT_ONCE = 4
"""So many subjects for each worker are tried before their verdicts are kept."""
Verdicts = dict[str, str]
"""Of subjects, by file and name: each with what it rests on."""


def main() -> None:
    """Audit all subjects at each budget, and print what contradicts what."""
    parser = argparse.ArgumentParser(
        prog="python bench/budgets", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--budgets", default="1,3,8,30", metavar="SECONDS", help="[default: 1,3,8,30]")
    parser.add_argument("--against", default="300", metavar="SECONDS", help="[default: 300]")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="subjects at a time [default: 2]")
    parser.add_argument("--results", type=Path, metavar="FILE")
    parser.add_argument("paths", nargs="*", type=Path, default=FOLDERS)
    asked = parser.parse_args()
    budgets = [*asked.budgets.split(","), asked.against]
    known: dict[str, Verdicts] = {}
    if asked.results is not None and asked.results.is_file():
        known = json.loads(asked.results.read_text(encoding="utf-8"))
    subjects = _subjects(asked.paths, asked.workers)
    for budget in budgets[:-1]:
        open_still = [one for one in subjects if not _passes(one, [known.get(asked.against, {})])]
        _try(open_still, budget, known, asked)
        _try([one for one in open_still if _passes(one, [known[budget]])], asked.against, known, asked)
    print(table({budget: known.get(budget, {}) for budget in budgets}))


def _try(subjects: Sequence[SubjectKey], budget: str, known: dict[str, Verdicts], asked: argparse.Namespace) -> None:
    """Know the verdicts of these at a budget, and keep and print them."""
    verdicts = known.setdefault(budget, {})
    began = time.monotonic()
    missing = [one for one in subjects if shown_subject(one) not in verdicts]
    for first in range(0, len(missing), _AT_ONCE * asked.workers):
        verdicts.update(_audited(missing[first : first + _AT_ONCE * asked.workers], float(budget), asked.workers))
        if asked.results is not None:
            asked.results.write_text(json.dumps(known, indent=1), encoding="utf-8")
    counts = ", ".join(
        f"{number} {verdict}" for verdict, number in Counter(map(_verdict, verdicts.values())).most_common()
    )
    seconds = time.monotonic() - began
    print(f"budget {budget} s: {len(verdicts)} subjects, {len(missing)} in {seconds:.0f} s: {counts}", flush=True)


def _subjects(paths: Sequence[Path], jobs: int) -> list[SubjectKey]:
    warm_up()
    all_rules()
    found = discover([path.resolve() for path in paths], Config(ROOT))
    subjects, _, __ = subjects_of(subject_files(found.files), jobs, False, SILENT)
    return list(subjects)


def _passes(subject: SubjectKey, verdicts: Sequence[Verdicts]) -> bool:
    return any(_verdict(one.get(shown_subject(subject), "")) in PASSING for one in verdicts)


def _audited(subjects: Sequence[SubjectKey], seconds: float, jobs: int) -> Verdicts:
    ran = run_subjects(subjects, Config(ROOT), RunRequest(seconds, jobs, device=Where.CPU), "")
    return {shown_subject((run.path, run.name)): _reported(run) for run in ran.runs}


def _reported(run: SubjectRun) -> str:
    """`fail: hang, such as n=1000 float32`: the verdict, and what it rests on where it is no pass."""
    seen = [one for one in run.outcomes if one.status.value == run.verdict.value]
    why = "; ".join(f"{one.check}, {one.case}: {one.reason}" for one in seen) if run.verdict is not Verdict.PASS else ""
    return f"{run.verdict.value}: {why}" if why else run.verdict.value


def _verdict(reported: str) -> str:
    return reported.partition(":")[0]


def table(known: Mapping[str, Verdicts]) -> str:
    """A line for each subject whose verdicts differ; the last budget is the one that the others are held against."""
    *budgets, against = known
    lines = ["| subject | " + " | ".join(f"{budget} s" for budget in known) + " |", "|---" * (len(known) + 1) + "|"]
    contradicted = 0
    subjects = dict.fromkeys(subject for verdicts in known.values() for subject in verdicts)
    for subject in subjects:
        verdicts = [known[budget].get(subject, "not run") for budget in known]
        if len({_verdict(one) for one in verdicts} - {"not run"}) > 1:
            lines.append(f"| {subject} | {' | '.join(verdicts)} |")
        last = _verdict(verdicts[-1])
        contradicted += (
            sum(_verdict(one) in PASSING for one in verdicts[:-1]) if last not in (*PASSING, "not run") else 0
        )
    reported = f"{contradicted} passes at {', '.join(budgets)} s are contradicted by {against} s"
    return "\n".join((*lines, "", f"{reported}, of {len(subjects)} subjects"))


if __name__ == "__main__":
    main()
