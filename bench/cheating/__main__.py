"""Which cheats an audit refuses, and whether it lets honest subjects pass.

    python bench/cheating [--budget SECONDS] [--jobs N] [--device cpu|gpu] [FILE …]

Each file of `cheats/` gives right results, or seems to, without its kernels' doing the work; the first lines of each
say how, and why it must be refused. Those of `honest/` look alike and are fair. The exit code is 1 if a cheat passes or
an honest subject does not. Printed for each file are its verdict, and the first error or what could not be decided.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.auditing import audited

HERE = Path(__file__).resolve().parent
_PARTS = "source,correctness,memory,stability,integrity"
_LIMIT = 600.0


@dataclass(frozen=True)
class Judged:
    """What became of a file: its verdict, why, and the seconds that it took."""

    path: Path
    verdict: str
    reason: str
    seconds: float

    @property
    def is_cheat(self) -> bool:
        return self.path.parent.name == "cheats"

    @property
    def is_as_known(self) -> bool:
        """A cheat is refused where the audit came to a verdict, and not to a pass; what is honest passes."""
        return self.verdict in ("fails", "is incomplete") if self.is_cheat else self.verdict == "passes"


def main() -> None:
    """Audit each file on its own, and print the table."""
    parser = argparse.ArgumentParser(
        prog="python bench/cheating", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--budget", type=float, default=8, metavar="SECONDS", help="for each subject [default: 8]")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="files at a time [default: 2]")
    parser.add_argument("--device", default="cpu", choices=("cpu", "gpu"))
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="only these")
    arguments = parser.parse_args()
    files = [path.resolve() for path in arguments.files] or sorted(HERE.glob("*/*.py"))
    with ThreadPoolExecutor(arguments.jobs) as threads:
        judged = []
        tasks = [threads.submit(_judged, path, arguments.budget, arguments.device) for path in files]
        for task in as_completed(tasks):
            judged.append(one := task.result())
            why = "" if one.is_as_known else f": {one.reason[:500]}"
            print(f"{one.path.stem}: {one.verdict}, {one.seconds:.1f} s{why}", file=sys.stderr, flush=True)
    print("\n".join(_table(judged)))
    sys.exit(int(not all(one.is_as_known for one in judged)))


def _judged(path: Path, budget: float, device: str) -> Judged:
    report = audited(path, _PARTS, budget, device, _LIMIT)
    return Judged(
        path, report.verdict, "" if report.verdict == "passes" else next(report.reasons(), ""), report.seconds
    )


def _table(judged: list[Judged]) -> Iterator[str]:
    yield from ("| file | verdict | why |", "|---|---|---|")
    for one in sorted(judged, key=lambda one: (not one.is_cheat, one.is_as_known, one.path.name)):
        mark = "" if one.is_as_known else "**"
        yield f"| {one.path.stem} | {mark}{one.verdict}{mark} | {one.reason[:160]} |"
    for kind, is_cheat in (("cheats refused", True), ("honest subjects that pass", False)):
        alike = [one for one in judged if one.is_cheat == is_cheat]
        known = sum(one.is_as_known for one in alike)
        seconds = sum(one.seconds for one in alike) / max(len(alike), 1)
        yield f"\n{kind}: {known} of {len(alike)}, {seconds:.1f} s each"


if __name__ == "__main__":
    main()
