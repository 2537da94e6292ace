"""How long the audit of one subject takes, when nothing of it is known from before.

    python bench/waiting [--subjects N] [--seed N] [--budget SECONDS] [--limit SECONDS] [PATH ...]

Files are drawn by the seed from those below the paths (by default the honest ones of bench/cheating and those of
bench/written), and `tritonaudit audit FILE --device cpu` runs for one after the other, each with a cache of its own.
Printed are seconds of wall time and of processors, how much of the core was tried, the verdict, and how many are within
the limit. The exit code is 1 where one is not, or has not tried all of its core.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.processes import Ran, run, tritonaudit

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = [ROOT / "bench" / "cheating" / "honest", ROOT / "bench" / "written" / "subjects"]
_TRIED = re.compile(rb"(?P<tried>\d+) of (?P<all>\d+) core trials.* in [\d.]+ s: (?P<verdict>\w+)")


def main() -> None:
    """Audit them, and print what it took."""
    parser = argparse.ArgumentParser(
        prog="python bench/waiting", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--subjects", type=int, default=20, metavar="N", help="[default: 20]")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="[default: 0]")
    parser.add_argument("--budget", type=float, default=5, metavar="SECONDS", help="[default: 5]")
    parser.add_argument("--limit", type=float, default=15, metavar="SECONDS", help="[default: 15]")
    parser.add_argument("paths", nargs="*", type=Path, default=FOLDERS)
    asked = parser.parse_args()
    files = drawn(asked.paths, asked.subjects, asked.seed)
    print("| file | seconds | of processors | core | verdict |\n|---|---|---|---|---|")
    walls, is_whole = [], True
    for file in files:
        ran = audited(file, asked.budget)
        tried = _TRIED.search(ran.out + ran.err)
        core = "unknown" if tried is None else f"{int(tried['tried'])} of {int(tried['all'])}"
        verdict = "none" if tried is None else tried["verdict"].decode()
        print(f"| {file.stem} | {ran.wall:.1f} | {ran.cpu:.1f} | {core} | {verdict} |", flush=True)
        walls.append(ran.wall)
        is_whole &= tried is not None and tried["tried"] == tried["all"]
    within = sum(wall <= asked.limit for wall in walls)
    print(
        f"\n{within} of {len(walls)} within {asked.limit:g} s; median {statistics.median(walls):.1f} s, "
        f"longest {max(walls):.1f} s; {'all' if is_whole else 'NOT all'} of their core tried"
    )
    raise SystemExit(int(within < len(walls) or not is_whole))


def drawn(paths: Sequence[Path], number: int, seed: int) -> list[Path]:
    """So many of the files with subjects below the paths, or all if there are no more."""
    found = sorted(
        file
        for path in paths
        for file in ([path] if path.is_file() else path.rglob("*.py"))
        if file.name.startswith(("audit_", "pair_"))
    )
    return random.Random(seed).sample(found, min(number, len(found)))


def audited(file: Path, budget: float) -> Ran:
    """What the audit of a file came to and took, with nothing known from before."""
    with tempfile.TemporaryDirectory(prefix="waiting-") as cache:
        command = tritonaudit("audit", file, "--device", "cpu", "--budget", f"{budget:g}")
        return run(list(map(str, command)), variables={"XDG_CACHE_HOME": cache})


if __name__ == "__main__":
    main()
