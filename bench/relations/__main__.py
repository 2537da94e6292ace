"""What relations show of the wrappers of published packages, for which nobody has written a subject.

    python bench/relations draw PACKAGE_FOLDER … --files 10 --seed 1 [--reports DIR]
    python bench/relations planted PACKAGE_FOLDER … [--reports DIR]

`draw` takes so many files with wrappers from each folder, by the seed, audits one after the other in one process, and
prints a row for each package and every finding and question. `planted` makes copies of five wrappers with a fault
each, in a scratch folder, and says which are found, and what is said of the healthy twins.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.relations.auditing import audited, checkout_of
from tritonaudit.subject.guessed import is_guessable

_HEAD = "| package | files | wrappers | called | relations that hold | errors | questions | seconds |"


@dataclass(frozen=True)
class Seen:
    """What an audit of one file came to."""

    wrappers: int
    called: int
    held: int
    findings: tuple[str, ...]
    questions: tuple[str, ...]
    reasons: tuple[str, ...]


def main() -> int:
    """Draw or plant, audit, print."""
    parser = argparse.ArgumentParser(
        prog="python bench/relations", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("draw", "planted"))
    parser.add_argument("folders", nargs="+", type=Path, help="packages, as they are installed")
    parser.add_argument("--files", type=int, default=10, help="of each package (default: 10)")
    parser.add_argument("--seed", type=int, default=1, help="draws the files (default: 1)")
    parser.add_argument("--budget", type=float, default=12.0, help="seconds for each wrapper (default: 12)")
    parser.add_argument("--most", type=float, default=120.0, help="seconds for each file (default: 120)")
    parser.add_argument("--reports", type=Path, metavar="DIR", help="keep the reports here")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        kept = (arguments.reports or Path(temporary)).resolve()
        kept.mkdir(parents=True, exist_ok=True)
        if arguments.what == "planted":
            from bench.relations.planting import planted

            print(planted(arguments.folders, Path(temporary), arguments.budget, arguments.most, kept))
            return 0
        _draw(arguments, Path(temporary), kept)
    return 0


def _draw(arguments: argparse.Namespace, scratch: Path, kept: Path) -> None:
    lines: list[str] = []
    print(_HEAD)
    print("|---" * (_HEAD.count("|") - 1) + "|", flush=True)
    for package in arguments.folders:
        started = time.perf_counter()
        folder = checkout_of(package.resolve(), scratch)
        files = drawn(folder, arguments.files, arguments.seed)
        seen = []
        for path in files:
            report = audited(path, arguments.budget, arguments.most, kept)
            one = of_report(report)
            seen.append(one)
            lines += [f"{path.relative_to(folder)}: {text}" for text in (*one.findings, *one.questions)]
        counts = [sum(getattr(one, name) for one in seen) for name in ("wrappers", "called", "held")]
        found = [sum(len(getattr(one, name)) for one in seen) for name in ("findings", "questions")]
        cells = [folder.name, len(files), *counts, *found, round(time.perf_counter() - started)]
        print(f"| {' | '.join(map(str, cells))} |", flush=True)
        for reason in [reason for one in seen for reason in one.reasons]:
            lines.append(f"{folder.name}: not called: {reason}")
    print("\n" + "\n".join(lines))


def drawn(folder: Path, count: int, seed: int) -> Sequence[Path]:
    """So many of the files that have wrappers."""
    files = sorted(folder.rglob("*.py"))
    random.Random(seed).shuffle(files)
    return list(_first(count, files))


def _first(count: int, files: Sequence[Path]) -> Iterator[Path]:
    found = 0
    for path in files:
        if found < count and is_guessable(path):
            found += 1
            yield path


def of_report(report: dict[str, Any]) -> Seen:
    """What a report says of guessed wrappers; nothing of one that did not come in time."""
    subjects = report.get("ran", {}).get("subjects", [])
    held = called = 0
    questions: list[str] = []
    reasons: list[str] = [str(one["reason"]) for one in report.get("not_analysed", [])]
    for subject in subjects:
        checks = {check["check"]: check for check in subject["checks"]}
        calls = [check for name, check in checks.items() if name.startswith("relation: it can be called")]
        called += any(check["status"] == "pass" for check in calls)
        reasons += [check["reason"] for check in calls if check["status"] == "not run"]
        held += sum(check["status"] == "pass" for name, check in checks.items() if name.startswith("relation: "))
        questions += [f"QUESTION {subject['subject']}: {text}" for text in subject.get("questions", [])]
    findings = [f"{one['code']} {one['severity']} line {one['line']}: {one['message']}" for one in report["findings"]]
    return Seen(len(subjects), called, held - called, tuple(findings), tuple(questions), tuple(reasons))


if __name__ == "__main__":
    sys.exit(main())
