"""Which faults the CPU engine finds in the kernels of TritonBench-G, and which it makes up.

    python bench/faults --folder DIR [--original DIR] [--workers N] [FILE …]

Each file runs as `python FILE` would, its launches on the CPU engine, without a GPU; of an autotuned kernel the first
config runs. DIR has geak-eval==0.1.5, or it is installed there with pip: 184 files with their tests. TritonBench's own
repository names 24 files as broken (issue 12); geak-eval has fixed some of these, so that with `--original` the 24 run
a second time, as that repository has them (DIR is a checkout, or one is made there with git). Every flag in the other
160 files was read: verdicts.tsv tells which are true. FILE is the name of a file, without its ending. Triton must be of
3.2 to 3.8: later ones have no block pointers.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.faults import tables
from bench.faults.editions import fixed, original
from bench.faults.judged import reported, verdicts
from bench.faults.run import become_cpu, run_file
from tritonaudit.execute.pool import Limits, run_tasks

_LIMITS = Limits(seconds=60, memory=6 << 30)


def main() -> None:
    """Run the files, and print what was found in them."""
    parser = argparse.ArgumentParser(
        prog="python bench/faults", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, required=True, metavar="DIR", help="where geak-eval is installed")
    parser.add_argument("--original", type=Path, metavar="DIR", help="a checkout of TritonBench, for the 24")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="how many files at a time [default: 2]")
    parser.add_argument("files", nargs="*", metavar="FILE", help="only these")
    arguments = parser.parse_args()
    named = reported()
    here = fixed(arguments.folder.resolve())
    started = time.perf_counter()
    outcomes = _run(here.chosen(arguments.files), arguments.workers)
    seconds = time.perf_counter() - started
    there: tables.Outcomes = {}
    if arguments.original:
        names = [one.file for one in named if not arguments.files or one.file in arguments.files]
        there = _run(original(arguments.original.resolve()).chosen(names), arguments.workers) if names else {}
    print(tables.named(named, there, outcomes))
    table, counts = tables.others(here.name, named, verdicts(), outcomes)
    print(table)
    print(tables.missing({**outcomes, **{f"{file} (original)": one for file, one in there.items()}}))
    print(f"{tables.ran_through(outcomes)} of {len(outcomes)} files ran through in {seconds:.0f} s")
    print(f"{tables.flagged(named, outcomes)} of those reported flagged as geak-eval has them")
    if there:
        print(f"{tables.flagged(named, there)} of those reported flagged as they were reported")
    print(counts)


def _run(files: Sequence[Path], workers: int) -> tables.Outcomes:
    return tables.by_name(list(run_tasks(run_file, files, workers=workers, limits=_LIMITS, prepare=become_cpu)))


if __name__ == "__main__":
    main()
