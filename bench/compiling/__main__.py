"""How long the compile stage takes: for each launch and target, cold and cached, by launches and by processes.

    python bench/compiling [--rounds N]

The launches are those of `bench/agreement`, captured once; what is timed is their programs' way to facts, the start
of the worker processes included. Figures are the medians of the rounds, in wall seconds.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tritonaudit.capture.launch import Program
from tritonaudit.compile.capturing import capture_subjects
from tritonaudit.compile.compiling import compile_programs
from tritonaudit.compile.installed import triton_version
from tritonaudit.hardware.targets import DEFAULT_TARGETS, unsupported

_SUBJECTS = Path(__file__).resolve().parents[1] / "agreement" / "subjects.py"


def main() -> None:
    """Capture, then time the compilations."""
    parser = argparse.ArgumentParser(
        prog="python bench/compiling", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    rounds = parser.parse_args().rounds
    targets = [target for target in DEFAULT_TARGETS if unsupported(target, triton_version()) is None]
    started = time.perf_counter()
    launches = capture_subjects([_SUBJECTS], targets, os.cpu_count() or 1).launches
    seconds = time.perf_counter() - started
    print(f"Triton {triton_version()}: {len(launches)} launches captured in {seconds:.1f} s, all targets together\n")
    print("| target | programs | processes | cold | cold, each | cached | cached, each |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for target in targets:
        here = [launch.program for launch in launches if launch.target == target]
        programs = [program for program in dict.fromkeys(here) if program is not None]
        half = len(programs) // 2
        for some, processes in ((programs[:half], 1), (programs, 1), (programs, os.cpu_count() or 1)):
            print(_row(target, some, processes, rounds), flush=True)


def _row(target: str, programs: Sequence[Program], processes: int, rounds: int) -> str:
    times = [_times(programs, processes) for _ in range(rounds)]
    cold, cached = (statistics.median(one) for one in zip(*times, strict=True))
    each = len(programs)
    cells = (f"{cold:.1f} s", f"{cold / each:.2f} s", f"{cached * 1e3:.0f} ms", f"{cached / each * 1e3:.1f} ms")
    return f"| {target} | {each} | {processes} | {' | '.join(cells)} |"


def _times(programs: Sequence[Program], processes: int) -> tuple[float, float]:
    """Wall seconds with an empty cache, and with what that left in it."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRITONAUDIT_CACHE"] = folder
        marks = [time.perf_counter()]
        for _ in range(2):
            compile_programs(programs, processes)
            marks.append(time.perf_counter())
    return marks[1] - marks[0], marks[2] - marks[1]


if __name__ == "__main__":
    main()
