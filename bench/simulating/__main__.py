"""How fast the CPU engine executes launches, beside others that need no GPU, all in one run.

    python bench/simulating [--rounds N] [--ttsem PYTHON] [--triton-viz PYTHON] [--prototype DIR] [--tritonbench DIR]
                            [--growth] [CASE ...]

Each side launches each case in a process of its own, all sides one after the other in each round, and the medians are
reported, in wall seconds of the launch alone: no start of a process, no import. A first launch compiles, the later ones
do not. PYTHON is an interpreter in whose environment the tool is installed. The prototype's DIR has ir_simulator.py and
the programs that ir_dump.py writes, or a Triton is installed for which ir_dump.py works. TRITON_INTERPRET=1 fails in
loops where NumPy is of 2.4 or later. Times gate nothing.

`--growth` adds how time and memory grow, `--tritonbench` how the launches of TritonBench-G take, which need minutes and
a Triton with block pointers, 3.2 to 3.8; DIR has geak-eval==0.1.5, or it is installed there with pip.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.simulating import growth, tables, tritonbench
from bench.simulating.kernels import CASES
from bench.simulating.sides import Others, Side, Timing, field_of, scratch


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(
        prog="python bench/simulating", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="how often all is run [default: 3]")
    parser.add_argument("--limit", type=float, default=120, metavar="S", help="seconds a process may take")
    parser.add_argument("--ttsem", type=Path, metavar="PYTHON")
    parser.add_argument("--triton-viz", type=Path, metavar="PYTHON")
    parser.add_argument("--prototype", type=Path, metavar="DIR")
    parser.add_argument("--tritonbench", type=Path, metavar="DIR")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"only these: {', '.join(CASES)}, none")
    arguments = parser.parse_args()
    others = Others(arguments.ttsem, arguments.triton_viz, arguments.prototype and arguments.prototype.resolve())
    cases = [case for case in CASES if not arguments.cases or case in arguments.cases]
    if cases:
        _compare(cases, others, arguments.rounds, arguments.limit)
    if arguments.growth:
        print(growth.tables(arguments.rounds), flush=True)
    if arguments.tritonbench:
        print(tritonbench.report(arguments.tritonbench.resolve()), flush=True)


def _compare(cases: Sequence[str], others: Others, rounds: int, limit: float) -> None:
    with scratch() as folder:
        everyone = field_of(others, Path(folder))
        found: dict[tuple[str, str], list[Timing]] = {
            (case, side.title): [] for case in cases for side in everyone.sides
        }
        for number in range(max(rounds, 1)):
            for case in cases:
                for side in everyone.sides:
                    _take(side, case, limit, found[case, side.title])
            print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
    for side in everyone.sides:
        versions = next((one.versions for case in cases for one in found[case, side.title] if one.versions), "unknown")
        print(f"{side.title}: {versions}")
    for line in everyone.absent:
        print(f"not run: {line}")
    print()
    print(tables.times({name: case.title for name, case in CASES.items()}, found), flush=True)


def _take(side: Side, case: str, limit: float, timings: list[Timing]) -> None:
    """One round more, unless there has been one that showed that the side cannot run the case."""
    if not any(timing.failed for timing in timings):
        timings.append(side.measure(case, limit))


if __name__ == "__main__":
    main()
