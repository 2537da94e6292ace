"""Whether the measure stage's figures can be trusted, and what other ways of timing say of the same calls. Needs a GPU.

    python bench/measuring [--pairs N] [--seconds S] [--peers | --flushes] [SUBJECT ...]

Without `--peers` each subject is measured twice over, N pairs of times: how often do the two speed-ups over PyTorch
differ by more than the interval that is stated with them, and how often is a subject that is timed against itself
called faster or slower? With `--peers` the same calls are timed by triton.testing.do_bench, do_bench_cudagraph,
KernelBench's method, gpucheck and kernelmeter, those that are installed; with `--flushes` after caches were flushed by
writing and by reading. The subjects are those of `subjects/`, for
which `tritonaudit audit --only performance bench/measuring/subjects` makes a report.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.measuring import flushes, peers, repeats
from tritonaudit.capture.task import loaded
from tritonaudit.measure.sizes import timed_cases

SUBJECTS = Path(__file__).with_name("subjects") / "audit_measured.py"


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(
        prog="python bench/measuring", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=0.4, help="for which contenders are timed each time")
    parser.add_argument("--peers", action="store_true", help="beside other ways of timing")
    parser.add_argument("--flushes", action="store_true", help="by writing and by reading")
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help="only these")
    arguments = parser.parse_args()
    subjects = loaded(SUBJECTS)
    for name in arguments.subjects or subjects:
        for size, case in timed_cases(subjects[name]):
            if arguments.peers:
                peers.compare(subjects[name], size, case, arguments.seconds)
            elif arguments.flushes:
                flushes.compare(subjects[name], size, case, arguments.seconds)
            else:
                repeats.compare(subjects[name], size, case, arguments.pairs, arguments.seconds)


if __name__ == "__main__":
    main()
