"""A process that calls `judge` from many threads, and prints of itself what it holds, a line of JSON each time.

python -m bench.farm.calling CALLS THREADS BUDGET
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from bench.kernelbench.files import files
from tritonaudit import judge
from tritonaudit.execute.processes import descendants, open_files, resident

_SAMPLES = 25


def _sources(calls: int) -> Iterator[str]:
    """A right pair and a wrong one in turn, none of which was there before."""
    right, wrong = (file.text for file in files(1)[:2])
    for number in range(calls):
        yield f"# candidate {number}\n{wrong if number % 2 else right}"


def _computed() -> float:
    """The processor seconds of this process and all that came from it, those that have ended too."""
    ticks = 0
    for process in (os.getpid(), *descendants(os.getpid())):
        with suppress(OSError):
            ticks += sum(map(int, Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Call, and print."""
    calls, threads, budget = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    lock = threading.Lock()
    done = 0
    began = time.monotonic()

    def call(source: str) -> None:
        nonlocal done
        verdict = judge(source, device="cpu", cases=0, budget=budget).verdict
        with lock:
            done += 1
            if done % max(1, calls // _SAMPLES) == 0 or done == calls:
                held = {
                    "calls": done,
                    "seconds": time.monotonic() - began,
                    "cpu": _computed(),
                    "resident": resident(os.getpid()),
                    "files": len(open_files()),
                    "processes": len(descendants(os.getpid())),
                    "threads": threading.active_count(),
                    "verdict": verdict,
                }
                print(json.dumps(held), flush=True)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(call, _sources(calls)))


if __name__ == "__main__":
    main()
