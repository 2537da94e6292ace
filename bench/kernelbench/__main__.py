"""Whether an audit tells right from wrong in files of KernelBench's shape, and what that costs.

    python bench/kernelbench [--seconds S] [--workers N] [--device DEVICE] [--timed] [--large] [--kernels N]
                             [--peer DIR] [--folder DIR]

A hundred files are made: 20 kernels as they should be, and each with four known faults. Each is audited by the run
stage for S seconds, without a GPU unless a device is given, and timed, too, where that is asked for. Large ones have
about a million elements in each tensor. Printed are how many verdicts are right, the findings, and the time.

With --peer KernelBench's own evaluation, the `src` of its repository in that folder, judges the same files in the same
run: five trials each, and its timing where ours is asked for. It needs a GPU. With --folder the files are left there.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.kernelbench.files import written
from bench.kernelbench.judging import Judged, audited, table
from bench.kernelbench.kernels import KERNELS
from bench.kernelbench.peer import evaluated
from tritonaudit.suites.stage import Where


def main() -> None:
    """Make the files, audit them, and print what was found."""
    parser = argparse.ArgumentParser(
        prog="python bench/kernelbench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=10.0, metavar="S", help="for each file [default: 10]")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="how many files at a time [default: 2]")
    parser.add_argument("--kernels", type=int, default=len(KERNELS), metavar="N", help="only the first N")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="where the files are made, and left")
    parser.add_argument("--device", choices=[where.value for where in Where], default=Where.CPU.value)
    parser.add_argument("--timed", action="store_true", help="time them, too, which needs a GPU")
    parser.add_argument("--large", action="store_true", help="about a million elements in each tensor")
    parser.add_argument("--peer", type=Path, metavar="DIR", help="the `src` of KernelBench's repository")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        made = written((asked.folder or Path(temporary)).resolve(), asked.kernels, is_large=asked.large)

        def ours() -> list[Judged]:
            return audited(made, asked.seconds, asked.workers, Where(asked.device), is_timed=asked.timed)

        _tell("tritonaudit", ours, asked.workers)
        if asked.peer is not None:
            peer = asked.peer.resolve()
            _tell("KernelBench", lambda: evaluated(made, peer, is_timed=asked.timed, jobs=asked.workers), asked.workers)


def _tell(title: str, judge: Callable[[], list[Judged]], workers: int) -> None:
    started = time.perf_counter()
    judged = judge()
    seconds = time.perf_counter() - started
    known = sum(one.is_as_known for one in judged)
    each = f"{seconds / len(judged):.2f} s each"
    print(f"== {title}")
    print(table(judged))
    print(f"{known} of {len(judged)} verdicts as known, in {seconds:.0f} s, {each}, with {workers} workers", flush=True)


if __name__ == "__main__":
    main()
