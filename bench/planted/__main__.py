"""Whether an audit tells planted faults of memory and of concurrency at their lines, and nothing of their twins.

    python bench/planted [--budget SECONDS] [--jobs N] [FILE …]

Each pair of files in `subjects/` is a kernel with one fault, whose line ends in `# fault: KIND`, and the same kernel
without. A fault is detected by an error or a warning at its line, or by one that names that line beside its own: a race
has two ends. The exit code is 1 if one is missed or a twin has an error.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.auditing import audited

HERE = Path(__file__).resolve().parent
_PARTS = "correctness,memory"
_MARK = "# fault: "
_LIMIT = 600.0


@dataclass(frozen=True)
class Reported:
    """What was found in a file: the codes, lines and severities of its findings, or why there are none."""

    path: Path
    findings: tuple[tuple[str, tuple[int, ...], str], ...]
    problem: str = ""

    @property
    def line(self) -> int | None:
        """That of the fault; None in a twin."""
        lines = self.path.read_text("utf-8").splitlines()
        return next((number for number, text in enumerate(lines, 1) if _MARK in text), None)

    @property
    def verdict(self) -> str:
        """In a word, for the table."""
        if self.problem:
            return "not run"
        errors = [line for _, lines, severity in self.findings if severity == "error" for line in lines]
        if self.line is None:
            return "alarm" if errors else "warned of" if self.findings else "silent"
        if self.line in errors:
            return "at its line"
        if self.line in [line for _, lines, _ in self.findings for line in lines]:
            return "at its line, as a warning"
        return "elsewhere" if self.findings else "missed"


def main() -> None:
    """Audit each file on its own, and print the table."""
    parser = argparse.ArgumentParser(
        prog="python bench/planted", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--budget", type=float, default=5, metavar="SECONDS", help="for each subject [default: 5]")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="files at a time [default: 2]")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="only these")
    arguments = parser.parse_args()
    files = [path.resolve() for path in arguments.files] or sorted(HERE.glob("subjects/*.py"))
    with ThreadPoolExecutor(arguments.jobs) as threads:
        reported = list(threads.map(partial(_reported, budget=arguments.budget), files))
    print("| file | detected | findings |\n|---|---|---|")
    for one in reported:
        print(f"| {one.path.stem} | {one.verdict} | {one.problem or _shown(one)} |")
    faults, twins = ([one for one in reported if (one.line is None) is is_twin] for is_twin in (False, True))
    found = sum(one.verdict.startswith("at its line") for one in faults)
    alarms = sum(one.verdict == "alarm" for one in twins)
    print(f"\nfaults detected at their lines: {found} of {len(faults)}; alarms on twins: {alarms} of {len(twins)}")
    sys.exit(int(found < len(faults) or alarms > 0))


def _reported(path: Path, budget: float) -> Reported:
    report = audited(path, _PARTS, budget, "cpu", _LIMIT)
    found = [(one["code"], _lines(one), one["severity"]) for one in report.findings]
    return Reported(path, tuple(found), next(report.problems(), "") if report.json else report.stderr or report.verdict)


def _shown(reported: Reported) -> str:
    return ", ".join(f"{code}:{'+'.join(map(str, lines))}" for code, lines, _ in reported.findings)


def _lines(finding: Mapping[str, Any]) -> tuple[int, ...]:
    """Its own, and those of the places that explain it."""
    return finding["line"], *(place["line"] for place in finding["related"])


if __name__ == "__main__":
    main()
