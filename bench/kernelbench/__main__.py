"""Whether an audit without a GPU tells right from wrong in files of KernelBench's shape.

    python bench/kernelbench [--seconds S] [--workers N] [--folder DIR]

A hundred files are made: 20 kernels as they should be, and each with four known faults. Each is audited by the run
stage on the CPU engine for S seconds; printed is how many verdicts are as known, which findings told, and the time.
With --folder the files are left there.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.kernelbench.files import written
from bench.kernelbench.judging import audited, table


def main() -> None:
    """Make the files, audit them, and print what was told."""
    parser = argparse.ArgumentParser(
        prog="python bench/kernelbench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=10.0, metavar="S", help="for each file [default: 10]")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="how many files at a time [default: 2]")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="where the files are made, and left")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        made = written((arguments.folder or Path(temporary)).resolve())
        started = time.perf_counter()
        judged = audited(made, arguments.seconds, arguments.workers)
        seconds = time.perf_counter() - started
    print(table(judged))
    known = sum(one.is_as_known for one in judged)
    print(f"{known} of {len(judged)} verdicts as known, in {seconds:.0f} s with {arguments.workers} workers")


if __name__ == "__main__":
    main()
